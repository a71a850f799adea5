"""A round on the device as one graph: the MTP head's first call and its chain, each choosing its token, the
verification with the choice of every row, the count of the drafts that were right, and a copy back.

The device moves its own cursors behind what it has accepted, and the next round goes on from there. What is emitted
is decided by the engine, from what comes back; where it stands elsewhere (a turn begins, a stop has cut an accepted
run short, another pass or another state came between), it sends its own cursors first.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

import numpy as np

from kestrel_cuda import sampling
from kestrel_cuda.arrays import Settings
from kestrel_cuda.buffers import PLACES, ROWS
from kestrel_cuda.cursor import LOG_LENGTH, round_cursor
from kestrel_cuda.head import DeviceHead
from kestrel_cuda.settings import sampling_mode, setting_arrays
from kestrel_engine.backend import WholeRound
from kestrel_engine.state import State

if TYPE_CHECKING:
    from kestrel_cuda.model import CudaModel
    from kestrel_engine.draft_head import DraftHead
    from kestrel_engine.drafter import FirstHit
    from kestrel_engine.sampling import Sampler

DAMAGED = np.full(1, np.nan, np.float32)
"""Logits that a sampler refuses."""


class Rounds:
    """Runs rounds of one model."""

    def __init__(self, model: CudaModel):
        self.model, self.operations, self.memory = weakref.proxy(model), model.operations, model.memory
        """A proxy: the model holds its rounds, and must not hold itself."""
        self.post, there = model.post, model.post.there
        self.flags = self.memory.zeros((model.config.vocab_size,), np.uint8)
        self.settings = Settings(
            *(there[name] for name in ("cursor", "integers", "reals", "tokens")), self.flags, there["stamps"]
        )
        draft_damaged = self.memory.view(there["damaged"], 0, (PLACES,), np.int32)
        row_damaged = self.memory.view(there["damaged"], PLACES, (PLACES,), np.int32)
        unused = self.memory.zeros((PLACES,), np.float32)
        self.draft_outcome = (there["drafts"], unused, unused, draft_damaged)
        self.outcome = (there["chosen"], there["chosen_logits"], there["draft_logits"], row_damaged)
        self.every_id = self.operations.choice.every_id()
        self._heads: dict[int, DeviceHead] = {}
        self._sampler: Sampler | None = None
        self._flagged: set[int] | None = None
        """What the device knows of its emitted tokens; None: nothing."""

    def run(
        self, state: State, next_token: int, count: int, drafter: FirstHit, sampler: Sampler
    ) -> WholeRound:
        """A round with up to `count` drafts. `state` ends as `Model.forward` leaves it."""
        mode = sampling_mode(sampler.options)
        head, drafts = self._proposal(state, next_token, count, drafter, sampler)
        pairs = self._set_pairs(state, next_token, count, head)
        self.post.put("cursor", _cursor(state))
        self.post.put("tokens", [next_token, *drafts])
        self._set_sampler(sampler)
        self.post.send()
        rows = 1 + (len(drafts) if head is None else count)
        key = ("round", mode, rows) + (() if head is None else (pairs, id(head), head.generation))
        with self.post.moving():
            self.model.replay(state, key, lambda: self.launch(state, rows, head, pairs, mode))
            self.memory.wait()
        here, draft_seconds = self.post.here, 0.0
        if head is not None:
            self.model.pairs_taken(state)
            drafts = self._drafts(count, sampler)
            draft_seconds = 1e-9 * ((int(here["stamps"][1]) - int(here["stamps"][0])) & sampling.CLOCK_BITS)
        return self._outcome(state, [next_token, *drafts], sampler, draft_seconds)

    # --- before --------------------------------------------------------------------------------------------

    def _proposal(
        self, state: State, next_token: int, count: int, drafter: FirstHit, sampler: Sampler
    ) -> tuple[DeviceHead | None, list[int]]:
        """Who drafts: the MTP head on the device, or another with its drafts; `drafter` notes it."""
        drafter.last = "none"
        for each in drafter.drafters if count else ():
            head = getattr(each, "head", None)
            if head is not None and state.length > 0:
                drafter.last = each.name
                each.grow_head(state, next_token)
                return self._on_device(head), []
            drafts = each.draft(state, next_token, count, sampler)
            if drafts:
                drafter.last = each.name
                return None, drafts
        return None, []

    def _on_device(self, head: DraftHead) -> DeviceHead:
        known = self._heads.get(id(head))  # which holds on to it, so that no other gets its id
        if known is None:
            known = self._heads[id(head)] = DeviceHead(head, self.operations)
        known.update()
        return known

    def _set_pairs(self, state: State, next_token: int, count: int, head: DeviceHead | None) -> int:
        """See that the device has the pairs that the head has not taken: it keeps them from round to round, unless
        the state is another one, or has been moved. -> rows of the head's first call: padded, so that few graphs
        do."""
        if head is None:
            if not self._goes_on(state, next_token):
                self.post.pairs_of = None
            return 0
        tokens, hidden = self.model.pending_pairs(state, next_token)
        surplus = max(0, len(tokens) - ROWS)
        if surplus:
            self.model._mtp_input(state, tokens[:surplus], hidden[:surplus])
            state.mtp.length += surplus
            tokens, hidden = tokens[surplus:], hidden[surplus:]
        if not self._goes_on(state, next_token):
            self.model.set_pairs(state, tokens, hidden)
            self.post.pairs_of = _identity(state)
        return count + 1 if len(tokens) <= count + 1 else ROWS

    def _goes_on(self, state: State, next_token: int) -> bool:
        """Whether the device stands where this round begins, since it has settled the state's last one itself."""
        post = self.post
        stands = post.has("cursor", _cursor(state)) and post.has("tokens", [next_token])
        return stands and post.pairs_of is _identity(state)

    def _set_sampler(self, sampler: Sampler) -> None:
        """Its options, and which ids it has seen: from then on the device flags what it emits by itself."""
        options = sampler.options
        if sampler is not self._sampler:
            integers, reals = setting_arrays(options)
            self.post.put("integers", integers.tolist())
            self.post.put("reals", reals.tolist())
            self._sampler, self._flagged = sampler, None
        is_penalised = options.presence_penalty != 0 or options.repetition_penalty != 1
        if is_penalised and sampler.emitted != self._flagged:
            flags = np.zeros(len(self.flags), np.uint8)
            flags[[token for token in sampler.prompt if token < len(flags)]] |= sampling.IN_PROMPT
            flags[list(sampler.emitted)] |= sampling.IN_ANSWER
            self.memory.copy(self.flags, flags)
            self._flagged = set(sampler.emitted)

    # --- on the device -------------------------------------------------------------------------------------

    def launch(self, state: State, rows: int, head: DeviceHead | None, pairs: int, mode: int) -> None:
        """All of a round of `rows` rows, whose drafts `head` makes from `pairs` pairs at first; tokens are chosen
        in the way `mode` (settings.sampling_mode)."""
        there = self.post.there
        self.operations.begin_round(there["damaged"], there["stamps"])
        if head is not None:
            self._draft(state, head, rows - 1, pairs, mode)
        self._verify(state, rows, mode)
        waiting = there["pair_tokens"], there["pair_hidden"]
        self.operations.settle(
            rows, head is not None, there["chosen"], there["hidden"], waiting, self.settings
        )
        self.post.fetch(rows)

    def _draft(self, state: State, head: DeviceHead, count: int, pairs: int, mode: int) -> None:
        passes, buffers = self.model.passes, self.model.buffers
        for step in range(count):
            if step == 0:
                passes.mtp_newest(state, pairs)
            else:
                passes.mtp_chain(state, step)
            head.multiply(buffers.final)
            where = (head.logits, head.vocabulary, 1, step, True, mode)
            self.operations.choice.choose(*where, self.settings, head.candidates, self.draft_outcome)

    def _verify(self, state: State, rows: int, mode: int) -> None:
        passes, buffers = self.model.passes, self.model.buffers
        passes.trunk(state, rows)
        passes.logits(rows)
        choice, where = self.operations.choice, (buffers.logits, self.every_id, rows, 0, False, mode)
        choice.choose(*where, self.settings, buffers.candidates, self.outcome)
        choice.log_sum_exp(buffers.logits, rows, self.post.there["log_sums"])

    # --- after ---------------------------------------------------------------------------------------------

    def _drafts(self, count: int, sampler: Sampler) -> list[int]:
        here = self.post.here
        if here["damaged"][:count].any():
            sampler.sample_draft(DAMAGED, None, 0, ())  # raises
        return here["drafts"][:count].tolist()

    def _outcome(self, state: State, tokens: list[int], sampler: Sampler, draft_seconds: float) -> WholeRound:
        here, drafts = self.post.here, tokens[1:]
        right = int(here["cursor"][LOG_LENGTH])
        chosen = here["chosen"][: right + 1].tolist()
        if self._flagged is not None:
            self._flagged.update(chosen)
        self._check(state, drafts, chosen)
        if here["damaged"][PLACES : PLACES + right + 1].any():
            sampler.sample(DAMAGED, 0)  # raises
        sums = here["log_sums"]
        logprobs = [float(here["chosen_logits"][m] - sums[m]) for m in range(right + 1)]
        refused = float(here["draft_logits"][right] - sums[right]) if right < len(drafts) else None
        self.model.take_hidden(here["hidden"][: len(tokens)].copy())
        self.model.forward(state, tokens, commit=1)
        return WholeRound(drafts, chosen, logprobs, refused, draft_seconds)

    def _check(self, state: State, drafts: list[int], chosen: list[int]) -> None:
        """Assert that the device has accepted what was right, and stands behind it; `state` has yet to move."""
        right = len(chosen) - 1
        assert chosen[:right] == drafts[:right] and chosen[right:] != drafts[right : right + 1], "accepted"
        mtp_length = 0 if state.mtp is None else state.mtp.length
        expected = round_cursor(state.length + 1 + right, right, mtp_length)
        stands = self.post.has("cursor", expected) and self.post.has("tokens", chosen[right:])
        assert stands, ("the device's cursors", self.post.here["cursor"].tolist(), expected)


def _cursor(state: State) -> list[int]:
    return round_cursor(state.length, state.log_length, 0 if state.mtp is None else state.mtp.length)


def _identity(state: State) -> object:
    """Of the state, not of its contents: no copy shares it."""
    return state.prepared.setdefault("identity", object())
