"""The draft length for the next round: the one with the most expected tokens per millisecond, 0 included.

Acceptance is estimated for each proposer and draft position, cost for each draft length. The rest is caution: a new
length must promise clearly more than the present one, and rounds that only try something are paid with what they lose,
from a small share of the time. Rounds of a small model are too short to think about each: they are only noted down, and
what was noted is read when the length is decided anew.
"""

from __future__ import annotations

from kestrel_engine.acceptance_rates import AcceptanceRates
from kestrel_engine.cost_curve import CostCurve, MachineSpeed
from kestrel_engine.options import MAX_DRAFT

FIRST_PLAIN = 3
"""Rounds of a chat that measure plain decoding first: without it nobody could say what a draft costs."""
LONGER_BY = 3
"""A length may be this much longer than the longest one whose cost is known."""
HYSTERESIS, LENGTHENING = 1.02, 1.04
"""A shorter length must promise this much more than the present one, and a longer one, of whose positions less is
known."""
NEARLY = 0.93
"""Lengths that promise this share of what the present one does are compared with it."""
THINKING_MS = 20.0
"""Time between two decisions, when the last ones have changed nothing. Each takes some 0.07 ms in a small model, whose
weights leave nothing of it in the caches."""
MOST_UNREAD = 64
"""Rounds that are noted down before they are read."""
EXPLORE_SHARE = 0.0125
"""Of the time may be lost by rounds that explore."""
FIRST_WAIT, AGAIN_WAIT, LONGEST_WAIT = 4, 8, 160
"""Rounds between two trials: at first, after a change between lengths, and after many that changed nothing."""
PLAIN_EVERY = 384
"""Rounds between two measurements of plain decoding while drafting pays."""
OTHER_SPEED = 1.5
"""Times faster or slower than before, at which a machine counts as another one."""
COLD_AFTER = 12
"""Rounds after which a length is no longer in the caches: its next round, beside a length that is, would look dear."""
SHORTEST_TRIAL, FIRST_TRIAL, LONGEST_TRIAL = 2, 3, 8
"""Rounds that a length is tried for: at least, while little is known, and at most. The later half is compared: a length
comes to its speed within some rounds."""
TRIAL_LOSS, PLAIN_LOSS = 0.4, 2.0
"""Plain steps that a trial may be expected to lose by being longer than the shortest: between two lengths, and between
drafting and plain decoding. A plain step of a small model takes half as long again at first, and where drafting hardly
pays, or would, they have to be compared when they are warm: there a round loses little, and many can be tried."""
FIRST_CREDIT, MOST_CREDIT, MOST_DEBT = 2.0, 2.5, 0.5
"""Plain steps that may be spent on exploring at first, that may be saved up for it, and that may be owed after it."""
MOST_LOSS = 1.5
"""Plain steps that a round of a trial is charged at most: it may just have been disturbed."""
ROW_STEPS, DRAFT_STEPS = 0.06, 0.08
"""Cost of one more row to verify and of one draft, in plain steps, before any was measured."""


class _Proposer:
    """What is known of one source of drafts, and the length in use for it."""

    def __init__(self, draft_steps: float):
        self.acceptance = AcceptanceRates()
        self.drafting = CostCurve(MAX_DRAFT, 0.0, draft_steps)
        self.drafting.record(0, 0, 0.0)
        self.length: int | None = None
        self.previous: int | None = None
        self.reason = ""
        self.tokens: list[float] = []
        """Expected of a round of each length when it was last decided, and what it costs."""
        self.costs: list[float] = []
        self.decided_at, self.patience = 0, 0
        """Round of the last decision, and how many later the next one is due."""
        self.wait, self.waited, self.credit = FIRST_WAIT, 0, FIRST_CREDIT
        self.speed, self.speed_since = 0.0, 0
        """Milliseconds of a plain step when they last changed much, and the round in which they did."""
        self.trial: int | None = None
        """The length that is tried for `trial_rounds` rounds, of which `rounds_left` follow this one."""
        self.trial_rounds, self.rounds_left = 0, 0


class Governor:
    """What it has learnt stays from answer to answer."""

    def __init__(self) -> None:
        self._speed = MachineSpeed()
        self._verifying = CostCurve(MAX_DRAFT, 1.0, ROW_STEPS)
        self._proposers: dict[str, _Proposer] = {}
        self._round = 0
        self._unread: list[tuple] = []
        """Rounds as `_learn` takes them."""
        self._used = [0] * (MAX_DRAFT + 1)
        """Round in which each length was last used, 0 before the first time."""

    def _proposer(self, name: str) -> _Proposer:
        if name not in self._proposers:
            # Looking up costs nothing beside a pass.
            self._proposers[name] = _Proposer(0.0 if name == "lookup" else DRAFT_STEPS)
        return self._proposers[name]

    # --- what rounds were like -----------------------------------------------------------------------------

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
        known = self._proposers.get(proposer)
        trial = known is not None and known.trial == drafted
        compared = trial and known.rounds_left < (known.trial_rounds + 1) // 2
        self._unread.append((self._round, proposer, drafted, accepted, draft_ms, verify_ms, trial, compared))
        if trial or len(self._unread) >= MOST_UNREAD:
            self._read()

    def _read(self) -> None:
        unread, self._unread = self._unread, []
        for each in unread:
            self._learn(*each)

    def _learn(
        self,
        number: int,
        proposer: str | None,
        drafted: int,
        accepted: int,
        draft_ms: float | None,
        verify_ms: float | None,
        trial: bool,
        compared: bool,
    ) -> None:
        """`number`: of the round. `compared`: it is in the later half of a trial."""
        known = None if proposer is None else self._proposer(proposer)
        last_used, self._used[drafted] = self._used[drafted], number
        if known is not None and drafted:
            known.acceptance.record(drafted, accepted)
        if verify_ms is None or verify_ms <= 0:
            if trial:
                self._charge(known, MOST_LOSS)  # what it prepared took long
            return
        if trial and self._speed.known:
            telling = self._pay(known, accepted, (draft_ms or 0.0) + verify_ms) or compared
        else:
            # The very first round is cold. A length that was never used is tried like one that is warm.
            warm = known is None or known.length is None or not 0 < last_used < number - COLD_AFTER
            telling = number > 1 and warm
        if telling:
            in_use = known is None or (not trial and drafted == known.length)
            self._record_pass(number, drafted, verify_ms, in_use)
            if known is None or not drafted or draft_ms is None:
                return
            if not (in_use and known.drafting.is_settled(drafted)):
                known.drafting.record(number, drafted, draft_ms / self._speed.milliseconds)

    def _pay(self, known: _Proposer, accepted: int, milliseconds: float) -> bool:
        """Charge a round of a trial with what it took longer than its tokens would have at the present length. Whether
        the trial ends here: it is dearer than it may be. Plain decoding never is."""
        tokens, costs = known.tokens, known.costs
        usual = (1 + accepted) * costs[known.length] / tokens[known.length]
        loss = (milliseconds / self._speed.milliseconds - usual) / costs[0]
        self._charge(known, loss)
        if known.length == 0 and accepted:
            known.wait = FIRST_WAIT
        spent = known.credit < 0 and known.trial_rounds - known.rounds_left >= SHORTEST_TRIAL
        if known.trial and (spent or loss > MOST_CREDIT):
            known.rounds_left = 0
            return True
        return False

    def _charge(self, known: _Proposer, loss: float) -> None:
        known.credit = min(max(known.credit - min(loss, MOST_LOSS), -MOST_DEBT), MOST_CREDIT)

    def _record_pass(self, number: int, drafted: int, verify_ms: float, in_use: bool) -> None:
        """The length in use tells the speed of the machine, the others are compared with it. Were both taken from
        the same rounds, nothing would hold them: a speed that is taken for too low makes the length look cheaper,
        and its next round the speed lower still. Before any drafts plain decoding alone is measured: it is the unit."""
        speed, verifying = self._speed, self._verifying
        settled = in_use and verifying.is_settled(drafted)
        if settled or not (speed.known and (drafted or verifying.longest_known)):
            speed.record(verify_ms, verifying.steps[drafted])
        if not settled:
            verifying.record(number, drafted, verify_ms / speed.milliseconds)

    # --- estimates -----------------------------------------------------------------------------------------

    def acceptance(self, position: int, proposer: str = "mtp") -> float:
        self._read()
        return self._proposer(proposer).acceptance.rates()[position]

    def expected_tokens(self, length: int, proposer: str = "mtp") -> float:
        """Of a round with `length` drafts."""
        self._read()
        return self._proposer(proposer).acceptance.tokens()[length]

    def cost(self, length: int, proposer: str = "mtp") -> float:
        """Of a round with `length` drafts, in plain steps (in the estimate's unit: cost(0) is near 1)."""
        self._read()
        return self._costs(self._proposer(proposer))[length]

    def _costs(self, known: _Proposer) -> list[float]:
        both = zip(self._verifying.steps, known.drafting.steps, strict=True)
        return [max(verifying + drafting, 1e-6) for verifying, drafting in both]

    # --- the decision --------------------------------------------------------------------------------------

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
        if known.rounds_left and known.trial <= limit:
            known.rounds_left -= 1
            return known.trial, known.reason
        if known.trial is not None or self._round >= known.decided_at + known.patience:
            self._decide(known, limit)
        if known.trial is not None:
            return known.trial, known.reason
        return (known.length, known.reason) if known.length <= limit else self._shorter(known, limit)

    def _shorter(self, known: _Proposer, limit: int) -> tuple[int, str]:
        length = max(range(limit + 1), key=lambda k: known.tokens[k] / known.costs[k])
        return length, f"{_promise(length, known.tokens, known.costs)}; the answer or the context ends soon"

    def _decide(self, known: _Proposer, limit: int) -> None:
        """Set the length in use, or one that is tried next."""
        self._read()
        tokens, costs = known.tokens, known.costs = known.acceptance.tokens(), self._costs(known)
        rates = [each / cost for each, cost in zip(tokens, costs, strict=True)]
        candidates = rates[: self._verifying.longest_known + LONGER_BY + 1]
        best, before = candidates.index(max(candidates)), known.length
        if before is None or rates[best] > rates[before] * (HYSTERESIS if best < before else LENGTHENING):
            known.length = best
        elif rates[0] >= rates[before]:
            known.length = 0  # drafting must keep on paying
        if known.length != before:
            self._begin(known, before)
        self._notice_other_machine(known)
        passed = self._round - known.decided_at
        known.credit = min(
            known.credit + passed * EXPLORE_SHARE * costs[known.length] / costs[0], MOST_CREDIT
        )
        known.decided_at, known.patience = self._round, self._patience(known)
        known.trial, known.rounds_left = None, 0
        if known.waited >= known.wait and known.length <= limit:
            self._explore(known, rates, limit)
        if known.trial is None:
            known.reason = _promise(known.length, tokens, costs)

    def _begin(self, known: _Proposer, before: int | None) -> None:
        """Lengths are compared with the one in use: with another one it may have been at another time."""
        since = self._round if before and known.length else 0
        self._verifying.begin(known.length, since)
        known.drafting.begin(known.length, since)
        known.previous, known.wait = before, min(known.wait, AGAIN_WAIT if before else FIRST_WAIT)
        known.patience = known.waited = 0

    def _notice_other_machine(self, known: _Proposer) -> None:
        """What the others cost was measured on a machine that ran at another speed: explore as at first, and plain
        decoding soon."""
        if not self._speed.known:
            return
        speed = self._speed.milliseconds
        known.speed = known.speed or speed
        if not 1 / OTHER_SPEED <= speed / known.speed <= OTHER_SPEED:
            known.speed, known.speed_since = speed, self._round
            known.wait, known.credit = min(known.wait, AGAIN_WAIT), max(known.credit, FIRST_CREDIT)

    def _patience(self, known: _Proposer) -> int:
        """Rounds until the next decision: twice as many each time that nothing was changed, within the time allowed."""
        if not self._speed.known or not self._verifying.knows_well(known.length):
            return 1
        round_ms = self._speed.milliseconds * known.costs[known.length]
        return max(1, min(2 * known.patience, int(THINKING_MS / round_ms)))

    def _explore(self, known: _Proposer, rates: list[float], limit: int) -> None:
        """Try another length, if there is one that can be paid for."""
        self._verifying.lapse(self._round, known.length)
        rate, unit = rates[known.length], known.costs[0]
        losses = [
            (cost - tokens / rate) / unit for tokens, cost in zip(known.tokens, known.costs, strict=True)
        ]
        """Plain steps that a round of each length takes longer than its tokens would at the present one's rate."""
        other = self._to_explore(known, rates, losses)
        if other is None or other > limit:
            return
        rounds = self._trial_rounds(known, other, losses[other])
        if rounds * losses[other] <= known.credit:
            if self._verifying.knows_well(other):
                known.wait = min(2 * known.wait, LONGEST_WAIT)
            known.waited, known.trial = 0, other
            known.trial_rounds, known.rounds_left = rounds, rounds - 1
            known.reason = f"exploring {_promise(other, known.tokens, known.costs)}"

    def _trial_rounds(self, known: _Proposer, length: int, loss: float) -> int:
        if length and not self._verifying.knows_well(length):
            return FIRST_TRIAL
        allowed = TRIAL_LOSS if length and known.length else PLAIN_LOSS
        return max(SHORTEST_TRIAL, int(allowed / max(loss, allowed / LONGEST_TRIAL)))

    def _to_explore(self, known: _Proposer, rates: list[float], losses: list[float]) -> int | None:
        """While nothing is drafted, the longest of those that promise about the most: it tells of more positions.
        Else plain decoding, now and then; or, of the lengths beside the present one, the one before it and those
        that promise nearly as much, the one not measured for longest. Only what can be paid for once enough is saved:
        who waits for the unaffordable tries nothing."""
        present, newest = known.length, self._verifying.newest
        longest = min(self._verifying.longest_known + LONGER_BY, MAX_DRAFT)
        affordable = [
            k
            for k in range(longest + 1)
            if k != present and self._trial_rounds(known, k, losses[k]) * losses[k] <= MOST_CREDIT
        ]
        if present == 0:
            most = max((rates[k] for k in affordable), default=0.0)
            return max((k for k in affordable if rates[k] >= most / HYSTERESIS), default=None)
        if 0 in affordable and newest[0] <= max(self._round - PLAIN_EVERY, known.speed_since):
            return 0
        others = [
            k
            for k in affordable
            if rates[k] >= NEARLY * rates[present] or abs(k - present) == 1 or k == known.previous
        ]
        return min(others, key=newest.__getitem__, default=None)


def _promise(length: int, tokens: list[float], costs: list[float]) -> str:
    if length == 0:
        return f"no drafts: 1 would give {tokens[1]:.2f} tokens for {costs[1] / costs[0]:.2f} steps"
    drafts = f"{length} draft{'s'[: length > 1]}"
    return f"{drafts}: {tokens[length]:.1f} tokens a round for {costs[length] / costs[0]:.1f} steps"
