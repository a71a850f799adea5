"""Reading what the user types: one message at a time, of one line or several."""

from __future__ import annotations

import contextlib
import select
import sys
from collections.abc import Callable, Mapping
from types import ModuleType

from kestrel_engine.errors import KestrelError
from kestrel_tui.interrupts import Raising, Terminated
from kestrel_tui.sanitize import clean_input, for_terminal
from kestrel_tui.streams import (
    MOST_INPUT,
    is_simple_terminal,
    is_terminal,
    refuse_too_long,
    say,
    write_err,
    write_out,
)

LABEL = "User: "
_FENCE = '"""'
_PASTE_GAP = 0.05
"""Seconds: lines that follow each other faster than this were pasted, not typed."""


class QuitRequested(Exception):
    """ctrl+c twice in a row with nothing typed."""


class Prompt:
    '''Reads messages from standard input and shows them, labelled, on standard output.

    A line that ends in a backslash goes on in the next one; a line that begins with """ opens a block
    that ends at the next """. With a terminal on both ends and escape sequences allowed, readline edits
    the line, recalls earlier ones and keeps a pasted text together. Without it a terminal's lines that
    arrive together are one message. From a pipe or a file every line is a message.
    '''

    def __init__(self, environ: Mapping[str, str], is_command: Callable[[str], bool]) -> None:
        self._typed = is_terminal(sys.stdin)
        self._shown = self._typed and is_terminal(sys.stdout)
        self._readline: ModuleType | None = None
        if self._shown and not is_simple_terminal(environ):
            with contextlib.suppress(ImportError):
                import readline

                self._readline = readline
                readline.set_auto_history(False)
                # Off by default in Python; with it a pasted text of several lines stays one message.
                readline.parse_and_bind("set enable-bracketed-paste on")
        self._is_command = is_command
        self._waiting: list[str] = []
        self._lines: list[str] = []
        self._draft = ""
        self._warned = False

    @property
    def is_interactive(self) -> bool:
        return self._typed

    def remember(self, message: str) -> None:
        """Let the up arrow bring `message` back."""
        if self._readline and message:
            self._readline.add_history(message)

    def read(self) -> str:
        """The next message. Raises EOFError at the end of input, QuitRequested, Terminated."""
        while True:
            self._lines = []
            try:
                with Raising(self._keep_draft):
                    message = clean_input(self._message())
            except Terminated:
                raise
            except KeyboardInterrupt:
                self._after_interrupt()
                continue
            self._warned = False
            self.remember(message)
            if not self._shown and not self._is_command(message):
                write_out(f"{LABEL}{for_terminal(message)}\n")
            return message

    def _message(self) -> str:
        line = self._line(LABEL)
        if line.lstrip().startswith(_FENCE):
            return self._block(line.lstrip().removeprefix(_FENCE))
        self._lines.append(line)
        while self._lines[-1].endswith("\\"):
            self._lines[-1] = self._lines[-1][:-1]
            try:
                self._lines.append(self._line(""))
            except EOFError:
                break
        return "\n".join(self._lines)

    def _block(self, line: str) -> str:
        """The lines up to one that ends in a fence, or to the end of input."""
        while not line.rstrip().endswith(_FENCE):
            self._lines.append(line)
            try:
                line = self._line("")
            except EOFError:
                return "\n".join(self._lines).strip("\n")
        self._lines.append(line.rstrip().removesuffix(_FENCE))
        return "\n".join(self._lines).strip("\n")

    def _line(self, label: str) -> str:
        """One line without its end; with a paste, all its lines. Raises EOFError."""
        if self._waiting:
            return self._waiting.pop(0)
        if self._readline:
            return input(label)
        if self._shown:
            write_out(label)
        elif self._typed and label:
            write_err(label)
        line = _read_line()
        lines = [line]
        while self._typed and not self._is_command(line) and _more_waits():
            try:
                line = _read_line()
            except EOFError:
                break
            (self._waiting if self._is_command(line) else lines).append(line)
        return "\n".join(lines)

    def _keep_draft(self) -> None:
        """Called inside the signal handler: afterwards readline has forgotten the line."""
        last = self._readline.get_line_buffer() if self._readline else ""
        self._draft = "\n".join([*self._lines, last]).strip("\n")

    def _after_interrupt(self) -> None:
        write_err("\n")
        if self._draft:
            self.remember(self._draft)
            self._warned = False
            say("(cleared; the up arrow brings it back)" if self._readline else "(cleared)")
        elif self._warned:
            raise QuitRequested
        else:
            self._warned = True
            say("(press ctrl+c again to quit)")


def _more_waits() -> bool:
    return bool(select.select([sys.stdin], [], [], _PASTE_GAP)[0])


def _read_line() -> str:
    """Raises EOFError at the end of input, also of one that is closed; KestrelError when it cannot be read, or
    has no line end for too long."""
    try:
        line = sys.stdin.readline(MOST_INPUT + 1) if sys.stdin else ""
    except OSError as error:
        raise KestrelError(f"standard input cannot be read: {error.strerror or error}") from None
    refuse_too_long(line)
    if not line:
        raise EOFError
    return line.removesuffix("\n").removesuffix("\r")
