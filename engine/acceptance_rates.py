"""How often drafts are right, by their position: decaying averages."""

from __future__ import annotations

import operator
from itertools import accumulate

from kestrel_engine.options import MAX_DRAFT

PRIOR_ACCEPTANCE = 0.6
PRIOR_WEIGHT = 1.2
"""Tests that the prior counts for. The prior of a later position is the estimate for the one before it."""
DECAY = 0.98
"""Weight of an earlier round beside the newest."""
HEAVIEST = 1e9
"""Weight of the newest round at which all are made lighter."""


class AcceptanceRates:
    """Of one source of drafts."""

    def __init__(self) -> None:
        self._wrong = [0.0] * MAX_DRAFT
        """Weight of the rounds whose first wrong draft was at each position."""
        self._right = [0.0] * (MAX_DRAFT + 1)
        """Weight of the rounds that were right throughout, by their length."""
        self._weight = 1.0

    def record(self, drafted: int, accepted: int) -> None:
        """Positions behind the first rejection were not tested. Newer rounds weigh more instead of older ones less."""
        self._weight /= DECAY
        if accepted < drafted:
            self._wrong[accepted] += self._weight
        else:
            self._right[drafted] += self._weight
        if self._weight > HEAVIEST:
            self._wrong = [each / HEAVIEST for each in self._wrong]
            self._right = [each / HEAVIEST for each in self._right]
            self._weight /= HEAVIEST

    def rates(self) -> list[float]:
        """Estimated probability that the draft at each position is right, those before it being right."""
        right, tested = [0.0] * MAX_DRAFT, [0.0] * (MAX_DRAFT + 1)
        for position in reversed(range(MAX_DRAFT)):
            right[position] = tested[position + 1] + self._right[position + 1]
            tested[position] = right[position] + self._wrong[position]
        estimate, prior, found = PRIOR_ACCEPTANCE, PRIOR_WEIGHT * self._weight, []
        for position in range(MAX_DRAFT):
            if tested[position]:
                estimate = (prior * estimate + right[position]) / (prior + tested[position])
            found.append(estimate)
        return found

    def tokens(self) -> list[float]:
        """Expected tokens of a round of each length, 0..MAX_DRAFT."""
        return list(accumulate(accumulate([1.0, *self.rates()], operator.mul)))
