"""The emitted stream of an answer: what it shows when, and where it ends, whatever rounds the tokens came in."""

from __future__ import annotations

import codecs

import checkpoints
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kestrel_engine.answer import Answer, Facts
from kestrel_engine.events import Token
from kestrel_engine.tokenizer import Tokenizer


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    return Tokenizer(checkpoints.write_tokenizer(tmp_path_factory.mktemp("tokenizer")))


def facts_of(ids) -> list[Facts]:
    return [(id, "own", 10 + n, 0, None, -1.0) for n, id in enumerate(ids)]


class Stream:
    """An answer that is given ids, and what it released."""

    def __init__(self, tokenizer, stop=(), end_ids=(), max_tokens=1000):
        self.answer = Answer(tokenizer, end_ids, stop, max_tokens)
        self.released: list[Token] = []
        self.ids: list[int] = []

    def push(self, *ids) -> str:
        """One round: ids until one ends the answer. Returns the text that came out."""
        taken = []
        for id in ids:
            taken.append(id)
            if self.answer.stops_at(id):
                break
        self.ids += taken
        return self.take(self.answer, taken)

    def take(self, answer, taken) -> str:
        answer.describe(facts_of(taken))
        return self.show(answer.release())

    def show(self, released) -> str:
        self.released += released
        assert [token.id for token in self.released] == self.ids[: len(self.released)]
        assert "".join(token.text for token in self.released) == self.answer.text
        return "".join(token.text for token in released)


@pytest.fixture(scope="module")
def letters(tokenizer):
    """letters("text") → ids, one per byte."""
    by_byte = {tokenizer.token_bytes(id): id for id in range(tokenizer.vocab_size)}
    return lambda text: [by_byte[bytes([byte])] for byte in text.encode()]


def test_without_stop_strings_everything_is_shown_at_once(tokenizer, letters):
    stream = Stream(tokenizer)
    assert [stream.push(id) for id in letters("a bird")] == [*"a bird"]
    assert stream.answer.finish_reason is None and stream.answer.count == 6


def test_what_may_begin_a_stop_string_is_held_back(tokenizer, letters):
    stream = Stream(tokenizer, stop=["STOP"])
    assert [stream.push(id) for id in letters("aSTaSTO")] == ["a", "", "", "STa", "", "", ""]
    assert stream.push(*letters("b")) == "STOb"
    assert stream.push(*letters("ST")) == ""
    assert stream.push(*letters("OPxyz")) == ""
    assert (stream.answer.text, stream.answer.finish_reason) == ("aSTaSTOb", "stop")
    assert stream.answer.count == 12, "the answer ended with the token that completed the stop string"
    assert len(stream.released) == 12 and [token.text for token in stream.released[8:]] == [""] * 4


def test_a_repeating_beginning_is_released_as_far_as_no_stop_string_can_reach(tokenizer, letters):
    stream = Stream(tokenizer, stop=["aab"])
    assert [stream.push(id) for id in letters("aaaa")] == ["", "", "a", "a"]
    assert stream.push(*letters("b")) == "" and stream.answer.text == "aa"


def test_the_earliest_of_several_stop_strings_cuts(tokenizer, letters):
    stream = Stream(tokenizer, stop=["bcd", "c", "abcz"])
    assert stream.push(*letters("xab")) == "x"
    assert stream.push(*letters("c")) == "ab"
    assert stream.answer.finish_reason == "stop"


def test_two_that_end_together_cut_at_the_longer(tokenizer, letters):
    stream = Stream(tokenizer, stop=["cd", "bcd"])
    assert stream.push(*letters("abcd")) == "a"


def test_an_unfinished_longer_one_does_not_delay_a_shorter(tokenizer, letters):
    stream = Stream(tokenizer, stop=["abcde", "bc"])
    assert stream.push(*letters("abc")) == "a" and stream.answer.finish_reason == "stop"


def test_empty_stop_strings_are_none(tokenizer, letters):
    stream = Stream(tokenizer, stop=["", ""])
    assert stream.push(*letters("abc")) == "abc"


def test_a_stop_string_inside_a_token(tokenizer):
    """The token is kept, its text is cut."""
    token = next(id for id in range(tokenizer.vocab_size) if tokenizer.token_bytes(id) == b" the")
    stream = Stream(tokenizer, stop=["h"])
    assert stream.push(token) == " t" and stream.ids == [token]


def test_a_stop_string_of_a_character_of_several_tokens(tokenizer, letters):
    stream = Stream(tokenizer, stop=["é"])
    assert stream.push(*letters("aéb")) == "a"
    assert stream.answer.count == 3 and stream.answer.finish_reason == "stop"


def test_half_a_character_at_the_end_is_shown_as_one_that_is_missing(tokenizer, letters):
    eagle = letters("🦅")
    for given_bytes in (1, 2, 3):
        ended = Stream(tokenizer, end_ids=[416])
        assert ended.push(*eagle[:given_bytes], 416) == "\ufffd"
        limited = Stream(tokenizer, max_tokens=given_bytes)
        assert limited.push(*eagle) == "\ufffd" and limited.answer.finish_reason == "length"
    whole = Stream(tokenizer)
    assert [whole.push(id) for id in eagle] == ["", "", "", "🦅"]


def test_end_tokens_come_before_limits_and_have_no_text(tokenizer, letters):
    end = next(iter(tokenizer.special_ids))
    stream = Stream(tokenizer, end_ids=[end], max_tokens=2)
    assert stream.push(*letters("a"), end, *letters("b")) == "a"
    assert (stream.answer.finish_reason, stream.answer.count) == ("stop", 2)
    other = Stream(tokenizer, end_ids=letters("a"))
    assert other.push(*letters("a")) == "a", "an end token that is text is shown"
    assert other.answer.finish_reason == "stop"


def test_a_control_token_that_ends_nothing_is_silent(tokenizer, letters):
    control = next(iter(tokenizer.special_ids))
    stream = Stream(tokenizer, stop=["ab"])
    assert stream.push(*letters("a"), control) == ""
    assert stream.push(*letters("b")) == "" and stream.answer.finish_reason == "stop"
    assert stream.ids == [*letters("a"), control, *letters("b")]


def test_ended_from_outside(tokenizer, letters):
    stream = Stream(tokenizer, stop=["abcd"])
    assert stream.push(*letters("xab")) == "x"
    assert stream.show(stream.answer.end("cancelled")) == "ab"
    assert (stream.answer.text, stream.answer.finish_reason) == ("xab", "cancelled")
    half = Stream(tokenizer, stop=["bz"])
    assert half.push(*letters("b"), *letters("é")[:1]) == ""
    assert half.show(half.answer.end("length")) == "b\ufffd"
    assert Stream(tokenizer).answer.end("cancelled") == ()


@given(
    text=st.text("abé", max_size=12),
    stops=st.lists(st.text("abé", min_size=1, max_size=4), max_size=4),
    sizes=st.lists(st.integers(1, 5), min_size=1),
    max_tokens=st.integers(1, 16),
)
def test_any_stream_in_any_rounds(tokenizer, letters, text, stops, sizes, max_tokens):
    """Text, length and end are those of looking at the whole text after every token; nothing is shown that is
    not in the final text, and nothing is held back that no stop string could reach."""
    ids = letters(text)
    stream, place, size = Stream(tokenizer, stops, max_tokens=max_tokens), 0, 0
    while place < len(ids) and stream.answer.finish_reason is None:
        step = sizes[size % len(sizes)]
        stream.push(*ids[place : place + step])
        place, size = place + step, size + 1
        seen = decoded(text.encode()[: stream.answer.count])
        if stream.answer.finish_reason is None:
            hidden = seen[len(stream.answer.text) :]
            assert seen.startswith(stream.answer.text)
            assert hidden == longest_beginning(seen, stops)
    count, expected, reason = by_looking(text.encode(), stops, max_tokens)
    if reason is None:
        stream.show(stream.answer.end("cancelled"))
    else:
        assert stream.answer.finish_reason == reason
    assert (stream.answer.count, stream.answer.text) == (count, expected)
    assert len(stream.released) == count


def decoded(data: bytes, final: bool = False) -> str:
    return codecs.getincrementaldecoder("utf-8")(errors="replace").decode(data, final)


def longest_beginning(text: str, stops) -> str:
    """The longest end of `text` that is the beginning of a stop string."""
    ends = [text[start:] for start in range(len(text))]
    return next((end for end in ends if any(stop.startswith(end) for stop in stops)), "")


def by_looking(data: bytes, stops, max_tokens):
    """Tokens, text and reason of an answer of one token a byte, by looking at it after every token."""
    for count in range(1, len(data) + 1):
        text = decoded(data[:count])
        places = [text.find(stop) for stop in stops if stop in text]
        if places:
            return count, text[: min(places)], "stop"
        if count == max_tokens:
            return count, decoded(data[:count], True), "length"
    return len(data), decoded(data), None
