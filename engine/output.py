"""Standard output of a command, whatever the shell handed over: closed, a full disk, or a reader that goes away."""

from __future__ import annotations

import contextlib
import io
import os
import sys

from kestrel_engine.errors import KestrelError

OUTPUT_CLOSED = 141
"""Exit status after `OutputClosed`: what a shell reports for a program that SIGPIPE ended."""


class OutputClosed(Exception):
    """Whoever read standard output has gone away."""


def prepare() -> None:
    """Make the streams usable whatever the shell handed over: closed, or unable to write some characters.

    Raises KestrelError when standard output is closed.
    """
    # Closed descriptors are filled, or the next file to be opened would become a standard stream.
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
    sys.stderr = sys.stderr or io.TextIOWrapper(io.BytesIO())
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(io.BytesIO())
        raise KestrelError("standard output is closed: redirect it to a file, or to /dev/null")
    for stream in (sys.stdout, sys.stdin):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def write_out(text: str) -> None:
    """Write to standard output at once. Raises OutputClosed, or KestrelError when the disk refuses."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        _drop_unwritten()
        if isinstance(error, BrokenPipeError):
            raise OutputClosed from None
        raise KestrelError(f"standard output cannot be written: {error.strerror or error}") from None


def _drop_unwritten() -> None:
    """Let go what standard output did not take, or the end of the process would try once more and complain."""
    with contextlib.suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
