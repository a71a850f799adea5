"""A pass as a list of operations, recorded once and run many times by native code alone."""

from __future__ import annotations

import math
import time
import weakref
from collections.abc import Sequence

import numpy as np

from kestrel_engine.cpu.operation import (
    OPERATION,
    RUN,
    RUN_COMMIT,
    RUN_LOG,
    RUN_POSITION,
    RUN_TARGET,
    RUN_TOKENS,
    STEP_WORDS,
    TICKS,
    WORDS,
    argument_word,
    encode,
    share,
)
from kestrel_engine.cpu.team import TEAM

PARALLEL_BYTES = 1 << 19
"""A pass that touches less is not worth waking the threads."""


def write_run(
    words: memoryview, position: int, commit: int, log: int, target: int, tokens: Sequence[int]
) -> None:
    """Set the words RUN_… of a run. Item by item: for so few, numpy takes longer."""
    words[RUN_POSITION], words[RUN_COMMIT], words[RUN_LOG], words[RUN_TARGET] = position, commit, log, target
    for place, token in enumerate(tokens, RUN_TOKENS):
        words[place] = token


class Program:
    """Operations over M = `rows` rows for `threads` threads.

    `add` appends one; `execute` runs all of them. Whoever records keeps the weights and states alive.
    """

    def __init__(self, rows: int, threads: int):
        self.rows, self.threads = rows, threads
        self.names: list[str] = []
        self.input: np.ndarray | None = None
        self.output: np.ndarray | None = None
        self.chains: dict[tuple, Program] = {}
        """Chains that begin with this program."""
        self.version = 0
        """Of what it was recorded for, where that changes."""
        self._words: list[np.ndarray] = []
        self._kept: list[object] = []
        self._bytes = 0
        self._places: dict[str, list[int]] = {}
        self._run = np.zeros(RUN_TOKENS + rows, np.int64)
        self._run_words = memoryview(self._run)
        self._code = np.empty((0, WORDS), np.int64)
        self._steps = np.empty((0, STEP_WORDS), np.int64)
        self._steps_address = 0
        self._clock = memoryview(self._steps)
        self._free: dict[int, list[np.ndarray]] = {}

    def empty(self, shape: tuple[int, ...], dtype=np.float32) -> np.ndarray:
        """An array for an operation's result. Its memory is used again once nothing mentions it any more:
        operations run in the order in which they were recorded."""
        count = math.prod(shape)
        size = max(64, count * np.dtype(dtype).itemsize)
        free = self._free.setdefault(size, [])
        memory = free.pop() if free else np.empty(size + 64, np.uint8)
        start = -memory.ctypes.data % 64
        root = np.frombuffer(memoryview(memory)[start : start + size], np.uint8)
        weakref.finalize(root, free.append, memory)
        return root.view(dtype)[:count].reshape(shape)

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
        steps = np.zeros((len(self._code), STEP_WORDS), np.int64)
        steps[:, OPERATION] = self._code.ctypes.data + self._code.strides[0] * np.arange(len(steps))
        steps[:, RUN] = self._run.ctypes.data
        self._set_steps(steps)
        return self

    def _set_steps(self, steps: np.ndarray) -> None:
        every = np.concatenate([np.zeros((1, STEP_WORDS), np.int64), steps])  # the first notes the start
        self._steps, self._clock = every[1:], memoryview(every)
        self._steps_address = self._steps.ctypes.data
        if self._bytes < PARALLEL_BYTES:
            self.threads = 1

    @staticmethod
    def chain(parts: Sequence[Program], runs: Sequence[np.ndarray]) -> Program:
        """Sealed programs one after the other as one pass: parts[n] with the words runs[n] [RUN_WORDS], int64,
        which the caller sets before each `run`."""
        chain = Program(0, max(part.threads for part in parts))
        steps = [part._steps.copy() for part in parts]
        for n, part in enumerate(parts):
            steps[n][:, RUN] = runs[n].ctypes.data
            chain.names += part.names
            chain._bytes += part._bytes
        chain.keep(*runs, *parts)
        chain._set_steps(np.concatenate(steps))
        return chain

    def bind(self, operation: int, argument: int, array: np.ndarray) -> None:
        """Let `operation` read or write `array` in place of an array of the same shape."""
        self._code[operation, argument_word(argument)] = array.ctypes.data

    def execute(
        self, position: int = 0, commit: int = 0, log: int = 0, tokens: Sequence[int] = (), target: int = 0
    ) -> float:
        """One pass. Returns its seconds."""
        write_run(self._run_words, position, commit, log, target, tokens)
        return self.run()

    def run(self) -> float:
        """One pass with the words as they are. Returns its seconds."""
        start = time.perf_counter()
        TEAM.run(self._steps_address, len(self._steps), self.threads)
        return time.perf_counter() - start

    def shares(self) -> dict[str, float]:
        """Each kernel's share of the time of the last pass; empty where the machine has no counter."""
        found = dict.fromkeys(self.names if self._spent() else (), 0.0)
        for n, name in enumerate(self.names if found else ()):
            found[name] += self._spent(n, n + 1) / self._spent()
        return found

    def _spent(self, first: int = 0, last: int | None = None) -> int:
        """Ticks that the steps first..last-1 took in the last pass."""
        return self._clock[len(self.names) if last is None else last, TICKS] - self._clock[first, TICKS]

    def share_before(self, part: Program) -> float:
        """The share of a chain's time that went before its last part; 0 where the machine has no counter."""
        return self._spent(0, len(self.names) - len(part.names)) / max(1, self._spent())

    def share(self, name: str) -> float:
        """One kernel's share of the time of the last pass; 0 where the machine has no counter."""
        places = self._places.get(name)
        if places is None:
            places = self._places[name] = [n for n, each in enumerate(self.names) if each == name]
        return sum([self._spent(n, n + 1) for n in places]) / max(1, self._spent())
