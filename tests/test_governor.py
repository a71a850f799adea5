"""The governor against simulated machines and texts: it drafts where that pays and nowhere else."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from machines import CHEAP, DEAR, FIXED_COST, Cost, Simulation, best_rate, line, usual

from kestrel_engine.acceptance_rates import PRIOR_ACCEPTANCE
from kestrel_engine.cost_curve import SURPRISE, CostCurve
from kestrel_engine.governor import Governor
from kestrel_engine.options import MAX_DRAFT

FALLING = lambda position: (0.71, 0.51, 0.36, 0.3, 0.25, 0.2, 0.15, 0.1)[position]
CLIFF = lambda length: 10 * (1 + 0.12 * length + 1.5 * (length >= 4))


@pytest.mark.parametrize("cost", [CHEAP, DEAR, FIXED_COST], ids=["cheap", "dear", "fixed cost"])
def test_nothing_is_drafted_when_drafts_never_hit(cost):
    simulation = Simulation(lambda position: 0.0, cost)
    simulation.run(300)
    lengths, rate = simulation.run(300)
    assert lengths.count(0) >= 285
    assert rate <= 1.02 * cost(0)


@pytest.mark.parametrize("acceptance", [0.3, 0.7, 0.95])
def test_nothing_is_drafted_when_it_costs_too_much(acceptance):
    simulation = Simulation(lambda position: acceptance, DEAR)
    simulation.run(300)
    lengths, rate = simulation.run(300)
    assert lengths.count(0) >= 280
    assert rate <= 1.03 * DEAR(0)


def test_long_drafts_when_they_always_hit():
    simulation = Simulation(lambda position: 1.0, CHEAP)
    simulation.run(200)
    lengths, rate = simulation.run(240)
    assert usual(lengths) == MAX_DRAFT
    assert rate < 1.04 * CHEAP(MAX_DRAFT) / (MAX_DRAFT + 1)


CASES = {
    "never right": (lambda position: 0.0, line(0.15)),
    "hardly ever right": (lambda position: 0.1, line(0.15)),
    "near the break-even": (lambda position: 0.2, line(0.15)),
    "half": (lambda position: 0.5, line(0.15)),
    "falling": (FALLING, line(0.15)),
    "good": (lambda position: 0.85, line(0.15)),
    "good and dear": (lambda position: 0.85, line(0.3)),
    "always right": (lambda position: 1.0, line(0.15)),
    "cliff": (lambda position: 0.85, CLIFF),
    "fixed cost": (lambda position: 0.6, FIXED_COST),
    "kestrel-nano": (
        lambda position: 0.8,
        lambda length: 10 * (1, 1.7, 2, 2.6, 3, 3.6, 4.2, 4.8, 5.4)[length],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_near_the_best_fixed_length(name):
    """On machines with noise and disturbed rounds: over all seeds from the first round of the first answer, when
    nothing is known yet, and with each seed in the long run."""
    acceptance, cost = CASES[name]
    best = best_rate(acceptance, cost)
    early, late = [], []
    for seed in range(10):
        simulation = Simulation(acceptance, cost, seed, noise=0.04, outliers=0.02)
        early.append(best / simulation.run(150)[1])
        late.append(best / simulation.run(600)[1])
    assert sum(early) / len(early) >= 0.94 and min(early) >= 0.8
    assert sum(late) / len(late) >= 0.97 and min(late) >= 0.95


@pytest.mark.parametrize("slope", [0.05, 0.15, 0.3])
@pytest.mark.parametrize("acceptance", [0.0, 0.1, 0.3, 0.85])
def test_never_much_slower_than_plain_decoding(acceptance, slope):
    rates = []
    for seed in range(10):
        simulation = Simulation(lambda position: acceptance, line(slope), seed, noise=0.04, outliers=0.02)
        rates.append(10 / simulation.run(600)[1])
    assert min(rates) >= 0.97


def test_it_follows_a_text_that_changes():
    simulation = Simulation(lambda position: 0.95, CHEAP)
    assert usual(simulation.run(200)[0][100:]) >= 4
    simulation.acceptance = lambda position: 0.0
    assert usual(simulation.run(200)[0][100:]) == 0
    simulation.acceptance = lambda position: 0.95
    assert usual(simulation.run(400)[0][200:]) >= 4


def test_it_follows_a_machine_on_which_drafts_become_dear():
    """Every neighbour is measured again, plain decoding too: old costs do not hold for ever."""
    simulation = Simulation(lambda position: 0.9, CHEAP)
    assert usual(simulation.run(300)[0][200:]) >= 4
    simulation.cost = lambda length: 10 + 40 * length
    assert usual(simulation.run(600)[0][400:]) == 0


@pytest.mark.parametrize("factor", [0.5, 2.5])
def test_a_machine_that_changes_its_speed_changes_nothing(factor):
    simulation = Simulation(lambda position: 0.7, line(0.15), noise=0.02)
    simulation.run(300)
    simulation.cost = lambda length: factor * line(0.15)(length)
    _, rate = simulation.run(300)
    assert rate <= 1.08 * best_rate(lambda position: 0.7, simulation.cost)


def test_what_disturbs_rounds_does_not_make_the_length_in_use_look_cheap():
    """Disturbed rounds are longer, never shorter. A speed of the machine that followed their mean while the cost of
    the length in use followed their median would sink for ever."""
    governor, generator = settled_governor(3, lambda length: 10.0 + 5 * length), random.Random(1)
    for _ in range(1000):
        governor.record("mtp", 3, 3, 0.0, 25.0 * (1 + generator.expovariate(5)))
    assert governor.cost(3) / governor.cost(0) == pytest.approx(2.5, rel=0.15)


def test_a_length_that_was_long_out_of_use_is_compared_when_it_is_warm():
    """It is tried for several rounds, and the later half counts."""
    governor, cost = Governor(), line(0.6)
    lengths: list[int] = []
    for _ in range(2000):
        length, _ = governor.choose()
        cold = 0.0 if length in lengths[-1:] and (length or lengths[-3:] == [0, 0, 0]) else 3.0
        governor.record("mtp", length, min(length, 3), 0.0, cost(length) + cold)
        lengths.append(length)
    assert usual(lengths[1000:]) == 3 and {0, 2, 4} <= set(lengths[1000:])
    for length in (0, 2, 3, 4):
        assert governor.cost(length) / governor.cost(0) == pytest.approx(cost(length) / cost(0), rel=0.02)


def test_drafts_that_pay_only_when_warm_are_found_from_plain_decoding():
    """Drafting does not pay at first; of a stretch of drafted rounds, the first one always takes half as long again."""
    governor, generator = Governor(), random.Random(2)
    lengths: list[int] = []
    for round in range(2000):
        length, _ = governor.choose()
        cost = line(1.0 if round < 200 else 0.5)(length)
        cold = 0.5 * cost if length and length not in lengths[-1:] else 0.0
        accepted = next((n for n in range(length) if generator.random() > 0.85), length)
        governor.record("mtp", length, accepted, 0.0, cost + cold)
        lengths.append(length)
    assert usual(lengths[100:200]) == 0
    assert usual(lengths[1000:]) >= 1


def test_a_plain_step_that_was_disturbed_does_not_stay():
    """Nor does anything look cheaper than plain decoding for long."""
    simulation = Simulation(lambda position: 0.2, line(0.4))
    for _ in range(2):
        simulation.governor.record(None, 0, 0, None, 500.0)
    lengths, _ = simulation.run(300)
    assert usual(lengths[100:]) == 0


def test_exploring_is_bounded_and_reaches_every_neighbour():
    simulation = Simulation(lambda position: 0.9, CHEAP)
    simulation.run(600)
    lengths, _ = simulation.run(1000)
    settled = usual(lengths)
    others = [length for length in lengths if length != settled]
    assert 15 <= len(others) <= 60
    neighbours = {settled - 1, 0} | ({settled + 1} if settled < MAX_DRAFT else set())
    assert neighbours <= set(others)


def test_a_small_advantage_changes_nothing():
    """Lengths 3 and 4 promise nearly the same: the present one stays."""
    cost = {0: 10.0, 1: 16.0, 2: 16.0, 3: 16.0, 4: 20.2}
    governor = settled_governor(4, lambda length: cost.get(length, 60.0))
    assert governor.choose()[0] == 3
    for milliseconds, expected in ((19.8, 3), (18.0, 4)):
        for _ in range(12):
            governor.record("mtp", 4, 4, 0.0, milliseconds)
        chosen = (governor.choose() for _ in range(9))
        assert next(length for length, reason in chosen if not reason.startswith("exploring")) == expected


def settled_governor(right: int, cost: Cost) -> Governor:
    """A governor that has seen every length often; the first `right` drafts are always right, others never."""
    governor = Governor()
    for _ in range(12):
        for length in (0, 1, 2, 4, 5, 6, 7, 8, 3):
            governor.record("mtp", length, min(length, right), 0.0, cost(length))
    governor.choose()
    return governor


@given(
    limits=st.lists(st.integers(0, MAX_DRAFT), min_size=30, max_size=60),
    acceptance=st.floats(0, 1),
    milliseconds=st.lists(st.floats(0.001, 1000), min_size=5, max_size=5),
    proposers=st.lists(st.sampled_from(["mtp", "lookup", None]), min_size=7, max_size=7),
)
def test_limits_are_kept_whatever_happens(limits, acceptance, milliseconds, proposers):
    governor, generator = Governor(), random.Random(1)
    for n, limit in enumerate(limits):
        proposer = proposers[n % 7]
        length, reason = governor.choose(limit, proposer)
        assert 0 <= length <= (limit if proposer else 0) and "draft" in reason
        accepted = sum(generator.random() < acceptance for _ in range(length))
        spent = milliseconds[n % 5]
        governor.record(proposer, length, accepted, spent if n % 3 else None, spent if n % 4 else None)
        assert all(0 <= governor.acceptance(k) <= 1 for k in range(MAX_DRAFT))
        costs = [governor.cost(k) for k in range(MAX_DRAFT + 1)]
        assert all(0 < cost < float("inf") for cost in costs)


def test_estimates():
    governor = Governor()
    assert governor.expected_tokens(0) == 1
    for _ in range(400):
        governor.record("mtp", 0, 0, None, 10.0)
        governor.record("mtp", 3, 2, 2.0, 13.0)
    assert governor.acceptance(0) == pytest.approx(1, abs=0.02)
    assert governor.acceptance(1) == pytest.approx(1, abs=0.02)
    assert governor.acceptance(2) == pytest.approx(0, abs=0.05)
    assert governor.acceptance(3) == governor.acceptance(2), "never tested: as the one before it"
    assert governor.expected_tokens(3) == pytest.approx(3, abs=0.1)
    assert governor.cost(3) / governor.cost(0) == pytest.approx(1.5, rel=0.01)
    assert governor.cost(2) / governor.cost(0) == pytest.approx(1 + 1 / 3, rel=0.01), "on the line between"
    assert governor.cost(6) / governor.cost(0) == pytest.approx(2, rel=0.01), "and beyond"


def test_positions_behind_the_first_rejection_say_nothing_of_their_own():
    governor = Governor()
    governor.record("mtp", 5, 1, 1.0, 10.0)
    assert governor.acceptance(0) > PRIOR_ACCEPTANCE > governor.acceptance(1)
    assert all(governor.acceptance(k) == governor.acceptance(1) for k in range(2, MAX_DRAFT))


def test_each_proposer_has_its_own_acceptance_and_cost():
    """Looking up costs nothing; what it proposes may be right more often or less."""
    governor = Governor()
    for _ in range(60):
        governor.record(None, 0, 0, None, 10.0)
        for length in (1, 3, 6, 8):
            governor.record("lookup", length, length, 0.0, 10.0 + length)
            governor.record("mtp", length, 0, 2.0 * length, 10.0 + length)
    assert governor.choose(proposer="lookup")[0] == MAX_DRAFT
    assert governor.choose(proposer="mtp")[0] == 0
    assert governor.cost(8, "lookup") / governor.cost(0) == pytest.approx(1.8, rel=0.05)
    assert governor.cost(8, "mtp") / governor.cost(0) == pytest.approx(3.4, rel=0.05)


def test_lone_measurements_are_not_believed_when_they_surprise():
    curve = CostCurve(8, 1.0, 0.1)
    curve.record(1, 0, 1.0)
    curve.record(2, 3, 5.0)
    assert curve.steps[3] == pytest.approx(1.3 * SURPRISE)
    curve.record(3, 3, 1.3)
    assert curve.steps[3] == pytest.approx(1.3)
    curve.record(4, 5, 6.0)
    curve.record(5, 5, 6.0)
    assert curve.steps[5] == 6.0, "twice is"
    assert 1.3 < curve.steps[4] < 6.0 < curve.steps[6]


def test_more_rows_never_seem_to_cost_less():
    curve = CostCurve(8, 1.0, 0.1)
    for round in range(5):
        curve.record(round, 0, 4.0)
        curve.record(round, 2, 1.2)
    assert curve.steps[0] == curve.steps[1] == 1.2
    assert curve.steps == sorted(curve.steps)


def test_reasons_can_be_understood():
    governor = Governor()
    assert governor.choose()[1] == "no drafts: measuring a plain step"
    assert governor.choose(5, None)[1] == "no drafts: nothing to go by"
    assert governor.choose(0)[1] == "no drafts: the answer or the context ends here"
    governor = settled_governor(3, lambda length: 10.0 + length)
    assert governor.choose()[1] == "3 drafts: 4.0 tokens a round for 1.3 steps"
    assert (
        governor.choose(1)[1]
        == "1 draft: 2.0 tokens a round for 1.1 steps; the answer or the context ends soon"
    )
    reasons = []
    for _ in range(40):
        length, reason = governor.choose()
        governor.record("mtp", length, min(length, 3), 0.0, 10.0 + length)
        reasons.append(reason)
    assert any(reason.startswith("exploring 2 drafts: 3.0 tokens") for reason in reasons)
    governor = settled_governor(0, lambda length: 10.0 + length)
    assert governor.choose()[1].startswith("no drafts: 1 would give 1.0")
