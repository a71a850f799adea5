"""Bytes from the terminal that are no UTF-8: a paste of Latin-1, or of a picture, must not end the chat."""

from __future__ import annotations

import codecs
import contextlib


def forgive() -> None:
    """Let Textual's reader show "\ufffd" for such bytes. It has no setting for that, and an error ends the screen."""
    with contextlib.suppress(ImportError):  # on Windows there is another reader
        from textual.drivers import linux_driver

        linux_driver.getincrementaldecoder = _forgiving


def _forgiving(encoding: str):
    strict = codecs.getincrementaldecoder(encoding)
    return lambda: strict(errors="replace")
