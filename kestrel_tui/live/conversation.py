"""The chat behind the screen: takes the engine's events, keeps them, and writes the transcript."""

from __future__ import annotations

import contextlib
import dataclasses

from kestrel_engine.events import (
    Cancel,
    Command,
    Event,
    Failed,
    Loading,
    Notice,
    Prefill,
    Ready,
    Released,
    Round,
    SetSpeculation,
    TurnEnded,
    TurnStarted,
)
from kestrel_engine.options import MAX_DRAFT, DraftLength, SamplingOptions
from kestrel_tui.answer import Answer
from kestrel_tui.chats import Chat, resume_hint
from kestrel_tui.commands import Commands, is_command
from kestrel_tui.journal import Journal
from kestrel_tui.keys import shown_key
from kestrel_tui.live.answer_stream import AnswerStream, show_turn
from kestrel_tui.live.bridge import Bridge
from kestrel_tui.live.figures import Figures
from kestrel_tui.live.transcript import Transcript
from kestrel_tui.settings import Settings
from kestrel_tui.stats import TurnStats

AT_FIRST = 3
"""Draft length that "more" and "fewer" start from when nothing else is known."""


class Conversation:
    """Used by one thread, the screen's. It knows nothing of the screen: that looks at it after each change."""

    def __init__(self, settings: Settings, chat: Chat, journal: Journal) -> None:
        self.settings, self.chat, self.journal = settings, chat, journal
        self.transcript = Transcript()
        self.figures = Figures()
        self._timed = chat
        """The chat that the figures' times are of."""
        self.ready: Ready | None = None
        self.progress: Loading | Prefill | None = None
        """What is being waited for, while it is."""
        self.waiting: str | None = None
        """A question to be asked once the model is ready."""
        self.answer: Answer | None = None
        """The answer that is being given."""
        self.is_stopping = False
        """Whether the running answer was told to end: a long text becomes tokens in one go."""
        self.fatal: Failed | None = None
        """Why there is no model."""
        self.guesses: tuple[str, ...] = ()
        """Texts of the drafts that the last round rejected."""
        self.context_used = 0
        """Tokens of the chat, as far as the screen was told: the next question comes behind them."""
        self.last_stats: TurnStats | None = None
        self.quitting = False
        self._bridge: Bridge | None = None
        self._stream: AnswerStream | None = None
        self._open = contextlib.ExitStack()
        self._commands = Commands(self)
        self._length_before_off: DraftLength = settings.speculate or "auto"
        self.turns_changed()

    def connect(self, bridge: Bridge) -> None:
        self._bridge = bridge

    @property
    def is_answering(self) -> bool:
        return self.answer is not None

    @property
    def live_block(self):
        """The transcript's block that grows; None between answers."""
        return self._stream.block if self._stream else None

    # --- what the user does --------------------------------------------------------------------------------

    def enter(self, text: str) -> str | None:
        """Take a message or a command from the prompt; if it cannot be taken now, why ("" for nothing at all)."""
        if not text.strip():
            return ""
        name = text.split()[0] if is_command(text) else None
        refusal = self.refusal(name)
        if refusal is None and name is not None:
            self.quitting = not self._commands.run(text)
        elif refusal is None:
            self.ask(text.removeprefix(" ") if text.startswith(" /") else text)
        return refusal

    def refusal(self, command: str | None) -> str | None:
        """Why `command` ("/retry"), or a question (None), cannot be taken now; None if it can."""
        stop = shown_key(self.settings.keys, "answer.stop")
        if command not in (None, "/new", "/retry", "/undo"):
            return None
        if self.fatal is not None and command in (None, "/retry"):
            return "there is no model to answer: what it needs is said above"
        if self.is_answering:
            return f"an answer is being given: {stop} stops it"
        if self.waiting is not None:
            return f"a question waits for the model: {stop} withdraws it"
        if self.ready is None and command == "/retry":
            return "the model is still being loaded"
        return None

    def ask(self, question: str) -> None:
        """Have `question` answered, now or when the model is ready."""
        self.transcript.add("user", question)
        if self.ready is None:
            self.waiting = question
        else:
            self._submit(question)

    def _submit(self, question: str) -> None:
        messages = (*self.chat.messages(), {"role": "user", "content": question})
        submit = self.settings.submit(self._defaults(), messages=messages)
        self.answer = self._open.enter_context(Answer(question, self.chat, self.journal, self.ready.load_ms))
        self._send(submit)

    def stop(self) -> bool:
        """End the running answer; False if there is none."""
        if self.waiting is not None:
            self.waiting = None
            self.turns_changed()
            return True
        if self.is_answering:
            self._send(Cancel())
            self.is_stopping = True
        return self.is_answering

    def give_back(self) -> str | None:
        """The question that waits for a model, if there will be none."""
        if self.fatal is None:
            return None
        question, self.waiting = self.waiting, None
        return question

    def withdraw(self) -> str | None:
        """Take the last turn back, or the question that waits; its question."""
        if self.waiting is not None:
            question, self.waiting = self.waiting, None
            self.turns_changed()
            return question
        if self.is_answering or not self.chat.turns:
            return None
        question = self.chat.turns.pop().question
        self.turns_changed()
        self.journal.undo()  # last: what it complains of is to stay
        return question

    def command(self, text: str) -> None:
        """Run a slash command that an action stands for."""
        self._commands.run(text)

    def resume(self, chat: Chat) -> None:
        """Go on with another chat, whose journal is already open."""
        self.chat = chat
        self.turns_changed()
        if chat.model != self.settings.model:
            was, present = chat.model or "kestrel-nano", self.settings.model or "kestrel-nano"
            self.say(f"(this chat was held with {was}; it goes on with {present}, which is loaded)")

    # --- speculation ---------------------------------------------------------------------------------------

    def toggle_speculation(self) -> None:
        """Off, or back to what it was; in mid-answer too."""
        length = self.settings.speculate
        if length != 0:
            self._length_before_off = length
        self.set_length(self._length_before_off if length == 0 else 0)

    def change_length(self, by: int) -> None:
        """Draft more or fewer, from what "auto" does now; from AT_FIRST where it does not draft just then."""
        length = self.settings.speculate
        if length == "auto":
            last = self.figures.last
            length = last.drafted if last is not None and last.drafted else AT_FIRST
        self.set_length(max(0, min(MAX_DRAFT, length + by)))

    def set_length(self, length: DraftLength) -> None:
        self.settings = dataclasses.replace(self.settings, speculate=length)
        self.speculation_changed()

    def speculation_changed(self) -> None:
        self.figures.changed(self.settings.speculate)
        self._send(SetSpeculation(self.settings.speculate))

    # --- what the engine says ------------------------------------------------------------------------------

    def take(self, event: Event) -> None:
        if self.answer is not None:
            self.answer.take(event)  # first kept, then shown
        match event:
            case Loading() | Prefill():
                self.progress = event
            case Ready():
                self.ready, self.progress = event, None
                self._ask_waiting()
            case TurnStarted():
                self._stream = AnswerStream(self.transcript, event.reasoning)
                self.context_used = event.prompt_tokens
                self.figures.begin()
            case Round() | Released():
                self._show_tokens(event)
            case Notice():
                self.say(event.message)
            case TurnEnded() | Failed():
                self._end(event)

    def _show_tokens(self, event: Round | Released) -> None:
        self.progress = None
        event_round = event if isinstance(event, Round) else None
        self.guesses = event_round.rejected_texts if event_round else ()
        if event.tokens:
            self.context_used = event.tokens[-1].position + 1
        if event_round:
            self.figures.add(event_round)
        rounds = self.answer.turn.rounds
        for token in event.tokens:
            self._stream.add(token, rounds.get(token.round))

    def _end(self, event: TurnEnded | Failed) -> None:
        self.progress, self.guesses, self.is_stopping = None, (), False
        if self._stream is not None:
            self._stream.finish()
            self._stream = None
        if isinstance(event, Failed):
            self.complain(event.message)
            self.fatal = event if event.fatal else None
            if event.fatal and (hint := resume_hint(self.chat)):
                self.say(hint)
        if self.answer is not None:
            if isinstance(event, TurnEnded):
                self.last_stats = self.answer.stats
                self._remark(self.answer)
            self._open.close()
            self.answer = None
        self._recount_context()

    def _recount_context(self) -> None:
        """A question that got no token of an answer is not asked again, so it takes no room."""
        ends = (turn.tokens[-1].position + 1 for turn in reversed(self.chat.turns) if turn.tokens)
        self.context_used = next(ends, 0)

    def _remark(self, answer: Answer) -> None:
        if answer.remark:
            self.say(answer.remark)
        if not self.settings.quiet:
            self.say(f"this answer: {answer.stats.line()}")

    def _ask_waiting(self) -> None:
        question, self.waiting = self.waiting, None
        if question is not None:
            self._submit(question)

    # --- what commands need --------------------------------------------------------------------------------

    def say(self, text: str) -> None:
        self.transcript.add("note", text)

    def complain(self, text: str) -> None:
        self.transcript.add("error", text)

    def turns_changed(self) -> None:
        """Write the transcript anew from the chat."""
        self.transcript.clear()
        self.figures.recount(event for turn in self.chat.turns for event in turn.rounds.values())
        if self.chat is not self._timed:
            self.figures.forget_times()
            self._timed = self.chat
        self._recount_context()
        for turn in self.chat.turns:
            show_turn(self.transcript, turn)
        for notice in self.chat.notices:
            self.complain(notice)

    def close(self) -> None:
        """Give a running answer its end in the journal, and keep a question that the model was not ready for."""
        if self.waiting is not None:
            question, self.waiting = self.waiting, None
            self._open.enter_context(Answer(question, self.chat, self.journal, load_ms=0.0))
        if self._stream is not None:
            self._stream.finish()
        self._open.close()
        self.answer = None

    def _send(self, command: Command) -> None:
        if self._bridge is not None:
            self._bridge.send(command)

    def _defaults(self) -> SamplingOptions:
        return self._bridge.defaults
