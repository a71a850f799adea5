"""An answer's tokens on their way into the transcript, its reasoning apart from the rest."""

from __future__ import annotations

from collections import deque

from kestrel_engine.events import Round, Token
from kestrel_tui.answer import REMARKS
from kestrel_tui.chats import Turn
from kestrel_tui.live.transcript import Block, ShownToken, Transcript
from kestrel_tui.reasoning import Piece, ReasoningSplitter


class AnswerStream:
    """Takes tokens in order. What might become a tag of the reasoning is shown when it has turned out not to."""

    def __init__(self, transcript: Transcript, inside: bool) -> None:
        """inside: the answer begins with reasoning."""
        self.block: Block | None = None
        """The block that grows."""
        self._transcript = transcript
        self._splitter = ReasoningSplitter(inside)
        self._fed = 0
        self._waiting: deque[tuple[int, int, int]] = deque()
        """(start in the stream, end, index in the transcript) of tokens that are not all shown."""

    def add(self, token: Token, event: Round | None) -> None:
        index = self._transcript.add_token(ShownToken(token, event))
        if token.text:
            end = self._fed + len(token.text)
            self._waiting.append((self._fed, end, index))
            self._fed = end
            self._show(self._splitter.feed(token.text))

    def finish(self) -> None:
        """Show what was held back."""
        self._show(self._splitter.finish())

    def _show(self, pieces: list[Piece]) -> None:
        for piece in pieces:
            if self.block is None or self.block.kind != piece.kind:
                self.block = self._transcript.add(piece.kind)
            self._append(piece)

    def _append(self, piece: Piece) -> None:
        """Show `piece`, each part of it as part of the token it came with."""
        position, end = piece.start, piece.start + len(piece.text)
        while position < end:
            _, token_end, index = self._waiting[0]
            if token_end > position:
                stop = min(end, token_end)
                text = piece.text[position - piece.start : stop - piece.start]
                self._transcript.append(self.block, text, index)
                position = stop
            if token_end <= position:
                self._waiting.popleft()


def show_turn(transcript: Transcript, turn: Turn) -> None:
    """A turn of a saved chat, as it looked when it was new."""
    transcript.add("user", turn.question)
    stream = AnswerStream(transcript, turn.reasoning_open)
    for token in turn.tokens:
        stream.add(token, turn.rounds.get(token.round))
    stream.finish()
    if turn.finish_reason == "error":
        transcript.add("error", turn.message)
    elif turn.finish_reason is None:
        transcript.add("note", "(cut off)")
    elif turn.finish_reason in REMARKS:
        transcript.add("note", REMARKS[turn.finish_reason])
