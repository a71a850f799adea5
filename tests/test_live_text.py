"""Wrapping and the transcript: nothing is lost, nothing is split, whatever comes piece by piece."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from live import round_of
from rich.cells import cell_len

from kestrel_engine.events import Token
from kestrel_tui.live import transcript as transcript_module
from kestrel_tui.live.answer_stream import AnswerStream
from kestrel_tui.live.gauges import bar, progress, sparkline
from kestrel_tui.live.transcript import Transcript
from kestrel_tui.live.wrap import _wrap_graphemes, _wrap_simple, graphemes, wrap
from kestrel_tui.reasoning import split_reasoning

LETTERS = [
    "a",
    "b ",
    "  ",
    "word ",
    "日",
    "本",
    "é",
    "e\u0301",
    "👩\u200d👩\u200d👧",
    "☺\ufe0f",
    "\t",
    "\x1b",
    "\n",
    "שלום",
]
TEXTS = st.lists(st.sampled_from(LETTERS), max_size=30)


@given(TEXTS, st.integers(1, 12))
def test_growing_text_wraps_as_it_would_at_once(pieces: list[str], width: int) -> None:
    text, lines = "", wrap("", width)
    for character in "".join(pieces):
        text += character
        lines[-1:] = wrap(text, width, lines[-1][0])
    assert lines == wrap(text, width)


@given(TEXTS, st.integers(1, 12))
def test_lines_cover_the_text_and_split_no_grapheme(pieces: list[str], width: int) -> None:
    text = "".join(pieces)
    lines = wrap(text, width)
    assert "".join(text[start:end] for start, end in lines) == text.replace("\n", "")
    assert all(text[end] == "\n" for (_, end), (start, _) in itertools.pairwise(lines) if start > end)
    inside = {place for start, end, _ in graphemes(text) for place in range(start + 1, end)}
    assert not any(start in inside for start, _ in lines)
    for start, end in lines:
        shown = "".join(piece for _, _, piece in graphemes(text[start:end].rstrip(" ")))
        assert cell_len(shown) <= width or len(list(graphemes(text[start:end].rstrip(" ")))) == 1


@given(st.text("abc  ", max_size=60), st.integers(1, 20))
def test_the_quick_way_wraps_like_the_careful_one(text: str, width: int) -> None:
    assert list(_wrap_simple(text, 0, len(text), width)) == list(_wrap_graphemes(text, 0, width))


def test_words_stay_whole_and_long_ones_are_broken() -> None:
    text = "one two threefourfive"
    assert [text[start:end] for start, end in wrap(text, 8)] == ["one two ", "threefou", "rfive"]
    assert wrap("", 8) == [(0, 0)] and wrap("a\n", 8) == [(0, 1), (2, 2)]


@given(
    st.lists(
        st.sampled_from(["<think>", "</think>", "</th", "ink>", "\n", "hm ", "Yes", "", "日"]), max_size=12
    ),
    st.booleans(),
)
def test_tokens_of_an_answer_keep_their_places(texts: list[str], inside: bool) -> None:
    transcript = Transcript(10)
    stream = AnswerStream(transcript, inside)
    for place, text in enumerate(texts):
        stream.add(Token(place, text, "own", place, 0, None, 0.0), None)
    stream.finish()
    shown = {"reasoning": "", "answer": ""}
    for block in transcript.blocks:
        shown[block.kind] += block.text
        bounds = [*block.token_starts, len(block.text)]
        for index, start, end in zip(block.token_indices, bounds, bounds[1:], strict=False):
            assert block.text[start:end] in texts[index]
    assert (shown["reasoning"], shown["answer"]) == split_reasoning("".join(texts), inside)


@given(TEXTS, st.integers(1, 30), st.integers(1, 30))
def test_rows_lead_to_blocks_and_back(pieces: list[str], width: int, other: int) -> None:
    transcript = Transcript(width)
    for number, piece in enumerate(pieces):
        if number % 3 == 0:
            block = transcript.add(("user", "answer", "reasoning")[number % 9 // 3])
        transcript.append(block, piece, transcript.add_token(None))
    transcript.set_width(other)
    transcript.fold_all(True)
    transcript.fold_all(False)
    rows = [transcript.row(y) for y in range(transcript.height)]
    assert transcript.row(transcript.height) is None
    for block in transcript.blocks:
        assert block.lines == wrap(block.text, other)
        for number, (start, _) in enumerate(block.lines):
            y = block.top + block.has_header + number
            assert rows[y] == (block, number) and transcript.y_of(block, start) == y


def test_only_rows_that_changed_are_dirty() -> None:
    transcript = Transcript(10)
    block = transcript.add("answer", "one\ntwo")
    transcript.dirty = None
    transcript.append(block, " three four")
    assert transcript.dirty == 1 and transcript.generation == 0


def test_a_token_costs_the_same_however_long_the_transcript_is(monkeypatch: pytest.MonkeyPatch) -> None:
    transcript = Transcript(40)
    block = transcript.add("answer")
    for number in range(5000):
        transcript.append(block, f"word{number} ", transcript.add_token(None))
    transcript.settle()
    wrapped: list[int] = []

    def recording(text: str, width: int, start: int = 0) -> list:
        wrapped.append(len(text) - start)
        return wrap(text, width, start)

    monkeypatch.setattr(transcript_module, "wrap", recording)
    transcript.append(block, "more ", transcript.add_token(None))
    transcript.settle()
    assert len(wrapped) == 1 and wrapped[0] <= 50


def test_gauges() -> None:
    assert (bar(0.5, 4), bar(0, 2), bar(2, 2), bar(1 / 16, 2)) == ("██  ", "  ", "██", "▏ ")
    assert (progress(0.5, 4), progress(1.5, 2)) == ("▕██  ▏", "▕██▏")
    assert len({progress(percent / 100, 16) for percent in range(101)}) == 101, "every percent can be seen"
    assert sparkline([], 5) == ("", "")
    assert sparkline([4.0, None, 2.0, 4.0], 5) == ("█▅█", " ▲")


def test_rounds_of_the_helper_are_what_they_claim() -> None:
    event = round_of(3, ["a", "b"], rejected=("c",))
    assert (event.drafted, event.accepted, [token.kind for token in event.tokens]) == (
        2,
        1,
        ["replayed", "own"],
    )
