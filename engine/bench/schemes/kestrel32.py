"""The scheme of the Kestrel field report no. 32: exact, and slower than plain decoding.

Held between rounds: everything up to position p is consumed, h_p and logits_p are at hand.

1. Draft d1..dk from p: the MTP head is fed the token and the hidden row of the *same* position, then its own
   output with each draft, k single rows.
2. Mark (one-shot copy of the recurrent states and convolution windows, lengths of the KV caches), then verify
   [d1..dk] at p+1: k rows. d1 is checked against logits_p and takes no row.
3. Emit the accepted drafts and *no* token of the model's own behind them; without an accepted draft,
   argmax(logits_p).
4. All k accepted: keep the batch. Otherwise roll back to the mark, run what was emitted again one row at a time
   through the whole model, and truncate the MTP cache to the new p.

The last tokens, when fewer than k remain, are plain steps. The engine's own passes, draft head and greedy
sampling stand in for the report's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from kestrel_engine.bench.schemes.base import Rewrite, Scheme, SchemeRound, Stopwatch
from kestrel_engine.draft_head import DraftHead
from kestrel_engine.model import Model
from kestrel_engine.state import CONV_HISTORY, RING_ROWS, State


class Mark:
    """A one-shot snapshot: recurrent states and convolution windows are copied, of caches the lengths noted."""

    def __init__(self, state: State):
        self._layers = [
            (layer.state.copy(), layer.ring[_window(layer.conv_length)]) for layer in state.delta_layers
        ]
        self._length, self._used = state.length, False
        self.bytes = sum(array.nbytes for arrays in self._layers for array in arrays)

    def rollback(self, state: State) -> None:
        """Once: then the mark is used up."""
        assert not self._used, "a mark can be rolled back to once"
        state.rewind(state.length - self._length)
        for layer, (recurrent, window) in zip(state.delta_layers, self._layers, strict=True):
            layer.state[...] = recurrent
            # Our ring still holds these rows; the report's window does not, so the copy is part of its price.
            layer.ring[_window(layer.conv_length)] = window
        self._layers, self._used = [], True


def _window(length: int) -> list[int]:
    """Places in the ring of the rows that the next convolution reads."""
    return [position % RING_ROWS for position in range(length - CONV_HISTORY, length)]


def truncate_mtp(state: State) -> None:
    """Keep of the MTP cache what lies before the newest position. Only the cursor moves."""
    state.mtp.length = state.length - 1
    state.hidden_tail = state.hidden_tail[-1:]


class Kestrel32(Scheme):
    def __init__(
        self,
        model: Model,
        draft_length: int,
        head: DraftHead,
        rewrite: Rewrite | None = None,
        force_accept: bool = False,
    ):
        """rewrite: scripted acceptance. force_accept: only observe which rounds a forced acceptance of all
        drafts would have left as they are; the stream stays the model's own."""
        super().__init__("kestrel-32", model, draft_length)
        self.head, self.rewrite, self.force_accept = head, rewrite, force_accept
        self.histogram: Counter[int] = Counter()
        """Rounds by n_ok."""
        self.forced: Counter[str] = Counter()
        """Rounds under force_accept: "kept" (all drafts were right anyway), "declined" (forcing was refused)."""
        self._mark_bytes = 0

    def begin(self, prompt: Sequence[int]) -> None:
        self.empty()
        for token in prompt[:-1]:
            self.model.forward(self.state, [token], commit=1)
            self.model.mtp_row(self.state, token)
        self._consume(prompt[-1])

    def round(self, limit: int) -> SchemeRound:
        watch = Stopwatch()
        if limit < self.draft_length:
            token = self._argmax(self.logits)
            self._consume(token)
            return SchemeRound((token,), 0, 0, False, (0.0, watch.lap(), 0.0), 0)
        drafts = self._draft()
        draft_ms = watch.lap()
        mark = Mark(self.state)
        mark_ms, self._mark_bytes = watch.lap(), mark.bytes
        logits = self.model.logits(self.model.forward(self.state, drafts, commit=len(drafts)))
        right = self._right(drafts, logits)
        verify_ms = watch.lap()
        emitted = drafts[:right] or [self._argmax(self.logits)]
        if right == len(drafts):
            self.logits = logits[-1]
        else:
            mark.rollback(self.state)
            for token in emitted:
                self._consume(token)
        truncate_mtp(self.state)
        self._count(right)
        kept = right == len(drafts)
        return SchemeRound(
            tokens=tuple(emitted),
            drafted=len(drafts),
            accepted=right,
            rejected=not kept,
            times=(draft_ms, verify_ms, mark_ms + watch.lap()),
            copied=mark.bytes * (1 if kept else 2),
        )

    def _draft(self) -> list[int]:
        state, drafts = self.state, []
        # The pair of the same position: token p with hidden row p.
        state.mtp.length = state.length - 1
        hidden = self.model.mtp_row(state, state.tokens[-1])
        while True:
            logits = self.head.logits(hidden)
            position = state.length + len(drafts)
            drafts.append(self.sampler.sample_draft(logits, self.head.ids, position, drafts))
            if len(drafts) == self.draft_length:
                break
            hidden = self.model.mtp_chain(state, drafts[-1], hidden, step=len(drafts))
        return drafts if self.rewrite is None else self.rewrite(state, drafts)

    def _right(self, drafts: list[int], logits: np.ndarray) -> int:
        """n_ok: d1 against the logits already held, d(i+1) against row i of the batch."""
        rows = [self.logits, *logits[:-1]]
        for place, (draft, row) in enumerate(zip(drafts, rows, strict=True)):
            if self._argmax(row) != draft:
                return place
        return len(drafts)

    def _consume(self, token: int) -> None:
        """One step of the whole model, its output matrix included."""
        self.logits = self.model.logits(self.model.forward(self.state, [token], commit=1))[0]

    def _argmax(self, logits: np.ndarray) -> int:
        return self.sampler.sample(logits, self.state.length)

    def _count(self, right: int) -> None:
        self.histogram[right] += 1
        if self.force_accept:
            self.forced["kept" if right == self.draft_length else "declined"] += 1

    @property
    def state_bytes(self) -> int:
        """The live states and windows, and the mark."""
        layers = self.state.delta_layers
        return sum(layer.state.nbytes + layer.ring.nbytes for layer in layers) + self._mark_bytes
