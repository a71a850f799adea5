"""Simulated machines and texts for the governor: what rounds cost, and how often drafts are right."""

from __future__ import annotations

import random
from collections.abc import Callable

from kestrel_engine.governor import Governor
from kestrel_engine.options import MAX_DRAFT

Acceptance = Callable[[int], float]
"""Draft position → probability of being right when those before it are."""
Cost = Callable[[int], float]
"""Draft length → milliseconds of a round."""


class Simulation:
    """Rounds of a governor on a machine with `cost` and a text with `acceptance`; both may be changed.

    noise: relative spread of a round's time. outliers: share of rounds that are disturbed and take up to 8 times
    as long. The first round of a length also prepares it.
    """

    def __init__(
        self, acceptance: Acceptance, cost: Cost, seed: int = 0, noise: float = 0.0, outliers: float = 0.0
    ):
        self.governor, self.random = Governor(), random.Random(seed)
        self.acceptance, self.cost, self.noise, self.outliers = acceptance, cost, noise, outliers
        self._used: set[int] = set()

    def run(self, count: int) -> tuple[list[int], float]:
        """The lengths of `count` rounds, and their milliseconds per token, were nothing disturbed and every
        round to accept what it can expect to."""
        lengths, milliseconds, tokens = [], 0.0, 0.0
        for _ in range(count):
            length, reason = self.governor.choose()
            assert 0 <= length <= MAX_DRAFT and reason
            self._record(length)
            lengths.append(length)
            milliseconds, tokens = milliseconds + self.cost(length), tokens + self._expected(length)
        return lengths, milliseconds / tokens

    def _record(self, length: int) -> None:
        accepted = 0
        while accepted < length and self.random.random() < self.acceptance(accepted):
            accepted += 1
        plain = self.cost(0)
        factor = max(0.5, self.random.gauss(1, self.noise))
        factor *= self.random.uniform(1.5, 8) if self.random.random() < self.outliers else 1
        preparing = 0.0 if length in self._used else 0.8 * plain
        self._used.add(length)
        drafting = (self.cost(length) - plain) / 2
        verifying = factor * (plain + drafting) + preparing
        self.governor.record("mtp", length, accepted, factor * drafting, verifying)

    def _expected(self, length: int) -> float:
        tokens, chain = 1.0, 1.0
        for position in range(length):
            chain *= self.acceptance(position)
            tokens += chain
        return tokens


def best_rate(acceptance: Acceptance, cost: Cost) -> float:
    """Milliseconds per token of the best fixed length."""
    rates = []
    for length in range(MAX_DRAFT + 1):
        tokens, chain = 1.0, 1.0
        for position in range(length):
            chain *= acceptance(position)
            tokens += chain
        rates.append(cost(length) / tokens)
    return min(rates)


def usual(lengths: list[int]) -> int:
    return max(set(lengths), key=lengths.count)


CHEAP = lambda length: 10 + 0.5 * length
DEAR = lambda length: 10 + 15 * length
FIXED_COST = lambda length: 10 + (20 * (length > 0) + 2 * length)


def line(slope: float) -> Cost:
    """A draft and its row cost `slope` plain steps."""
    return lambda length: 10 * (1 + slope * length)
