"""The draft length for the next round: the one with the most expected tokens per millisecond, 0 included.

Acceptance is estimated for each proposer and draft position, cost for each draft length. The rest is caution:
a new length must promise clearly more than the present one, and rounds that only try something are paid from
a small share of the time. Once a length is settled, rounds of a small model are too short to think about each:
then it is decided anew every few rounds.
"""

from __future__ import annotations

import operator
from itertools import accumulate

from kestrel_engine.cost_curve import CostCurve, MachineSpeed
from kestrel_engine.options import MAX_DRAFT

PRIOR_ACCEPTANCE = 0.6
PRIOR_WEIGHT = 1.2
"""Tests that the prior counts for. The prior of a later position is the estimate for the one before it."""
DECAY = 0.97
"""Weight of an earlier round beside the newest."""
HEAVIEST = 1e9
"""Weight of the newest round at which all are made lighter."""
FIRST_PLAIN = 3
"""Rounds of a chat that measure plain decoding first: without it nobody could say what a draft costs."""
LONGER_BY = 3
"""A length may be this much longer than the longest one whose cost is known."""
HYSTERESIS, LENGTHENING = 1.02, 1.05
"""A shorter length must promise this much more than the present one, and a longer one, of whose positions less is
known."""
NEARLY = 0.93
"""Lengths that promise this share of what the present one does are compared with it."""
MOST_PATIENCE = 8
"""Rounds between two decisions, when the last ones have changed nothing."""
EXPLORE_SHARE = 0.015
"""Of the time may be lost by rounds that explore."""
FIRST_WAIT, AGAIN_WAIT, LONG_WAIT, LONGEST_WAIT = 4, 8, 64, 80
"""Rounds between two that explore: at first, after a change between lengths, and after many that changed nothing,
while drafting and while not."""
PLAIN_EVERY = 96
"""Rounds between two measurements of plain decoding while drafting pays."""
COLD_AFTER = 12
"""Rounds after which a length is no longer in the caches: its next round, beside a length that is, would look dear."""
TRIAL, PLAIN_TRIAL = 2, 4
"""Rounds of such a length that are tried, of which the last is compared. A plain step of a small model takes half as
long again at first as in a row."""
FIRST_CREDIT, MOST_CREDIT = 0.75, 2.5
"""Plain steps that may be spent on exploring at first, and that may be saved up for it."""
MOST_LOSS = 1.5
"""Plain steps that one exploring round may be expected to lose, and that it is charged at most beyond that: it may just
have been disturbed."""
ROW_STEPS, DRAFT_STEPS = 0.06, 0.08
"""Cost of one more row to verify and of one draft, in plain steps, before any was measured."""


class _Proposer:
    """What is known of one source of drafts, and the length in use for it."""

    def __init__(self, draft_steps: float):
        self._right = [0.0] * MAX_DRAFT
        self._tested = [0.0] * MAX_DRAFT
        self._weight = 1.0
        self.drafting = CostCurve(MAX_DRAFT, 0.0, draft_steps)
        self.drafting.record(0, 0, 0.0)
        self.length: int | None = None
        self.previous: int | None = None
        self.reason = ""
        self.decide_at, self.patience = 0, 0
        self.wait, self.waited, self.credit = FIRST_WAIT, 0, FIRST_CREDIT
        self.exploring: int | None = None
        """The length that is tried, for `rounds_left` more rounds after this one."""
        self.rounds_left = 0

    def record(self, drafted: int, accepted: int) -> None:
        """Positions behind the first rejection were not tested. Newer rounds weigh more instead of older ones less."""
        self._weight /= DECAY
        for position in range(min(accepted + 1, drafted)):
            self._tested[position] += self._weight
            if position < accepted:
                self._right[position] += self._weight
        if self._weight > HEAVIEST:
            self._right = [each / HEAVIEST for each in self._right]
            self._tested = [each / HEAVIEST for each in self._tested]
            self._weight /= HEAVIEST

    def acceptance(self) -> list[float]:
        """Estimated probability that the draft at each position is right, those before it being right."""
        estimate, weight, found = PRIOR_ACCEPTANCE, PRIOR_WEIGHT * self._weight, []
        for right, tested in zip(self._right, self._tested, strict=True):
            estimate = (weight * estimate + right) / (weight + tested)
            found.append(estimate)
        return found

    def tokens(self) -> list[float]:
        """Expected tokens of a round of each length."""
        return list(accumulate(accumulate([1.0, *self.acceptance()], operator.mul)))


class Governor:
    """What it has learnt stays from answer to answer."""

    def __init__(self) -> None:
        self._speed = MachineSpeed()
        self._verifying = CostCurve(MAX_DRAFT, 1.0, ROW_STEPS)
        self._proposers: dict[str, _Proposer] = {}
        self._round = 0
        self._used = [0] * (MAX_DRAFT + 1)
        """Round in which each length was last used, 0 before the first time."""

    def _proposer(self, name: str) -> _Proposer:
        if name not in self._proposers:
            # Looking up costs nothing beside a pass.
            self._proposers[name] = _Proposer(0.0 if name == "lookup" else DRAFT_STEPS)
        return self._proposers[name]

    def record(
        self,
        proposer: str | None,
        drafted: int,
        accepted: int,
        draft_ms: float | None,
        verify_ms: float | None,
    ) -> None:
        """A round drafted, accepted and took so much; None for a time that says nothing about other rounds."""
        self._round += 1
        known = None if proposer is None else self._proposer(proposer)
        telling = self._tells(known, drafted)
        self._used[drafted] = self._round
        settled = known is None or (known.exploring is None and drafted == known.length)
        if verify_ms is not None and verify_ms > 0 and telling:
            self._record_pass(drafted, verify_ms, settled)
        if known is None or drafted == 0:
            return
        known.record(drafted, accepted)
        if draft_ms is None or not self._speed.known:
            return
        if telling and not (settled and known.drafting.is_settled(drafted)):
            known.drafting.record(self._round, drafted, self._speed.steps(draft_ms))
        if known.exploring is not None and verify_ms is not None:
            # What preparing this length has cost on top is paid back, too.
            extra = self._speed.steps(draft_ms + verify_ms) - self.cost(drafted, proposer)
            known.credit -= min(max(0.0, extra), MOST_LOSS)
            if known.length == 0 and accepted:
                known.wait = FIRST_WAIT

    def _tells(self, known: _Proposer | None, drafted: int) -> bool:
        """Whether the newest round tells what its length costs. The very first one prepares much."""
        if known is None or known.exploring is None:
            return self._round > 1 and not self._is_cold(known, drafted)
        return known.rounds_left == 0

    def _is_cold(self, known: _Proposer | None, length: int) -> bool:
        """Beside the length in use. One that was never used is tried like one that is warm."""
        used = self._used[length]
        return known is not None and known.length is not None and 0 < used < self._round - COLD_AFTER

    def _trial(self, known: _Proposer, length: int, losses: list[float]) -> int:
        """Rounds that a length is tried for; one when more could not be paid."""
        rounds = 1
        if length == 0 or self._is_cold(known, length):
            rounds = TRIAL if length else PLAIN_TRIAL
        return rounds if rounds * losses[length] <= MOST_CREDIT or self._must_know(length) else 1

    def _must_know(self, length: int) -> bool:
        """Plain decoding, which all else is compared with: the first rounds of all may have measured it badly."""
        return length == 0 and not self._verifying.knows_well(0)

    def _record_pass(self, drafted: int, verify_ms: float, settled: bool) -> None:
        """The length in use tells the speed of the machine, the others are compared with it. Were both taken from
        the same rounds, nothing would hold them: a speed that is taken for too low makes the length look cheaper,
        and its next round the speed lower still."""
        curve, settled = self._verifying, settled and self._verifying.is_settled(drafted)
        if settled or not self._speed.known:
            self._speed.record(verify_ms, curve.steps[drafted])
        if not settled:
            curve.record(self._round, drafted, self._speed.steps(verify_ms))

    def acceptance(self, position: int, proposer: str = "mtp") -> float:
        return self._proposer(proposer).acceptance()[position]

    def expected_tokens(self, length: int, proposer: str = "mtp") -> float:
        """Of a round with `length` drafts."""
        return self._proposer(proposer).tokens()[length]

    def cost(self, length: int, proposer: str = "mtp") -> float:
        """Of a round with `length` drafts, in plain steps (in the estimate's unit: cost(0) is near 1)."""
        return self._costs(self._proposer(proposer))[length]

    def _costs(self, known: _Proposer) -> list[float]:
        both = zip(self._verifying.steps, known.drafting.steps, strict=True)
        return [max(verifying + drafting, 1e-6) for verifying, drafting in both]

    def choose(self, limit: int = MAX_DRAFT, proposer: str | None = "mtp") -> tuple[int, str]:
        """Draft length 0..limit for the next round, and the reason in words. `proposer`: who would draft, None
        when nobody can."""
        if proposer is None or limit == 0:
            return 0, "no drafts: " + (
                "the answer or the context ends here" if proposer else "nothing to go by"
            )
        if self._round < FIRST_PLAIN:
            return 0, "no drafts: measuring a plain step"
        known = self._proposer(proposer)
        known.waited += 1
        if known.rounds_left and known.exploring <= limit:
            known.rounds_left -= 1
            return known.exploring, known.reason
        if known.exploring is not None or self._round >= known.decide_at:
            self._decide(known, limit)
        if known.exploring is None and known.length > limit:
            return self._shorter(known, limit)
        return known.length if known.exploring is None else known.exploring, known.reason

    def _shorter(self, known: _Proposer, limit: int) -> tuple[int, str]:
        tokens, costs = known.tokens(), self._costs(known)
        length = max(range(limit + 1), key=lambda k: tokens[k] / costs[k])
        return length, f"{_promise(length, tokens, costs)}; the answer or the context ends soon"

    def _decide(self, known: _Proposer, limit: int) -> None:
        """Set the length in use, or one that is tried next."""
        tokens, costs = known.tokens(), self._costs(known)
        rates = [each / cost for each, cost in zip(tokens, costs, strict=True)]
        candidates = rates[: self._verifying.longest_known + LONGER_BY + 1]
        best, before = candidates.index(max(candidates)), known.length
        if before is None or rates[best] > rates[before] * (HYSTERESIS if best < before else LENGTHENING):
            known.length = best
        elif rates[0] >= rates[before]:
            known.length = 0  # drafting must keep on paying
        if known.length != before:
            # Lengths are compared with the one in use: with another one it may have been at another time.
            since = self._round if before and known.length else 0
            self._verifying.begin(known.length, since)
            known.drafting.begin(known.length, since)
            known.patience = 0
            known.previous, known.wait = before, min(known.wait, AGAIN_WAIT if before else FIRST_WAIT)
        settled = self._verifying.knows_well(known.length)
        known.patience = min(known.patience + 1, MOST_PATIENCE, known.wait) if settled else 1
        known.decide_at = self._round + known.patience
        known.exploring, known.rounds_left = None, 0
        if known.length <= limit:
            self._explore(known, tokens, costs, limit)
        if known.exploring is None:
            known.reason = _promise(known.length, tokens, costs)

    def _explore(self, known: _Proposer, tokens: list[float], costs: list[float], limit: int) -> None:
        """Try another length, if it is time to and can be paid for."""
        length = known.length
        known.credit = min(known.credit + known.patience * EXPLORE_SHARE * costs[length], MOST_CREDIT)
        if known.waited < known.wait:
            return
        rate = tokens[length] / costs[length]
        losses = [cost - each / rate for each, cost in zip(tokens, costs, strict=True)]
        """Plain steps that a round of each length takes longer than its tokens would at the present one's rate."""
        other = self._to_explore(known, tokens, costs, losses)
        if other is None or other > limit:
            return
        rounds = self._trial(known, other, losses)
        if rounds * losses[other] <= known.credit or self._must_know(other):
            known.credit -= rounds * max(0.0, losses[other])
            known.wait = min(2 * known.wait, LONGEST_WAIT if length == 0 else LONG_WAIT)
            known.waited, known.exploring, known.rounds_left = 0, other, rounds - 1
            known.reason = f"exploring {_promise(other, tokens, costs)}"

    def _to_explore(
        self, known: _Proposer, tokens: list[float], costs: list[float], losses: list[float]
    ) -> int | None:
        """A little-known length that might be the best; else, of the previous length, those beside the present one,
        those that promise nearly as much and plain decoding, the one not measured for longest. Only what can be paid
        for: who waits for the unaffordable tries nothing."""
        verifying = self._verifying
        longest = min(verifying.longest_known + LONGER_BY, MAX_DRAFT)
        affordable = [k for k in range(longest + 1) if losses[k] <= MOST_LOSS]
        drafting = [k for k in affordable if k > 0]
        if known.length == 0 and verifying.longest_known:
            # The longest of those that promise about the most: it tells of more positions.
            most = max((tokens[k] / costs[k] for k in drafting), default=0.0)
            return max((k for k in drafting if tokens[k] / costs[k] >= most / HYSTERESIS), default=None)
        if self._must_know(0):
            return 0
        hoped = max(drafting, key=lambda k: tokens[k] / self._least_cost(k, costs), default=0)
        if hoped and hoped != known.length and not verifying.knows_well(hoped):
            return hoped
        newest = verifying.newest
        nearly = NEARLY * tokens[known.length] / costs[known.length]
        others = [
            k
            for k in affordable
            if k != known.length
            and (tokens[k] / costs[k] >= nearly or abs(k - known.length) == 1 or k == known.previous)
        ]
        if 0 not in others and self._round - newest[0] >= PLAIN_EVERY:
            others.append(0)
        return min(others, key=newest.__getitem__, default=None)

    def _least_cost(self, length: int, costs: list[float]) -> float:
        """Of a length, were it as cheap as they are by default; but no cheaper than a shorter one is known to be."""
        knows_well = self._verifying.knows_well
        if knows_well(length):
            return costs[length]
        shorter = next((k for k in range(length - 1, 0, -1) if knows_well(k)), 0)
        by_default = self._verifying.steps[0] * (1 + (ROW_STEPS + DRAFT_STEPS) * length)
        return max(by_default, costs[shorter])


def _promise(length: int, tokens: list[float], costs: list[float]) -> str:
    if length == 0:
        return f"no drafts: 1 would give {tokens[1]:.2f} tokens for {costs[1] / costs[0]:.2f} steps"
    drafts = f"{length} draft{'s'[: length > 1]}"
    return f"{drafts}: {tokens[length]:.1f} tokens a round for {costs[length] / costs[0]:.1f} steps"
