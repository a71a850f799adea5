"""What speculation gains: rounds with drafts beside rounds without, as this process measured them."""

from __future__ import annotations

import statistics
from collections import defaultdict, deque

from kestrel_engine.events import Round

_WARMING = 2
"""Rounds of a stretch without drafts that are slower than the others: they come after longer ones, whose weights
and programs the caches hold."""
_ENOUGH_PLAIN, _ENOUGH_DRAFTED = 16, 48
"""Rounds that make a comparison. With drafts a round yields one token or many, so that more of them are needed
until their mean stays where it is."""
_WINDOW = 256
"""Rounds of each kind that it looks back on."""


class Speedup:
    """Adds up rounds as they come. Times are milliseconds."""

    def __init__(self) -> None:
        self._plain: deque[float] = deque(maxlen=_WINDOW)
        self._drafted: deque[tuple[tuple[int, bool], int, float]] = deque(maxlen=_WINDOW)
        """(drafts, whether one was wrong), tokens, time of each round with drafts."""
        self._stretch = 0
        """Rounds without drafts since the last one with some."""

    def add(self, event: Round) -> None:
        # The first round of an answer also shows the prompt to the draft head.
        self._stretch = 0 if event.drafted or event.index == 0 else self._stretch + 1
        if event.index == 0:
            return
        milliseconds = event.draft_ms + event.verify_ms + event.replay_ms
        if event.drafted:
            self._drafted.append(((event.drafted, bool(event.rejected)), event.accepted + 1, milliseconds))
        elif self._stretch > _WARMING:
            self._plain.append(milliseconds)

    @property
    def plain(self) -> float | None:
        """Milliseconds per token without drafts; None while too few such rounds came."""
        return statistics.median(self._plain) if len(self._plain) >= _ENOUGH_PLAIN else None

    @property
    def ratio(self) -> float | None:
        """How many times faster rounds with drafts are, all their costs included; None while it would be chance."""
        plain = self.plain
        if plain is None or len(self._drafted) < _ENOUGH_DRAFTED:
            return None
        # Of rounds of the same kind the median one, so that a moment in which the machine did something else does
        # not decide.
        alike: defaultdict[tuple[int, bool], list[float]] = defaultdict(list)
        for kind, _, milliseconds in self._drafted:
            alike[kind].append(milliseconds)
        whole = sum(len(times) * statistics.median(times) for times in alike.values())
        return plain * sum(produced for _, produced, _ in self._drafted) / whole
