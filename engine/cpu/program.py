"""A pass as a list of operations, recorded once and run many times by native code alone."""

from __future__ import annotations

import math
import time
import weakref
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from kestrel_engine.cpu.operation import (
    BORDERS,
    OPERATION,
    PARTS,
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
from kestrel_engine.cpu.sequence import MEMBERS, in_sequence
from kestrel_engine.cpu.simd import TILE
from kestrel_engine.cpu.team import TEAM
from kestrel_engine.cpu.vectors import LANES

PAGE = 4096
PARALLEL_BYTES = 1 << 19
"""A pass that touches less is not worth waking the threads."""


@dataclass(slots=True)
class _Step:
    """One operation, or several in sequence, while a program is recorded."""

    borders: np.ndarray
    words: list[list[int]] = field(default_factory=list)
    names: tuple[str, ...] = ()
    makes: object = None
    columns: int | None = None
    strips: np.ndarray | None = None
    """Of a product whose items may be changed. Nobody follows it before: they are tiles, as many by chance as another
    operation has rows."""
    held: list[tuple] = field(default_factory=list)
    """What its operations read: not to be written again by one of them."""

    @property
    def items(self) -> int:
        return int(self.borders[-1])

    def cut(self, borders: np.ndarray) -> None:
        self.borders = borders
        for words in self.words:
            words[PARTS], words[BORDERS] = len(borders) - 1, borders.ctypes.data

    def forget(self) -> None:
        """Nothing will follow any more: what it held and made may be written again."""
        self.held.clear()
        self.makes = None


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
        self.names: list[tuple[str, ...]] = []
        """The kernels of each step: of one operation, or of several in sequence."""
        self.input: np.ndarray | None = None
        self.output: np.ndarray | None = None
        self.chains: dict[tuple, Program] = {}
        """Chains that begin with this program."""
        self.version = 0
        """Of what it was recorded for, where that changes."""
        self._recorded: list[_Step] = []
        self._newest: deque[_Step] = deque(maxlen=2)
        self._kept: list[object] = []
        self._bytes = 0
        self._places: dict[str, list[tuple[int, int]]] = {}
        self._run = np.zeros(RUN_TOKENS + rows, np.int64)
        self._run_words = memoryview(self._run)
        self._code = np.empty((0, WORDS), np.int64)
        self._steps = np.empty((0, STEP_WORDS), np.int64)
        self._steps_address = 0
        self._clock = memoryview(self._steps)
        self._inside = np.empty((0, MEMBERS), np.int64)
        """Ticks of the operations of each step, where they are several."""
        self._members: list[memoryview] = []
        """Its rows; of a chain: those of its parts."""
        self._counters = [self._inside]
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

    def empty_rows(self, rows: int, width: int) -> np.ndarray:
        """Float32 [rows, width], the rows no multiple of a page apart: the same columns of all of them would fall on
        one place of the nearest cache."""
        apart = width + (LANES if width * 4 % PAGE == 0 else 0)
        return self.empty((rows, apart))[:, :width]

    def add(
        self,
        kernel,
        items: int,
        grain: int,
        arguments: tuple,
        *,
        after: object = None,
        makes: object = None,
        columns: int | None = None,
        strips: np.ndarray | None = None,
        early: bool = False,
    ) -> None:
        """Run `kernel` over `items`, of which a thread takes at least `grain` at a time.

        after: where the newest step `makes` this, with as many items, each item goes on with this operation without
        a wait for the others. early: it may go before the newest step, too, and after the one before that. columns:
        an item makes so many, of all rows; 0: it makes a row. strips: see `recut`.
        """
        step = self._maker(after)
        if (
            step is None
            or step.strips is not None
            or step.items != items
            or not (early or step is self._newest[-1])
        ):
            step = self._begin(_Step(share(items, self.threads, grain)))
        step.words.append(encode(kernel.address, step.borders, arguments))
        step.names += (kernel.__name__,)
        step.makes, step.columns, step.strips = makes, columns, strips
        self.keep(strips)
        self._newest[-1].held.append(arguments)
        for argument in arguments:
            if isinstance(argument, np.ndarray):
                self._bytes += argument.nbytes

    def _begin(self, step: _Step) -> _Step:
        if len(self._newest) == self._newest.maxlen:
            self._newest[0].forget()
        self._recorded.append(step)
        self._newest.append(step)
        return step

    def _maker(self, array: object) -> _Step | None:
        found = (step for step in self._newest if array is not None and step.makes is array)
        return next(found, None)

    def made(self, array: np.ndarray) -> tuple[int, int] | None:
        """Items of the step that has just made `array`, and the columns of each; None: that is longer ago."""
        step = self._maker(array)
        return None if step is None or step.columns is None else (step.items, step.columns)

    def recut(self, product: np.ndarray, items: int, grain: int, strips: list[tuple[int, int]]) -> bool:
        """Change what the items of the step that has just made `product` are: of each strip (begin, width), whole
        tiles, the next `width` columns; so that others can follow it. False: it cannot be done."""
        step = self._maker(product)
        if step is None or step.strips is None or items < 2 * self.threads:
            return False
        tiles = np.array(strips) // TILE
        if (tiles * TILE != strips).any():
            return False
        step.strips[:] = 0
        step.strips[: len(tiles)] = tiles
        step.strips = None
        step.cut(share(items, self.threads, grain))
        return True

    def keep(self, *owned: object) -> None:
        """Things that must live as long as the program."""
        self._kept += owned

    def seal(self, output: np.ndarray | None = None) -> Program:
        """No more operations. `output` is what the caller reads."""
        self.output = output
        self._inside = np.zeros((len(self._recorded), MEMBERS), np.int64)
        self._members, self._counters = [memoryview(row) for row in self._inside], [self._inside]
        words = []
        for step, spent in zip(self._recorded, self._inside, strict=True):
            self.names.append(step.names)
            self.keep(step.borders)
            if len(step.words) == 1:
                words += step.words
                continue
            assert len(step.words) <= MEMBERS
            code = np.array(step.words)
            pointers = code.ctypes.data + code.strides[0] * np.arange(len(code))
            words.append(encode(in_sequence.address, step.borders, (pointers, spent)))
            self.keep(code, pointers)
        self._code = np.array(words)
        self._recorded.clear()
        self._newest.clear()
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
        which the caller sets before each `run`. The first part may hold the chain and must outlive it: it is not held
        in turn, or neither would ever go."""
        chain = Program(0, max(part.threads for part in parts))
        steps = [part._steps.copy() for part in parts]
        for n, part in enumerate(parts):
            steps[n][:, RUN] = runs[n].ctypes.data
            chain.names += part.names
            chain._bytes += part._bytes
            chain._members += part._members
        chain._counters = [part._inside for part in dict.fromkeys(parts)]
        chain.keep(*runs, *parts[1:])
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
        for counter in self._counters:
            counter.fill(0)
        start = time.perf_counter()
        TEAM.run(self._steps_address, len(self._steps), self.threads)
        return time.perf_counter() - start

    def shares(self) -> dict[str, float]:
        """Each kernel's share of the time of the last pass; empty where the machine has no counter."""
        kernels = {name for names in self.names for name in names}
        return {name: self.share(name) for name in kernels} if self._spent() else {}

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
            found = [
                (n, m) for n, names in enumerate(self.names) for m, each in enumerate(names) if each == name
            ]
            places = self._places[name] = found
        return sum([self._spent(n, n + 1) * self._within(n, m) for n, m in places]) / max(1, self._spent())

    def _within(self, step: int, member: int) -> float:
        """The share of a step's time that one of its operations took."""
        if len(self.names[step]) == 1:
            return 1.0
        return self._members[step][member] / max(1, sum(self._members[step]))
