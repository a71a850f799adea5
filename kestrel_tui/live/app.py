"""The Textual application: one screen, its theme, its palette of actions, its end."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Iterator
from typing import ClassVar

from rich.console import RenderableType
from textual import events
from textual.app import App, SystemCommand
from textual.binding import BindingType
from textual.command import CommandPalette
from textual.message import Message
from textual.screen import Screen
from textual.theme import ThemeProvider

from kestrel_engine.errors import KestrelError
from kestrel_tui.chats import ChatStore, read_chat
from kestrel_tui.client import EngineFactory
from kestrel_tui.keys import ACTIONS, key_of
from kestrel_tui.live import key_list
from kestrel_tui.live.bridge import Bridge
from kestrel_tui.live.chat_screen import ChatScreen, EngineSpoke
from kestrel_tui.live.conversation import Conversation
from kestrel_tui.live.dialogs import Palette
from kestrel_tui.live.key_order import KeyOrder
from kestrel_tui.live.kinds import muted
from kestrel_tui.live.notices import Notices

INTERRUPTED = 130
"""Exit status when SIGTERM or SIGHUP ended the chat, as in the plain one."""


class ChatApp(App[int], inherit_bindings=False):
    """Owns the bridge to the engine; after `run`, call `close`."""

    TITLE = "kestrel-chat"
    # Notices appear above what is read and written, never on the prompt. Their scroll bar would never be seen, but take
    # columns, in which what is behind them would show.
    CSS = """
    ToastRack { dock: top; align: right top; margin: 0; max-height: 50%; scrollbar-size-vertical: 0; }
    Toast { padding: 0 1; max-width: 80%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(
        self, conversation: Conversation, store: ChatStore, factory: EngineFactory | None = None
    ) -> None:
        self._changed_keys = conversation.settings.keys
        self.COMMAND_PALETTE_BINDING = key_of(self._changed_keys, "palette.open")
        self._key_order = KeyOrder(self)
        self.has_panicked = False
        """Something beside the screen failed, such as the reader of keys; what it was is logged."""
        super().__init__()
        self._notifications = Notices(self, self._keep)
        self.set_keymap(self._changed_keys)
        self.conversation, self.store = conversation, store
        self.bridge = Bridge(conversation.settings.engine_options(), self._wake, factory)
        conversation.connect(self.bridge)
        self.chat_screen = ChatScreen(conversation, self.bridge)

    def on_mount(self) -> None:
        self.push_screen(self.chat_screen)
        loop = asyncio.get_running_loop()
        for name in ("SIGTERM", "SIGHUP"):
            # Not every system has them, and only the main thread may handle them.
            with contextlib.suppress(AttributeError, NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(getattr(signal, name), self.exit, INTERRUPTED)

    def _keep(self, notice: str) -> None:
        """A notice that others displaced stands in the transcript."""
        self.conversation.say(notice)
        self.chat_screen.show()

    def panic(self, *renderables: RenderableType) -> None:
        self.has_panicked = True
        super().panic(*renderables)

    def post_message(self, message: Message) -> bool:
        is_posted = super().post_message(message)
        if is_posted:
            self._key_order.posted(message)
        return is_posted

    async def on_event(self, event: events.Event) -> None:
        if await self._key_order.turn(event):
            await super().on_event(event)
            self._key_order.done(event)

    def get_css_variables(self) -> dict[str, str]:
        variables = super().get_css_variables()
        self.theme_variables = variables | {"muted": muted(self.current_theme, variables)}
        return self.theme_variables

    def close(self) -> None:
        """Stop the engine, and keep what it still said."""
        reader_ends = getattr(self._driver, "exit_event", None)
        if reader_ends is not None:
            # Where the terminal went first, Textual may leave its reader running: it would never end, and nor would we.
            reader_ends.set()
        self.bridge.close(patient=self.conversation.ready is not None)
        for event in self.bridge.drain():
            self.conversation.take(event)
        self.conversation.close()

    def resume(self, chat_id: str) -> None:
        """Go on with a saved chat. Raises KestrelError; then the present chat goes on."""
        path, journal = self.store.find(chat_id), self.conversation.journal
        chat, present = read_chat(path), journal.id
        try:
            journal.resume(path)
        except KestrelError:
            if present is not None:
                journal.resume(self.store.find(present))
            raise
        self.conversation.resume(chat)

    def get_system_commands(self, screen: Screen) -> Iterator[SystemCommand]:
        chat = self.chat_screen
        for each in ACTIONS:
            if each.words and each.id != "palette.open":
                title = f"{each.words} ({key_of(self._changed_keys, each.id)})"
                yield SystemCommand(title, "", lambda action=each.action: chat.run_action(action))
        for title, action in _MORE_ACTIONS.items():
            yield SystemCommand(title, "", lambda action=action: chat.run_action(action))
        yield SystemCommand("Choose a theme", "", self.action_change_theme)
        yield SystemCommand("Show or hide all keys", "", lambda: key_list.toggle(chat))

    def action_command_palette(self) -> None:
        if not CommandPalette.is_open(self):
            self.push_screen(Palette())

    def search_themes(self) -> None:
        self.push_screen(Palette(providers=[ThemeProvider], placeholder="Search for themes…"))

    def _wake(self) -> None:
        """Called on the engine's thread."""
        self.chat_screen.post_message(EngineSpoke())


_MORE_ACTIONS = {
    "Edit the last question": "edit",
    "Ask the last question again": "retry",
    "Withdraw the last question and its answer": "undo",
    "Copy the last answer": "copy_answer",
    "Figures of the last answer": "run('/stats')",
    "Reasoning: on": "run('/think on')",
    "Reasoning: off": "run('/think off')",
    "Reasoning: as the model's template has it": "run('/think auto')",
}
"""What has no key: the words in the palette, and the action."""
