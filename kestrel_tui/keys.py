"""The actions of the live screen and their keys, which the table `[keys]` of `config.toml` may change."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from kestrel_engine.errors import UsageError


class KeyAction(NamedTuple):
    """Something a key does."""

    id: str
    """What `config.toml` calls it."""
    key: str
    """Its key unless that is changed, as Textual writes it."""
    action: str
    """What the screen calls it."""
    label: str
    words: str
    """What it does, for the palette."""
    rank: int | None = None
    """On a narrow terminal the keys at the bottom with the highest go first; None for a key that is never there."""


ACTIONS: Final = (
    KeyAction("palette.open", "f1", "app.command_palette", "Menu", "Every action", 0),
    KeyAction("speculation.toggle", "f2", "toggle_speculation", "Spec",
              "Speculation off, or on again; in mid-answer too", 2),
    KeyAction("draft.shorter", "f3", "change_length(-1)", "−", "Draft one token less", 8),
    KeyAction("draft.longer", "f4", "change_length(1)", "+", "Draft one token more", 8),
    KeyAction("draft.auto", "f5", "auto_length", "Auto", "Let the engine choose the draft length", 7),
    KeyAction("inspector.toggle", "f6", "inspect", "Token", "Inspect a token", 5),
    KeyAction("chat.resume", "f7", "choose_chat", "Chats", "Go on with a saved chat", 3),
    KeyAction("chat.new", "f8", "new_chat", "New", "Start a new chat", 4),
    KeyAction("chat.save", "f9", "save", "Save", "Save the chat: Markdown, JSONL, or a picture", 6),
    KeyAction("app.quit", "f10", "quit_chat", "Quit", "Quit; the chat stays saved", 1),
    KeyAction("reasoning.fold", "f12", "fold", "Fold", "Fold or unfold the reasoning"),
    KeyAction("answer.stop", "escape", "escape", "Stop", "Stop the answer"),
    KeyAction("app.interrupt", "ctrl+c", "interrupt", "Copy, stop, clear, quit", ""),
)  # fmt: skip

_IDS: Final = {action.id: action for action in ACTIONS}

# Not the letters that readline has with alt, nor any with ctrl: those are readline's, tmux's, screen's or the
# terminal's.
_FREE: Final = re.compile(r"((ctrl|shift|alt)\+)*f([1-9]|1\d|2[0-4])|escape|alt\+[aeghijkmoqsvwxz]")
_ADVICE: Final = (
    "use a function key (f1 to f24, also with ctrl+, shift+ or alt+) or alt+ one of aeghijkmoqsvwxz"
)


class BadKey(UsageError):
    """An entry of the table that is no good."""

    def __init__(self, id: str, message: str) -> None:
        super().__init__(f"keys: {message}")
        self.id = id


def key_of(keys: Mapping[str, str], id: str) -> str:
    """The key of an action, with the changes that `keys` makes."""
    return keys.get(id, _IDS[id].key)


def shown_key(keys: Mapping[str, str], id: str) -> str:
    """The key of an action as it is printed on keyboards: "F2", "esc", "alt+m"."""
    *modifiers, name = key_of(keys, id).split("+")
    name = {"escape": "esc"}.get(name, name.upper() if name[0] == "f" and name[1:].isdigit() else name)
    return "+".join([*modifiers, name])


def parse_keys(table: Any) -> dict[str, str]:
    """The changes that the table `[keys]` makes: action id to key. Raises UsageError, one line; BadKey for
    one of them."""
    if not isinstance(table, Mapping):
        raise UsageError('keys: write a table, [keys], with lines such as "chat.new" = "f8"')
    keys = {id: _parsed(id, key) for id, key in _flat(table)}
    owners: dict[str, str] = {}
    for action in ACTIONS:
        key = key_of(keys, action.id)
        if key in owners:
            both = owners[key], action.id
            last = [id for id in keys if id in both][-1]
            raise BadKey(last, f"{key} is for {both[0]} and for {both[1]}: give one another key")
        owners[key] = action.id
    return keys


def _flat(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """`chat.new = "f8"` without quotes is a table in a table in TOML."""
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield before + name, value


def _parsed(id: str, key: Any) -> str:
    if id not in _IDS:
        near = difflib.get_close_matches(id, _IDS, 1)
        hint = f"did you mean {near[0]}?" if near else f"the actions are {', '.join(_IDS)}"
        raise BadKey(id, f"unknown action {id!r}: {hint}")
    name = key.strip().lower() if isinstance(key, str) else ""
    if name != _IDS[id].key and not _FREE.fullmatch(name):
        taken = re.fullmatch(r"(ctrl|alt)\+[a-z]", name)
        why = "readline, tmux, screen or the terminal needs it" if taken else "no key that is free"
        raise BadKey(id, f"{id} {key!r}: {why}: {_ADVICE}")
    return name
