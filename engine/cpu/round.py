"""A round on the CPU in one native call: the chain of drafts, the verify pass, and the choice of every token."""

from __future__ import annotations

import time
import weakref
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kestrel_engine.backend import WholeRound
from kestrel_engine.cpu import choice, kernels
from kestrel_engine.cpu.linear import TILE
from kestrel_engine.cpu.operation import RUN_DRAFT, RUN_WORDS
from kestrel_engine.cpu.program import Program, write_run
from kestrel_engine.drafter import MtpDrafter
from kestrel_engine.model import Model
from kestrel_engine.options import MAX_DRAFT
from kestrel_engine.state import State

if TYPE_CHECKING:
    from kestrel_engine.cpu.model import CpuModel
    from kestrel_engine.draft_head import DraftHead
    from kestrel_engine.drafter import FirstHit
    from kestrel_engine.sampling import Sampler

NOT_FINITE = np.full(1, np.nan, np.float32)
"""Logits that a sampler refuses."""
NO_IDS = np.empty(0, np.int64)


class Rounds:
    """Of one model, one at a time: they share the words that steer them and what they bring back."""

    def __init__(self, model: CpuModel):
        self.model, self.backend = weakref.proxy(model), model.backend
        """A proxy: the model holds its rounds, and must not hold itself, or its gigabytes would outlive it."""
        self.settings = choice.Settings()
        self._drafts = np.zeros(MAX_DRAFT, np.int64)
        self._chosen = np.zeros(MAX_DRAFT + 2, np.int64)
        self._logprobs = np.zeros(MAX_DRAFT + 2, np.float32)
        self._hidden = np.zeros((1, model.config.hidden_size), np.float32)
        """The MTP head's newest output, which its next step reads."""
        self._runs = np.zeros((MAX_DRAFT + 2, RUN_WORDS), np.int64)
        """Words of the MTP head's pass for each draft and of its choice; one that only takes a token; and those of
        the verify pass."""
        self._runs[:, RUN_DRAFT] = np.arange(len(self._runs))
        self._first_words, self._verify_words = memoryview(self._runs[0]), memoryview(self._runs[-1])

    def preparing(self, state: State, head: DraftHead | None) -> Iterator[None]:
        """`Model.preparing`: every pass of a round, and every chain of them."""
        for count in range(MAX_DRAFT + 1):
            verify = self._verify(state, 1 + count)
            yield
            for pairs in range(1, MAX_DRAFT + 2) if count and head is not None else ():
                self._chain(state, self._first(state, pairs), count, head, (verify,))
                yield

    # --- drafting ------------------------------------------------------------------------------------------

    def draft(
        self, state: State, next_token: int, count: int, head: DraftHead, sampler: Sampler
    ) -> list[int] | None:
        """`Model.draft`; None when these operations cannot choose in the sampler's way."""
        if not self.settings.take(sampler.options):
            return None
        first = self._take_pairs(state, next_token)
        self._chain(state, first, count, head, ()).run()
        self.model.pairs_taken(state)
        return self._drafted(count, sampler)

    def _drafted(self, count: int, sampler: Sampler) -> list[int]:
        drafts = self._drafts[:count].tolist()
        if min(drafts) < 0:
            sampler.sample_draft(NOT_FINITE, None, 0, ())  # raises
        return drafts

    def _take_pairs(self, state: State, next_token: int) -> Program:
        """Set all that drafts go by; returns the pass that they begin with."""
        tokens, hidden = self.model.pending_pairs(state, next_token)
        missed = len(tokens) - 1 if len(tokens) > MAX_DRAFT + 1 else 0
        if missed:
            self.model._mtp_input(state, tokens[:missed], hidden[:missed])
            tokens, hidden = tokens[missed:], hidden[missed:]
        first = self._first(state, len(tokens))
        first.input[...] = hidden
        write_run(self._first_words, state.mtp.length, 0, 0, state.length + 1, tokens)
        return first

    def _first(self, state: State, pairs: int) -> Program:
        """The MTP head's pass over all pending pairs."""

        def record(program: Program) -> None:
            program.input = np.empty((pairs, self.model.config.hidden_size), np.float32)
            self._record_head_pass(program, state, pairs, program.input)

        return self.model.program(state, ("mtp first", pairs), pairs, record)

    def _record_head_pass(self, program: Program, state: State, rows: int, hidden: np.ndarray) -> None:
        """Its output goes to `_hidden`, whatever it reads."""
        last = Model._mtp_layer(self.model, state, [0] * rows, hidden)
        program.add(kernels.copy_columns, 1, 1, (last, last.shape[1], self._hidden))

    def _chain(
        self, state: State, first: Program, count: int, head: DraftHead, behind: Sequence[Program]
    ) -> Program:
        """The pass `first`, then a pass a draft, each with the choice of its draft, and a verify pass if one is
        to follow."""
        key = (count, tuple(map(id, behind)), id(head), len(head.added))
        chain = first.chains.get(key)
        if chain is None:
            choose = self._choice(state, head)
            again = self.model.program(
                state,
                ("mtp again",),
                1,
                lambda program: self._record_head_pass(program, state, 1, self._hidden),
            )
            parts = [first, choose, *(count - 1) * [again, choose]]
            runs = [self._runs[n // 2] for n in range(2 * count)] + [self._runs[-1] for _ in behind]
            chain = Program.chain([*parts, *behind], runs)
            first.chains = {old: chain for old, chain in first.chains.items() if old[2:] == key[2:]}
            first.chains[key] = chain
            self.model.prepared += 1
        return chain

    def _choice(self, state: State, head: DraftHead) -> Program:
        """The product with the draft head and the choice of a draft."""

        def record(program: Program) -> None:
            logits, count = self._record_head(program, head)
            settings = (self.settings.numbers, self.settings.integers)
            ids = NO_IDS if head.ids is None else head.ids
            places = (self._drafts, self._runs.reshape(-1), self._runs[-1])
            program.add(choice.choose_draft, 1, 1, (logits, count, ids, *settings, *places))
            program.keep(head, ids)

        key = ("draft head", id(head))
        known = state.prepared.get((*key, self.backend.threads))
        if known is not None and known.version != len(head.added):
            del state.prepared[(*key, self.backend.threads)]
        program = self.model.program(state, key, 1, record)
        program.version = len(head.added)
        return program

    def _record_head(self, program: Program, head: DraftHead) -> tuple[np.ndarray, int]:
        """-> logits in the order of head.ids, and their number."""
        matrices = head.matrices()
        program.keep(*matrices)
        if len(matrices) == 1:
            return self.backend.matmul(self._hidden, matrices[0]), matrices[0].rows
        tiles = [len(matrix.weights) for matrix in matrices]
        found = np.empty((1, sum(tiles) * TILE), np.float32)
        places, start, row = np.empty(len(head.ids), np.int64), 0, 0
        for matrix, count in zip(matrices, tiles, strict=True):
            self.backend.matmul(self._hidden, matrix, found[:, start : start + count * TILE])
            places[row : row + matrix.rows] = np.arange(start, start + matrix.rows)
            start, row = start + count * TILE, row + matrix.rows
        places = places[head.order]
        logits = program.empty((1, len(places)))
        program.add(choice.in_order, 1, 1, (found[0], places, logits))
        program.keep(found, places)
        return logits, len(places)

    # --- verifying -----------------------------------------------------------------------------------------

    def run(
        self, state: State, next_token: int, draft_length: int, drafter: FirstHit, sampler: Sampler
    ) -> WholeRound | None:
        """`Model.whole_round`; None when these operations cannot choose in the sampler's way."""
        if not self.settings.take(sampler.options):
            return None
        start = time.perf_counter()
        head, drafts = self._proposal(state, next_token, draft_length, drafter, sampler)
        draft_seconds = time.perf_counter() - start
        self.settings.take(sampler.options)  # a drafter may draft in a way of its own
        model, length, log = self.model, state.length, state.log_length
        rows = 1 + (len(drafts) if head is None else draft_length)
        model._begin_pass(state, rows, 1)
        if head is None:
            program = verify = self._verify(state, rows)
            seconds = program.execute(length, 1, log, [next_token, *drafts], length + 1)
        else:
            first, verify = self._take_pairs(state, next_token), self._verify(state, rows)
            program = self._chain(state, first, draft_length, head, (verify,))
            write_run(self._verify_words, length, 1, log, length + 1, (next_token,))
            seconds = program.run()
            draft_seconds += seconds * program.share_before(verify)
            model.pairs_taken(state)
            drafts = self._drafted(draft_length, sampler)
        if log:
            model.replay_seconds += seconds * program.share("delta_replay")
        model._end_pass(state, [next_token, *drafts], 1, verify.output)
        return self._outcome(drafts, sampler, draft_seconds)

    def _proposal(
        self, state: State, next_token: int, count: int, drafter: FirstHit, sampler: Sampler
    ) -> tuple[DraftHead | None, list[int]]:
        """The draft head whose drafts go before the verify pass, or another drafter's drafts; `drafter` notes who."""
        drafter.last = "none"
        for each in drafter.drafters if count else ():
            if type(each) is MtpDrafter and each.model == self.model and state.length:
                each.grow_head(state, next_token)
                drafter.last = each.name
                return each.head, []
            drafts = each.draft(state, next_token, count, sampler)
            if drafts:
                drafter.last = each.name
                return None, drafts
        return None, []

    def _outcome(self, drafts: list[int], sampler: Sampler, draft_seconds: float) -> WholeRound:
        rows = 1 + len(drafts)
        count, *chosen = self._chosen[: 1 + rows].tolist()
        del chosen[count:]
        if chosen[-1] < 0:
            sampler.sample(NOT_FINITE, 0)  # raises
        *logprobs, refused = self._logprobs[: rows + 1].tolist()
        return WholeRound(drafts, chosen, logprobs[:count], refused if count < rows else None, draft_seconds)

    def _verify(self, state: State, rows: int) -> Program:
        def record(program: Program) -> np.ndarray:
            hidden = Model._trunk(self.model, state, [0] * rows, 1, None)
            output = self.model.weights.output
            settings = (self.settings.numbers, self.settings.integers)
            logits = self.backend.matmul(hidden, output)
            results = (self._chosen, self._logprobs)
            program.add(choice.choose_rows, 1, 1, (logits, output.rows, *settings, *results))
            return hidden

        return self.model.program(state, ("verify", rows), rows, record)
