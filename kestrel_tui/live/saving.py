"""What the screen asks about saved chats, and what it does with the answers."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from kestrel_engine.errors import KestrelError
from kestrel_tui.chats import list_lines
from kestrel_tui.live.dialogs import ChatsDialog, SaveDialog
from kestrel_tui.live.kinds import styles_of
from kestrel_tui.live.save import Colours, save

if TYPE_CHECKING:
    from kestrel_tui.live.chat_screen import ChatScreen


def ask_where(screen: ChatScreen) -> None:
    """Ask for the name of a file, and save the chat there."""
    name = screen.conversation.journal.id or time.strftime("%Y-%m-%d-%H%M%S")

    def answered(path: Path | None) -> None:
        if path is not None:
            _save(screen, path.absolute())

    screen.app.push_screen(SaveDialog(f"kestrel-{name}.md"), answered)


def _save(screen: ChatScreen, path: Path) -> None:
    base = screen.view.rich_style
    background, foreground = base.bgcolor.get_truecolor(), base.color.get_truecolor()
    colours = Colours(styles_of(screen.app), tuple(background), tuple(foreground))
    is_folder_new = not path.parent.exists()
    try:
        save(path, screen.conversation.chat, colours)
    except KestrelError as error:
        screen.tell(str(error))
    else:
        screen.tell(f"saved: {path}" + (" (the folder is new)" if is_folder_new else ""), is_bad=False)


def ask_which(screen: ChatScreen) -> None:
    """Ask for one of the saved chats, and go on with it."""
    notices: list[str] = []
    try:
        lines = list(list_lines(screen.app.store, notices))
    except KestrelError as error:
        screen.tell(str(error))
        return

    def answered(chat_id: str | None) -> None:
        if chat_id is not None:
            _resume(screen, chat_id)

    if notices:
        screen.tell(notices[0] + f" (and {len(notices) - 1} more)" * (len(notices) > 1))
    lines = [line for line in lines if line.split()[0] != screen.conversation.journal.id]
    screen.app.push_screen(ChatsDialog(lines), answered)


def _resume(screen: ChatScreen, chat_id: str) -> None:
    try:
        screen.app.resume(chat_id)
    except KestrelError as error:
        screen.tell(str(error))
    screen.view.to_end()
    screen.show()
