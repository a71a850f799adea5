"""What the governor pays for knowing: how fast it grows, how trials end, what they lose, and how often it thinks."""

from __future__ import annotations

import pytest
from machines import CHEAP, Simulation, line

from kestrel_engine import governor as governor_module
from kestrel_engine.cost_curve import LAPSE, CostCurve
from kestrel_engine.governor import EXPLORE_SHARE, FIRST_CREDIT, MOST_LOSS, THINKING_MS, Governor
from kestrel_engine.options import MAX_DRAFT

ALWAYS = lambda position: 1.0


def rounds(governor: Governor, count: int, right: int, cost) -> list[tuple[int, bool, float]]:
    """(length, whether it was a trial, milliseconds) of rounds in which the first `right` drafts are right."""
    found = []
    for number in range(count):
        length, reason = governor.choose()
        spent = cost(number, length)
        governor.record("mtp", length, min(length, right), 0.0, spent)
        found.append((length, reason.startswith("exploring"), spent))
    return found


def test_growing_is_fast_when_every_draft_is_right():
    """A measured length allows three more: 3, 6, and then the longest. Plain decoding is not tried in between."""
    for seed in range(20):
        lengths, _ = Simulation(ALWAYS, line(0.06), seed, noise=0.02).run(14)
        assert lengths[:4] == [0, 0, 0, 3] and 0 not in lengths[4:]
        assert MAX_DRAFT in lengths[:12], lengths


def test_growing_ends_where_it_does_not_pay():
    cliff = lambda number, length: 10.0 * (1 + 0.06 * length + 3 * (length > 4))
    lengths = [length for length, _, _ in rounds(Governor(), 100, MAX_DRAFT, cliff)]
    assert sum(length > 4 for length in lengths) <= 6
    assert set(lengths[60:]) <= {0, 3, 4, 5}


@pytest.mark.parametrize("right", [0, 1, 3, MAX_DRAFT])
@pytest.mark.parametrize("slope", [0.06, 0.3])
def test_trials_lose_no_more_than_their_share(right, slope):
    """Each length that comes into use takes half a plain step longer, which trials are charged with."""
    last: list[int] = []

    def cost(number: int, length: int) -> float:
        cold = 5.0 if length not in last[-12:] else 0.0
        last.append(length)
        return line(slope)(length) + cold

    found = rounds(Governor(), 4000, right, cost)
    whole = sum(spent for _, _, spent in found)
    best = min(line(slope)(length) / (1 + min(length, right)) for length in range(MAX_DRAFT + 1))
    lost = sum(spent - best * (1 + min(length, right)) for length, trial, spent in found if trial)
    # A little more than the share: what a trial owes beyond MOST_DEBT is forgiven.
    assert 0 < lost <= 1.4 * EXPLORE_SHARE * whole + 10.0 * (FIRST_CREDIT + MOST_LOSS)


def test_trials_that_tell_nothing_are_charged_too():
    """Their rounds prepared something: nobody knows how long they would take, but it was long."""
    governor, tried = Governor(), 0
    for _ in range(1000):
        length, reason = governor.choose()
        trial = reason.startswith("exploring")
        tried += trial
        governor.record("mtp", length, min(length, 3), 0.0, None if trial else CHEAP(length))
    # What a trial owes beyond MOST_DEBT is forgiven: of three rounds, half.
    allowed = FIRST_CREDIT + 1000 * EXPLORE_SHARE * CHEAP(3) / CHEAP(0)
    assert 0 < tried * MOST_LOSS / 2 <= 1.4 * allowed


@pytest.mark.parametrize(("times", "most"), [(2, 2), (5, 1)])
def test_a_trial_ends_when_it_is_dearer_than_it_may_be(times, most):
    """A neighbour is tried for eight rounds where it promises as much; for two, or one, when it costs much more."""
    governor = Governor()
    promising = lambda number, length: 10.0 * (1 + 0.3 * length)
    rounds(governor, 600, 2, promising)
    dear = lambda number, length: promising(number, length) * (1 if length in (0, 2) else times)
    found = rounds(governor, 600, 2, dear)
    longest = run = 0
    for length, trial, _ in found:
        run = run + 1 if trial and length else 0
        longest = max(longest, run)
    assert longest == most


def test_drafts_that_were_dear_when_first_tried_are_tried_again():
    """Three plain steps for each draft, for a second of a machine that was busy: not for ever."""
    governor = Governor()
    busy = lambda number, length: 10.0 * (1 + (3.0 if number < 60 else 0.1) * length)
    lengths = [length for length, _, _ in rounds(governor, 2 * LAPSE, MAX_DRAFT, busy)]
    assert lengths[20:60].count(0) >= 25
    assert sum(lengths[-100:]) / 100 >= 6


def test_a_cost_that_is_not_measured_for_long_is_told_by_its_neighbours():
    curve = CostCurve(MAX_DRAFT, 1.0, 0.1)
    for round, length, steps in ((1, 0, 1.0), (2, 2, 1.3), (3, 5, 9.0), (4, 5, 9.0), (LAPSE, 3, 1.45)):
        curve.record(round, length, steps)
    assert curve.steps[5] == 9.0 and curve.longest_known == 5
    curve.lapse(LAPSE + 5, kept=2)
    assert curve.steps[5] == pytest.approx(1.75) and curve.longest_known == 3
    assert curve.steps[2] == 1.3 and not curve.knows_well(5), "the one in use stays"
    curve.lapse(3 * LAPSE, kept=2)
    assert curve.longest_known == 2 and curve.steps[0] == 1.0 and curve.steps[3] == pytest.approx(1.45)


def test_short_rounds_are_not_thought_about_each(monkeypatch):
    """A decision takes as long as a tenth of a round of a small model."""
    decisions = []
    original = Governor._decide
    monkeypatch.setattr(Governor, "_decide", lambda self, *rest: decisions.append(1) or original(self, *rest))
    for milliseconds, most in ((0.05 * THINKING_MS, 150), (2 * THINKING_MS, 1000)):
        governor = Governor()
        rounds(governor, 200, 3, lambda number, length, unit=milliseconds: unit * (1 + 0.2 * length))
        decisions.clear()
        rounds(governor, 1000, 3, lambda number, length, unit=milliseconds: unit * (1 + 0.2 * length))
        assert most / 3 <= len(decisions) <= most


def test_what_is_noted_down_is_read_before_it_is_asked_for_and_never_piles_up():
    governor = Governor()
    for _ in range(10 * governor_module.MOST_UNREAD):
        governor.record(None, 0, 0, None, 10.0)
        assert len(governor._unread) < governor_module.MOST_UNREAD
    for _ in range(40):
        governor.record("mtp", 2, 2, 0.0, 11.0)
    assert governor.acceptance(1) > 0.9 and governor.cost(2) == pytest.approx(1.1, rel=0.01)


def test_a_first_plain_step_that_was_disturbed_is_not_the_unit():
    """Drafts would look dear beside it by default, and would never be tried."""
    governor = Governor()
    governor.record(None, 0, 0, None, 10.0)
    governor.record(None, 0, 0, None, 500.0)
    lengths = [length for length, _, _ in rounds(governor, 60, 3, lambda number, length: CHEAP(length))]
    assert sum(length in (3, 4) for length in lengths[-30:]) >= 20


def test_a_length_that_is_slow_to_warm_is_found_from_plain_decoding():
    """Drafts pay a tenth, but come to their speed within six rounds, as in a small model whose weights fill the caches:
    tried for three, they would look as dear as plain decoding."""
    governor, lengths = Governor(), []
    for number in range(2500):
        length, _ = governor.choose()
        row = lengths[::-1]
        used = next((n for n, each in enumerate(row) if each != length), len(row))
        cold = 0.35 * 0.6**used if length else 0.0
        slope = 2.0 if number < 300 else 0.87
        governor.record("mtp", length, min(length, 2), 0.0, 10.0 * (1 + slope * length) * (1 + cold))
        lengths.append(length)
    assert lengths[100:300].count(0) >= 180
    assert lengths[-500:].count(2) >= 400


def test_a_doubted_cost_says_nothing_of_shorter_lengths():
    """Three drafts were dear once and taken for a tenth more than expected; one draft, measured twice, is dearer."""
    curve = CostCurve(MAX_DRAFT, 1.0, 0.1)
    for round, length, steps in ((1, 0, 1.0), (2, 3, 9.0), (3, 1, 2.5), (4, 1, 2.5)):
        curve.record(round, length, steps)
    assert curve.steps[1] == 2.5 and curve.steps[3] > 2.5
