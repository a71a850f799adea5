"""The threads that run a pass together.

A pass is a list of operations, each cut into parts. Whoever is there takes the next part; the one who ends the
last part of an operation opens the next operation. So nobody waits for a helper that is late, busy elsewhere
or was never started, and a pass runs on the calling thread alone if need be. Helpers are woken once a pass,
stay for a moment after it, and then block.

The ticket is one atomic word: the number of the operation, counted on over all passes, above the number of
parts left. A part that was taken keeps its pass from ending, so what a ticket names stays valid.
"""

from __future__ import annotations

import os
import threading

import llvmlite.binding
import numpy as np

from kestrel_engine.cpu.jit import (
    atomic_add,
    atomic_load,
    atomic_store,
    call_kernel,
    call_plain,
    kernel,
    pause,
    ticks,
    word,
)
from kestrel_engine.cpu.operation import BORDERS, KERNEL, PARTS, TICKS, WORDS

TICKET, DONE, RUNNING = 0, 8, 16
CODE, RUN, COUNT, FIRST, STARTED, YIELD = range(32, 38)
"""Words of the shared block, those that many threads write in cache lines of their own."""
SHARED_WORDS = 48
PART_BITS = 24
SPARE = 1 << 16
"""Added to the parts left, so that those who come too late do not borrow from the operation's number."""
SPIN = 4096
"""Looks at the ticket before a waiting thread offers its core to others."""
LINGER = 4096
"""Looks for the next pass before a helper blocks: well under a millisecond."""


@kernel("void(intp, intp)")
def add_ticks(operation, start):
    atomic_store(operation, TICKS, word(operation, TICKS) + ticks() - start)


@kernel("void(intp, intp, intp)")
def run_alone(code, run, count):
    """All operations on the calling thread."""
    for n in range(count):
        operation = code + 8 * WORDS * n
        start = ticks()
        borders = word(operation, BORDERS)
        call_kernel(word(operation, KERNEL), operation, run, 0, word(borders, word(operation, PARTS)))
        add_ticks(operation, start)


@kernel("void(intp, int64)")
def _open(shared, number):
    """Let operation `number` (of all passes) begin, or end the pass when it was the last."""
    at = number - word(shared, FIRST)
    parts = 0
    if at < word(shared, COUNT):
        parts = word(word(shared, CODE) + 8 * WORDS * at, PARTS)
    atomic_store(shared, DONE, parts)
    atomic_store(shared, TICKET, (number << PART_BITS) + SPARE + parts)
    if at == word(shared, COUNT):
        atomic_store(shared, RUNNING, 0)


@kernel("void(intp, intp, intp, intp)")
def publish(shared, code, run, count):
    """Make a pass of `count` > 0 operations the current one. Only when none is running."""
    number = (atomic_load(shared, TICKET) >> PART_BITS) + 1
    atomic_store(shared, CODE, code)
    atomic_store(shared, RUN, run)
    atomic_store(shared, COUNT, count)
    atomic_store(shared, FIRST, number)
    atomic_store(shared, STARTED, ticks())
    atomic_store(shared, RUNNING, 1)
    _open(shared, number)


@kernel("void(intp)")
def work(shared):
    """Take parts until the pass is over."""
    while atomic_load(shared, RUNNING) != 0:
        ticket = atomic_add(shared, TICKET, -1)
        number, left = ticket >> PART_BITS, (ticket & ((1 << PART_BITS) - 1)) - SPARE
        if left > 0:
            operation = word(shared, CODE) + 8 * WORDS * (number - word(shared, FIRST))
            parts, borders = word(operation, PARTS), word(operation, BORDERS)
            part = parts - left
            call_kernel(
                word(operation, KERNEL),
                operation,
                word(shared, RUN),
                word(borders, part),
                word(borders, part + 1),
            )
            if atomic_add(shared, DONE, -1) == 1:
                add_ticks(operation, word(shared, STARTED))
                atomic_store(shared, STARTED, ticks())
                _open(shared, number + 1)
        else:
            looks = 0
            while atomic_load(shared, TICKET) >> PART_BITS == number and atomic_load(shared, RUNNING) != 0:
                pause()
                looks += 1
                if looks % SPIN == 0 and word(shared, YIELD) != 0:
                    call_plain(word(shared, YIELD))


@kernel("void(intp, intp)")
def help_out(shared, present):
    """A helper's turn: work, wait a moment for the next pass, leave. `present` is its word for being here."""
    atomic_store(present, 0, 1)
    looks = 0
    while True:
        if atomic_load(shared, RUNNING) != 0:
            work(shared)
            looks = 0
        elif looks < LINGER:
            pause()
            looks += 1
        else:
            atomic_store(present, 0, 0)
            if atomic_load(shared, RUNNING) == 0:
                return
            atomic_store(present, 0, 1)


def _yield_address() -> int:
    """The system's call for offering the core to other threads, 0 where it has none by these names."""
    names = ("sched_yield", "SwitchToThread")
    return next((found for name in names if (found := llvmlite.binding.address_of_symbol(name))), 0)


def _block(words: int) -> np.ndarray:
    """int64 zeros on a cache line's boundary."""
    raw = np.zeros(words + 8, np.int64)
    start = -raw.ctypes.data % 64 // 8
    return raw[start : start + words]


class Helper:
    """A thread that blocks until it is woken for a pass."""

    def __init__(self, shared: int):
        self._present = _block(8)
        self._gate = threading.Lock()
        self._gate.acquire()
        arguments = (shared, self._present.ctypes.data, self._gate)
        threading.Thread(target=self._live, args=arguments, name="kestrel-kernels", daemon=True).start()

    def wake(self) -> None:
        """When a pass has been published."""
        if not self._present[0] and self._gate.locked():
            self._gate.release()

    @staticmethod
    def _live(shared: int, present: int, gate: threading.Lock) -> None:
        while True:
            gate.acquire()
            help_out(shared, present)


class Team:
    """The helpers of this process. One pass runs at a time; a second one meanwhile runs alone."""

    def __init__(self) -> None:
        self._shared = _block(SHARED_WORDS)
        self._shared[YIELD] = _yield_address()
        self._address = self._shared.ctypes.data
        self._helpers: list[Helper] = []
        self._busy = threading.Lock()

    def run(self, code: np.ndarray, run: np.ndarray, threads: int) -> None:
        """Run the operations code [n, WORDS] with the words `run`, on this thread and up to threads-1 more."""
        arguments = (code.ctypes.data, run.ctypes.data, len(code))
        if threads <= 1 or not self._busy.acquire(blocking=False):
            return run_alone(*arguments)
        try:
            self._hire(threads - 1)
            publish(self._address, *arguments)
            for helper in self._helpers[: threads - 1]:
                helper.wake()
            work(self._address)
        finally:
            self._busy.release()

    def _hire(self, count: int) -> None:
        while len(self._helpers) < count:
            try:
                self._helpers.append(Helper(self._address))
            except RuntimeError:  # no more threads in this system: the pass needs none
                return


TEAM = Team()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: TEAM.__init__())
