"""The cache of compiled kernels is a help, never a condition."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import config, types
from numba.core import caching

from kestrel_engine.cpu.jit import kernel


@pytest.mark.parametrize("method", ["save", "load"])
def test_a_cache_that_fails_only_costs_time(monkeypatch, method):
    def refuse(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(caching.IndexDataCacheFile, method, refuse)

    @kernel(types.float32(types.float32))
    def doubled(x):
        return x + x

    assert doubled(np.float32(3)) == 6


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", [b"", b"\x80\x04damaged"], ids=["emptied", "overwritten"])
def test_a_damaged_kernel_is_compiled_and_kept_again(tmp_path, monkeypatch, kind, damage):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))

    def doubled(x):
        return x + x

    def compiled():
        made = kernel(doubled)
        assert made(np.float32(3)) == 6
        return made

    compiled()
    for file in tmp_path.rglob(f"*.{kind}"):
        file.write_bytes(damage)
    assert not compiled().stats.cache_hits
    assert compiled().stats.cache_hits


def test_a_temporary_cache_is_removed_at_the_end(tmp_path: Path):
    (tmp_path / "file").touch()
    program = "import sys, pathlib; from kestrel_engine.cpu import runtime\n"
    program += "folder = runtime._writable(pathlib.Path(sys.argv[1])); assert folder.is_dir(); print(folder)"
    arguments = [sys.executable, "-c", program, str(tmp_path / "file" / "kernels")]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert "kestrel-kernels-" in done.stdout and not Path(done.stdout.strip()).exists()
