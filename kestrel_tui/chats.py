"""Saved chats: finding them, reading their journals, and showing them as text."""

from __future__ import annotations

import contextlib
import datetime
import json
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kestrel_engine.errors import UsageError
from kestrel_engine.events import Released, Round, Token
from kestrel_engine.words import counted
from kestrel_tui.journal import VERSION
from kestrel_tui.objects import round_from_saved, saved_list, saved_text, token_from_row
from kestrel_tui.reasoning import split_reasoning
from kestrel_tui.sanitize import one_line


@dataclass(slots=True)
class Turn:
    """A question and what came back."""

    question: str
    tokens: list[Token] = field(default_factory=list)
    """The answer's."""
    rounds: dict[int, Round] = field(default_factory=dict)
    """By their index."""
    finish_reason: str | None = None
    """None: the answer was cut off, its process died."""
    message: str = ""
    """Why it failed, when `finish_reason` is "error"."""
    seed: int | None = None
    is_oneshot: bool = False
    """Whether a script asked (-p, a pipe), as far as the journal says."""
    reasoning_open: bool = False
    """Whether the prompt ended inside a `<think>`, so that the text begins with reasoning."""

    @property
    def text(self) -> str:
        return "".join(token.text for token in self.tokens)

    @property
    def parts(self) -> tuple[str, str]:
        """(reasoning, answer)"""
        return split_reasoning(self.text, self.reasoning_open)

    def take(self, event: Round | Released) -> None:
        """Keep what came of the answer."""
        self.tokens += event.tokens
        if isinstance(event, Round):
            self.rounds[event.index] = event

    def messages(self) -> list[dict]:
        """The turn for the model: nothing if it was never answered."""
        if not self.tokens:
            return []
        reasoning, answer = self.parts
        reply = {"role": "assistant", "content": answer}
        return [{"role": "user", "content": self.question}, reply | _reasoning(reasoning)]


def _reasoning(text: str) -> dict:
    return {"reasoning_content": text} if text else {}


def _optional_text(value: object) -> str | None:
    return None if value is None else saved_text(value)


class NewerVersion(ValueError):
    """A journal is of a kestrel-chat that writes it in another way."""


@dataclass(slots=True)
class Chat:
    """A chat in memory, saved or not."""

    id: str = ""
    created: str = ""
    model: str | None = None
    """As given on the command line; None is the bundled model."""
    system: str | None = None
    turns: list[Turn] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    """What was wrong with the file, one line each."""

    @property
    def is_oneshot(self) -> bool:
        """Whether nobody but scripts ever asked."""
        return bool(self.turns) and all(turn.is_oneshot for turn in self.turns)

    def messages(self) -> list[dict]:
        """The chat so far for the model; reasoning stands apart from the answers' text."""
        start = [{"role": "system", "content": self.system}] if self.system else []
        return start + [message for turn in self.turns for message in turn.messages()]

    def apply(self, line: dict) -> None:
        """Take in a line of a journal. Raises ValueError, KeyError, TypeError, IndexError or
        OverflowError for a bad one."""
        match line["type"]:
            case "chat":
                if line["version"] > VERSION:
                    raise NewerVersion
                self.created = saved_text(line["created"])
                self.model, self.system = _optional_text(line["model"]), _optional_text(line["system"])
            case "system":
                self.system = _optional_text(line["text"])
            case "user":
                question, is_oneshot = saved_text(line["text"]), bool(line.get("oneshot"))
                self.turns.append(Turn(question, is_oneshot=is_oneshot))
            case "answer":
                self.turns[-1].reasoning_open = bool(line["reasoning"])
                self.turns[-1].seed = int(line["seed"])
            case "tokens":
                tokens = tuple(map(token_from_row, saved_list(line["tokens"])))
                saved = line.get("round")
                event = round_from_saved(saved, tokens) if saved is not None else Released(tokens)
                self.turns[-1].take(event)
            case "end":
                self.turns[-1].finish_reason = saved_text(line["finish_reason"])
                self.turns[-1].message = saved_text(line.get("message", ""))
            case "undo":
                self.turns.pop()
            case kind:
                saved_text(kind)  # another kind of line may be a newer kestrel-chat's


_NAMED = 4
"""Damaged lines of a file that are told one by one."""


_ENDLESS = {stat.S_IFIFO: "pipe", stat.S_IFCHR: "device"}
"""Kinds of files whose reading may never end."""


def read_chat(path: Path) -> Chat:
    """Read a journal. Lines that cannot be read are skipped and noted. Raises UsageError."""
    try:
        kind = stat.S_IFMT(path.stat().st_mode)
        if kind in _ENDLESS:
            raise UsageError(f"chat {path.stem} cannot be read (it is a {_ENDLESS[kind]}): {path}")
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise UsageError(f"chat {path.stem} cannot be read ({error.strerror}): {path}") from None
    chat, damaged = Chat(id=path.stem), []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            chat.apply(json.loads(line))
        except NewerVersion as error:
            if number == 1:
                newer = f"chat {chat.id} is of a newer kestrel-chat, and is left as it is: update this one"
                raise UsageError(newer) from error
            damaged.append(number)
        except (ValueError, KeyError, TypeError, IndexError, OverflowError, RecursionError):
            damaged.append(number)
    chat.notices = [f"chat {chat.id}: {what}" for what in _skipped(damaged, len(lines))]
    return chat


def _skipped(damaged: list[int], last: int) -> Iterator[str]:
    """What is said of lines that could not be read. last: the number of the last one, which has no line end."""
    within = [number for number in damaged if number != last]
    if len(within) == 1:
        yield f"line {within[0]} is damaged and is skipped"
    elif within:
        few = ", ".join(map(str, within[:_NAMED])) + f" and {len(within) - _NAMED} more" * (
            len(within) > _NAMED
        )
        yield f"lines {few} are damaged and are skipped"
    if last in damaged:
        yield "the last line was cut short and is skipped"


class ChatStore:
    """The folder of saved chats."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def newest_first(self) -> list[Path]:
        """The chats' files, the one written to last first. Raises UsageError if the folder cannot be read."""
        try:
            files = [path for path in self._folder.iterdir() if path.suffix == ".jsonl"]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise UsageError(f"{self._folder}: {error.strerror}: make it a readable folder") from None
        return sorted(files, key=_last_written, reverse=True)

    def latest(self, for_prompt: bool) -> Path:
        """The chat that --continue means: with -p (`for_prompt`) the newest; else the newest that is more than
        answers to scripts, so that none of them comes between a person and their chat. If there is no such, the newest.

        Raises UsageError.
        """
        files = [path for path in self.newest_first() if path.is_file()]
        if not files:
            raise UsageError("no chat is saved yet: start one without --continue")
        return files[0] if for_prompt else next((path for path in files if _is_held(path)), files[0])

    def find(self, prefix: str) -> Path:
        """The one chat whose id begins with `prefix`. Raises UsageError."""
        if not prefix:
            raise UsageError("the id of a chat is empty: kestrel-chat --list shows them")
        matches = [path for path in self.newest_first() if path.stem.startswith(prefix)]
        exact = [path for path in matches if path.stem == prefix]
        if len(exact or matches) == 1:
            return (exact or matches)[0]
        if matches:
            few = ", ".join(path.stem for path in matches[:4]) + (", …" if len(matches) > 4 else "")
            raise UsageError(f"{prefix!r} is the beginning of {len(matches)} chats ({few}): write more of it")
        raise UsageError(f"no saved chat begins with {prefix!r}: kestrel-chat --list shows them")


def _last_written(path: Path) -> int:
    """Nanoseconds since 1970; 0 for a file that is gone meanwhile: whoever reads it is told."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _is_held(path: Path) -> bool:
    with contextlib.suppress(UsageError):
        return not read_chat(path).is_oneshot
    return False


def resume_hint(chat: Chat) -> str | None:
    """What to do about a saved chat whose model cannot be loaded; None if nothing of it is saved."""
    if not chat.id or not chat.turns:
        return None
    return (
        f"the chat is kept: kestrel-chat MODEL --resume {chat.id} goes on with another model,"
        f" --show {chat.id} prints it"
    )


def list_lines(store: ChatStore, notices: list[str]) -> Iterator[str]:
    """A line for each saved chat, the one written to last first: id, when that was, turns, first words."""
    for path in store.newest_first():
        try:
            chat = read_chat(path)
        except UsageError as error:
            notices.append(str(error))
            continue
        words = one_line(chat.turns[0].question) if chat.turns else ""
        words = words if len(words) <= 60 else words[:59] + "…"
        words = f"{words} (by a script)" if chat.is_oneshot else words
        turns = counted(len(chat.turns), "turn")
        written = time.strftime("%Y-%m-%d %H:%M", time.localtime(_last_written(path) / 1e9))
        yield f"{one_line(chat.id)}  {written}  {turns:>9}  {words}".rstrip()


def local_time(stamp: str) -> str:
    """An ISO 8601 time as "2026-11-30 17:05" on the local clock; as it is when it cannot be read."""
    try:
        return datetime.datetime.fromisoformat(stamp).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError):  # the latter at either end of the calendar
        return one_line(stamp)[:16]


_ENDINGS = {None: "cut off", "cancelled": "stopped", "length": "length limit reached"}


def as_markdown(chat: Chat) -> str:
    """A chat to read, mail or file: a heading for each voice, reasoning as a quotation."""
    blocks = [
        f"# Chat {chat.id}".rstrip(),
        f"{local_time(chat.created)}, model {chat.model or 'kestrel-nano'}".removeprefix(", "),
    ]
    if chat.system:
        blocks += ["## System", chat.system]
    for turn in chat.turns:
        reasoning, answer = turn.parts
        blocks += ["## User", turn.question, "## Assistant"]
        if reasoning:
            blocks.append("\n".join(f"> {line}".rstrip() for line in reasoning.splitlines()))
        if answer:
            blocks.append(answer)
        if turn.finish_reason == "error":
            blocks.append(f"*(failed: {turn.message})*")
        elif turn.finish_reason in _ENDINGS:
            blocks.append(f"*({_ENDINGS[turn.finish_reason]})*")
    return "\n\n".join(block.rstrip("\n") for block in blocks) + "\n"
