"""The governor in a session: what it learns there, and that drafts end or grow with what rounds cost."""

from __future__ import annotations

import dataclasses

import models
import pytest
import rounds
from machines import CHEAP, DEAR, Cost, usual

from kestrel_engine import session as session_module
from kestrel_engine.events import Round
from kestrel_engine.session import Turn
from kestrel_engine.tokenizer import Tokenizer


def test_what_was_learnt_stays_for_the_next_answer(echo_model):
    model = models.load(echo_model, context=1024)
    session = rounds.make_session(model, Tokenizer(echo_model))
    session.draft_length = "auto"
    firsts = []
    for seed in range(3):
        _, _, events = rounds.answer(session, Turn(models.random_tokens(model, 20, seed), rounds.GREEDY, 60))
        firsts.append(next(event for event in events if isinstance(event, Round)))
    assert firsts[0].reason == "no drafts: measuring a plain step"
    assert all(first.reason != firsts[0].reason for first in firsts[1:])


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


def test_rounds_that_prepare_something_are_not_held_against_their_length(echo_model, monkeypatch):
    """Each number of pairs for the MTP head, of rows and of drafts is prepared when it first comes: in a small model
    that takes as long as many rounds."""
    model = models.load(echo_model, context=1024)
    session = rounds.make_session(model, Tokenizer(echo_model))
    session.draft_length = "auto"
    before = model.prepared

    def cost(length: int) -> float:
        nonlocal before
        before, prepares = model.prepared, model.prepared > before
        return CHEAP(length) + 500.0 * prepares

    let_rounds_cost(cost, monkeypatch)
    prompt = models.random_tokens(model, 40)
    _, _, events = rounds.answer(session, Turn(prompt, rounds.GREEDY, 200, drafter="mtp"))
    chosen = [event.drafted for event in events if isinstance(event, Round)]
    assert 0 not in chosen[3:-1] and usual(chosen) == 8
    assert session.governor.cost(8) / session.governor.cost(0) == pytest.approx(1.4)


def test_the_first_round_of_a_turn_is_not_held_against_drafting(echo_model, monkeypatch):
    """It gives the whole prompt to the MTP head."""
    model = models.load(echo_model)
    session = rounds.make_session(model, Tokenizer(echo_model))
    session.draft_length = "auto"
    costs = iter([10_000.0])
    let_rounds_cost(lambda length: 10.0 + (next(costs, 0.0) if length else 0.0), monkeypatch)
    rounds.answer(session, Turn(models.random_tokens(model, 40), rounds.GREEDY, 60))
    assert session.governor.cost(3) < 10
