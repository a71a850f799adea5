"""The governor against simulated machines and texts: it drafts where that pays and nowhere else."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable

import models
import pytest
import rounds
from hypothesis import given
from hypothesis import strategies as st

from kestrel_engine import governor as governor_module
from kestrel_engine import session as session_module
from kestrel_engine.events import Round
from kestrel_engine.governor import EXPLORE_EVERY, Governor
from kestrel_engine.options import MAX_DRAFT
from kestrel_engine.session import Turn
from kestrel_engine.tokenizer import Tokenizer

Acceptance = Callable[[int], float]
"""Draft position → probability of being right when those before it are."""
Cost = Callable[[int], float]
"""Draft length → milliseconds of a round."""


class Simulation:
    """Rounds of a governor on a machine with `cost` and a text with `acceptance`; both may be changed."""

    def __init__(self, acceptance: Acceptance, cost: Cost, seed: int = 0):
        self.governor, self.random = Governor(), random.Random(seed)
        self.acceptance, self.cost = acceptance, cost

    def run(self, count: int) -> tuple[list[int], float]:
        """The lengths of `count` rounds, and their milliseconds per token."""
        lengths, milliseconds, tokens = [], 0.0, 0
        for _ in range(count):
            length, reason = self.governor.choose()
            assert 0 <= length <= MAX_DRAFT and reason
            accepted = 0
            while accepted < length and self.random.random() < self.acceptance(accepted):
                accepted += 1
            spent = self.cost(length)
            self.governor.record(length, accepted, spent)
            lengths.append(length)
            milliseconds, tokens = milliseconds + spent, tokens + accepted + 1
        return lengths, milliseconds / tokens


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


@pytest.mark.parametrize("cost", [CHEAP, DEAR, FIXED_COST], ids=["cheap", "dear", "fixed cost"])
def test_nothing_is_drafted_when_drafts_never_hit(cost):
    simulation = Simulation(lambda position: 0.0, cost)
    simulation.run(300)
    lengths, rate = simulation.run(240)
    assert usual(lengths) == 0 and lengths.count(0) >= 220
    assert rate <= 1.06 * cost(0)


@pytest.mark.parametrize("acceptance", [0.3, 0.7, 0.95])
def test_nothing_is_drafted_when_it_costs_too_much(acceptance):
    simulation = Simulation(lambda position: acceptance, DEAR)
    simulation.run(300)
    lengths, rate = simulation.run(240)
    assert usual(lengths) == 0 and lengths.count(0) >= 220
    assert rate <= 1.06 * DEAR(0)


def test_long_drafts_when_they_always_hit():
    simulation = Simulation(lambda position: 1.0, CHEAP)
    simulation.run(300)
    lengths, rate = simulation.run(240)
    assert usual(lengths) == MAX_DRAFT
    assert rate < 1.1 * CHEAP(MAX_DRAFT) / (MAX_DRAFT + 1)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("cost", [CHEAP, DEAR, FIXED_COST], ids=["cheap", "dear", "fixed cost"])
@pytest.mark.parametrize("acceptance", [0.2, 0.5, 0.8, 0.95])
def test_near_the_best_fixed_length(acceptance, cost, seed):
    """And never worse than plain decoding by more than exploring costs."""
    simulation = Simulation(lambda position: acceptance, cost, seed)
    simulation.run(200)
    _, rate = simulation.run(2000)
    best = best_rate(lambda position: acceptance, cost)
    assert rate <= 1.1 * best
    assert rate <= 1.05 * cost(0)


def test_it_follows_a_text_that_changes():
    simulation = Simulation(lambda position: 0.95, CHEAP)
    assert usual(simulation.run(200)[0][100:]) >= 4
    simulation.acceptance = lambda position: 0.0
    assert usual(simulation.run(200)[0][100:]) == 0
    simulation.acceptance = lambda position: 0.95
    assert usual(simulation.run(1500)[0][1000:]) >= 4


def test_it_follows_a_machine_that_changes():
    """Every neighbour is measured again, plain decoding too: old costs do not hold for ever."""
    simulation = Simulation(lambda position: 0.9, CHEAP)
    assert usual(simulation.run(300)[0][200:]) >= 4
    simulation.cost = lambda length: 10 + 40 * length
    assert usual(simulation.run(3000)[0][2000:]) == 0


def test_one_slow_round_does_not_stay():
    """A plain round that was interrupted does not rule plain decoding out for ever."""
    simulation = Simulation(lambda position: 0.9, lambda length: 10 + 25 * length)
    simulation.governor.record(0, 0, 500.0)
    assert usual(simulation.run(3000)[0][2000:]) == 0


def test_exploring_is_bounded_and_reaches_every_neighbour():
    simulation = Simulation(lambda position: 0.9, CHEAP)
    simulation.run(600)
    lengths, _ = simulation.run(40 * EXPLORE_EVERY)
    settled = usual(lengths)
    others = [length for length in lengths if length != settled]
    assert len(others) <= len(lengths) / EXPLORE_EVERY + 4
    assert len(others) >= 30
    neighbours = {settled - 1, 0} | ({settled + 1} if settled < MAX_DRAFT else set())
    assert neighbours <= set(others)


def test_a_small_advantage_changes_nothing():
    """Lengths 3 and 4 promise nearly the same: the present one stays."""
    governor = Governor()
    for position in range(MAX_DRAFT):
        governor._accepted[position], governor._tested[position] = (1e6, 1e6) if position < 4 else (0.0, 1e6)
    governor._milliseconds = {k: 40.0 if k == 3 else 49.9 if k == 4 else 1000.0 for k in range(MAX_DRAFT + 1)}
    assert [governor.choose()[0] for _ in range(EXPLORE_EVERY - 1)] == [3] * (EXPLORE_EVERY - 1)
    governor._milliseconds[4] = 49.9 / governor_module.HYSTERESIS
    governor.choose()  # this one explores
    assert governor.choose()[0] == 4


@given(
    limits=st.lists(st.integers(0, MAX_DRAFT), min_size=30, max_size=60),
    acceptance=st.floats(0, 1),
    milliseconds=st.lists(st.floats(0.001, 1000), min_size=5, max_size=5),
)
def test_limits_are_kept_whatever_happens(limits, acceptance, milliseconds):
    governor, generator = Governor(), random.Random(1)
    for n, limit in enumerate(limits):
        length, reason = governor.choose(limit)
        assert 0 <= length <= limit and "ms expected" in reason
        accepted = sum(generator.random() < acceptance for _ in range(length))
        governor.record(length, accepted, milliseconds[n % 5])
        assert all(0 <= governor.acceptance(k) <= 1 for k in range(MAX_DRAFT))
        assert all(governor.cost(k) > 0 for k in range(MAX_DRAFT + 1))


def test_estimates():
    governor = Governor()
    assert governor.expected_tokens(0) == 1
    for _ in range(400):
        governor.record(3, 2, 20.0)
    assert governor.acceptance(0) == pytest.approx(1, abs=1e-3)
    assert governor.acceptance(1) == pytest.approx(1, abs=1e-3)
    assert governor.acceptance(2) == pytest.approx(0, abs=1e-3)
    assert governor.acceptance(3) == governor_module.PRIOR_ACCEPTANCE, "never tested"
    assert governor.expected_tokens(3) == pytest.approx(3, abs=0.01)
    assert governor.cost(3) == pytest.approx(20)
    governor.record(1, 1, 12.0)
    assert governor.cost(2) == pytest.approx(16) and governor.cost(5) == pytest.approx(28)
    assert governor.cost(0) == pytest.approx(8)


def test_positions_behind_the_first_rejection_say_nothing():
    governor = Governor()
    before = [governor.acceptance(k) for k in range(MAX_DRAFT)]
    governor.record(5, 1, 10.0)
    after = [governor.acceptance(k) for k in range(MAX_DRAFT)]
    assert after[0] > before[0] and after[1] < before[1] and after[2:] == before[2:]


# --- in a session -----------------------------------------------------------------------------------------


def let_rounds_cost(cost: Cost, monkeypatch) -> None:
    """What the session's rounds cost is decided by the test."""
    original = session_module.run_round

    def run(*arguments):
        result = original(*arguments)
        spent = cost(len(result.drafts))
        return dataclasses.replace(result, draft_ms=0.0, verify_ms=spent, replay_ms=0.0)

    monkeypatch.setattr(session_module, "run_round", run)


@pytest.mark.parametrize(
    ("right", "cost", "low", "high"),
    [
        (99, CHEAP, 6, 8),
        (0, CHEAP, 0, 0),
        (99, DEAR, 0, 0),
        (1, lambda length: 10 + 2 * length, 1, 1),
    ],
    ids=["always right", "always wrong", "too dear", "one right"],
)
def test_auto_in_a_session(echo_model, monkeypatch, right, cost, low, high):
    model = models.load(echo_model, context=1024)
    prompt = models.random_tokens(model, 10)
    ids = rounds.plain_ids(model, prompt, rounds.SAMPLED, 600)
    session = rounds.make_session(model, Tokenizer(echo_model))
    session.drafters["known"] = rounds.KnowingDrafter(
        [*prompt, *ids], model.config.vocab_size, lambda n: right
    )
    session.draft_length = "auto"
    let_rounds_cost(cost, monkeypatch)
    _, emitted, events = rounds.answer(session, Turn(prompt, rounds.SAMPLED, 500, drafter="known"))
    assert emitted == ids[: len(emitted)]
    chosen = [event.drafted for event in events if isinstance(event, Round)]
    assert low <= usual(chosen[len(chosen) // 2 :]) <= high


def test_the_first_round_of_a_turn_is_not_held_against_drafting(echo_model, monkeypatch):
    """It gives the whole prompt to the MTP head."""
    model = models.load(echo_model)
    session = rounds.make_session(model, Tokenizer(echo_model))
    session.draft_length = "auto"
    costs = iter([10_000.0])
    let_rounds_cost(lambda length: 10.0 + (next(costs, 0.0) if length else 0.0), monkeypatch)
    rounds.answer(session, Turn(models.random_tokens(model, 40), rounds.GREEDY, 60))
    assert session.governor.cost(3) < 100
