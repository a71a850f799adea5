"""Where the time of a decode step goes.

The CPU backend runs a pass as one native call and counts the ticks that each of its kernels takes; a kernel's
time includes the wait for the thread that ends last. Where sampling is no kernel it is timed from outside. What
neither accounts for is Python. What the stopwatch itself takes is left out.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PHASES = {
    "q8_matmul": "matrix",
    "q4_matmul": "matrix",
    "bfloat16_matmul": "matrix",
    "quantize": "quantising rows",
    "rms_norm": "norms",
    "gated_norm": "norms",
    "add": "norms",
    "swiglu": "norms",
    "conv_silu": "delta",
    "delta_inputs": "delta",
    "delta_rows": "delta",
    "delta_replay": "delta",
    "attention_inputs": "attention",
    "attention_scores": "attention",
    "attention_weights": "attention",
    "attention_values": "attention",
    "attention_output": "attention",
    "choose_rows": "sampling",
}
"""Kernels and their phase; a kernel that is not named here is a phase of its own."""


class Clock:
    """Adds up seconds by phase. While a timed call runs, what happens inside counts as that call alone."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.own_seconds = 0.0
        """What it has taken itself."""
        self._running = False

    def timed(self, phase: str, function: Callable) -> Callable:
        def call(*arguments, **options):
            if self._running:
                return function(*arguments, **options)
            self._running, start = True, time.perf_counter()
            try:
                return function(*arguments, **options)
            finally:
                self.seconds[phase] += time.perf_counter() - start
                self._running = False

        return call

    def add_pass(self, seconds: float, shares: dict[str, float]) -> None:
        """A native call and each kernel's share of it; none where the machine has no counter."""
        if not self._running:
            for name, share in (shares or {"kernels": 1.0}).items():
                self.seconds[PHASES.get(name, name)] += seconds * share


@contextmanager
def timed_passes(clock: Clock) -> Iterator[None]:
    """While it is open, `clock` hears of every native call of the CPU backend."""
    from kestrel_engine.cpu.program import Program

    real = Program.execute

    def execute(self, *arguments, **options) -> float:
        seconds = real(self, *arguments, **options)
        start = time.perf_counter()
        clock.add_pass(seconds, self.shares())
        clock.own_seconds += time.perf_counter() - start
        return seconds

    Program.execute = execute
    try:
        yield
    finally:
        Program.execute = real


def phases_ms(clock: Clock, wall_seconds: float, steps: int) -> dict[str, float]:
    """Milliseconds a step by phase; "python" is the rest."""
    found = {phase: 1e3 * seconds / steps for phase, seconds in clock.seconds.items()}
    rest = wall_seconds - clock.own_seconds - sum(clock.seconds.values())
    return found | {"python": 1e3 * rest / steps}
