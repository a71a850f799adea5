"""Notices that pass, above the chat: the newest few of them, so that they never cover what is read and written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Self

from textual.app import App
from textual.notifications import Notification, Notifications
from textual.widgets._toast import ToastRack

MOST: Final = 3
"""Notices that are shown at a time."""

ROWS_EACH: Final = 8
"""Of the screen, for a notice: a low screen has fewer of them."""


class Notices(Notifications):
    """Textual's, but of equal ones it keeps the last, and of all the last that there is room for."""

    def __init__(self, app: App, displaced: Callable[[str], None]) -> None:
        """displaced: called with the message of one that went before its time."""
        super().__init__()
        self._app, self._displaced = app, displaced

    def add(self, notification: Notification) -> Self:
        for other in list(self):
            if (other.message, other.severity) == (notification.message, notification.severity):
                self._remove(other)
        super().add(notification)
        room = max(1, min(MOST, self._app.size.height // ROWS_EACH))
        for oldest in list(self)[:-room]:
            self._remove(oldest)
            self._displaced(oldest.message)
        return self

    def _remove(self, notification: Notification) -> None:
        del self[notification]
        # Textual would take the text away, but leave an empty place.
        self._app.screen.query(f"#{ToastRack._toast_id(notification)}").remove()
