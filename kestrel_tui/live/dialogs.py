"""Questions to the user that cover the chat: where to save, which chat to go on with, what to do."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.command import CommandPalette
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

# Textual cannot break an entry into lines of no cells: no list is narrower than its padding and a scroll bar.
_LOOK = """
{name} {{ align: center middle; }}
{name} > Vertical {{ width: 80%; max-width: 90; height: auto; max-height: 80%; padding: 1 2;
                     background: $surface; border: round $primary; }}
{name} OptionList, {name} OptionList:focus {{ height: auto; max-height: 100%; min-width: 12; border: none; }}
{name} Static {{ text-wrap: nowrap; text-overflow: ellipsis; }}
{name}.-low > Vertical {{ width: 100%; max-height: 100%; padding: 0 1; }}
{name}.-low Input {{ height: 1; border: none; padding: 0; }}
"""
_HEIGHTS = [(0, "-low"), (16, "-high")]
_CANCELS: list[BindingType] = [
    Binding("escape", "dismiss(None)", "Cancel"),
    # With priority: the field for text takes it, and copies nothing.
    Binding("ctrl+c", "dismiss(None)", "Cancel", show=False, priority=True),
]


class Palette(CommandPalette):
    """Textual's, which ctrl+c closes too, and which a terminal of a few columns does not break."""

    DEFAULT_CSS = "Palette CommandList { min-width: 12; }"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "escape", show=False, priority=True)]


class SaveDialog(ModalScreen[Path | None]):
    """Asks for a file name; None when the user thought better of it."""

    DEFAULT_CSS = _LOOK.format(name="SaveDialog")
    VERTICAL_BREAKPOINTS: ClassVar = _HEIGHTS
    BINDINGS: ClassVar[list[BindingType]] = _CANCELS

    def __init__(self, proposal: str) -> None:
        super().__init__()
        self._proposal = proposal

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static("Save as .md (with provenance), .jsonl, .svg or .html", markup=False)
            yield Input(self._proposal, select_on_focus=False)
            yield Static(Content.styled("enter saves, esc cancels", "$muted"))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        name = event.value.strip()
        self.dismiss(Path(name).expanduser() if name else None)


class ChatsDialog(ModalScreen[str | None]):
    """Lets the user choose one of the saved chats; its id."""

    DEFAULT_CSS = _LOOK.format(name="ChatsDialog")
    VERTICAL_BREAKPOINTS: ClassVar = _HEIGHTS
    BINDINGS: ClassVar[list[BindingType]] = _CANCELS

    def __init__(self, lines: list[str]) -> None:
        """lines: what chats.list_lines gives; a line begins with the id."""
        super().__init__()
        self._lines = lines

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            # In the border they take no rows from the list, and stay where they are while it scrolls.
            box.border_title, box.border_subtitle = "Go on with a chat", "enter chooses, esc cancels"
            if not self._lines:
                box.border_subtitle = "esc goes back"
                yield Static("No other chat is saved yet.", markup=False)
                return
            yield OptionList(*(Option(Content(line), id=line.split()[0]) for line in self._lines))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option.id)
