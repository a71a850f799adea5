"""The draft length for the next round: the one with the most expected tokens per millisecond, 0 included.

Acceptance is estimated for each proposer and draft position, cost for each draft length. The rest is caution:
a new length must promise clearly more than the present one, and rounds that only try something are paid from
a small share of the time.
"""

from __future__ import annotations

from kestrel_engine.cost_curve import CostCurve, MachineSpeed
from kestrel_engine.options import MAX_DRAFT

PRIOR_ACCEPTANCE = 0.6
PRIOR_WEIGHT = 1.2
"""Tests that the prior counts for. The prior of a later position is the estimate for the one before it."""
DECAY = 0.97
"""Weight of an earlier round beside the newest."""
FIRST_PLAIN = 2
"""Rounds of a chat that measure plain decoding first: without it nobody could say what a draft costs."""
LONGER_BY = 3
"""A length may be this much longer than the longest one whose cost is known."""
HYSTERESIS = 1.02
"""A new length must promise this much more than the present one."""
EXPLORE_SHARE = 0.015
"""Of the time may be lost by rounds that explore."""
FIRST_WAIT, LONG_WAIT, LONGEST_WAIT = 4, 32, 64
"""Rounds between two that explore: at first, and after many that changed nothing, while drafting and while not."""
PLAIN_EVERY = 48
"""Rounds between two measurements of plain decoding while drafting pays."""
MOST_CREDIT = 1.5
"""Plain steps that may be saved up for exploring."""
MOST_LOSS = 4.0
"""Plain steps that one exploring round is charged at most beyond what was expected: it may just have been disturbed."""
ROW_STEPS, DRAFT_STEPS = 0.06, 0.08
"""Cost of one more row to verify and of one draft, in plain steps, before any was measured."""


class _Proposer:
    """What is known of one source of drafts, and the length in use for it."""

    def __init__(self, draft_steps: float):
        self._right = [0.0] * MAX_DRAFT
        self._tested = [0.0] * MAX_DRAFT
        self.acceptance = [PRIOR_ACCEPTANCE] * MAX_DRAFT
        """Estimated probability that the draft at a position is right, those before it being right."""
        self.drafting = CostCurve(MAX_DRAFT, 0.0, draft_steps)
        self.drafting.record(0, 0, 0.0)
        self.length: int | None = None
        self.wait, self.waited, self.credit = FIRST_WAIT, 0, MOST_CREDIT / 2
        self.exploring = False

    def record(self, drafted: int, accepted: int) -> None:
        """Positions behind the first rejection were not tested."""
        right, tested = self._right, self._tested
        estimate, weight = PRIOR_ACCEPTANCE, PRIOR_WEIGHT
        for position in range(MAX_DRAFT):
            right[position] *= DECAY
            tested[position] *= DECAY
            if position <= accepted and position < drafted:
                right[position] += position < accepted
                tested[position] += 1
            estimate = (weight * estimate + right[position]) / (weight + tested[position])
            self.acceptance[position] = estimate


class Governor:
    """What it has learnt stays from answer to answer."""

    def __init__(self) -> None:
        self._speed = MachineSpeed()
        self._verifying = CostCurve(MAX_DRAFT, 1.0, ROW_STEPS)
        self._proposers: dict[str, _Proposer] = {}
        self._round = 0

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
        if verify_ms is not None and verify_ms > 0:
            self._record_pass(drafted, verify_ms)
        if proposer is None or drafted == 0:
            return
        known = self._proposer(proposer)
        known.record(drafted, accepted)
        if draft_ms is not None and self._speed.step_ms:
            known.drafting.record(self._round, drafted, self._speed.steps(draft_ms))
        if known.exploring and draft_ms is not None and verify_ms is not None:
            # What preparing this length has cost on top is paid back, too.
            extra = self._speed.steps(draft_ms + verify_ms) - self.cost(drafted, proposer)
            known.credit -= min(max(0.0, extra), MOST_LOSS)
        if known.exploring and known.length == 0 and accepted:
            known.wait = FIRST_WAIT

    def _record_pass(self, drafted: int, verify_ms: float) -> None:
        curve, speed = self._verifying, self._speed
        if self._round == 1:
            return  # the very first pass prepares much
        if speed.step_ms == 0.0 or curve.knows_well(drafted):
            speed.record(verify_ms, curve.steps[drafted])
        curve.record(self._round, drafted, speed.steps(verify_ms))

    def acceptance(self, position: int, proposer: str = "mtp") -> float:
        return self._proposer(proposer).acceptance[position]

    def expected_tokens(self, length: int, proposer: str = "mtp") -> float:
        """Of a round with `length` drafts."""
        total, chain = 1.0, 1.0
        for rate in self._proposer(proposer).acceptance[:length]:
            chain *= rate
            total += chain
        return total

    def cost(self, length: int, proposer: str = "mtp") -> float:
        """Of a round with `length` drafts, in plain steps (in the estimate's unit: cost(0) is near 1)."""
        drafting = self._proposer(proposer).drafting.steps[length] if length else 0.0
        return max(self._verifying.steps[length] + drafting, 1e-6)

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
        rates = self._rates(known)[: self._verifying.longest_known + LONGER_BY + 1]
        best = rates.index(max(rates))
        if known.length is None or rates[best] > rates[known.length] * HYSTERESIS:
            known.wait = FIRST_WAIT
            known.length = best
        elif rates[0] >= rates[known.length]:
            known.length = 0  # drafting must keep on paying
        length = known.length
        known.exploring = False
        if length > limit:
            length = max(range(min(limit, len(rates) - 1) + 1), key=rates.__getitem__)
            return length, f"{self._promise(length, proposer)}; the answer or the context ends soon"
        known.waited += 1
        known.credit = min(known.credit + EXPLORE_SHARE * self.cost(length, proposer), MOST_CREDIT)
        if known.waited >= known.wait:
            losses = self._losses(known, rates[length])
            other = self._to_explore(known, rates, losses)
            if other is not None and other <= limit and losses[other] <= known.credit:
                known.credit -= max(0.0, losses[other])
                known.wait = min(2 * known.wait, LONGEST_WAIT if length == 0 else LONG_WAIT)
                known.waited, known.exploring = 0, True
                return other, f"exploring {self._promise(other, proposer)}"
        return length, self._promise(length, proposer)

    def _rates(self, known: _Proposer) -> list[float]:
        """Expected tokens per plain step, for each length."""
        verifying, drafting, acceptance = self._verifying.steps, known.drafting.steps, known.acceptance
        rates, tokens, chain = [1.0 / max(verifying[0], 1e-6)], 1.0, 1.0
        for k in range(1, MAX_DRAFT + 1):
            chain *= acceptance[k - 1]
            tokens += chain
            rates.append(tokens / max(verifying[k] + drafting[k], 1e-6))
        return rates

    def _losses(self, known: _Proposer, rate: float) -> list[float]:
        """Plain steps that a round of each length takes longer than its tokens would at `rate`."""
        verifying, drafting = self._verifying.steps, known.drafting.steps
        losses, tokens, chain = [verifying[0] - 1.0 / rate], 1.0, 1.0
        for k in range(1, MAX_DRAFT + 1):
            chain *= known.acceptance[k - 1]
            tokens += chain
            losses.append(verifying[k] + drafting[k] - tokens / rate)
        return losses

    def _to_explore(self, known: _Proposer, rates: list[float], losses: list[float]) -> int | None:
        """A little-known length that might be the best; else, of the lengths beside the present one and plain
        decoding, the one not measured for longest. Only what can be paid for: who waits for the unaffordable
        tries nothing."""
        affordable = [k for k in range(len(rates)) if losses[k] <= MOST_CREDIT]
        drafting = [k for k in affordable if k > 0]
        hoped = max(drafting, key=lambda k: self._hope(known, k), default=0)
        if known.length == 0 and self._verifying.longest_known:
            return max(drafting, key=rates.__getitem__, default=None)
        if hoped and hoped != known.length and not self._verifying.knows_well(hoped):
            return hoped
        newest = self._verifying.newest
        others = [k for k in (known.length + 1, known.length - 1) if k in affordable]
        if not self._verifying.knows_well(0):
            return 0
        if 0 not in others and self._round - newest[0] >= PLAIN_EVERY:
            others.append(0)
        return min(others, key=newest.__getitem__, default=None)

    def _hope(self, known: _Proposer, length: int) -> float:
        """Tokens per plain step of a length, were it as cheap as they are by default; but no cheaper than a shorter
        one is known to be."""
        tokens, chain = 1.0, 1.0
        for rate in known.acceptance[:length]:
            chain *= rate
            tokens += chain
        verifying, drafting = self._verifying, known.drafting.steps
        if verifying.knows_well(length):
            return tokens / (verifying.steps[length] + drafting[length])
        cheapest = verifying.steps[0] * (1 + (ROW_STEPS + DRAFT_STEPS) * length)
        shorter = next((k for k in range(length - 1, 0, -1) if verifying.knows_well(k)), None)
        if shorter is not None:
            cheapest = max(cheapest, verifying.steps[shorter] + drafting[shorter])
        return tokens / cheapest

    def _promise(self, length: int, proposer: str) -> str:
        if length == 0:
            tokens, cost = self.expected_tokens(1, proposer), self.cost(1, proposer) / self.cost(0, proposer)
            return f"no drafts: 1 would give {tokens:.2f} tokens for {cost:.2f} steps"
        tokens, cost = (
            self.expected_tokens(length, proposer),
            self.cost(length, proposer) / self.cost(0, proposer),
        )
        return f"{length} draft{'s'[: length > 1]}: {tokens:.1f} tokens a round for {cost:.1f} steps"
