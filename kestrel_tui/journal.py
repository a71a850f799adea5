"""The journal of one chat: a line of JSON for each thing that happens, appended when it happens.

Lines, by their "type":
    chat       first line: version, id, created (ISO 8601), model (as given, null = bundled), system
    system     the system message changed: text
    user       a question, written before the answer begins: text, time; oneshot: a script asked (-p, a pipe)
    answer     the answer begins: seed, prompt_tokens, reasoning (the prompt ended in an open <think>)
    tokens     what came at once: tokens as rows of objects.token_row; round, unless there was none
    end        the answer is over: finish_reason (stop, length, cancelled, error), message, stats
    undo       the last turn is withdrawn
Text is never rewritten. A journal whose last line was cut short is repaired when the chat goes on.
"""

from __future__ import annotations

import contextlib
import datetime
import errno
import json
import os
import secrets
from collections.abc import Callable
from pathlib import Path

from kestrel_engine.errors import KestrelError
from kestrel_engine.events import Released, Round
from kestrel_tui.objects import saved_round, token_row
from kestrel_tui.paths import make_private_folder

VERSION = 1


def now() -> str:
    """The time in UTC, ISO 8601, whole seconds."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


class Journal:
    """Appends to a chat's file, which is created with the first question, 0600.

    Each line is handed to the system at once, so a killed process loses nothing that was shown. When the
    disk refuses, or the file is removed, `notify` gets one line and the chat goes on unsaved.
    """

    def __init__(self, notify: Callable[[str], None], folder: Path | None, is_oneshot: bool = False) -> None:
        """folder: None saves nothing. is_oneshot: a script asks, by -p or a pipe."""
        self.notify = notify
        """May be replaced, by a screen that covers the one before."""
        self._folder, self._is_oneshot = folder, is_oneshot
        self._file: int | None = None
        self._header: dict | None = None
        self.id: str | None = None
        """The chat's id once it has a file."""

    def begin(self, model: str | None, system: str | None) -> None:
        """Start a new chat. Its file appears with the first question."""
        self.close()
        self._header = {
            "type": "chat",
            "version": VERSION,
            "created": now(),
            "model": model,
            "system": system,
        }

    def resume(self, path: Path) -> None:
        """Go on with the chat at `path`. Raises KestrelError if another process has it open."""
        self.close()
        self._header = None
        if self._folder is None:
            return
        with self._saving():
            self._file = os.open(path, os.O_RDWR | os.O_APPEND)
            if not _lock(self._file):
                self.close()
                raise KestrelError(f"chat {path.stem} is open in another kestrel-chat: close it there first")
            _repair(self._file)
            self.id = path.stem

    def user(self, text: str) -> None:
        mark = {"oneshot": True} if self._is_oneshot else {}
        self._write({"type": "user", "text": text, "time": now()} | mark)

    def system(self, text: str | None) -> None:
        if self._header is not None:
            self._header["system"] = text
        else:
            self._write({"type": "system", "text": text})

    def answer(self, seed: int, prompt_tokens: int, reasoning: bool) -> None:
        self._write({"type": "answer", "seed": seed, "prompt_tokens": prompt_tokens, "reasoning": reasoning})

    def tokens(self, event: Round | Released) -> None:
        line = {"type": "tokens", "tokens": [token_row(token) for token in event.tokens]}
        line |= {"round": saved_round(event)} if isinstance(event, Round) else {}
        self._write(line)

    def end(self, finish_reason: str, message: str | None = None, stats: dict | None = None) -> None:
        """finish_reason: the engine's, or "error" with a `message`."""
        line = {"type": "end", "finish_reason": finish_reason}
        line |= {"message": message} if message else {}
        line |= {"stats": stats} if stats else {}
        self._write(line)

    def undo(self) -> None:
        self._write({"type": "undo"})

    def check(self) -> None:
        """See whether what was saved is still there: else `id` is None from now on."""
        with self._saving():
            self._check()

    def _check(self) -> None:
        if self._file is not None and not (self._folder / f"{self.id}.jsonl").is_file():
            raise FileNotFoundError(errno.ENOENT, "its file was removed")

    def close(self) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.close(self._file)
        self._file = None
        self.id = None

    def _write(self, line: dict) -> None:
        with self._saving():
            if self._header is not None and self._folder is not None:
                self._create()
            if self._file is not None:
                self._check()
                _append(self._file, line)

    def _create(self) -> None:
        """Make the file, under an id nobody has, and write its first line."""
        header, self._header = self._header, None
        make_private_folder(self._folder)
        while self._file is None:
            name = secrets.token_hex(4)
            with contextlib.suppress(FileExistsError):
                path = self._folder / f"{name}.jsonl"
                self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o600)
        self.id = name
        _lock(self._file)
        try:
            _append(self._file, header | {"id": name})
        except OSError:
            path.unlink(missing_ok=True)
            raise

    @contextlib.contextmanager
    def _saving(self):
        try:
            yield
        except OSError as error:
            self.close()
            self._folder = None
            self.notify(f"the chat is not saved ({error.strerror or error}): it goes on without a file")


def _append(file: int, line: dict) -> None:
    data = (json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n").encode("utf-8", "replace")
    while data:
        data = data[os.write(file, data) :]


def _lock(file: int) -> bool:
    """Take the file for this process until it is closed; False if another process has it."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        pass  # no locks here: two processes writing one chat is then the user's own care
    return True


def _repair(file: int) -> None:
    """End the file with a whole line: a last line that was cut short is removed."""
    with os.fdopen(os.dup(file), "rb") as reader:
        reader.seek(0)
        data = reader.read()
    last = data[data.rfind(b"\n") + 1 :]
    if not last:
        return
    try:
        json.loads(last)
        os.write(file, b"\n")
    except ValueError:
        os.ftruncate(file, len(data) - len(last))
