"""Memory for weights and recurrent states: in pages of 2 MiB where the system has them.

They are read from end to end in every step, and with pages of 4 KiB the look-ups of their addresses take a tenth of
the time for weights and a third for states. Small arrays of weights share a mapping, which lives as long as any of
them.
"""

from __future__ import annotations

import contextlib
import mmap
import threading
from pathlib import Path

import numpy as np

PAGE = 2 << 20
SHARED_BYTES = 32 << 20
"""A mapping that small arrays share; arrays of half of it and more have their own."""
ALIGNMENT = 64
"""A cache line: no vector load crosses two."""
SETTING = Path("/sys/kernel/mm/transparent_hugepage/enabled")

_lock = threading.Lock()
_shared = np.empty(0, np.uint8)
"""The part of the newest shared mapping that is still free."""


def available() -> bool:
    """Whether this system gives large pages to who asks for them."""
    try:
        return hasattr(mmap, "MADV_HUGEPAGE") and "[never]" not in SETTING.read_text()
    except OSError:
        return False


def empty(size: int) -> np.ndarray:
    """`size` bytes of any content, on a cache line's boundary. For what lives long: shared mappings are not filled
    again when an array dies."""
    global _shared
    if not available():
        raw = np.empty(size + ALIGNMENT, np.uint8)
        start = -raw.ctypes.data % ALIGNMENT
        return raw[start : start + size]
    if size >= SHARED_BYTES // 2:
        return _mapping(size)[:size]
    with _lock:
        if size > len(_shared):
            _shared = _mapping(SHARED_BYTES)
        found, _shared = _shared[:size], _shared[size + -size % ALIGNMENT :]
        return found


def zeros(size: int) -> np.ndarray:
    """`size` zero bytes on a cache line's boundary, given back with the last array in them; large pages only where so
    many are worth a mapping of their own."""
    if size >= SHARED_BYTES // 2 and available():
        return _mapping(size)[:size]
    raw = np.zeros(size + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size]


def _mapping(size: int) -> np.ndarray:
    """At least `size` bytes that begin with a large page. Raises MemoryError."""
    try:
        memory = mmap.mmap(-1, size + 2 * PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(f"{size} bytes for weights or states") from error
    with contextlib.suppress(OSError):
        memory.madvise(mmap.MADV_HUGEPAGE)
    data = np.frombuffer(memory, np.uint8)
    start = -data.ctypes.data % PAGE
    return data[start : start + size + -size % PAGE]
