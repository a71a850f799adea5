"""Reasoning is told from the answer whatever way the text is cut into tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kestrel_tui.reasoning import ReasoningSplitter, split_reasoning

CASES = [
    ("plain", False, ("", "plain")),
    ("\n\nplain ", False, ("", "\n\nplain ")),
    ("<think>\na\nb\n</think>\n\nyes\n", False, ("a\nb", "yes\n")),
    ("\n<think>a</think>yes", False, ("a", "yes")),
    ("a</think>yes", True, ("a", "yes")),
    ("\n\n</think>\n\nyes", True, ("", "yes")),
    ("<think>\na</think>yes", True, ("a", "yes")),
    ("never ends\n", True, ("never ends", "")),
    ("<think>cut of", False, ("cut of", "")),
    ("a </thin", True, ("a </thin", "")),
    ("say <think> and </think>", False, ("", "say <think> and </think>")),
    ("a</think>b</think><think>c", True, ("a", "b</think><think>c")),
    ("<thin ice", False, ("", "<thin ice")),
    ("a\n\n\nb</think>", True, ("a\n\n\nb", "")),
    ("", True, ("", "")),
    ("<", False, ("", "<")),
]


@pytest.mark.parametrize(("text", "inside", "parts"), CASES)
def test_whole_texts(text: str, inside: bool, parts: tuple[str, str]) -> None:
    assert split_reasoning(text, inside) == parts


@pytest.mark.parametrize(("text", "inside", "parts"), CASES)
def test_one_character_at_a_time_is_the_same(text: str, inside: bool, parts: tuple[str, str]) -> None:
    assert stream(text, inside) == parts


@given(st.text(alphabet="<>/think\na", max_size=40), st.booleans())
def test_any_text_is_the_same_in_pieces(text: str, inside: bool) -> None:
    assert stream(text, inside) == split_reasoning(text, inside)


def test_the_answer_is_not_held_back() -> None:
    splitter = ReasoningSplitter()
    assert splitter.feed("Hello")[0].text == "Hello"
    assert splitter.feed(" <thi")[0].text == " <thi"


def stream(text: str, inside: bool) -> tuple[str, str]:
    splitter = ReasoningSplitter(inside)
    pieces = [piece for character in text for piece in splitter.feed(character)] + splitter.finish()
    kinds = [piece.kind for piece in pieces]
    assert kinds == sorted(kinds, reverse=True)  # reasoning first, then the answer
    return tuple(
        "".join(piece.text for piece in pieces if piece.kind == kind) for kind in ("reasoning", "answer")
    )
