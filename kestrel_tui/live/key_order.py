"""Keys act one after the other: each waits until those typed before it have had their effect.

Textual's app runs its own keys at once, hands letters on to the queue of what has the focus, and gets other keys
back from there, behind what was typed since. When several arrive in one read, ctrl+c would clear a prompt that has
not yet taken the letters typed before it, and letters typed behind a key that opens a dialog would miss it.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Final

from textual import events
from textual.app import App, ScreenStackError
from textual.message import Message
from textual.message_pump import MessagePump

PATIENCE: Final = 2.0
"""Seconds after which a key no longer waits: what hangs can still be left."""


class KeyOrder:
    """Tells an app when it is a key's turn."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._effect: asyncio.Task | None = None
        """Ends when the last key has had its effect."""
        self._returning = 0
        """Keys in the app's queue that what has the focus made no use of."""

    def posted(self, message: Message) -> None:
        """`message` was put into the app's queue."""
        self._returning += _is_typed(message) and message.is_forwarded

    async def turn(self, event: events.Event) -> bool:
        """Whether the app may deal with `event` now. If not, it was put behind those it has to wait for."""
        if not _is_typed(event):
            return True
        if event.is_forwarded:
            self._returning -= 1
            return True
        if self._effect is not None:
            await self._effect
        if self._returning:
            self._app.post_message(event)
            return False
        return True

    def done(self, event: events.Event) -> None:
        """The app has dealt with `event`; others may not have."""
        if _is_typed(event):
            self._effect = asyncio.create_task(_effect(self._app))


def _is_typed(message: Message) -> bool:
    return isinstance(message, events.Key | events.Paste)


async def _effect(app: App) -> None:
    """Return when all between the focus and the screen have dealt with what they were given."""
    known = None
    with contextlib.suppress(TimeoutError, ScreenStackError):  # no screens: the app ends
        async with asyncio.timeout(PATIENCE):
            # A key may move the focus, and be handed on to what has it then.
            while (first := app.focused or app.screen) is not known:
                known = first
                pumps = [pump for pump in first.ancestors_with_self if pump is not app]
                # The first one twice: what a key makes it post stands behind its queue before it rises.
                for pump in [first, *pumps]:
                    await _reached(pump)


async def _reached(pump: MessagePump) -> None:
    """Return when `pump` has dealt with all that is in its queue now."""
    done = asyncio.Event()
    if pump.is_running and pump.call_later(done.set):
        await done.wait()
