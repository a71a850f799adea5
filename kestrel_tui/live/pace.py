"""How often the screen repaints while tokens come: as a screen does, and more rarely where repaints are dear."""

from __future__ import annotations

import time
from typing import Final

FRAME: Final = 1 / 30
"""Seconds between two repaints while tokens come, at least."""

SHARE: Final = 0.06
"""Of a core, that repaints may take from the engine: dearer ones come more rarely."""

LONGEST_FRAME: Final = 0.1
"""But not more rarely than this, in seconds."""


class Pace:
    """Of one screen; its thread calls `begin` at every repaint."""

    def __init__(self) -> None:
        self.begun = 0.0
        """When the last repaint began, on the monotonic clock."""
        self._cost = 0.0
        """Seconds of a core that this thread took from the repaint before the last to the last."""
        self._spent = time.thread_time()

    def begin(self) -> None:
        """A repaint begins."""
        self.begun = time.monotonic()
        self._cost, self._spent = time.thread_time() - self._spent, time.thread_time()

    def wait(self) -> float:
        """Seconds until the next repaint may come; 0 or less when it may at once."""
        period = min(LONGEST_FRAME, max(FRAME, self._cost / SHARE))
        return period - (time.monotonic() - self.begun)
