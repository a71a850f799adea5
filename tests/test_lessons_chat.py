"""The rows of the table (see test_lessons.py) that are about chats: caches, stops, failures, what is shown."""

from __future__ import annotations

import dataclasses

import models
import pytest
import rounds
import test_session
from rounds import GREEDY, SAMPLED

from kestrel_engine.drafter import FirstHit, LookupDrafter
from kestrel_engine.events import Round, TurnStarted
from kestrel_engine.sampling import Sampler
from kestrel_engine.session import Turn
from kestrel_engine.speculate import run_round
from kestrel_engine.tokenizer import Tokenizer


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = rounds.write_small(tmp_path_factory.mktemp("small") / "model", vocab_size=448)
    loaded = models.load(folder, "q4", context=512)
    loaded.config = dataclasses.replace(loaded.config, eos_token_ids=())
    return loaded


@pytest.fixture
def session(model, tiny_model):
    return rounds.make_session(model, Tokenizer(tiny_model), prefill_chunk=8)


def knowing(session, prompt, ids, right, length):
    """`session` drafts `length` tokens of which the first `right` are those of the plain run."""
    vocabulary = session.model.config.vocab_size
    session.drafters["known"] = rounds.KnowingDrafter([*prompt, *ids], vocabulary, lambda n: right)
    session.draft_length = length


# --- what is kept between turns ---------------------------------------------------------------------------


def test_lesson_14_the_same_request_after_another(session, model):
    a, b = models.random_tokens(model, 20, 1), models.random_tokens(model, 20, 2)
    first = test_session.check_turn(session, a, boundary=15)
    test_session.check_turn(session, b, boundary=15)
    assert test_session.check_turn(session, a, boundary=15) == first


def test_lesson_15_snapshots_are_of_consumed_tokens(session, model):
    """Taken while a log of accepted drafts waits, and used after rejected ones."""
    prompt = models.random_tokens(model, 20)
    ids = rounds.plain_ids(model, prompt, SAMPLED, 20)
    knowing(session, prompt, ids, 2, 4)
    test_session.check_turn(session, prompt, drafter="known")
    assert session.state.delta_layers[0].log_length > 0
    longer = [*session.state.tokens, 9, 9, 9]
    test_session.check_turn(session, longer, boundary=len(longer) - 3, drafter="known")
    (snapshot,) = session._snapshots
    session.state.restore(snapshot)
    fresh, _ = models.consume(model, longer[:-3])
    rounds.assert_same_state(model, session.state, rounds.settled(model, fresh))


@pytest.mark.parametrize("length", [0, 3, "auto"])
def test_lesson_16_a_follow_up_prefills_new_tokens_only(session, model, length):
    session.draft_length = length
    prompt = models.random_tokens(model, 20)
    _, ids, _ = rounds.answer(session, Turn(prompt, SAMPLED, 8))
    _, _, events = rounds.answer(session, Turn([*prompt, *ids, 1, 2, 3], SAMPLED, 8))
    started = next(event for event in events if isinstance(event, TurnStarted))
    assert started.prompt_tokens - started.reused_tokens == 4


@pytest.mark.parametrize("tail", [1, 2, 3, 8, 9])
@pytest.mark.parametrize("count", [15, 16, 17, 18])
def test_lesson_17_prompts_and_tails_around_the_chunk(session, model, count, tail):
    prompt = models.random_tokens(model, count)
    ids = test_session.check_turn(session, prompt, 0, count=1)
    reused = len(session.state.tokens)
    test_session.check_turn(session, [*prompt, *ids, *range(tail - 1)], reused)


def test_lesson_20_many_turns(session):
    test_session.soak(session, 20, 5)


# --- where answers end ------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", range(6))
@pytest.mark.parametrize("what", ["end token", "limit", "limit and end token"])
def test_lesson_33_the_end_at_each_place_of_an_accepted_run(session, model, monkeypatch, what, place):
    prompt = models.random_tokens(model, 9)
    ids = rounds.plain_ids(model, prompt, SAMPLED, 20)
    assert len(set(ids[:6])) == 6
    knowing(session, prompt, ids, 9, 5)
    if "end" in what:
        monkeypatch.setattr(model, "config", dataclasses.replace(model.config, eos_token_ids=(ids[place],)))
    limit = place + 1 if "limit" in what else 20
    ended, emitted, _ = rounds.answer(session, Turn(prompt, SAMPLED, limit, drafter="known"))
    assert emitted == ids[: place + 1]
    assert ended.finish_reason == ("stop" if "end" in what else "length")
    assert session.state.tokens == [*prompt, *ids[:place]]


def test_lesson_34_a_drafted_stop_that_the_model_does_not_say(session, model, monkeypatch):
    prompt = models.random_tokens(model, 9)
    ids = rounds.plain_ids(model, prompt, SAMPLED, 20)
    vocabulary = model.config.vocab_size
    wrong = tuple({(token + 1) % vocabulary for token in ids} - set(ids))
    monkeypatch.setattr(model, "config", dataclasses.replace(model.config, eos_token_ids=wrong))
    knowing(session, prompt, ids, 1, 4)
    ended, emitted, events = rounds.answer(session, Turn(prompt, SAMPLED, 10, drafter="known"))
    rejected = {id for event in events if isinstance(event, Round) for id in event.rejected}
    assert rejected & set(wrong)
    assert (ended.finish_reason, emitted) == ("length", ids[:10])


@pytest.mark.parametrize("calls", [0, 1, 2, 3])
@pytest.mark.parametrize(
    "step, sampling",
    [("emit", SAMPLED), ("sample", rounds.SAMPLINGS["penalties"])],
    ids=["whole", "stepwise"],
)
@pytest.mark.parametrize("further", [False, True], ids=["again", "further"])
def test_lesson_35_an_exception_between_verify_and_commit(
    session, model, monkeypatch, calls, step, sampling, further
):
    """Then the same request, or one that goes on behind all that the broken round had consumed."""
    prompt = models.random_tokens(model, 20)
    ids = rounds.plain_ids(model, prompt, sampling, 12)
    knowing(session, prompt, ids, 3, 3)
    original, left = getattr(Sampler, step), [calls]

    def breaks(self, *arguments):
        left[0] -= 1
        if left[0] < 0:
            raise RuntimeError("between")
        return original(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Sampler, step, breaks)
        with pytest.raises(RuntimeError, match="between"):
            rounds.answer(session, Turn(prompt, sampling, 12, drafter="known", boundary=15))
    test_session.check_turn(session, [*prompt, *ids[:2], 1, 2, 3] if further else prompt, 15)


# --- who drafts, and what is told -------------------------------------------------------------------------


class Counted:
    """A drafter that counts how often it is asked."""

    name = "counted"

    def __init__(self):
        self.asked = 0

    def reset(self):
        pass

    def draft(self, state, next_token, count, sampler):
        self.asked += 1
        return [1] * count


@pytest.mark.parametrize("run", [lambda model: model, models.stepwise], ids=["whole", "stepwise"])
def test_lesson_36_one_proposer_a_round(model, run):
    """The head is asked when the lookup has nothing, and not otherwise."""
    model, head, both = run(model), Counted(), []
    drafter = FirstHit([LookupDrafter(), head])
    for prompt in ([5, 6, 7, 8, 9, 5, 6, 7, 8], [1, 2, 3, 4, 5, 6, 7, 8, 9]):
        state, _ = models.consume(model, prompt[:-1])
        sampler = Sampler(GREEDY, model.backend)
        drafter.reset()
        result = run_round(
            model, state, prompt[-1], 1, drafter, rounds.make_rollback("cursor"), sampler, lambda token: False
        )
        both.append((result.drafter, result.drafts, head.asked))
    assert both == [("lookup", [9], 0), ("counted", [1], 1)]


def test_lesson_37_acceptance_and_cost_are_told_with_every_round(session, model):
    prompt = models.random_tokens(model, 9)
    ids = rounds.plain_ids(model, prompt, SAMPLED, 20)
    knowing(session, prompt, ids, 2, 4)
    _, _, events = rounds.answer(session, Turn(prompt, SAMPLED, 12, drafter="known"))
    told = [event for event in events if isinstance(event, Round)]
    assert [(event.drafted, event.accepted, len(event.rejected)) for event in told[:-1]] == [(4, 2, 2)] * 3
    for event in told:
        assert event.drafter == "knowing" and event.reason
        assert event.verify_ms > 0 and event.draft_ms >= 0 and event.replay_ms >= 0


def test_lesson_38_a_state_is_of_one_stream(model):
    """Layers that stand at different tokens are refused before anything is computed from them."""
    prompt = models.random_tokens(model, 12)
    for tamper in (
        lambda state: setattr(state.delta_layers[0], "committed", 11),
        lambda state: setattr(state.delta_layers[0], "conv_length", 11),
        lambda state: setattr(state.caches[0], "length", 11),
        lambda state: setattr(state.mtp, "length", 13),
        lambda state: state.tokens.pop(),
    ):
        state, _ = models.consume(model, prompt)
        tamper(state)
        with pytest.raises(AssertionError):
            model.forward(state, [1], 1)
