"""The arithmetic of measurements: acceptance from counted rounds, and statistics of repeated figures.

A draft is *tested* when every draft before it in its round was right: the accepted ones and the first rejected
one. alpha_j = accepted / tested at position j, p_j = alpha_1 ... alpha_j, and a round yields 1 + sum of p tokens
(Leviathan et al., 2023, with a rate per position).
"""

from __future__ import annotations

import itertools
import operator
import statistics
from collections import Counter
from collections.abc import Sequence


class Tally:
    """Adds up rounds. Times in milliseconds."""

    def __init__(self) -> None:
        self.rounds = self.tokens = self.drafted = self.accepted = 0
        self.draft_ms = self.verify_ms = self.replay_ms = 0.0
        self._accepted_counts: Counter[int] = Counter()
        self._accepted_at: Counter[int] = Counter()
        self._tested_at: Counter[int] = Counter()
        self._longest_draft = 0

    def add(
        self,
        tokens: int,
        drafted: int,
        accepted: int,
        rejected: bool,
        times: tuple[float, float, float] = (0.0, 0.0, 0.0),
    ) -> None:
        """One round: `rejected` says whether a draft was found wrong (not so when the answer ended before);
        `times` are its milliseconds of draft, verify and replay."""
        self.rounds += 1
        self.tokens += tokens
        self.drafted += drafted
        self.accepted += accepted
        self.draft_ms += times[0]
        self.verify_ms += times[1]
        self.replay_ms += times[2]
        self._accepted_counts[accepted] += 1
        self._accepted_at.update(range(accepted))
        self._tested_at.update(range(accepted + rejected))
        self._longest_draft = max(self._longest_draft, drafted)

    @property
    def acceptance_by_position(self) -> list[float]:
        return [self._accepted_at[place] / self._tested_at[place] for place in range(len(self._tested_at))]

    @property
    def accepted_histogram(self) -> list[int]:
        """Rounds that accepted exactly n drafts, n from 0 to the longest draft."""
        return [self._accepted_counts[n] for n in range(self._longest_draft + 1)] if self.rounds else []

    @property
    def tokens_per_round(self) -> float:
        return self.tokens / self.rounds if self.rounds else 0.0


def chained(alpha: Sequence[float]) -> list[float]:
    """p: the probability that a draft and all before it are right, from the conditional rates."""
    return list(itertools.accumulate(alpha, operator.mul))


def expected_length(alpha: Sequence[float]) -> float:
    """Tokens that a round yields: the accepted drafts and the model's own."""
    return 1.0 + sum(chained(alpha))


def median(values: Sequence[float]) -> float:
    return float(statistics.median(values))


def spread(values: Sequence[float]) -> list[float]:
    """[lowest, highest]."""
    return [float(min(values)), float(max(values))]


def quartiles(values: Sequence[float]) -> list[float]:
    """[first, third] quartile, of many values that a few interruptions may have spoilt."""
    if len(values) < 2:
        return spread(values)
    first, _, third = statistics.quantiles(values, n=4, method="inclusive")
    return [float(first), float(third)]


def median_index(values: Sequence[float]) -> int:
    """Index of the value in the middle (the lower of two)."""
    return sorted(range(len(values)), key=lambda n: values[n])[(len(values) - 1) // 2]


def bandwidth_share(bytes_read: int, milliseconds: float, gigabytes_per_second: float) -> float:
    """Share of the read bandwidth (10^9 bytes a second) that reading `bytes_read` in `milliseconds` uses."""
    return bytes_read / (milliseconds * 1e-3) / (gigabytes_per_second * 1e9)


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Of the least-squares line through (x, y) points; 0.0 for fewer than two."""
    if len(points) < 2:
        return 0.0
    return float(statistics.linear_regression(*zip(*points, strict=True)).slope)
