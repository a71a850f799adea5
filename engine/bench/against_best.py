"""Comparing one contestant with the best of others, by figures that all have some noise.

The greatest of several medians is great by chance, too, and whoever is compared with it looks slower than it is, the
more so the more there are. So the best is chosen by one half of the repeats and compared by the other half (even and
odd ones), and the other way round: what made it the best by chance is not there when it is compared.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from kestrel_engine.bench.arithmetic import median

CONFIDENCE = 0.95


def against_best(ours: Sequence[float], others: Mapping[str, Sequence[float]]) -> dict:
    """Speed of one contestant as a share of that of the best other.

    `ours` and each of `others`: milliseconds a token in repeats 0, 1, ... "ratio": the median over the repeats of the
    best one's time by ours, in the same repeat; "interval": where it lies with 95 % confidence, None for fewer than
    six repeats; "first": in the first repeat; "best": name -> repeats in which it was the one to compare with, the
    most frequent first.
    """
    chosen = chosen_elsewhere(others)
    ratios = [others[name][repeat] / ours[repeat] for repeat, name in enumerate(chosen)]
    return {
        "ratio": median(ratios),
        "interval": median_interval(ratios),
        "first": ratios[0],
        "best": dict(Counter(chosen).most_common()),
    }


def chosen_elsewhere(others: Mapping[str, Sequence[float]]) -> list[str]:
    """For each repeat, the fastest by the repeats of the other half; a lone repeat has no other.

    Times are taken relative to those of the same repeat, so that a slow repeat counts as much as a fast one.
    """
    repeats = len(next(iter(others.values())))
    usual = [median([times[repeat] for times in others.values()]) for repeat in range(repeats)]

    def fastest(half: range) -> str:
        return min(others, key=lambda name: median([others[name][n] / usual[n] for n in half]))

    halves = [fastest(range(1 - parity if repeats > 1 else 0, repeats, 2)) for parity in (0, 1)]
    return [halves[repeat % 2] for repeat in range(repeats)]


def median_interval(values: Sequence[float]) -> list[float] | None:
    """[lowest, highest] median that the values are likely to come from, whatever their distribution: the order
    statistics outside of which it lies with a chance of 5 % at most (the sign test); None when these are too few."""
    ordered, count = sorted(values), len(values)
    outside, left_out = 0.0, 0
    while True:
        outside += 2 * math.comb(count, left_out) / 2**count
        if outside > 1 - CONFIDENCE:
            break
        left_out += 1
    return [ordered[left_out - 1], ordered[count - left_out]] if left_out else None
