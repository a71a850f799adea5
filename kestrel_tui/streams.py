"""The three standard streams: what they are, and what to do when they refuse."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import threading
from collections.abc import Iterator, Mapping
from typing import TextIO

from kestrel_engine.errors import KestrelError, UsageError
from kestrel_engine.output import write_out
from kestrel_tui.sanitize import for_terminal, one_line

_PATIENCE = 2.0
"""Seconds of reading after which the user is told what is waited for."""

MOST_INPUT = 1 << 26
"""Bytes of a prompt, or characters of a line. No context holds as much; what never ends would fill the memory."""


def is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def is_simple_terminal(environ: Mapping[str, str]) -> bool:
    """Whether not a single escape sequence is wanted: TERM=dumb, or NO_COLOR set to something."""
    return environ.get("TERM", "") in ("", "dumb") or bool(environ.get("NO_COLOR"))


def show_out(text: str) -> None:
    """Write to standard output; if that is a terminal, without its control characters."""
    write_out(for_terminal(text) if is_terminal(sys.stdout) else text)


def write_err(text: str) -> None:
    """Write to standard error at once; nothing happens if nobody can read it."""
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(for_terminal(text))
        sys.stderr.flush()


def say(message: str) -> None:
    """One line on standard error."""
    write_err(one_line(message) + "\n")


def complain(message: str) -> None:
    """One line on standard error that says who is speaking."""
    say(f"kestrel-chat: {message}")


def refuse_too_long(read: str | bytes) -> None:
    """Raises UsageError if what was read from standard input is longer than MOST_INPUT."""
    if len(read) > MOST_INPUT:
        raise UsageError(
            f"standard input goes on after {MOST_INPUT >> 20} MiB, more than any model takes: shorten it"
        )


def read_stdin(stdin: TextIO | None) -> str:
    """All of standard input as UTF-8 text; bytes that are none become U+FFFD, which is reported.

    Raises KestrelError when it cannot be read or is too long.
    """
    if stdin is None:
        return ""
    try:
        with _reminder(is_terminal(stdin)):
            data = stdin.buffer.read(MOST_INPUT + 1)
    except OSError as error:
        raise KestrelError(f"standard input cannot be read: {error.strerror or error}") from None
    refuse_too_long(data)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        complain("standard input is not UTF-8 text: the bytes that are none were replaced")
        return data.decode("utf-8-sig", "replace")


@contextlib.contextmanager
def _reminder(typed: bool) -> Iterator[None]:
    """Says what is waited for: at once where someone types, else if the input does not end soon."""
    if typed:
        say("Type the prompt, then ctrl+d on a line of its own.")
    hint = "waiting for standard input to end: a pipe is open; </dev/null if nothing is to be read"
    timer = threading.Timer(_PATIENCE, complain, [hint])
    timer.daemon = True
    if not typed:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def piped_text(stdin: TextIO | None) -> str:
    """What is piped in: the whole of a pipe, socket or file; "" for a terminal, /dev/null or no input."""
    try:
        mode = os.fstat(stdin.fileno()).st_mode
    except (OSError, ValueError, AttributeError):
        return ""
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISREG(mode):
        return read_stdin(stdin)
    return ""
