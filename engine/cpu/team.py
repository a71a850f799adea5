"""The threads that run a pass together.

A pass is a list of steps: operations, each cut into parts. Whoever is there takes the next part; the one who ends
the last part of an operation goes on to the next operation: one of a single part it does itself, others it opens
to all. So nobody waits for a helper that is late, busy elsewhere or was never started, and a pass runs on the
calling thread alone if need be. Helpers stay for a moment after a pass, mostly until the next one, and then block.

Before the steps stands one without an operation: when its pass began.

The ticket is one atomic word: the number of the step, counted on over all passes, above the number of parts
taken from behind and the number of parts left. A part that was taken keeps its pass from ending, so what a ticket
names stays valid. Half of the threads take parts from behind: so a thread mostly comes by the same heads and columns
again, step by step and pass by pass, and what it wrote is still in its own caches. Between cores that share no cache
a line takes as long as from memory.
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
from kestrel_engine.cpu.operation import BORDERS, KERNEL, OPERATION, PARTS, RUN, STEP_WORDS, TICKS

TICKET, DONE, RUNNING, PRESENT = 0, 8, 16, 24
STEPS, COUNT, FIRST, YIELD = range(32, 36)
"""Words of the shared block, those that many threads write in cache lines of their own."""
SHARED_WORDS = 48
PART_BITS = 24
BEHIND = 1 << 13
"""One part taken from behind. The bits above it count MOST_PARTS, and half of MAX_THREADS that come too late."""
SPARE = 1 << 12
"""Added to the parts left, so that those who come too late do not borrow from what stands above."""
SPIN = 4096
"""Looks at the ticket before a waiting thread offers its core to others."""
LINGER = 4 * SPIN
"""Looks for the next pass before a helper blocks: under half a millisecond. What Python does between two rounds is
over by then; a helper that must be woken costs a small model more."""


@kernel("void(intp)")
def _whole_step(step):
    """All parts of a step on the calling thread."""
    operation = word(step, OPERATION)
    items = word(word(operation, BORDERS), word(operation, PARTS))
    call_kernel(word(operation, KERNEL), operation, word(step, RUN), 0, items)
    atomic_store(step, TICKS, ticks())


@kernel("void(intp)")
def _note_start(steps):
    """In the step before the first one."""
    atomic_store(steps, TICKS - STEP_WORDS, ticks())


@kernel("void(intp, intp)")
def run_alone(steps, count):
    """A whole pass on the calling thread."""
    _note_start(steps)
    for n in range(count):
        _whole_step(steps + 8 * STEP_WORDS * n)


@kernel("void(intp, int64)")
def _go_on(shared, number):
    """Let step `number` (of all passes) begin, or end the pass when the last one is over."""
    count, parts = word(shared, COUNT), 0
    while number - word(shared, FIRST) < count:
        step = word(shared, STEPS) + 8 * STEP_WORDS * (number - word(shared, FIRST))
        parts = word(word(step, OPERATION), PARTS)
        if parts > 1:
            break
        _whole_step(step)
        number, parts = number + 1, 0
    atomic_store(shared, DONE, parts)
    atomic_store(shared, TICKET, (number << PART_BITS) + SPARE + parts)
    if parts == 0:
        atomic_store(shared, RUNNING, 0)


@kernel("void(intp, intp, intp)")
def publish(shared, steps, count):
    """Make a pass the current one; `lead` begins it. Only when none is running."""
    number = (atomic_load(shared, TICKET) >> PART_BITS) + 1
    atomic_store(shared, STEPS, steps)
    atomic_store(shared, COUNT, count)
    atomic_store(shared, FIRST, number)
    atomic_store(shared, RUNNING, 1)


@kernel("void(intp, intp)")
def work(shared, behind):
    """Take parts, from behind if that is 1, until the pass is over."""
    while atomic_load(shared, RUNNING) != 0:
        ticket = atomic_add(shared, TICKET, behind * BEHIND - 1)
        number, left = ticket >> PART_BITS, (ticket & (BEHIND - 1)) - SPARE
        if left > 0:
            step = word(shared, STEPS) + 8 * STEP_WORDS * (number - word(shared, FIRST))
            operation = word(step, OPERATION)
            borders, parts = word(operation, BORDERS), word(operation, PARTS)
            taken = (ticket & ((1 << PART_BITS) - 1)) // BEHIND
            part = parts - 1 - taken if behind else parts - left - taken
            first, last = word(borders, part), word(borders, part + 1)
            call_kernel(word(operation, KERNEL), operation, word(step, RUN), first, last)
            if atomic_add(shared, DONE, -1) == 1:
                atomic_store(step, TICKS, ticks())
                _go_on(shared, number + 1)
        else:
            looks = 0
            while atomic_load(shared, TICKET) >> PART_BITS == number and atomic_load(shared, RUNNING) != 0:
                pause()
                looks += 1
                if looks % SPIN == 0 and word(shared, YIELD) != 0:
                    call_plain(word(shared, YIELD))


@kernel("void(intp)")
def lead(shared):
    """The turn of the thread that has published a pass: it returns when all is done."""
    _note_start(word(shared, STEPS))
    _go_on(shared, word(shared, FIRST))
    work(shared, 0)


@kernel("boolean(intp, intp, intp, intp)")
def run_together(shared, steps, count, helpers):
    """A whole pass if so many helpers are there; else it is published, and the others must be woken before `lead`."""
    publish(shared, steps, count)
    if atomic_load(shared, PRESENT) < helpers:
        return False
    lead(shared)
    return True


@kernel("void(intp, intp)")
def help_out(shared, behind):
    """A helper's turn: work, wait a moment for the next pass, leave."""
    atomic_add(shared, PRESENT, 1)
    looks = 0
    while True:
        if atomic_load(shared, RUNNING) != 0:
            work(shared, behind)
            looks = 0
        elif looks < LINGER:
            pause()
            looks += 1
            if looks % SPIN == 0 and word(shared, YIELD) != 0:
                call_plain(word(shared, YIELD))
        else:
            atomic_add(shared, PRESENT, -1)
            if atomic_load(shared, RUNNING) == 0:
                return
            atomic_add(shared, PRESENT, 1)


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

    def __init__(self, shared: int, behind: int):
        self._gate = threading.Lock()
        self._gate.acquire()
        arguments = (shared, behind, self._gate)
        threading.Thread(target=self._live, args=arguments, name="kestrel-kernels", daemon=True).start()

    def wake(self) -> None:
        """When a pass has been published. One that is there already looks once more for the next."""
        if self._gate.locked():
            self._gate.release()

    @staticmethod
    def _live(shared: int, behind: int, gate: threading.Lock) -> None:
        while True:
            gate.acquire()
            help_out(shared, behind)


class Team:
    """The helpers of this process. One pass runs at a time; a second one meanwhile runs alone."""

    def __init__(self) -> None:
        self._shared = _block(SHARED_WORDS)
        self._shared[TICKET] = SPARE  # a helper may come to the first pass before it has begun
        self._shared[YIELD] = _yield_address()
        self._address = self._shared.ctypes.data
        self._helpers: list[Helper] = []
        self._busy = threading.Lock()

    def run(self, steps: int, count: int, threads: int) -> None:
        """Run the `count` steps at this address, on this thread and up to threads-1 more."""
        if threads <= 1 or not self._busy.acquire(blocking=False):
            return run_alone(steps, count)
        try:
            self._hire(threads - 1)
            if not run_together(self._address, steps, count, threads - 1):
                for helper in self._helpers[: threads - 1]:
                    helper.wake()
                lead(self._address)
        finally:
            self._busy.release()

    def _hire(self, count: int) -> None:
        while len(self._helpers) < count:
            try:
                self._helpers.append(Helper(self._address, 1 - len(self._helpers) % 2))
            except RuntimeError:  # no more threads in this system: the pass needs none
                return


TEAM = Team()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: TEAM.__init__())
