"""Where the user types: enter sends, ctrl+j begins a new line, a paste never sends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea

NEW_LINE_KEYS = ("ctrl+j", "shift+enter", "alt+enter")


class PromptBox(TextArea, inherit_bindings=False):
    """A TextArea that grows with its text and remembers what was sent or cleared."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # Without f6 and f7, which are keys of the chat.
        *(binding for binding in TextArea.BINDINGS if binding.key not in ("f6", "f7", "pageup", "pagedown")),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("ctrl+home", "edge('start')", "To the start", show=False),
        Binding("ctrl+end", "edge('end')", "To the end", show=False),
    ]

    @dataclass
    class Sent(Message):
        """Enter was pressed."""

        text: str

    @dataclass
    class Paged(Message):
        """The transcript is to move by a page, -1 up or 1 down."""

        direction: int

    @dataclass
    class Edged(Message):
        """The transcript is to move to its "start" or "end"."""

        edge: str

    @dataclass
    class Moved(Message):
        """The arrows are of no use in an empty prompt: -1 left or 1 right."""

        by: int

    def __init__(self, **keywords) -> None:
        super().__init__(
            soft_wrap=True,
            show_line_numbers=False,
            compact=True,
            tab_behavior="focus",
            highlight_cursor_line=False,
            **keywords,
        )
        self.cursor_blink = False
        self._history: list[str] = []
        self._place = 0
        """Index in the history of what is shown; its length for the draft."""
        self._draft = ""

    def remember(self, text: str) -> None:
        """Let the up arrow bring `text` back."""
        if text.strip() and text not in self._history[-1:]:
            self._history.append(text)
        self._place, self._draft = len(self._history), ""

    def put(self, text: str) -> None:
        """Replace what is typed, so that ctrl+z brings it back."""
        self.replace(text, (0, 0), self.document.end)
        self.move_cursor(self.document.end)

    def take(self, text: str) -> None:
        """Remove what was sent, and keep what was typed since behind it."""
        self.remember(text)
        self.put(self.text.removeprefix(text))

    def discard(self) -> None:
        """Clear what is typed; the up arrow and ctrl+z bring it back."""
        self.take(self.text)

    def uses(self, event: events.Key) -> bool:
        """Whether the key types or edits."""
        keys = {"enter", *NEW_LINE_KEYS, *self._bindings.key_to_bindings}
        return event.is_printable or not keys.isdisjoint(event.aliases)

    async def _on_key(self, event: events.Key) -> None:
        match event.key:
            case "enter":
                self.post_message(self.Sent(self.text))
            case key if key in NEW_LINE_KEYS:
                self._replace_via_keyboard("\n", *self.selection)
            case "up" if self.cursor_at_first_line and self._recall(-1):
                pass
            case "down" if self.cursor_at_last_line and self._recall(1):
                pass
            case "home" | "end" if not self.text:
                self.post_message(self.Edged("start" if event.key == "home" else "end"))
            case "left" | "right" if not self.text:
                self.post_message(self.Moved(-1 if event.key == "left" else 1))
            case _:
                await super()._on_key(event)
                return
        event.stop()
        event.prevent_default()

    def _recall(self, step: int) -> bool:
        """Show what was sent before or after; False when there is none."""
        place = self._place + step
        if not 0 <= place <= len(self._history):
            return False
        if self._place == len(self._history):
            self._draft = self.text
        self._place = place
        self.put(self._draft if place == len(self._history) else self._history[place])
        return True

    def action_page(self, direction: int) -> None:
        self.post_message(self.Paged(direction))

    def action_edge(self, edge: str) -> None:
        self.post_message(self.Edged(edge))
