"""A model's reasoning, kept apart from its answer while the text streams in."""

from __future__ import annotations

from typing import Literal, NamedTuple

OPEN = "<think>"
CLOSE = "</think>"


class Piece(NamedTuple):
    kind: Literal["reasoning", "answer"]
    text: str
    start: int
    """Where it stands in the stream."""


class ReasoningSplitter:
    """Splits a stream into reasoning and answer.

    Reasoning is what stands between a `<think>` at the very start and the first `</think>`. With
    `inside`, the prompt already ended in an open `<think>`. Tags elsewhere are ordinary text. The blank
    lines around the tags belong to neither part. A tag may arrive in pieces: what could still become one
    is held back.
    """

    def __init__(self, inside: bool = False) -> None:
        self._state: Literal["start", "opened", "reasoning", "closed", "answer"] = "start"
        self._inside = inside
        self._fed = 0
        self._held = ""

    def feed(self, text: str) -> list[Piece]:
        """The pieces that `text` completes."""
        self._fed += len(text)
        self._held += text
        return self._split(final=False)

    def finish(self) -> list[Piece]:
        """The pieces still held back when the stream ends."""
        return self._split(final=True)

    def _split(self, final: bool) -> list[Piece]:
        pieces: list[Piece] = []
        while True:
            before, start = self._state, self._fed - len(self._held)
            text = getattr(self, f"_{self._state}")(final)
            if text:
                pieces.append(Piece(before, text, start))
            if self._state == before:
                return pieces

    def _start(self, final: bool) -> str | None:
        """Decide whether the stream begins with reasoning."""
        text = self._held.lstrip()
        if text.startswith(OPEN):
            self._state, self._held = "opened", text[len(OPEN) :]
        elif OPEN.startswith(text) and not final:
            return None
        elif self._inside:
            self._state = "opened"
        else:
            self._state = "answer"
        return None

    def _opened(self, final: bool) -> str | None:
        return self._skip_blank_lines("reasoning", final)

    def _reasoning(self, final: bool) -> str | None:
        text, tag, rest = self._held.partition(CLOSE)
        if tag:
            self._state, self._held = "closed", rest
        elif final:
            self._held = ""
        else:
            # A beginning of the tag, and the line ends before it, may turn out to be the end.
            kept = len(text) - _overlap(text, CLOSE)
            kept = len(text[:kept].rstrip("\n"))
            text, self._held = text[:kept], text[kept:]
        return text.rstrip("\n") if tag or final else text

    def _closed(self, final: bool) -> str | None:
        return self._skip_blank_lines("answer", final)

    def _answer(self, final: bool) -> str | None:
        text, self._held = self._held, ""
        return text

    def _skip_blank_lines(self, then: Literal["reasoning", "answer"], final: bool) -> None:
        self._held = self._held.lstrip("\n")
        if self._held or final:
            self._state = then


def _overlap(text: str, tag: str) -> int:
    """Length of the longest end of `text` that begins `tag`."""
    return next((size for size in range(len(tag) - 1, 0, -1) if text.endswith(tag[:size])), 0)


def split_reasoning(text: str, inside: bool = False) -> tuple[str, str]:
    """(reasoning, answer) of a whole text; see ReasoningSplitter."""
    splitter = ReasoningSplitter(inside)
    pieces = splitter.feed(text) + splitter.finish()
    parts = {"reasoning": "", "answer": ""}
    for piece in pieces:
        parts[piece.kind] += piece.text
    return parts["reasoning"], parts["answer"]
