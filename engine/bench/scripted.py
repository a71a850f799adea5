"""Scripted acceptance: drafts from a recorded plain run with given hit rates, at the real cost of drafting.

A random-weight checkpoint of a true shape has true costs but no acceptance of its own. A script supplies the
acceptance: it knows what plain decoding will say and gets each draft position right at the asked rate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from kestrel_engine.drafter import Drafter
from kestrel_engine.options import MAX_DRAFT
from kestrel_engine.sampling import Sampler
from kestrel_engine.state import State


class Script:
    """Which drafts are right. Hits are spread evenly over the tests of a position instead of drawn, so that
    short runs keep to the rates as well: after n tests a position had round(rate * n) hits."""

    def __init__(self, rates: Sequence[float]):
        """rates[j]: hits / tests at draft position j, those before being right. The last holds beyond."""
        self.rates = [rates[min(place, len(rates) - 1)] for place in range(MAX_DRAFT)]
        self._tested = [0] * MAX_DRAFT

    def right(self, count: int) -> int:
        """How many of the next round's `count` drafts are right before the first wrong one."""
        for place in range(count):
            before, after = (math.floor(self.rates[place] * (self._tested[place] + n) + 0.5) for n in (0, 1))
            self._tested[place] += 1
            if before == after:
                return place
        return count

    def drafts(self, truth: Sequence[int], vocabulary: int) -> list[int]:
        """Drafts for a round in which plain decoding would emit `truth`."""
        right = self.right(len(truth))
        return [token if place < right else (token + 1) % vocabulary for place, token in enumerate(truth)]


class ScriptedDrafter:
    """Runs the MTP head for every draft, discards its guesses, and drafts by the script."""

    name = "scripted"

    def __init__(self, mtp: Drafter | None, vocabulary: int, rates: Sequence[float]):
        """mtp: None where the model has no head; then drafting costs nothing."""
        self.mtp, self.vocabulary, self._rates = mtp, vocabulary, rates
        self.stream: Sequence[int] = ()
        """Prompt and plain continuation of the answer at hand."""
        self.restart()

    def restart(self) -> None:
        self.script = Script(self._rates)

    def reset(self) -> None:
        if self.mtp is not None:
            self.mtp.reset()

    def draft(self, state: State, next_token: int, count: int, sampler: Sampler) -> list[int]:
        if self.mtp is not None:
            self.mtp.draft(state, next_token, count, sampler)
        first = state.length + 1
        return self.script.drafts(self.stream[first : first + count], self.vocabulary)
