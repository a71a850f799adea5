"""What the side panel reports: running figures of a chat's rounds. Times are milliseconds."""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Iterable

from kestrel_engine.events import SPECULATION_OFF, Round
from kestrel_engine.options import DraftLength
from kestrel_tui.live.speedup import Speedup
from kestrel_tui.stats import TurnStats

_RECENT = 8
"""Rounds that make up "now"."""
_WINDOW = 256
"""Rounds that the medians look back on."""


class Figures:
    """Adds up the rounds of a chat as they come.

    What they yielded is counted for the whole chat; how long they took, for those that this process went through.
    """

    def __init__(self) -> None:
        self.speedup = Speedup()
        """Of all chats of this process: it is the machine's and the model's."""
        self.recount(())
        self.forget_times()

    def recount(self, rounds: Iterable[Round]) -> None:
        """The chat has these rounds, and no others."""
        self.totals = TurnStats()
        for event in rounds:
            self.totals.add(event)

    def forget_times(self) -> None:
        """Another chat begins, or goes on."""
        self.last: Round | None = None
        self.speeds: deque[float | None] = deque(maxlen=_WINDOW)
        """Milliseconds per token of each round, oldest first; None where the draft length was changed."""
        self._due: bool | None = None
        """Whether the speculation that rounds are to be marked from is off; None when no mark is due."""
        self._recent: deque[tuple[float, int]] = deque(maxlen=_RECENT)
        self._phases: deque[tuple[float, float, float]] = deque(maxlen=_RECENT)

    def add(self, event: Round) -> None:
        milliseconds = event.draft_ms + event.verify_ms + event.replay_ms
        produced = event.accepted + 1
        self.totals.add(event)
        self.speedup.add(event)
        self.last = event
        if self._due == (event.reason == SPECULATION_OFF):
            self._mark()
        # The first round of an answer also shows the prompt to the draft head: no measure of later ones.
        if event.index == 0:
            return
        self.speeds.append(milliseconds / produced)
        self._recent.append((milliseconds, produced))
        self._phases.append((event.draft_ms, event.verify_ms, event.replay_ms))

    def changed(self, length: DraftLength) -> None:
        """The user wants another draft length: the mark comes where rounds follow it, for some may be ahead."""
        self._due = length == 0

    def _mark(self) -> None:
        self._due = None
        if self.speeds and self.speeds[-1] is not None:
            self.speeds.append(None)

    def begin(self) -> None:
        """An answer begins: what is "now" begins anew."""
        self._recent.clear()

    @property
    def now(self) -> float | None:
        """Milliseconds per token over the last few rounds."""
        return _rate(self._recent)

    @property
    def median(self) -> float | None:
        known = [speed for speed in self.speeds if speed is not None]
        return statistics.median(known) if known else None

    @property
    def phases(self) -> tuple[float, float, float] | None:
        """(draft, verify, replay) of a round, means over the last few."""
        if not self._phases:
            return None
        return tuple(statistics.fmean(column) for column in zip(*self._phases, strict=True))


def _rate(rounds: deque[tuple[float, int]]) -> float | None:
    produced = sum(count for _, count in rounds)
    return sum(milliseconds for milliseconds, _ in rounds) / produced if produced else None
