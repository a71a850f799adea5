"""The read bandwidth of this machine: plain loads over a large array, by the threads that run passes."""

from __future__ import annotations

import numpy as np

from kestrel_engine.cpu.operation import i32_2d, operation
from kestrel_engine.cpu.program import Program

ARRAY_BYTES = 1 << 29
"""Far beyond any cache."""
ROW_BYTES = 1 << 16


@operation
def sum_rows(operation, run, first, last):
    """Whole numbers, so that the compiler may add in vectors; a loop that cannot count below 0."""
    data, sums = i32_2d(operation, 0), i32_2d(operation, 1)
    for row in range(first, last):
        numbers, total = data[row], np.int32(0)
        for i in range(len(numbers)):
            total = np.int32(total + numbers[i])
        sums[row, 0] = total


class ReadBandwidth:
    """Measures in the midst of other measurements; the array is filled once."""

    def __init__(self, threads: int, array_bytes: int = ARRAY_BYTES):
        rows = array_bytes // ROW_BYTES
        self._data = np.arange(array_bytes // 4, dtype=np.int32).reshape(rows, -1)
        self._expected = self._data.sum(axis=1, dtype=np.int32)
        self._sums = np.zeros((rows, 1), np.int32)
        program = Program(1, threads)
        program.add(sum_rows, rows, 1, (self._data, self._sums))
        self._program = program.seal()
        self.measure()  # wakes the threads

    def measure(self) -> float:
        """10^9 bytes read a second, in one pass."""
        self._sums.fill(0)
        seconds = self._program.execute()
        assert np.array_equal(self._sums[:, 0], self._expected), (
            "the bandwidth kernel did not read everything"
        )
        return self._data.nbytes / seconds / 1e9
