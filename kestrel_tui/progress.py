"""Loading, told on standard error: append-only lines, and only when it takes long enough to wonder."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from kestrel_engine.events import Event, Loading, Notice
from kestrel_tui.streams import complain, is_terminal, say

_QUIET_SECONDS = 1.0
_REPEAT_SECONDS = 5.0


class LoadingProgress:
    """Shows each stage of a load that takes over a second, and how far it is every five seconds.

    Called with the engine's events, and with None while none comes. Notices are shown in any case.
    """

    def __init__(self, quiet: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._shown = not quiet and is_terminal(sys.stderr)
        self._clock = clock
        self._began = clock()
        self._stage: str | None = None
        self._told: tuple[str | None, float] = (None, self._began)
        self._fraction: float | None = None

    def __call__(self, event: Event | None) -> None:
        if isinstance(event, Notice):
            complain(event.message)
        elif isinstance(event, Loading):
            self._stage, self._fraction = event.stage, event.fraction
        elif event is not None:
            self._stage = None
        self._tell()

    def _tell(self) -> None:
        time_now = self._clock()
        stage, moment = self._told
        is_due = stage != self._stage or time_now - moment >= _REPEAT_SECONDS
        if not self._shown or self._stage is None or time_now - self._began < _QUIET_SECONDS or not is_due:
            return
        self._told = (self._stage, time_now)
        share = "" if self._fraction is None else f" {self._fraction:.0%}"
        say(f"Loading: {self._stage}{share}")
