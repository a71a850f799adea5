"""The log file: tracebacks, warnings and library messages go there, never to the screen."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator

from kestrel_tui import paths

_LARGEST = 1 << 20
"""Bytes after which the log starts afresh; one older file is kept."""


class _LogFile(logging.FileHandler):
    """Opened at the first message; a full or read-only disk is remembered instead of reported."""

    def __init__(self) -> None:
        super().__init__(paths.log_file(), encoding="utf-8", delay=True)
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        self.trouble: OSError | None = None

    def _open(self):
        path = paths.log_file()
        paths.make_private_folder(path.parent)
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_size > _LARGEST:
                path.replace(path.with_suffix(".log.1"))
        return open(path, "a", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600))

    def emit(self, record: logging.LogRecord) -> None:
        try:
            super().emit(record)
        except OSError as error:
            self.trouble = error

    def handleError(self, record: logging.LogRecord) -> None:
        self.trouble = OSError("the log file cannot be written")


@contextlib.contextmanager
def logging_to_file(save: bool) -> Iterator[None]:
    """While inside, messages and warnings of every library go to the log file, or nowhere without `save`."""
    handler = _LogFile() if save else logging.NullHandler()
    root = logging.getLogger()
    root.addHandler(handler)
    logging.captureWarnings(True)
    try:
        yield
    finally:
        logging.captureWarnings(False)
        root.removeHandler(handler)
        handler.close()


def record(error: BaseException) -> str:
    """Log the traceback of `error`; the words that say where it is, for the one line on the screen."""
    logging.getLogger("kestrel_tui").error("unexpected error", exc_info=error)
    return where()


def where() -> str:
    """Where the log is, in words."""
    handlers = [handler for handler in logging.getLogger().handlers if isinstance(handler, _LogFile)]
    if not handlers:
        return "run again without --no-save to have the details logged"
    if handlers[-1].trouble:
        return f"the details could not be logged to {paths.log_file()} ({handlers[-1].trouble.strerror})"
    return f"details are in {paths.log_file()}"
