"""The plain chat: append-only, labelled, readable by a pipe, a screen reader and a dumb terminal alike.

Standard output carries the conversation; everything else (notes, statistics, help) goes to standard error.
No escape sequence is ever written; readline writes its own where they are allowed.
"""

from __future__ import annotations

import os

from kestrel_engine.events import Event, Failed, Notice, Ready, Released, Round, TurnStarted
from kestrel_engine.words import counted
from kestrel_tui.answer import REMARKS, Answer
from kestrel_tui.chats import Chat, Turn, resume_hint
from kestrel_tui.client import Client, EngineFactory, failure
from kestrel_tui.commands import Commands, is_command
from kestrel_tui.interrupts import Asking, Terminated
from kestrel_tui.journal import Journal
from kestrel_tui.progress import LoadingProgress
from kestrel_tui.prompt import LABEL, Prompt, QuitRequested
from kestrel_tui.reasoning import Piece, ReasoningSplitter
from kestrel_tui.sanitize import for_terminal
from kestrel_tui.settings import Settings
from kestrel_tui.stats import TurnStats
from kestrel_tui.streams import complain, say, write_out

INTERRUPTED = 130
_LABELS = {"reasoning": "Reasoning: ", "answer": "Assistant: "}


def run_plain(settings: Settings, chat: Chat, journal: Journal, factory: EngineFactory | None) -> int:
    """Chat until the input ends; returns the exit status. Raises KestrelError, OutputClosed."""
    with Client(settings.engine_options(), factory) as client:
        with Asking(client.interrupt):
            ready = client.wait_ready(LoadingProgress(settings.quiet), resume_hint(chat))
        return PlainChat(settings, chat, journal, client, ready).run()


class PlainChat:
    """One conversation on a terminal or a pipe."""

    def __init__(
        self, settings: Settings, chat: Chat, journal: Journal, client: Client, ready: Ready
    ) -> None:
        self.settings = settings
        self.chat = chat
        self.journal = journal
        self.ready = ready
        self.last_stats: TurnStats | None = None
        self._client = client
        self._prompt = Prompt(os.environ, is_command)
        self._commands = Commands(self)
        self._last_failed: Failed | None = None

    def run(self) -> int:
        self._greet()
        try:
            while True:
                message = self._prompt.read()
                if is_command(message):
                    if not self._commands.run(message):
                        return 0
                elif message.strip():
                    self.ask(message.removeprefix(" ") if message.startswith(" /") else message)
        except EOFError:
            return self._end_of_input()
        except QuitRequested:
            return INTERRUPTED

    def ask(self, question: str) -> None:
        """Answer `question` on standard output, as the next turn of the chat.

        Raises Terminated when the program was told to end meanwhile; the turn is complete then.
        """
        messages = (*self.chat.messages(), {"role": "user", "content": question})
        submit = self.settings.submit(self._client.defaults, messages=messages)
        answer = Answer(question, self.chat, self.journal, self.ready.load_ms)
        with answer, _AnswerText() as text, Asking(self._client.interrupt, patience=3) as signals:
            for event in self._client.answer(submit):
                answer.take(event)
                self._show(event, text, answer)
        self._conclude(answer)
        if signals.terminating:
            raise Terminated

    def say(self, text: str) -> None:
        for line in text.splitlines():
            say(line)

    def complain(self, text: str) -> None:
        complain(text)

    def turns_changed(self) -> None:
        """Nothing: what was written stays."""

    def speculation_changed(self) -> None:
        """Nothing: the next answer follows the settings."""

    def show_turn(self, turn: Turn) -> None:
        """Show a turn of a chat that goes on, as it looked when it was new."""
        write_out(f"{LABEL}{for_terminal(turn.question)}\n")
        with _AnswerText(turn.reasoning_open) as text:
            text.add(turn.text)
        if turn.finish_reason == "error":
            complain(turn.message)
        elif turn.tokens and turn.finish_reason in REMARKS:
            say(REMARKS[turn.finish_reason])

    def recall(self) -> None:
        """Show the chat so far, and let the up arrow bring its questions back."""
        for turn in self.chat.turns:
            self.show_turn(turn)
            self._prompt.remember(turn.question)

    def _greet(self) -> None:
        ready = self.ready
        if not self.settings.quiet:
            threads = counted(ready.threads, "thread")
            engine = f"{ready.format}, {ready.device}, {threads}, context {ready.context}"
            say(f"{ready.model} ({engine}). /help lists the commands.")
            if not ready.speculation_possible:
                say("(this model has no draft head: only text that repeats is drafted)")
        self.recall()
        if self.chat.turns and not self.chat.turns[-1].tokens:
            say("(the last question has no answer yet: /retry asks it again)")

    def _show(self, event: Event, text: _AnswerText, answer: Answer) -> None:
        match event:
            case TurnStarted():
                text.begin(answer.turn.reasoning_open)
            case Round() | Released():
                text.add("".join(token.text for token in event.tokens))
            case Notice():
                text.end_line()
                say(f"({event.message})")

    def _conclude(self, answer: Answer) -> None:
        """What is said after an answer: how it ended if not by itself, and the statistics."""
        self._last_failed = answer.failed
        if answer.failed:
            if answer.failed.fatal:
                raise failure(answer.failed)
            complain(answer.failed.message)
            return
        self.last_stats = answer.stats
        if answer.remark:
            say(answer.remark)
        if not self.settings.quiet:
            say(answer.stats.line())

    def _end_of_input(self) -> int:
        """Status of a chat whose input ended: a script learns whether its last question failed."""
        if self._prompt.is_interactive:
            write_out("\n")
        elif self._last_failed:
            return self._last_failed.exit_status
        return 0


class _AnswerText:
    """An answer on standard output: labels for reasoning and answer, each part ended by a line end."""

    def __init__(self, inside: bool = False) -> None:
        self.begin(inside)

    def begin(self, inside: bool) -> None:
        self._splitter = ReasoningSplitter(inside)
        self._kind: str | None = None
        self._last = "\n"

    def add(self, text: str) -> None:
        self._show(self._splitter.feed(text))

    def end_line(self) -> None:
        if self._last != "\n":
            write_out("\n")
            self._last = "\n"

    def __enter__(self) -> _AnswerText:
        return self

    def __exit__(self, kind: type | None, *_: object) -> None:
        if kind is None or issubclass(kind, KeyboardInterrupt):
            self._show(self._splitter.finish())
            self.end_line()

    def _show(self, pieces: list[Piece]) -> None:
        for piece in pieces:
            if piece.kind != self._kind:
                self.end_line()
                write_out(_LABELS[piece.kind])
                self._kind = piece.kind
            write_out(for_terminal(piece.text))
            self._last = piece.text[-1]
