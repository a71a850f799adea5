"""Where an answer stops: at end tokens, stop strings and limits, at every place of an accepted run."""

from __future__ import annotations

import codecs
import dataclasses

import models
import pytest
import rounds
from hypothesis import given, settings
from hypothesis import strategies as st
from rounds import GREEDY

from kestrel_engine.events import Notice, Released, Round
from kestrel_engine.options import MAX_DRAFT, SamplingOptions
from kestrel_engine.session import Turn
from kestrel_engine.tokenizer import Tokenizer

COUNT = 14
SAMPLING = SamplingOptions(temperature=1.0, seed=12)
"""An answer whose tokens all differ, with characters of several tokens and an incomplete one at the end."""
MODES = {
    "plain": (0, "right", "cursor"),
    "one run of 8": (8, "right", "cursor"),
    "runs of 3": (3, "right", "cursor"),
    "runs of 3, snapshots": (3, "right", "snapshot"),
    "runs of 3, run again": (3, "right", "rerun"),
    "broken runs": (6, "right until", "cursor"),
    "wrong drafts": (4, "wrong", "cursor"),
}
"""Draft length, drafter, rollback."""


class Stage:
    """A model, a prompt, and the long plain answer that every test cuts short."""

    def __init__(self, folder):
        self.model, self.tokenizer = models.load(folder), Tokenizer(folder)
        self.prompt = models.random_tokens(self.model, 11)
        self.ids = rounds.plain_ids(self.model, self.prompt, SAMPLING, COUNT + MAX_DRAFT + 1)
        self.twin = rounds.Twin(self.model)
        self.twin.at([*self.prompt, *self.ids])
        assert len(set(self.ids)) == len(self.ids), "the tests want every token to stop once only"

    def check(self, mode: str, expected: int, text: str, finish_reason: str, **turn) -> None:
        """In `mode`, the first `expected` tokens are emitted, and the state has consumed all but the last."""
        length, kind, rollback = MODES[mode]
        session = rounds.make_session(self.model, self.tokenizer, rollback=rollback, prefill_chunk=4)
        session.drafters["known"] = rounds.make_drafter(kind, self.model, [*self.prompt, *self.ids])
        session.draft_length = length
        turn = Turn(self.prompt, SAMPLING, **({"drafter": "known", "max_tokens": COUNT} | turn))
        ended, ids, events = rounds.answer(session, turn)
        assert ids == self.ids[:expected]
        assert (ended.finish_reason, ended.text, ended.tokens) == (finish_reason, text, expected)
        emitted = 0
        for event in events:
            if isinstance(event, Round):
                assert emitted + event.drafted + 1 <= turn.max_tokens, (
                    "drafts beyond the limit are never used"
                )
                emitted += event.accepted + 1
        tokens = [token for event in events if isinstance(event, Round | Released) for token in event.tokens]
        assert "".join(token.text for token in tokens) == text
        assert [token.position for token in tokens] == [len(self.prompt) + n for n in range(expected)]
        consumed = [*self.prompt, *ids[:-1]]
        rounds.assert_same_state(self.model, session.state, self.twin.at(consumed))

    def text(self, count: int, final: bool = True) -> str:
        """What the first `count` tokens say. `final`: an incomplete character at the end is shown."""
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        special = self.tokenizer.special_ids
        data = b"".join(self.tokenizer.token_bytes(id) for id in self.ids[:count] if id not in special)
        return decoder.decode(data, final)


@pytest.fixture(scope="module")
def stage(tiny_model) -> Stage:
    return Stage(tiny_model)


@pytest.fixture
def end_with(stage, monkeypatch):
    """end_with(id, …): the model's end tokens are these."""

    def set_ids(*ids):
        config = dataclasses.replace(stage.model.config, eos_token_ids=ids)
        monkeypatch.setattr(stage.model, "config", config)

    return set_ids


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("place", range(10))
def test_an_end_token_at_each_slot(stage, end_with, mode, place):
    end_with(stage.ids[place])
    stage.check(mode, place + 1, stage.text(place + 1), "stop")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("limit", range(1, 12))
def test_a_limit_at_each_slot(stage, mode, limit):
    stage.check(mode, limit, stage.text(limit), "length", max_tokens=limit)


@pytest.mark.parametrize("mode", MODES)
def test_a_stop_at_the_limit_is_a_stop(stage, end_with, mode):
    end_with(stage.ids[5])
    stage.check(mode, 6, stage.text(6), "stop", max_tokens=6)
    end_with()
    text = stage.text(6, final=False)
    stage.check(mode, 6, text[:-1], "stop", max_tokens=6, stop=[text[-1]])


@pytest.mark.parametrize("mode", ["one run of 8", "runs of 3", "wrong drafts"])
def test_a_drafted_end_token_ends_nothing(stage, end_with, mode):
    """Only what the model itself emits ends an answer."""
    wrong = {(id + 1) % stage.model.config.vocab_size for id in stage.ids[:COUNT]} - set(stage.ids)
    end_with(*wrong)
    stage.check(mode, COUNT, stage.text(COUNT), "length")


def cut(stage, stops, limit=COUNT) -> tuple[int, str, str]:
    """Tokens, text and finish reason of the answer that these stop strings cut, by looking at every length."""
    for count in range(1, limit + 1):
        text = stage.text(count, final=False)
        places = [text.find(stop) for stop in stops if stop in text]
        if places:
            return count, text[: min(places)], "stop"
    return limit, stage.text(limit), "length"


@settings(max_examples=60)
@given(mode=st.sampled_from([*MODES]), data=st.data())
def test_stop_strings_anywhere(stage, mode, data):
    """Any piece of the answer, within a token, across tokens and rounds; several at once; some that never come."""
    whole = stage.text(COUNT, final=False)
    pieces = st.tuples(st.integers(0, len(whole) - 1), st.integers(1, 12)).map(
        lambda place: whole[place[0] : place[0] + place[1]]
    )
    nearly = pieces.map(lambda piece: piece + "\0")
    stops = data.draw(st.lists(st.one_of(pieces, nearly), min_size=1, max_size=4))
    count, text, reason = cut(stage, stops)
    stage.check(mode, count, text, reason, stop=stops)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("place", range(9))
def test_a_stop_string_across_each_border(stage, mode, place):
    left = len(stage.text(place + 1, final=False))
    whole = stage.text(COUNT, final=False)
    stop = whole[max(0, left - 1) : left + 2]
    count, text, reason = cut(stage, [stop])
    assert reason == "stop"
    stage.check(mode, count, text, reason, stop=[stop])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("room", range(7))
def test_the_end_of_the_context_at_each_slot(stage, mode, room, monkeypatch):
    """The context counts consumed tokens; the last token is emitted and never consumed."""
    monkeypatch.setattr(stage.model, "context", len(stage.prompt) + 1 + room)
    stage.check(mode, room + 2, stage.text(room + 2, final=False), "length")


@pytest.mark.parametrize("length", [0, 3])
def test_what_a_stop_string_held_back_is_shown_at_the_end_of_the_context(stage, monkeypatch, length):
    monkeypatch.setattr(stage.model, "context", len(stage.prompt) + 3)
    text = stage.text(4, final=False)
    assert text
    session = rounds.make_session(stage.model, stage.tokenizer)
    session.draft_length = length
    ended, ids, events = rounds.answer(session, Turn(stage.prompt, SAMPLING, stop=[text[-1] + "never"]))
    assert (ended.text, ended.tokens, ids) == (text, 4, stage.ids[:4])
    assert "context of 14 tokens is full" in next(e.message for e in events if isinstance(e, Notice))


def test_one_token_prompts_and_answers(stage):
    for length in (0, 3):
        session = rounds.make_session(stage.model, stage.tokenizer)
        session.draft_length = length
        ended, ids, _ = rounds.answer(session, Turn([5], GREEDY, max_tokens=1))
        assert ids == rounds.plain_ids(stage.model, [5], GREEDY, 1)
        assert (ended.finish_reason, session.state.tokens) == ("length", [5])


@pytest.mark.parametrize("slot", range(3))
def test_drafts_behind_the_end_are_neither_accepted_nor_rejected(stage, end_with, slot):
    """A round that ends at slot n of a run of right drafts accepted n + 1 of them and rejected none."""
    end_with(stage.ids[slot])
    session = rounds.make_session(stage.model, stage.tokenizer)
    session.drafters["known"] = rounds.make_drafter("right", stage.model, [*stage.prompt, *stage.ids])
    session.draft_length = 5
    _, ids, events = rounds.answer(session, Turn(stage.prompt, SAMPLING, drafter="known"))
    (only,) = [event for event in events if isinstance(event, Round)]
    assert ids == stage.ids[: slot + 1]
    assert (only.drafted, only.accepted, only.rejected) == (5, slot + 1, ())
    assert {token.kind for token in only.tokens} == {"accepted"}
