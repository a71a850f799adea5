"""One question being answered: what comes is kept in the chat, in its journal and in the statistics."""

from __future__ import annotations

from typing import Self

from kestrel_engine.events import Event, Failed, Released, Round, TurnEnded, TurnStarted
from kestrel_tui.chats import Chat, Turn
from kestrel_tui.journal import Journal
from kestrel_tui.stats import TurnStats

REMARKS = {
    None: "(cut off)",
    "cancelled": "(stopped)",
    "length": "(length limit reached: --max-tokens or the context)",
}
"""By finish reason (None: the process died), what a person is told about an end that did not come by itself."""


class Answer:
    """Use as a context manager: however it is left, the turn has an end.

    The question is in the journal before the first event is awaited.
    """

    def __init__(self, question: str, chat: Chat, journal: Journal, load_ms: float) -> None:
        self.turn = Turn(question)
        self.stats = TurnStats(load_ms)
        self.seed: int | None = None
        self.prompt_tokens = 0
        self.failed: Failed | None = None
        self._journal = journal
        chat.turns.append(self.turn)
        journal.user(question)
        chat.id = journal.id or chat.id  # a new chat has one from its first question on

    def take(self, event: Event) -> None:
        """Keep what `event` brings. Called before it is shown, so that nothing shown is lost."""
        match event:
            case TurnStarted():
                self.seed, self.prompt_tokens = event.seed, event.prompt_tokens
                self.turn.reasoning_open, self.turn.seed = event.reasoning, event.seed
                self.stats.begin(event)
                self._journal.answer(event.seed, event.prompt_tokens, self.turn.reasoning_open)
            case Round() | Released():
                self.turn.take(event)
                self.stats.add(event)
                self._journal.tokens(event)
            case TurnEnded():
                self.stats.finish(event)
                self._end(event.finish_reason)
            case Failed():
                self.failed = event
                self._end("error", event.message)

    @property
    def remark(self) -> str | None:
        """What a person is told about an end that did not come by itself."""
        return REMARKS.get(self.turn.finish_reason)

    def _end(self, finish_reason: str, message: str = "") -> None:
        self.turn.finish_reason, self.turn.message = finish_reason, message
        self._journal.end(finish_reason, message, self.stats.as_dict() if self.turn.tokens else None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.turn.finish_reason is None:
            self._end("cancelled")
