"""What rounds cost by their draft length: measured costs, straight lines between and beyond.

Costs are relative to the machine's present speed, which the length in use tells (`MachineSpeed`): a machine that
slows down, or a context that grows, does not make that length look dear beside those that were used before.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable

KEPT, SPEED_KEPT = 9, 15
"""Measurements kept for each length, and of the machine's speed: what disturbs a round often disturbs the next ones."""
OLDEST = 150
"""Rounds after which a measurement no longer counts, except the newest one of its length."""
LAPSE = 1200
"""Rounds after which what a length cost is forgotten."""
SURPRISE = 1.1
"""Times what was expected that a lone measurement may claim: any round may be disturbed. The second is believed."""
WELL_KNOWN, SETTLED = 3, 8
"""Measurements after which the cost of a length is known, and after which the length tells the machine's speed."""


class MachineSpeed:
    """Milliseconds of one plain step, as far as the machine and not the draft length decides it."""

    def __init__(self) -> None:
        self._newest: deque[float] = deque(maxlen=SPEED_KEPT)
        self._milliseconds: float | None = None

    @property
    def known(self) -> bool:
        return bool(self._newest)

    @property
    def milliseconds(self) -> float:
        """Of a plain step. Only when the speed is known."""
        if self._milliseconds is None:
            self._milliseconds = max(_undisturbed(self._newest), 1e-9)
        return self._milliseconds

    def record(self, milliseconds: float, expected_steps: float) -> None:
        """A pass of known cost took so long."""
        self._newest.append(milliseconds / max(expected_steps, 1e-9))
        self._milliseconds = None


class CostCurve:
    """`steps[k]`: the cost of length k in plain steps, k = 0..longest."""

    def __init__(self, longest: int, first: float, slope: float):
        """Until something is measured, length k is taken to cost first + slope * k."""
        self._default = [first + slope * k for k in range(longest + 1)]
        self._measured: list[list[tuple[int, float]]] = [[] for _ in self._default]
        self._known: list[float | None] = [None] * (longest + 1)
        self._believable = [0.0] * (longest + 1)
        self._doubted = [False] * (longest + 1)
        """Known from a lone measurement that claimed too much."""
        self._since = 0
        self._count = [0] * (longest + 1)
        self.steps = list(self._default)
        self.longest_known = 0
        """Longest length whose measurement is believed."""
        self.newest = [-OLDEST] * (longest + 1)
        """Round in which each length was last measured."""

    def knows_well(self, length: int) -> bool:
        return self._count[length] >= WELL_KNOWN

    def is_settled(self, length: int) -> bool:
        return len(self._measured[length]) >= SETTLED

    def record(self, round: int, length: int, steps: float) -> None:
        self.newest[length] = round
        measured = self._measured[length]
        while measured and (len(measured) == KEPT or measured[0][0] < max(self._since, round - OLDEST)):
            del measured[0]
        if not measured:
            self._believable[length] = SURPRISE * self.steps[length]
        measured.append((round, steps))
        self._count[length] += 1
        known = _undisturbed(each for _, each in measured)
        self._doubted[length] = len(measured) == 1 and known > self._believable[length]
        if self._doubted[length]:
            known = self._believable[length]
        else:
            self.longest_known = max(self.longest_known, length)
        if known != self._known[length]:
            self._known[length] = known
            self._draw_lines()

    def begin(self, length: int, since: int) -> None:
        """This length comes into use and is measured anew. The others are, too, when they are tried: what was measured
        before the round `since` is then not mixed with it."""
        if self.knows_well(length):
            self._since = max(self._since, since)
            self._measured[length].clear()

    def lapse(self, round: int, kept: int) -> None:
        """Forget the lengths that were not measured for long, but for plain decoding and the one in use: what they cost
        is then told by those beside them."""
        old = [
            k
            for k, each in enumerate(self._known)
            if k and k != kept and each is not None and self.newest[k] < round - LAPSE
        ]
        for k in old:
            self._measured[k].clear()
            self._known[k], self._count[k] = None, 0
        if old:
            self.longest_known = max((k for k, each in enumerate(self._known) if each is not None), default=0)
            self._draw_lines()

    def _draw_lines(self) -> None:
        known = [
            (k, steps)
            for k, steps in enumerate(self._known)
            if steps is not None and not (self._doubted[k] and self._is_below_a_shorter(k, steps))
        ]
        if not known:
            self.steps = list(self._default)
            return
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

    def _is_below_a_shorter(self, length: int, steps: float) -> bool:
        """What a doubted length is taken to cost says nothing of the shorter ones that were measured."""
        return any(shorter is not None and shorter > steps for shorter in self._known[:length])


def _undisturbed(measured: Iterable[float]) -> float:
    """The lower quartile: what disturbs a measurement makes it longer, never shorter."""
    ordered = sorted(measured)
    return ordered[(len(ordered) - 1) // 3]
