"""The slash commands of a chat."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Protocol

from kestrel_engine.errors import KestrelError
from kestrel_tui.chats import Chat
from kestrel_tui.journal import Journal, now
from kestrel_tui.keys import shown_key
from kestrel_tui.settings import Settings, parse_speculate
from kestrel_tui.stats import TurnStats

_HELP = '''\
/help               this list
/new                start a new chat (the old one stays saved)
/retry              withdraw the last answer and ask again
/undo               withdraw the last question and its answer
/system [TEXT]      set the system message from now on; without TEXT, remove it
/think on|off|auto  reasoning before the answer
/speculate auto|off|1..8   draft length; the text stays the same
/stats              figures of the last answer
/quit               end (also ctrl+c twice, or ctrl+d in the plain chat)

ctrl+c stops an answer and keeps what is there. Put a space before a message that begins with a slash.
More lines: ctrl+j on the screen; in the plain chat a \\ at the end of a line, or """ around them.'''


def is_command(message: str) -> bool:
    """Whether `message` is one line that begins with a slash and a word of letters ("/etc/x" is text)."""
    return message.startswith("/") and "\n" not in message and message[1:].split(" ")[0].isalpha()


class Host(Protocol):
    """The chat that commands act on."""

    settings: Settings
    chat: Chat
    journal: Journal
    last_stats: TurnStats | None

    def say(self, text: str) -> None:
        """Show text, of one line or more, that is no part of the chat."""

    def complain(self, text: str) -> None:
        """Show what is wrong and what to do, in one line."""

    def ask(self, question: str) -> None: ...

    def turns_changed(self) -> None:
        """Called when the chat is another, or its last turn was withdrawn."""

    def speculation_changed(self) -> None:
        """Called when the settings have another draft length."""


class Commands:
    """Runs slash commands on a chat."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._actions: dict[str, Callable[[str], None]] = {
            "help": self._help,
            "new": self._new,
            "retry": self._retry,
            "undo": self._undo,
            "system": self._system,
            "think": self._think,
            "speculate": self._speculate,
            "stats": self._stats,
        }

    def run(self, message: str) -> bool:
        """Do what `message` says; False ends the chat."""
        name, _, argument = message[1:].partition(" ")
        if name in ("quit", "exit"):
            return False
        action = self._actions.get(name)
        if action is None:
            self._host.complain(
                f"unknown command /{name}: /help lists them; put a space before a message that begins with /"
            )
        else:
            try:
                action(argument.strip())
            except KestrelError as error:
                self._host.complain(str(error))
        return True

    def _help(self, _: str) -> None:
        menu = shown_key(self._host.settings.keys, "palette.open")
        self._host.say(f"{_HELP}\nThe screen's other keys: {menu} opens a menu of every action.")

    def _new(self, _: str) -> None:
        old = self._host.chat
        self._host.chat = Chat(created=now(), model=old.model, system=old.system)
        self._host.journal.begin(old.model, old.system)
        self._host.turns_changed()
        self._host.say("(a new chat)")

    def _retry(self, _: str) -> None:
        question = self._withdraw()
        if question is not None:
            self._host.ask(question)

    def _undo(self, _: str) -> None:
        if self._withdraw() is not None:
            self._host.say("(the last turn is withdrawn)")

    def _withdraw(self) -> str | None:
        """Take the last turn back; its question."""
        if not self._host.chat.turns:
            self._host.say("(nothing was asked yet)")
            return None
        question = self._host.chat.turns.pop().question
        self._host.turns_changed()
        self._host.journal.undo()  # last: what it complains of is to stay
        return question

    def _system(self, text: str) -> None:
        self._host.chat.system = text or None
        self._host.journal.system(text or None)
        self._host.say("(system message set)" if text else "(no system message)")

    def _think(self, choice: str) -> None:
        choices = {"on": True, "off": False, "auto": None}
        if choice not in choices:
            self._host.complain(f"/think {choice}: use on, off or auto")
            return
        self._change(think=choices[choice])
        self._host.say(f"(reasoning: {choice})")

    def _speculate(self, choice: str) -> None:
        try:
            length = parse_speculate(choice)
        except ValueError as error:
            self._host.complain(f"/speculate {choice}: {error}")
            return
        self._change(speculate=length)
        self._host.speculation_changed()
        self._host.say(f"(drafts a round: {'off' if length == 0 else length})")

    def _stats(self, _: str) -> None:
        stats = self._host.last_stats
        if stats is None:
            self._host.say("(no answer yet)")
            return
        self._host.say("\n".join(stats.lines()))

    def _change(self, **values: object) -> None:
        self._host.settings = dataclasses.replace(self._host.settings, **values)
