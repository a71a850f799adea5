"""A pass as a list of operations, recorded once and run many times by native code alone."""

from __future__ import annotations

import time
import weakref
from collections.abc import Sequence

import numpy as np

from kestrel_engine.cpu.operation import (
    RUN_COMMIT,
    RUN_LOG,
    RUN_POSITION,
    RUN_TOKENS,
    TICKS,
    WORDS,
    argument_word,
    encode,
    share,
)
from kestrel_engine.cpu.team import TEAM

PARALLEL_BYTES = 1 << 19
"""A pass that touches less is not worth waking the threads."""


class Program:
    """Operations over M = `rows` rows for `threads` threads.

    `add` appends one; `execute` runs all of them. Whoever records keeps the weights and states alive.
    """

    def __init__(self, rows: int, threads: int):
        self.rows, self.threads = rows, threads
        self.names: list[str] = []
        self.input: np.ndarray | None = None
        self.output: np.ndarray | None = None
        self.arrays: list[np.ndarray] = []
        self._words: list[np.ndarray] = []
        self._kept: list[object] = []
        self._bytes = 0
        self._run = np.zeros(RUN_TOKENS + rows, np.int64)
        self._code = np.empty((0, WORDS), np.int64)
        self._free: dict[int, list[np.ndarray]] = {}

    def empty(self, shape: tuple[int, ...], dtype=np.float32) -> np.ndarray:
        """An array for an operation's result. Its memory is used again once nothing mentions it any more:
        operations run in the order in which they were recorded."""
        size = max(64, int(np.prod(shape)) * np.dtype(dtype).itemsize)
        free = self._free.setdefault(size, [])
        memory = free.pop() if free else np.empty(size + 64, np.uint8)
        start = -memory.ctypes.data % 64
        root = np.frombuffer(memoryview(memory)[start : start + size], np.uint8)
        weakref.finalize(root, free.append, memory)
        return root.view(dtype)[: int(np.prod(shape))].reshape(shape)

    def add(self, kernel, items: int, grain: int, arguments: tuple) -> None:
        """Run `kernel` over `items`, of which a thread takes at least `grain` at a time."""
        borders = share(items, self.threads, grain)
        self._words.append(encode(kernel.address, borders, arguments))
        self._kept.append(borders)
        self.names.append(kernel.__name__)
        for argument in arguments:
            if isinstance(argument, np.ndarray):
                self._bytes += argument.nbytes

    def keep(self, *owned: object) -> None:
        """Things that must live as long as the program."""
        self._kept += owned

    def seal(self, output: np.ndarray | None = None) -> Program:
        """No more operations. `output` is what the caller reads."""
        self.output = output
        self._code = np.stack(self._words)
        self._words.clear()
        if self._bytes < PARALLEL_BYTES:
            self.threads = 1
        return self

    def bind(self, operation: int, argument: int, array: np.ndarray) -> None:
        """Let `operation` read or write `array` in place of an array of the same shape."""
        self._code[operation, argument_word(argument)] = array.ctypes.data

    def execute(self, position: int = 0, commit: int = 0, log: int = 0, tokens: Sequence[int] = ()) -> float:
        """One pass. Returns its seconds."""
        run = self._run
        run[RUN_POSITION], run[RUN_COMMIT], run[RUN_LOG] = position, commit, log
        run[RUN_TOKENS : RUN_TOKENS + len(tokens)] = tokens
        self._code[:, TICKS] = 0
        start = time.perf_counter()
        TEAM.run(self._code, run, self.threads)
        return time.perf_counter() - start

    def shares(self) -> dict[str, float]:
        """Each kernel's share of the time of the last pass; empty where the machine has no counter."""
        total = float(self._code[:, TICKS].sum())
        found: dict[str, float] = {}
        for name, spent in zip(self.names, self._code[:, TICKS].tolist(), strict=True):
            if total:
                found[name] = found.get(name, 0.0) + spent / total
        return found
