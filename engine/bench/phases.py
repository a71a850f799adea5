"""Where the time of a decode step goes.

The backend's operations are timed one by one from outside as the real step calls them, so the phases add up to
the step: what no operation and no sampling accounts for is Python. The stopwatch itself costs about half a
microsecond an operation and counts as Python too.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

PHASES = {
    "matmul": "matrix",
    "rms_norm": "norms",
    "gated_norm": "norms",
    "add": "norms",
    "swiglu": "norms",
    "conv_silu": "delta",
    "delta_inputs": "delta",
    "delta_rows": "delta",
    "delta_replay": "delta",
    "attention_inputs": "attention",
    "attention": "attention",
    "log_sum_exp": "sampling",
    "top_k": "sampling",
    "gumbel": "sampling",
}
"""Backend operations and their phase; an operation that is not named here is a phase of its own."""


class Clock:
    """Adds up seconds by phase. Of nested calls only the outermost counts."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
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


class Timed:
    """Stands in for `target`; its methods are timed, everything else is passed through."""

    def __init__(self, target: Any, clock: Clock, phase_of: Callable[[str], str]):
        self._target, self._clock, self._phase_of = target, clock, phase_of

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._target, name)
        if not callable(value) or name.startswith("_"):
            return value
        timed = self._clock.timed(self._phase_of(name), value)
        self.__dict__[name] = timed
        return timed


@contextmanager
def timed_backend(model, clock: Clock):
    """While it is open, `model` works on a timed backend."""
    real = model.backend
    model.backend = Timed(real, clock, lambda name: PHASES.get(name, name))
    try:
        yield
    finally:
        model.backend = real


def phases_ms(clock: Clock, wall_seconds: float, steps: int) -> dict[str, float]:
    """Milliseconds a step by phase; "python" is the rest."""
    found = {phase: 1e3 * seconds / steps for phase, seconds in clock.seconds.items()}
    return found | {"python": 1e3 * (wall_seconds - sum(clock.seconds.values())) / steps}
