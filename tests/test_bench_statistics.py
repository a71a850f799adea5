"""What `kestrel-bench speculate` says of `auto` beside the best fixed length, on made-up logs of known truth."""

from __future__ import annotations

import random
from itertools import islice

import pytest

from kestrel_engine.bench.against_best import against_best, chosen_elsewhere, median_interval
from kestrel_engine.bench.arithmetic import median
from kestrel_engine.bench.repeats import AT_LEAST, repeats
from kestrel_engine.bench.speculate import auto_of_best

ALIKE = {str(length): 1.3 for length in range(9)}
NANO = {"0": 1.0, "1": 1.11, "2": 1.3, "3": 1.29, "4": 1.21, "5": 1.1, "6": 1.0, "7": 0.95, "8": 0.88}
"""Length -> speed in plain steps."""


def made_up(
    speeds: dict[str, float], auto: float, count: int, seed: int
) -> tuple[list[float], dict[str, list[float]]]:
    """Milliseconds of `auto`, which has a speed of its own, and of each length: on a machine that drifts, with noise
    and repeats that are disturbed."""
    generator = random.Random(seed)
    machine = [generator.choice((1.0, 1.0, 1.4)) * generator.gauss(1, 0.1) for _ in range(count)]

    def times(speed: float) -> list[float]:
        noise = [max(0.8, generator.gauss(1, 0.05)) * (1 + (generator.random() < 0.05)) for _ in machine]
        return [state * each / speed for state, each in zip(machine, noise, strict=True)]

    others = {name: times(speed) for name, speed in speeds.items()}
    return times(auto), others


def mean_ratios(speeds: dict[str, float], auto: float, count: int) -> tuple[float, float]:
    """Over 200 runs: of the comparison, and of the quotient of medians."""
    ours, naive = [], []
    for seed in range(200):
        mine, others = made_up(speeds, auto, count, seed)
        ours.append(against_best(mine, others)["ratio"])
        rows = [
            {
                "speculate": name,
                "speedup": median([a / b for a, b in zip(others["0"], times, strict=True)]),
            }
            for name, times in (others | {"auto": mine}).items()
            if name != "0"
        ]
        naive.append(auto_of_best(rows))
    return sum(ours) / len(ours), sum(naive) / len(naive)


@pytest.mark.parametrize("count", [9, 30])
def test_who_is_as_fast_as_the_best_is_said_to_be(count):
    """Where all are alike, the fastest of nine is so by chance."""
    ratio, naive = mean_ratios(ALIKE, 1.3, count)
    assert ratio == pytest.approx(1.0, abs=0.006)
    assert naive < 0.985


@pytest.mark.parametrize("speeds", [ALIKE, NANO], ids=["alike", "as nano"])
@pytest.mark.parametrize("share", [0.9, 0.97, 1.04])
def test_who_is_slower_is_not_flattered(speeds, share):
    ratio, _ = mean_ratios(speeds, 1.3 * share, 30)
    assert ratio == pytest.approx(share, abs=0.008)


def test_the_interval_holds_the_truth_about_as_often_as_it_says():
    found = [against_best(*made_up(NANO, 1.3 * 0.9, 30, seed)) for seed in range(300)]
    inside = sum(low <= 0.9 <= high for low, high in (each["interval"] for each in found))
    assert 0.88 <= inside / 300 <= 0.99
    assert sum(each["interval"][1] < 0.97 for each in found) >= 270, "a tenth is seen in a single run"


def test_the_best_is_chosen_by_the_other_half():
    """2 is the fastest in even repeats alone, 3 in odd ones alone: neither is credited with what chose it."""
    others = {"2": [5.0, 9.0] * 4, "3": [8.0, 4.0] * 4}
    assert chosen_elsewhere(others) == ["3", "2"] * 4
    found = against_best([8.0, 9.0] * 4, others)
    assert found["ratio"] == 1.0 and found["first"] == 1.0 and found["best"] == {"3": 4, "2": 4}


def test_few_repeats():
    assert against_best([4.0], {"1": [5.0], "2": [3.0]}) == {
        "ratio": 0.75,
        "interval": None,
        "first": 0.75,
        "best": {"2": 1},
    }
    assert chosen_elsewhere({"1": [5.0, 5.0, 1.0], "2": [3.0, 6.0, 0.9]}) == ["1", "2", "1"]


def test_the_interval_of_a_median():
    """Of six values, all lie on one side of the median with a chance of 1 in 32."""
    assert median_interval([1, 2, 3, 4, 5]) is None
    assert median_interval([6, 1, 2, 5, 3, 4]) == [1, 6]
    assert median_interval(range(1, 21)) == [6, 15]


def test_repeats_are_as_many_as_were_asked_for():
    assert list(repeats(2)) == ["repeat 1 of 2", "repeat 2 of 2"]


def test_repeats_go_on_until_they_have_taken_long_enough():
    def counted(seconds: float) -> int:
        now = [0.0]
        count = 0
        for _ in islice(repeats(None, lambda: now[0]), 1000):
            now[0] += seconds
            count += 1
        return count

    assert counted(60.0) == AT_LEAST and counted(1.0) == 20 and counted(0.5) == 40
