"""All keys, in a column beside the chat: the chat's own first, those that edit text last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

from kestrel_tui.keys import ACTIONS, shown_key
from kestrel_tui.live.prompt_box import NEW_LINE_KEYS, PromptBox

if TYPE_CHECKING:
    from kestrel_tui.live.chat_screen import ChatScreen

_PROMPT = (
    ("enter", "Send"),
    ("\n".join(NEW_LINE_KEYS), "Begin a new line"),
    ("up\ndown", "Earlier messages, at the first and the last line"),
    ("PageUp\nPageDown", "Scroll"),
    ("Home\nEnd", "Scroll to the start or end, from an empty prompt; with ctrl+ always"),
    ("left\nright", "Token by token, from an empty prompt"),
    ("tab", "Into the transcript or this list, and back"),
)


class KeyList(VerticalScroll):
    """Scrolls while it has the focus; what else is typed goes to the prompt."""

    DEFAULT_CSS = """
    KeyList { split: right; width: 45%; min-width: 36; max-width: 46; height: 1fr; padding: 0 1;
              border-left: solid $panel; }
    KeyList:focus { border-left: solid $accent; }
    KeyList > Static { height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(self, keys: Mapping[str, str]) -> None:
        """keys: the changes to the chat's keys, as settings have them."""
        super().__init__()
        self._keys = keys

    def compose(self) -> ComposeResult:
        yield Static(Group(*_tables(self._keys)))

    def uses(self, event: events.Key) -> bool:
        """Whether the key scrolls."""
        return not self._bindings.key_to_bindings.keys().isdisjoint(event.aliases)


def toggle(screen: ChatScreen) -> None:
    """Show all keys beside the chat, or no longer."""
    shown = screen.query(KeyList)
    if shown:
        screen.set_focus(screen.prompt)
        shown.remove()
    else:
        screen.mount(KeyList(screen.conversation.settings.keys))
    screen.set_class(not shown, "-keys")
    screen.call_after_refresh(screen.show)


def _tables(keys: Mapping[str, str]) -> Iterator[RenderableType]:
    chat = ((shown_key(keys, each.id), each.words or each.label) for each in ACTIONS)
    for title, rows in (("Chat", chat), ("Prompt", _PROMPT), ("Editing", _editing())):
        # A table of its own for each: most names of keys are short, and leave room for words.
        table = Table(box=None, show_header=False, padding=(0, 1, 0, 0))
        table.add_column(no_wrap=True)
        table.add_column()
        for key, words in rows:
            table.add_row(Text(key, "bold"), Text(words))
        yield from (Text(title, "bold underline"), table, Text())


def _editing() -> Iterator[tuple[str, str]]:
    """What the field for text itself does with keys that the chat leaves to it."""
    taken = {each.key for each in ACTIONS}
    for binding in PromptBox.BINDINGS:
        # With super they are for terminals that hand it on, which are few.
        names = [key for key in binding.key.split(",") if key not in taken and not key.startswith("super+")]
        if names and binding.description and binding.action.split("(")[0] not in ("page", "edge"):
            yield "\n".join(names), binding.description
