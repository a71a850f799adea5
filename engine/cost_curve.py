"""What rounds cost by their draft length: medians of what was measured, straight lines between and beyond.

Times are held relative to the machine's present speed (`MachineSpeed`), so that a machine that slows down, or a
context that grows, does not make the lengths that were used meanwhile look dear beside those that were not.
"""

from __future__ import annotations

import itertools

KEPT = 9
"""Measurements kept for each length."""
OLDEST = 150
"""Rounds after which a measurement no longer counts, except the newest one of its length."""
SURPRISE = 1.1
"""Times what was expected that a lone measurement may claim: the first round of a length also prepares it, and any
round may be disturbed. The second is believed."""
WELL_KNOWN = 3
"""Measurements after which a length says something about the machine."""
SPEED_GAIN = 0.2
STRANGEST = 1.15
"""Largest factor by which one round can claim that the machine has slowed down or sped up."""


class MachineSpeed:
    """Milliseconds of one plain step, as far as the machine and not the draft length decides it."""

    def __init__(self) -> None:
        self.step_ms = 0.0

    def steps(self, milliseconds: float) -> float:
        """What took so long, in plain steps; 0 before `record` was told anything."""
        return milliseconds / self.step_ms if self.step_ms else 0.0

    def record(self, milliseconds: float, expected_steps: float) -> None:
        """A pass of a well-known length took so long."""
        if self.step_ms == 0.0:
            self.step_ms = milliseconds / expected_steps
        change = milliseconds / (self.step_ms * expected_steps)
        self.step_ms *= 1 + SPEED_GAIN * (min(max(change, 1 / STRANGEST), STRANGEST) - 1)


class CostCurve:
    """`steps[k]`: the cost of length k in plain steps, k = 0..longest."""

    def __init__(self, longest: int, first: float, slope: float):
        """Until something is measured, length k is taken to cost first + slope * k."""
        self._default = [first + slope * k for k in range(longest + 1)]
        self._measured: list[list[tuple[int, float]]] = [[] for _ in self._default]
        self._known: list[float | None] = [None] * (longest + 1)
        self._believable = [0.0] * (longest + 1)
        self.steps = list(self._default)
        self.longest_known = 0
        """Longest length whose measurement is believed."""
        self.newest = [-OLDEST] * (longest + 1)
        """Round in which each length was last measured."""

    def knows_well(self, length: int) -> bool:
        return len(self._measured[length]) >= WELL_KNOWN

    def record(self, round: int, length: int, steps: float) -> None:
        self.newest[length] = round
        measured = self._measured[length]
        while measured and (len(measured) == KEPT or measured[0][0] < round - OLDEST):
            del measured[0]
        if not measured:
            self._believable[length] = SURPRISE * self.steps[length]
        measured.append((round, steps))
        known = _low_median(measured)
        if len(measured) == 1 and known > self._believable[length]:
            known = self._believable[length]
        else:
            self.longest_known = max(self.longest_known, length)
        if known != self._known[length]:
            self._known[length] = known
            self._draw_lines()

    def _draw_lines(self) -> None:
        known = [(k, steps) for k, steps in enumerate(self._known) if steps is not None]
        (first, low), (last, high) = known[0], known[-1]
        scale = low / self._default[first] if self._default[first] else 1.0
        for k in range(first):
            self.steps[k] = scale * self._default[k]
        for (left, start), (right, end) in itertools.pairwise(known):
            for k in range(left, right):
                self.steps[k] = start + (end - start) * (k - left) / (right - left)
        slope = max(0.0, (high - low) / (last - first)) if last > first else None
        for k in range(last, len(self.steps)):
            beyond = scale * (self._default[k] - self._default[last]) if slope is None else slope * (k - last)
            self.steps[k] = high + beyond
        # More rows never cost less: where a shorter length looks dearer, its measurements were disturbed.
        for k in range(last - 1, -1, -1):
            self.steps[k] = min(self.steps[k], self.steps[k + 1])


def _low_median(measured: list[tuple[int, float]]) -> float:
    """The lower one of an even number: what disturbs a measurement makes it longer, never shorter."""
    return sorted([steps for _, steps in measured])[(len(measured) - 1) // 2]
