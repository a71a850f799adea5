"""A round on the device as one graph: a copy there, the MTP head's first call and its chain, each choosing its
token, the verification with the choice of every row, and a copy back.

What is accepted, emitted and committed is decided by the engine from what comes back; the next round brings
the cursors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kestrel_cuda import sampling
from kestrel_cuda.arrays import Operand, Settings, Vocabulary
from kestrel_cuda.buffers import MARKS, PLACES, ROWS
from kestrel_cuda.cursor import COMMIT, LOG_LENGTH, POSITION
from kestrel_cuda.operations import Operations
from kestrel_cuda.settings import sampling_mode, setting_arrays
from kestrel_cuda.target import SIMULATOR
from kestrel_engine.backend import WholeRound
from kestrel_engine.state import State

if TYPE_CHECKING:
    from kestrel_cuda.model import CudaModel
    from kestrel_engine.drafter import DraftHead, FirstHit
    from kestrel_engine.sampling import Sampler

ADDED_ROWS = 64 if SIMULATOR else 2048
"""Room for tokens that a chat adds to its draft head."""
DAMAGED = np.full(1, np.nan, np.float32)
"""Logits that a sampler refuses."""


class _Head:
    """A draft head on the device: its own matrix, and room for the tokens that the chat adds to it.

    Everything stays where it is until the room is full, so that captured graphs stay valid; `generation` counts
    how often it was.
    """

    def __init__(self, head: DraftHead, operations: Operations):
        self.head, self.operations, self.generation = head, operations, 0
        self._count = 0
        self._make_room(max(ADDED_ROWS, 2 * len(head.added)) if head.ids is not None else 0)

    def _make_room(self, room: int) -> None:
        memory, matrix = self.operations.memory, self.head.matrix
        self.added = self.operations.empty_matrix(room, matrix.width, self.head.format) if room else None
        self._logits = memory.zeros((matrix.rows + room,), np.float32)
        self.logits = memory.reshape(self._logits, (1, matrix.rows + room))
        self.first_logits = memory.view(self._logits, 0, (1, matrix.rows), np.float32)
        self.added_logits = memory.view(self._logits, matrix.rows, (1, room), np.float32) if room else None
        self.candidates = self.operations.choice.candidates(1, matrix.rows + room)
        self.vocabulary = self.operations.choice.every_id()
        if room:
            self.vocabulary = Vocabulary(*(memory.upload(array) for array in self._entries()))
        self._count = 0

    def _entries(self) -> tuple[np.ndarray, np.ndarray]:
        """The head's tokens, ascending (-1: no token), and where their logits stand. Both [rows + room] int32."""
        ids = np.full(len(self._logits), -1, np.int32)
        places = np.arange(len(ids), dtype=np.int32)
        ids[: len(self.head.ids)] = self.head.ids
        if self.head.added:
            places[: len(self.head.ids)] = self.head.order
        return ids, places

    def update(self) -> None:
        """Take the tokens that were added to the head since the last call."""
        new = self.head.added[self._count :]
        if not new:
            return
        if self._count + len(new) > self.added.rows:
            self.generation += 1
            self._make_room(2 * (self._count + len(new)))
            new = self.head.added
        self.operations.pack_rows(self.head.rows_of(new), self.added, self._count)
        self._count += len(new)
        for there, here in zip((self.vocabulary.ids, self.vocabulary.places), self._entries(), strict=True):
            self.operations.memory.copy(there, here)

    def multiply(self, x: Operand) -> None:
        self.operations.matmul(x, 1, self.head.matrix, self.first_logits)
        if self.added is not None:
            self.operations.matmul(x, 1, self.added, self.added_logits)


class Rounds:
    """Runs rounds of one model. It knows which tokens of the present sampler the device has been told of."""

    def __init__(self, model: CudaModel):
        self.model, self.operations, self.memory = model, model.operations, model.memory
        inputs, results = model.inputs.there, model.results.there
        self.flags = self.memory.zeros((model.config.vocab_size,), np.uint8)
        self.settings = Settings(
            *(inputs[name] for name in ("cursor", "integers", "reals", "tokens")),
            self.flags,
            results["stamps"],
        )
        damaged = results["damaged"]
        draft_damaged = self.memory.view(damaged, 0, (PLACES,), np.int32)
        row_damaged = self.memory.view(damaged, PLACES, (PLACES,), np.int32)
        unused = self.memory.zeros((PLACES,), np.float32)
        self.draft_outcome = (results["drafts"], unused, unused, draft_damaged)
        self.outcome = (results["chosen"], results["chosen_logits"], results["draft_logits"], row_damaged)
        self.every_id = self.operations.choice.every_id()
        self._heads: dict[int, _Head] = {}
        self._sampler: Sampler | None = None
        self._told: set[int] = set()

    def run(
        self, state: State, next_token: int, count: int, drafter: FirstHit, sampler: Sampler
    ) -> WholeRound:
        """A round with up to `count` drafts. `state` ends as `Model.forward` leaves it."""
        mode = sampling_mode(sampler.options)
        head, drafts = self._proposal(state, next_token, count, drafter, sampler)
        self._set_inputs(state, next_token, drafts, sampler)
        pairs = 0 if head is None else self._set_pairs(state, next_token, count)
        rows = 1 + (len(drafts) if head is None else count)
        key = ("round", mode, rows) + (() if head is None else (pairs, id(head), head.generation))
        self.model.replay(state, key, lambda: self.launch(state, rows, head, pairs, mode))
        self.memory.wait()
        here, draft_seconds = self.model.results.here, 0.0
        if head is not None:
            self.model.pairs_taken(state)
            drafts = self._drafts(count, sampler)
            draft_seconds = 1e-9 * ((int(here["stamps"][1]) - int(here["stamps"][0])) & sampling.CLOCK_BITS)
        return self._outcome(state, [next_token, *drafts], sampler, draft_seconds)

    # --- before --------------------------------------------------------------------------------------------

    def _proposal(
        self, state: State, next_token: int, count: int, drafter: FirstHit, sampler: Sampler
    ) -> tuple[_Head | None, list[int]]:
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

    def _on_device(self, head: DraftHead) -> _Head:
        known = self._heads.get(id(head))  # which holds on to it, so that no other gets its id
        if known is None:
            known = self._heads[id(head)] = _Head(head, self.operations)
        known.update()
        return known

    def _set_inputs(self, state: State, next_token: int, drafts: list[int], sampler: Sampler) -> None:
        here, delta = self.model.inputs.here, state.delta_layers
        here["cursor"][POSITION] = state.length
        here["cursor"][LOG_LENGTH] = delta[0].log_length if delta else 0
        here["cursor"][COMMIT] = 1
        here["tokens"][: 1 + len(drafts)] = [next_token, *drafts]
        here["integers"][:], here["reals"][:] = setting_arrays(sampler.options)
        news = self._news(sampler)
        here["integers"][sampling.MARK_COUNT] = len(news)
        here["marks"][: len(news)] = news

    def _news(self, sampler: Sampler) -> list[int]:
        """Emitted tokens that the device has not been told of; a new sampler's are all sent at once."""
        options = sampler.options
        if options.presence_penalty == 0 and options.repetition_penalty == 1:
            return []
        news = sampler.emitted - self._told if sampler is self._sampler else None
        if news is None or len(news) > MARKS:
            flags = np.zeros(len(self.flags), np.uint8)
            flags[[token for token in sampler.prompt if token < len(flags)]] |= sampling.IN_PROMPT
            flags[list(sampler.emitted)] |= sampling.IN_ANSWER
            self.memory.copy(self.flags, flags)
            news = set()
        self._sampler, self._told = sampler, set(sampler.emitted)
        return list(news)

    def _set_pairs(self, state: State, next_token: int, count: int) -> int:
        """The pairs that the head has not taken. -> rows of its first call: padded, so that few graphs do."""
        model = self.model
        tokens, hidden = model.pending_pairs(state, next_token)
        surplus = max(0, len(tokens) - ROWS)
        if surplus:
            saved = {name: array.copy() for name, array in model.inputs.here.items()}
            model._mtp_input(state, tokens[:surplus], hidden[:surplus])
            for name, array in saved.items():
                model.inputs.here[name][...] = array
        model.set_pairs(state, tokens[surplus:], hidden[surplus:], surplus)
        return count + 1 if len(tokens) <= count + 1 else ROWS

    # --- on the device -------------------------------------------------------------------------------------

    def launch(self, state: State, rows: int, head: _Head | None, pairs: int, mode: int) -> None:
        """All of a round of `rows` rows, whose drafts `head` makes from `pairs` pairs at first; tokens are chosen
        in the way `mode` (settings.sampling_mode)."""
        self.model.inputs.send(pairs)
        damaged = self.model.results.there["damaged"]
        self.operations.choice.begin_round(self.settings, self.model.inputs.there["marks"], damaged)
        if head is not None:
            self._draft(state, head, rows - 1, pairs, mode)
        self._verify(state, rows, mode)
        self.model.results.fetch(rows)

    def _draft(self, state: State, head: _Head, count: int, pairs: int, mode: int) -> None:
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
        choice.log_sum_exp(buffers.logits, rows, self.model.results.there["log_sums"])

    # --- after ---------------------------------------------------------------------------------------------

    def _drafts(self, count: int, sampler: Sampler) -> list[int]:
        here = self.model.results.here
        if here["damaged"][:count].any():
            sampler.sample_draft(DAMAGED, None, 0, ())  # raises
        return here["drafts"][:count].tolist()

    def _outcome(self, state: State, tokens: list[int], sampler: Sampler, draft_seconds: float) -> WholeRound:
        here: dict[str, Any] = {name: array.copy() for name, array in self.model.results.here.items()}
        drafts, chosen = tokens[1:], here["chosen"].tolist()
        right = 0
        while right < len(drafts) and chosen[right] == drafts[right]:
            right += 1
        if here["damaged"][PLACES : PLACES + right + 1].any():
            sampler.sample(DAMAGED, 0)  # raises
        self.model.take_hidden(here["hidden"][: len(tokens)])
        self.model.forward(state, tokens, commit=1)
        sums = here["log_sums"]
        logprobs = [float(here["chosen_logits"][m] - sums[m]) for m in range(right + 1)]
        refused = float(here["draft_logits"][right] - sums[right]) if right < len(drafts) else None
        return WholeRound(drafts, chosen[: right + 1], logprobs, refused, draft_seconds)
