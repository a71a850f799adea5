"""Compiled kernels on disk, found again by later starts: numba's own cache, with another key.

Numba's key holds the pickled variables of a kernel's closure, which differ from process to process, so that a
kernel made by a factory would be compiled at every start; and it does not see when a function that the kernel
calls has changed.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from pathlib import Path

import numba_cuda
from numba.cuda.dispatcher import CUDACache

from kestrel_engine import numerics


@functools.cache
def source_digest() -> str:
    """Of everything that kernels are made of."""
    sources = [*sorted(Path(__file__).parent.glob("*.py")), Path(numerics.__file__)]
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in sources)).hexdigest()


def describe(function: Callable) -> tuple:
    """A function's name, and what its closure holds: the same in every process."""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    inside = tuple(describe(cell.py_func) if hasattr(cell, "py_func") else repr(cell) for cell in cells)
    return function.__module__, function.__qualname__, inside


class KernelCache(CUDACache):
    """Numba's cache of one kernel."""

    def _index_key(self, sig, codegen) -> tuple:
        kernel = (numba_cuda.__version__, source_digest(), describe(self._py_func))
        return sig, codegen.magic_tuple(), kernel, self._launch_config_key
