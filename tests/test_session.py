"""State across turns: only what is new is prefilled, and every answer is that of a fresh run."""

from __future__ import annotations

import dataclasses

import engines
import models
import pytest
import rounds
from hypothesis import given, settings
from hypothesis import strategies as st
from rounds import GREEDY, ROLLBACKS, SAMPLED, SAMPLINGS

from kestrel_engine import session as session_module
from kestrel_engine.errors import KestrelError
from kestrel_engine.events import Notice, Prefill, Submit, TurnEnded, TurnStarted
from kestrel_engine.model import HIDDEN_TAIL_LIMIT
from kestrel_engine.session import Turn
from kestrel_engine.tokenizer import Tokenizer

NEW = [301, 302, 303, 304, 305]
"""Tokens that a user adds."""


@pytest.fixture(scope="module")
def tokenizer(tiny_model):
    return Tokenizer(tiny_model)


@pytest.fixture(scope="module")
def model(tiny_model):
    """Without end tokens, so that answers have the length that is asked for."""
    loaded = models.load(tiny_model, context=1024)
    loaded.config = dataclasses.replace(loaded.config, eos_token_ids=())
    return loaded


@pytest.fixture
def make(model, tokenizer):
    return lambda **options: rounds.make_session(model, tokenizer, **options)


def check_turn(session, prompt, reused=None, sampling=SAMPLED, count=6, boundary=0, **turn) -> list[int]:
    """One turn: the tokens and the state of a fresh run, and what was prefilled. Returns the emitted ids."""
    model = session.model
    turn = Turn(prompt, sampling, max_tokens=count, boundary=boundary, **turn)
    ended, ids, events = rounds.answer(session, turn)
    assert ids == rounds.plain_ids(model, prompt, sampling, count)
    assert ended.prompt_tokens == len(prompt)
    consumed = [*prompt, *ids[:-1]]
    state, _ = models.consume(model, consumed, 64)
    rounds.assert_same_state(model, session.state, rounds.settled(model, state))

    started = next(event for event in events if isinstance(event, TurnStarted))
    progress = [event for event in events if isinstance(event, Prefill)]
    assert started.prompt_tokens == len(prompt)
    assert {event.reused for event in progress} == {started.reused_tokens} == {progress[0].done}
    assert [event.done for event in progress] == sorted(event.done for event in progress)
    assert progress[-1].done == progress[-1].total == len(prompt) - 1
    if reused is not None:
        assert started.reused_tokens == reused
    return ids


# --- reuse ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rollback", ROLLBACKS)
@pytest.mark.parametrize("length", ["auto", 0, 1, 3, 8])
def test_a_follow_up_prefills_only_what_is_new(make, model, rollback, length):
    """All that was consumed is kept; the last emitted token was not."""
    session = make(rollback=rollback)
    session.draft_length = length
    prompt = models.random_tokens(model, 20)
    reused = 0
    for _ in range(3):
        ids = check_turn(session, prompt, reused, drafter="auto")
        reused = len(prompt) + len(ids) - 1
        prompt = [*prompt, *ids, *NEW]


def test_where_the_next_prompt_parts_from_this_one(make, model):
    """Edited after the boundary, regenerated, edited before it, cut short, continued."""
    session = make()
    prompt = models.random_tokens(model, 30)
    ids = check_turn(session, prompt, 0, boundary=20)
    check_turn(session, [*prompt[:24], *NEW], 20)
    check_turn(session, prompt, 20)
    check_turn(session, prompt, 20, boundary=20)
    assert [snapshot.length for snapshot in session._snapshots] == [20]
    check_turn(session, prompt[:22], 20)
    check_turn(session, prompt[:21], 20)
    check_turn(session, [*prompt, *ids, *NEW], 20)
    check_turn(session, [*prompt[:10], *NEW, *prompt[15:]], 0, boundary=12)
    check_turn(session, prompt, 0)


def test_the_boundary_may_lie_anywhere(make, model):
    prompt = models.random_tokens(model, 12)
    for boundary in (0, 1, 4, 10, 11, 12, 99):
        session = make(prefill_chunk=4)
        check_turn(session, prompt, 0, boundary=boundary)
        again = min(boundary, len(prompt) - 1)
        check_turn(session, prompt, again)


def test_a_boundary_where_the_state_already_stands(make, model):
    """Accepted drafts may still wait in the log there."""
    session = make()
    prompt = models.random_tokens(model, 12)
    ids = check_turn(session, prompt, 0, count=9)
    border = len(prompt) + 8
    check_turn(session, [*prompt, *ids, *NEW], border, boundary=border)
    check_turn(session, [*prompt, *ids, *NEW], border, boundary=border)
    check_turn(session, [*prompt, *ids[:-1], *NEW], border)


def test_the_lookup_forgets_what_was_taken_back(make, model):
    session = make()
    first = models.random_tokens(model, 40, 1)
    check_turn(session, first, 0)
    second = models.random_tokens(model, 20, 2) * 2
    check_turn(session, second, 0, drafter="lookup")
    kept, new = session.drafters["lookup"], rounds.LookupDrafter()
    for token in range(model.config.vocab_size):
        assert kept.draft(session.state, token, 4, None) == new.draft(session.state, token, 4, None)
    assert kept._index == new._index


def test_a_b_a(make, model):
    """The same request gives the same answer after others, from a snapshot and from scratch."""
    a, b = models.random_tokens(model, 30, 1), models.random_tokens(model, 30, 2)
    shared = [*a[:12], *b[12:]]
    for other, reused in ((b, 0), (shared, 10)):
        session = make()
        first = check_turn(session, a, 0, boundary=10)
        check_turn(session, other, reused, boundary=10)
        assert check_turn(session, a, reused, boundary=10) == first


def test_the_longest_fitting_snapshot_is_taken(make, model):
    session = make()
    prompt, borders = models.random_tokens(model, 10), []
    for _ in range(4):
        borders.append(len(prompt))
        ids = check_turn(session, [*prompt, *NEW], boundary=len(prompt))
        prompt = [*prompt, *NEW, *ids]
    for border in reversed(borders):
        check_turn(session, [*prompt[: border + 3], 7], border)
    assert [snapshot.length for snapshot in session._snapshots] == borders[:1]


def test_snapshots_are_limited(make, model, monkeypatch):
    monkeypatch.setattr(session_module, "SNAPSHOT_LIMIT", 3)
    session = make()
    prompt, borders = models.random_tokens(model, 4), []
    for _ in range(6):
        borders.append(len(prompt))
        ids = check_turn(session, [*prompt, *NEW], count=2, boundary=len(prompt))
        prompt = [*prompt, *NEW, *ids]
    assert [snapshot.length for snapshot in session._snapshots] == borders[-3:]
    size = session._snapshots[0].bytes
    assert size > sum(layer.state.nbytes for layer in session.state.delta_layers)
    monkeypatch.setattr(session_module, "SNAPSHOT_BYTES", 2 * size + 1)
    check_turn(session, [*prompt, *NEW], boundary=len(prompt))
    assert len(session._snapshots) == 2
    monkeypatch.setattr(session_module, "SNAPSHOT_BYTES", 0)
    check_turn(session, [*prompt, *NEW, 5], boundary=len(prompt) + 4)
    assert len(session._snapshots) == 1, "the newest is always kept"
    check_turn(session, prompt[:20], 0)


@pytest.mark.parametrize("length", [0, 3])
def test_snapshots_hold_consumed_tokens_only(make, model, length):
    """Each equals a fresh run on its tokens, whatever was drafted and rejected since."""
    session = make(prefill_chunk=4)
    session.draft_length = length
    prompt = models.random_tokens(model, 10)
    for _ in range(3):
        ids = check_turn(session, [*prompt, *NEW], boundary=len(prompt) + 2)
        prompt = [*prompt, *NEW, *ids]
    tokens = list(session.state.tokens)
    assert len(session._snapshots) == 3
    for snapshot in reversed(session._snapshots):
        session.state.restore(snapshot)
        expected, _ = models.consume(model, tokens[: snapshot.length], 64)
        rounds.assert_same_state(model, session.state, rounds.settled(model, expected))


@pytest.mark.parametrize("count", range(1, 14))
@pytest.mark.parametrize("chunk", [1, 3, 4, 64])
def test_every_prompt_length_against_the_chunk(make, model, count, chunk):
    session = make(prefill_chunk=chunk)
    prompt = models.random_tokens(model, count)
    ids = check_turn(session, prompt, 0)
    check_turn(session, [*prompt, *ids], len(prompt) + len(ids) - 1, count=2), "a tail of one token"


# --- long sessions ----------------------------------------------------------------------------------------

turns = st.lists(
    st.tuples(
        st.sampled_from(["go on", "again", "edit", "shorten", "another", "cancel"]),
        st.integers(0, 99),
        st.sampled_from([0, 1, 3, 8, "auto"]),
    ),
    min_size=3,
    max_size=9,
)


def next_prompt(kind, number, prompt, ids, model):
    match kind:
        case "go on" | "cancel":
            return [*prompt, *ids, *NEW[: 1 + number % 5]]
        case "again":
            return prompt
        case "edit":
            place = number % len(prompt)
            return [*prompt[:place], (prompt[place] + 1) % model.config.vocab_size, *prompt[place + 1 :]]
        case "shorten":
            return prompt[: 1 + number % len(prompt)]
    return models.random_tokens(model, 8, number)


@settings(max_examples=25)
@given(turns=turns, sampling=st.sampled_from([*SAMPLINGS.values()]), rollback=st.sampled_from(ROLLBACKS))
def test_any_chat_is_a_fresh_run_at_every_turn(model, tokenizer, turns, sampling, rollback):
    session = rounds.make_session(model, tokenizer, rollback=rollback, prefill_chunk=5)
    prompt, ids = models.random_tokens(model, 9), []
    for kind, number, length in turns:
        prompt = next_prompt(kind, number, prompt, ids, model)
        session.draft_length = length
        if kind == "cancel":
            left = [number % 6]

            def cancelled(left=left):
                left[0] -= 1
                return left[0] < 0

            _, ids, _ = rounds.answer(
                session, Turn(prompt, sampling, 6, boundary=number), cancelled=cancelled
            )
            assert ids == rounds.plain_ids(model, prompt, sampling, len(ids))
        else:
            ids = check_turn(session, prompt, sampling=sampling, count=5, boundary=number % (len(prompt) + 1))


def soak(session, turns: int, count: int) -> None:
    """A chat of many turns with changing draft lengths; each answer and state that of a fresh run."""
    prompt = [1, 2, 3]
    for turn in range(turns):
        session.draft_length = ("auto", 3, 0, 8, 1)[turn % 5]
        ids = check_turn(session, [*prompt, *NEW], count=count, boundary=len(prompt))
        prompt = [*prompt, *NEW, *ids]


@pytest.mark.parametrize("rollback", ROLLBACKS)
def test_twenty_five_turns(make, rollback):
    soak(make(rollback=rollback), 25, 8)


@pytest.mark.parametrize("sampling", [GREEDY, SAMPLED], ids=["greedy", "sampled"])
def test_speculation_after_a_long_time_without(make, model, sampling):
    """While it is off, the rows that wait for the MTP head grow to a limit and are then taken in one call."""
    session = make()
    session.draft_length = 0
    count = HIDDEN_TAIL_LIMIT + 100
    prompt = models.random_tokens(model, 5)
    expected = rounds.plain_ids(model, prompt, sampling, count + 40)
    _, ids, _ = rounds.answer(session, Turn(prompt, sampling, count))
    assert ids == expected[:count]
    assert 0 < session.state.mtp.length < session.state.length - 1
    assert len(session.state.hidden_tail) <= HIDDEN_TAIL_LIMIT + 1
    session.draft_length = 3
    _, more, _ = rounds.answer(session, Turn([*prompt, *ids], sampling, 40))
    assert more == expected[count:]
    state, _ = models.consume(model, session.state.tokens, 64)
    rounds.assert_same_state(model, session.state, rounds.settled(model, state))


# --- refusals ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "named"),
    [
        ([], "prompt is empty"),
        ([1] * 1024, "has 1024 tokens and the context holds 1024"),
        ([1, 512, 2], "token 512"),
        ([-1, 2], "token -1"),
    ],
    ids=["empty", "too long", "beyond the vocabulary", "negative"],
)
def test_prompts_that_are_refused(make, model, prompt, named):
    session = make()
    kept = models.random_tokens(model, 8)
    ids = check_turn(session, kept, 0)
    with pytest.raises(KestrelError, match=named) as refused:
        rounds.answer(session, Turn(prompt, SAMPLED))
    assert "\n" not in str(refused.value)
    check_turn(session, [*kept, *ids], len(kept) + len(ids) - 1)


@pytest.mark.parametrize("largest", [None, 1024, 4096])
def test_a_longer_context_is_advised_only_where_one_can_be_had(make, largest):
    with pytest.raises(KestrelError) as refused:
        rounds.answer(make(largest_context=largest), Turn([1] * 1024, SAMPLED))
    raised = ", or raise --context (to 4096 at most)" if largest == 4096 else ""
    assert str(refused.value).endswith(f"1024: shorten it or start a new chat{raised}")


@pytest.mark.parametrize("largest", [None, 4096])
def test_so_is_it_when_the_context_is_full(make, model, monkeypatch, largest):
    monkeypatch.setattr(model, "context", 12)
    prompt = models.random_tokens(model, 11)
    _, _, events = rounds.answer(make(largest_context=largest), Turn(prompt, SAMPLED))
    raised = ", or raise --context (to 4096 at most)" if largest else ""
    (full,) = (event.message for event in events if isinstance(event, Notice))
    assert full == f"the context of 12 tokens is full: start a new chat{raised}"


def test_the_longest_prompt_gets_an_answer(make, model, monkeypatch):
    monkeypatch.setattr(model, "context", 32)
    session = make()
    ended, ids, _ = rounds.answer(session, Turn(models.random_tokens(model, 31), SAMPLED))
    assert len(ids) == 2 and ended.finish_reason == "length"


def test_a_model_without_the_draft_head(tmp_path, tokenizer):
    model = models.load(rounds.write_small(tmp_path / "model", mtp=False))
    session = rounds.make_session(model, tokenizer, prefill_chunk=3)
    prompt = [5, 6, 7, 8] * 3
    for length in (0, 3, "auto"):
        session.draft_length = length
        check_turn(session, prompt, sampling=GREEDY, boundary=6)
    with pytest.raises(KestrelError, match="no MTP head: use --drafter lookup"):
        rounds.answer(session, Turn(prompt, GREEDY, drafter="mtp"))
    check_turn(session, prompt, sampling=GREEDY, drafter="lookup")


# --- chats as templates write them ------------------------------------------------------------------------


def test_reasoning_is_stripped_from_history_and_the_rest_is_kept(tiny_model, tokenizer):
    """The template drops earlier reasoning, so the next prompt parts from the last one behind the question;
    the state goes back there and only the answer and what follows is prefilled."""
    question, follow_up = {"role": "user", "content": "Sing!"}, {"role": "user", "content": "Again?"}
    reply = {"role": "assistant", "content": "la la", "reasoning_content": "They want a song."}
    with engines.Running(tiny_model) as running:
        for think in (True, False, None):
            first = running.ask(Submit((question,), max_tokens=6, think=think))
            assert isinstance(first[-1], TurnEnded)
            history = (question, reply, follow_up)
            second = running.ask(Submit(history, max_tokens=6, think=think))
            kept = tokenizer.encode_chat([question], think, add_generation_prompt=False)
            prompt = tokenizer.encode_chat(list(history), think)
            assert "song" not in tokenizer.decode(prompt)
            assert (second[0].prompt_tokens, second[0].reused_tokens) == (len(prompt), len(kept))
            assert engines.ids_of(second) == rounds.plain_ids(models.load(tiny_model), prompt, GREEDY, 6)
            again = running.ask(Submit(history, max_tokens=6, think=think))
            kept = tokenizer.encode_chat(list(history), think, add_generation_prompt=False)
            assert again[0].reused_tokens == len(kept)
            assert engines.ids_of(again) == engines.ids_of(second)
            back = running.ask(Submit((question,), max_tokens=6, think=think))
            assert engines.ids_of(back) == engines.ids_of(first)


def test_a_cleared_state_is_as_good_as_new(tiny_model):
    """Whatever it held, and even when a pass has raised in between."""
    model = models.load(tiny_model)
    state, _ = models.consume(model, models.random_tokens(model, 30, 1), 7)
    state.usable = False
    state.clear()
    rounds.assert_same_state(model, state, rounds.settled(model, model.new_state()))
    for layer in state.delta_layers:
        assert not any(array.any() for array in (layer.state, layer.ring, layer.log_decay, layer.log_key))
    tokens = models.random_tokens(model, 20, 2)
    model.forward(state, tokens, len(tokens))
    fresh, _ = models.consume(model, tokens)
    rounds.assert_same_state(model, state, rounds.settled(model, fresh))


def test_each_way_of_sampling_is_governed_by_itself(tiny_model):
    """What a row costs and how often drafts are right depends on it; the seed does not matter."""
    session = rounds.make_session(models.load(tiny_model), Tokenizer(tiny_model))
    governors = []
    for sampling in (
        rounds.GREEDY,
        rounds.SAMPLED,
        dataclasses.replace(rounds.SAMPLED, seed=99),
        rounds.GREEDY,
    ):
        rounds.answer(session, Turn([1, 2, 3], sampling, 4))
        governors.append(session.governor)
    assert governors[0] is governors[3] and governors[1] is governors[2] and governors[0] is not governors[1]
