"""Before the first kernel: where compiled kernels are kept, how threads wait, and progress while compiling."""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import importlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

if TYPE_CHECKING:
    from numba.core import caching

MODULES = ("functions", "sequence", "kernels", "attention", "delta", "linear", "choice", "team")
"""Kernel modules in the order of their imports; importing one compiles it, or reads it from the cache."""
PACKAGE = "kestrel_engine.cpu"


def cache_folder() -> Path:
    """Compiled kernels of exactly this source and numba: numba itself does not notice a changed callee."""
    import llvmlite
    import numba

    here = Path(__file__).parent
    digest = hashlib.sha256(f"{numba.__version__} {llvmlite.__version__}".encode())
    for source in [*sorted(here.glob("*.py")), here.parent / "numerics.py"]:
        digest.update(source.read_bytes())
    return Path(platformdirs.user_cache_dir("kestrel")) / "kernels" / digest.hexdigest()[:16]


def prepare(progress: Callable[[float], None] = lambda fraction: None) -> None:
    """Import every kernel module. `progress` is told a fraction 0..1, only when something must be compiled."""
    import numba
    from numba.core import caching

    caching.Cache._guard_against_spurious_io_errors = _without_cache_errors
    if not os.environ.get("NUMBA_CACHE_DIR"):
        numba.config.CACHE_DIR = str(_writable(cache_folder()))
    folder = Path(numba.config.CACHE_DIR)
    compiled = folder.exists() and any(folder.rglob("*.nbi"))
    for done, module in enumerate(MODULES):
        if not compiled:
            progress(done / len(MODULES))
        importlib.import_module(f"{PACKAGE}.{module}")


@contextlib.contextmanager
def _without_cache_errors(cache: caching.Cache) -> Iterator[None]:
    """In place of numba's guard, which forgives on Windows only: a kernel that cannot be read from the cache
    or written to it (a full disk) is compiled at every start. A damaged one is forgotten, and compiled once more."""
    try:
        yield
    except OSError:
        pass
    except Exception:  # whatever unpickling makes of the bytes
        with contextlib.suppress(OSError):
            cache.flush()


def _writable(folder: Path) -> Path:
    """`folder`, or a temporary one where it cannot be written (kernels are then compiled at every start)."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        temporary = tempfile.mkdtemp(prefix="kestrel-kernels-")
        atexit.register(shutil.rmtree, temporary, ignore_errors=True)
        return Path(temporary)


def physical_cores() -> int:
    """Cores that this process may use, hyper-threads counted once where the system tells."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        pairs = set()
        for block in Path("/proc/cpuinfo").read_text().split("\n\n"):
            fields = dict(line.split(":", 1) for line in block.splitlines() if ":" in line)
            fields = {key.strip(): value.strip() for key, value in fields.items()}
            if "core id" in fields:
                pairs.add((fields.get("physical id"), fields["core id"]))
        return min(allowed, len(pairs)) if pairs else allowed
    except OSError:
        return allowed
