"""A file in memory: mapped and ready at once, then moved into large pages behind its readers' backs.

A mapping costs little when the system has the file in memory already, but its pages are small (`large_pages` says
what that costs). So a thread copies it, chunk by chunk, into large pages and has the system put these where the
chunk was, in one step (mremap): readers see the same bytes at the same addresses before, meanwhile and after.
When anything is in the way, the rest stays mapped.
"""

from __future__ import annotations

import ctypes
import functools
import logging
import mmap
import os
import sys
import threading
import weakref
from typing import BinaryIO

import numpy as np

from kestrel_engine import large_pages
from kestrel_engine.large_pages import PAGE
from kestrel_engine.memory import available_memory

log = logging.getLogger("kestrel.engine")

CHUNK = 32 << 20
"""Bytes moved in one step; at least what `large_pages.empty` gives a mapping of its own."""
MEMORY_FACTOR = 1.25
"""Memory that must be available, as a multiple of what is still to be moved."""
PRIORITY = 10
"""Of the thread that moves (0 is a usual thread's, 19 the lowest, which gets nowhere while an answer computes)."""

_MOVER = "kestrel-pages"

# Of Linux on all 64-bit processors; Python's mmap does not name them.
_MAP_FIXED, _MAP_NORESERVE = 0x10, 0x4000
_MREMAP_MAYMOVE, _MREMAP_FIXED, _MREMAP_DONTUNMAP = 1, 2, 4


def map_file(file: BinaryIO) -> np.ndarray:
    """The bytes of a file, read-only uint8 [size], for as long as any view of them lives. Raises OSError."""
    if _system() is not None and large_pages.available():
        return np.asarray(_Mapping(file))
    # Private and read-only: pages are shared all the same, and populated in one go.
    flags = {"flags": mmap.MAP_PRIVATE | mmap.MAP_POPULATE, "prot": mmap.PROT_READ}
    how = flags if hasattr(mmap, "MAP_POPULATE") else {"access": mmap.ACCESS_READ}
    return np.frombuffer(mmap.mmap(file.fileno(), 0, **how), np.uint8)


def move_to_large_pages(data: np.ndarray) -> threading.Thread | None:
    """Begin to move what `map_file` gave; None where that cannot be. The thread ends early when nobody holds the
    bytes any more."""
    if not isinstance(data.base, _Mapping):
        return None
    mover = threading.Thread(target=_move, args=(weakref.ref(data.base),), name=_MOVER, daemon=True)
    mover.start()
    return mover


def wait_until_moved() -> None:
    """Return when nothing is being moved: for whoever measures."""
    for thread in threading.enumerate():
        if thread.name == _MOVER:
            thread.join()


class _Mapping:
    """A file mapped to where a large page begins, in a range reserved for it. The base of all views of it, which
    unmaps it when the last has gone; not at the end of the process, where other threads may still read it."""

    def __init__(self, file: BinaryIO):
        self._file, self.size = os.dup(file.fileno()), os.fstat(file.fileno()).st_size
        weakref.finalize(self, os.close, self._file).atexit = False
        reserved = self.size + PAGE
        anonymous = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
        start = _system().mmap(0, reserved, 0, anonymous, -1, 0)
        weakref.finalize(self, _system().munmap, start, reserved).atexit = False
        self._address = start + -start % PAGE
        self._map(0, self.size)
        place = {"data": (self._address, True), "shape": (self.size,)}
        self.__array_interface__ = {"version": 3, "typestr": "|u1", **place}

    def _map(self, begin: int, size: int) -> None:
        flags = mmap.MAP_PRIVATE | mmap.MAP_POPULATE | _MAP_FIXED
        _system().mmap(self._address + begin, size, mmap.PROT_READ, flags, self._file, begin)

    def move(self, begin: int, size: int, large: np.ndarray) -> None:
        """Bytes in whole pages: copied to `large`, whose pages then come here; it keeps its range of addresses,
        which nobody else can be given meanwhile, and gets new pages when it is next written to."""
        target, source = self._address + begin, large.ctypes.data
        np.copyto(large[:size], np.asarray(self)[begin : begin + size])  # releases the GIL
        how = _MREMAP_MAYMOVE | _MREMAP_FIXED | _MREMAP_DONTUNMAP
        try:
            _system().mremap(source, size, size, how, target)
        except OSError:
            self._map(begin, size)  # the system may have made room there before it failed
            raise
        _system().mprotect(target, size, mmap.PROT_READ)


def _move(reference: weakref.ref[_Mapping]) -> None:
    """Holds the mapping for one chunk at a time, so that it can die in between."""
    begin, large = 0, None
    try:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), PRIORITY)  # of this thread alone
        large = large_pages.empty(CHUNK)
        while (mapping := reference()) is not None:
            rest = (mapping.size - begin) // PAGE * PAGE
            if rest == 0:
                return
            if available_memory() < MEMORY_FACTOR * rest:
                raise MemoryError("too little memory is free")
            mapping.move(begin, min(rest, CHUNK), large)
            begin += min(rest, CHUNK)
            del mapping
    except (OSError, MemoryError) as error:
        log.debug("packed weights stay mapped from byte %d: %s", begin, error)


@functools.cache
def _system() -> ctypes.CDLL | None:
    """The functions of the C library that Python does not offer; they raise OSError. None where they are not."""
    if sys.platform != "linux" or sys.maxsize < 2**32 or not hasattr(ctypes.CDLL(None), "mremap"):
        return None
    library = ctypes.CDLL(None, use_errno=True)
    address, size, number = ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int
    for function, result, arguments in (
        (library.mmap, address, (address, size, number, number, number, ctypes.c_long)),
        (library.munmap, number, (address, size)),
        (library.mprotect, number, (address, size, number)),
        (library.mremap, address, (address, size, size, number, address)),
    ):
        function.restype, function.argtypes, function.errcheck = result, arguments, _checked
    return library


def _checked(result: int, function, arguments) -> int:
    if result in (-1, 2**64 - 1):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
