"""The draft length for the next round: the one with the most expected tokens per millisecond, 0 included.

Acceptance per draft position is a decaying average with a prior; the cost of a round is measured for every
length that was used, and taken as a straight line between and beyond those.
"""

from __future__ import annotations

from kestrel_engine.options import MAX_DRAFT

PRIOR_ACCEPTANCE = 0.7
PRIOR_WEIGHT = 4.0
DECAY = 0.97
"""Weight of an earlier test beside the newest."""
EXPLORE_EVERY = 24
"""Rounds between two that explore, at least."""
EXPLORE_SHARE = 0.03
"""Of the time since the last exploring round, an exploring round may lose this much."""
HYSTERESIS = 1.02
"""A new length must promise this much more than the present one."""
PRIOR_ROW_COST = 0.15
"""Extra cost of one draft, in plain steps, before any was measured."""
FIRST_LENGTH = 3


class Governor:
    def __init__(self) -> None:
        self._accepted = [PRIOR_ACCEPTANCE * PRIOR_WEIGHT] * MAX_DRAFT
        self._tested = [PRIOR_WEIGHT] * MAX_DRAFT
        self._milliseconds: dict[int, float] = {}
        self._length = FIRST_LENGTH
        self._rounds = 0
        self._waited = 0
        """Rounds since the last that explored."""
        self._explored = 0

    def record(self, drafted: int, accepted: int, milliseconds: float) -> None:
        """A round drafted, accepted and took so much. Positions behind the first rejection were not tested."""
        for position in range(min(accepted + 1, drafted)):
            self._accepted[position] = self._accepted[position] * DECAY + (position < accepted)
            self._tested[position] = self._tested[position] * DECAY + 1
        known = self._milliseconds.get(drafted)
        # What was measured long ago counts less than what is measured all the time.
        new = 1.0 if known is None else 0.2 if drafted == self._length else 0.5
        self._milliseconds[drafted] = new * milliseconds + (1 - new) * (known or 0.0)

    def acceptance(self, position: int) -> float:
        """Estimated probability that the draft at `position` is right, those before it being right."""
        return self._accepted[position] / self._tested[position]

    def expected_tokens(self, length: int) -> float:
        total, chain = 1.0, 1.0
        for position in range(length):
            chain *= self.acceptance(position)
            total += chain
        return total

    def cost(self, length: int) -> float:
        """Milliseconds of a round with `length` drafts: measured, or on the line through what was."""
        known = sorted(self._milliseconds)
        if length in self._milliseconds:
            return self._milliseconds[length]
        if not known:
            return 1.0 + PRIOR_ROW_COST * length
        if len(known) == 1:
            base = self._milliseconds[known[0]] / (1.0 + PRIOR_ROW_COST * known[0])
            return base * (1.0 + PRIOR_ROW_COST * length)
        left = max((k for k in known if k < length), default=known[0])
        right = min((k for k in known if k > length), default=known[-1])
        if left == right or left > length or right < length:
            left, right = (known[0], known[1]) if length < known[0] else (known[-2], known[-1])
        low, high = self._milliseconds[left], self._milliseconds[right]
        return max(low + (high - low) * (length - left) / (right - left), 1e-6)

    def choose(self, limit: int = MAX_DRAFT) -> tuple[int, str]:
        """Draft length for the next round and the reason, in words."""
        self._rounds += 1
        rates = [self.expected_tokens(k) / self.cost(k) for k in range(MAX_DRAFT + 1)]
        best = max(range(MAX_DRAFT + 1), key=lambda k: rates[k])
        if self._rounds > 1 and rates[best] > rates[self._length] * HYSTERESIS:
            self._length = best
        length, reason = self._length, "most tokens per ms"
        if self._may_explore(other := self._unexplored(), rates[length]):
            length, reason = other, "exploring"
            self._waited, self._explored = 0, self._explored + 1
        if length > limit:
            length, reason = limit, "end of the answer or context near"
        return (
            length,
            f"{reason}: {self.expected_tokens(length):.2f} tokens in {self.cost(length):.2f} ms expected",
        )

    def _may_explore(self, other: int, rate: float) -> bool:
        """Whether a round of length `other` instead of one at `rate` tokens per millisecond can be afforded."""
        self._waited += 1
        loss = self.cost(other) - self.expected_tokens(other) / rate
        return self._waited >= EXPLORE_EVERY and loss <= EXPLORE_SHARE * self._waited * self.cost(
            self._length
        )

    def _unexplored(self) -> int:
        """A neighbour of the present length or plain decoding: one never measured, else each in turn."""
        neighbours = [k for k in (self._length + 1, self._length - 1, 0) if 0 <= k <= MAX_DRAFT]
        return next(
            (k for k in neighbours if k not in self._milliseconds),
            neighbours[self._explored % len(neighbours)],
        )
