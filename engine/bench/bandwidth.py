"""The read bandwidth of this machine: plain loads over a large array, by all threads."""

from __future__ import annotations

import time

import numpy as np
from numba import prange

from kestrel_engine.cpu.jit import kernel

ARRAY_BYTES = 1 << 29
"""Far beyond any cache."""


@kernel("uint64(uint64[::1])")
def _sum(part):
    """Of whole numbers, so that the compiler may add in vectors; from a loop that cannot count below 0."""
    total = np.uint64(0)
    for i in range(len(part)):
        total += part[i]
    return total


@kernel("uint64(uint64[::1], intp)", parallel=True)
def _sum_by_threads(data, threads):
    total = np.uint64(0)
    for part in prange(threads):
        total += _sum(data[len(data) * part // threads : len(data) * (part + 1) // threads])
    return total


class ReadBandwidth:
    """Measures in the midst of other measurements; the array is filled once."""

    def __init__(self, threads: int, array_bytes: int = ARRAY_BYTES):
        self.threads = threads
        self._data = np.arange(array_bytes // 8, dtype=np.uint64)
        self._expected = int(self._data.sum())
        self.measure()  # compiles the kernel and wakes the threads

    def measure(self) -> float:
        """10^9 bytes read a second, in one pass."""
        start = time.perf_counter()
        total = _sum_by_threads(self._data, self.threads)
        seconds = time.perf_counter() - start
        assert total == self._expected, "the bandwidth kernel did not read everything"
        return self._data.nbytes / seconds / 1e9
