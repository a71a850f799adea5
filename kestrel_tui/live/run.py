"""Starting the live screen, and what is left on the terminal after it."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

from kestrel_engine.errors import KestrelError
from kestrel_tui import log, streams
from kestrel_tui.chats import as_markdown, resume_hint
from kestrel_tui.printed import for_stdout, rows

if TYPE_CHECKING:
    from kestrel_tui.chats import Chat, ChatStore
    from kestrel_tui.client import EngineFactory
    from kestrel_tui.journal import Journal
    from kestrel_tui.settings import Settings

_SWITCH_INTERVAL = 0.001
"""Seconds after which the engine's Python lets a key through; the usual 0.005 add up to a lag."""

FRAMES = "500"
"""Times a second at which Textual looks for what to paint. A key may wait for two of them, and all of them pass
unused where nothing has changed."""

_LONGEST = 200
"""Rows of a transcript that are printed at the end; of a longer one, its place is."""


def run_live(
    settings: Settings, chat: Chat, journal: Journal, store: ChatStore, factory: EngineFactory | None
) -> int:
    """Chat until the user quits; returns the exit status. Raises KestrelError, OutputClosed."""
    os.environ.setdefault("TEXTUAL_FPS", FRAMES)
    from kestrel_engine import garbage
    from kestrel_tui.live import input_bytes
    from kestrel_tui.live.app import ChatApp  # imports textual
    from kestrel_tui.live.conversation import Conversation
    from kestrel_tui.live.terminal import private_terminal

    sys.setswitchinterval(_SWITCH_INTERVAL)
    garbage.begin()
    input_bytes.forgive()
    conversation = Conversation(settings, chat, journal)
    app = ChatApp(conversation, store, factory)
    try:
        with private_terminal(save=not settings.no_save):
            status = app.run()
    finally:
        journal.notify = streams.complain
        app.close()
    _leave(conversation.chat, journal)
    if app._exception is not None:
        where = log.record(app._exception)
        raise KestrelError(f"the screen failed ({type(app._exception).__name__}): {where}")
    if app.has_panicked:
        raise KestrelError(f"the screen failed: {log.where()}")
    if conversation.fatal is not None:
        hint = resume_hint(conversation.chat)
        streams.complain(f"{conversation.fatal.message}; {hint}" if hint else conversation.fatal.message)
        return conversation.fatal.exit_status
    return status or 0


def _leave(chat: Chat, journal: Journal) -> None:
    """Put the transcript on the terminal, or say where it is."""
    if not chat.turns:
        return
    journal.check()
    text = for_stdout(as_markdown(chat))
    if journal.id is None or rows(text, shutil.get_terminal_size().columns) <= _LONGEST:
        streams.write_out(text)
    if journal.id is not None:
        streams.say(f"(saved: kestrel-chat --resume {journal.id} goes on, --show {journal.id} prints it)")
