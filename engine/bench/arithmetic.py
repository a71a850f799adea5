"""The arithmetic of measurements: what acceptance rates promise, and statistics of repeated figures.

alpha_j = accepted / tested at position j (`kestrel_engine.tally`), p_j = alpha_1 ... alpha_j, and a round yields
1 + sum of p tokens (Leviathan et al., 2023, with a rate per position).
"""

from __future__ import annotations

import itertools
import operator
import statistics
from collections.abc import Sequence


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
