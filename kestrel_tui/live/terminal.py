"""The terminal, out of the reach of libraries: what they print goes to the log file while the screen is up."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from kestrel_tui import paths


@contextlib.contextmanager
def private_terminal(save: bool) -> Iterator[None]:
    """While inside, textual draws on the terminal, and descriptors 1 and 2 write to the log file.

    save: False sends what is printed nowhere.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    kept_out, kept_err = os.dup(1), os.dup(2)
    streams = sys.__stdout__, sys.__stderr__
    terminal = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="replace", newline="\n")
    sink = _sink(save)
    try:
        # Textual draws on sys.__stderr__ and asks sys.__stdout__ for the size.
        sys.__stdout__ = sys.__stderr__ = terminal
        os.dup2(sink, 1)
        os.dup2(sink, 2)
        yield
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        sys.__stdout__, sys.__stderr__ = streams
        os.dup2(kept_out, 1)
        os.dup2(kept_err, 2)
        for descriptor in (kept_out, kept_err, sink):
            os.close(descriptor)
        with contextlib.suppress(OSError, ValueError):
            terminal.close()


def _sink(save: bool) -> int:
    if save:
        with contextlib.suppress(OSError):
            path = paths.log_file()
            paths.make_private_folder(path.parent)
            return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    return os.open(os.devnull, os.O_WRONLY)
