"""The forward pass of a Qwen3.5 hybrid and of its MTP head, on any backend.

One pass serves prefill, plain decoding and verification: M rows, of which the first `commit` enter the
recurrent state and the rest are speculative (docs/design.md §2). `Model` runs a pass operation by operation;
a backend whose `make_model` returns a subclass may run `_trunk`, `_mtp_layer`, `_mtp_input`, `logits` and `draft`
whole.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from kestrel_engine.backend import Backend, WholeRound
from kestrel_engine.config import ModelConfig
from kestrel_engine.options import MAX_DRAFT
from kestrel_engine.rope import RopeTables
from kestrel_engine.state import DeltaLayer, KVCache, State, new_state
from kestrel_engine.weights import AttentionWeights, DeltaWeights, FeedForward, Weights

if TYPE_CHECKING:
    from kestrel_engine.draft_head import DraftHead
    from kestrel_engine.sampling import Sampler

HIDDEN_TAIL_LIMIT = 256
"""Trunk rows that may wait for the MTP head before it takes them in one call."""


class Model:
    """Weights on a backend. It holds no state of a stream; passes take a `State`."""

    def __init__(self, config: ModelConfig, weights: Weights, backend: Backend, context: int):
        self.config, self.weights, self.backend, self.context = config, weights, backend, context
        positions = context + 2 * MAX_DRAFT + 2
        self._rope = RopeTables(positions, config.rotary_dim, config.rope_theta)
        self.replay_seconds = 0.0
        """Time spent on log replay since it was last set to zero."""
        self.prepared = 0
        """Things made once for a state, in passes that therefore took longer."""

    @property
    def tables(self) -> tuple[np.ndarray, np.ndarray]:
        """cos and sin of all positions, for a backend that takes them elsewhere."""
        self._rope.fill(len(self._rope.tables[0]))
        return self._rope.tables

    def new_state(self) -> State:
        return new_state(self.config, self.context)

    def embed(self, tokens: list[int]) -> np.ndarray:
        return self.backend.embed(tokens, self.weights.embedding)

    def logits(self, hidden: np.ndarray) -> np.ndarray:
        """hidden [M, H] after the final norm -> [M, V]."""
        return self.backend.matmul(hidden, self.weights.output)

    def whole_round(
        self, state: State, next_token: int, draft_length: int, drafter, sampler
    ) -> WholeRound | None:
        """Draft, verify as `forward` does, and choose, as one piece of work; None: do it step by step."""
        return None

    def preparing(self, state: State, head: DraftHead | None) -> Iterator[None]:
        """Make beforehand what rounds on `state` would make when they first need it, a piece before each yield."""
        return iter(())

    # --- trunk ---------------------------------------------------------------------------------------------

    def forward(
        self, state: State, tokens: list[int], commit: int, slots: list[np.ndarray] | None = None
    ) -> np.ndarray:
        """Run M = len(tokens) rows; the first `commit` are consumed, the rest await `state.accept`.

        slots: per delta layer [M, Hv, dk, dv]; when given, every row is committed and the recurrent state
        after each is copied there. Returns the rows after the final norm [M, H]. When a pass raises, `state`
        is left unusable.
        """
        assert 1 <= commit <= len(tokens) and (slots is None or commit == len(tokens))
        self._begin_pass(state, len(tokens), commit)
        hidden = self._trunk(state, tokens, commit, slots)
        self._end_pass(state, tokens, commit, hidden)
        return hidden

    def _begin_pass(self, state: State, rows: int, commit: int) -> None:
        assert state.length + commit <= state.capacity and rows - commit <= MAX_DRAFT
        state.check()
        self._rope.fill(state.length + rows)
        if len(state.hidden) > HIDDEN_TAIL_LIMIT:
            self.fill_mtp(state)
        state.usable = False

    def _end_pass(self, state: State, tokens: list[int], commit: int, hidden: np.ndarray) -> None:
        state.advance(commit)
        state.consume(tokens[:commit], hidden[:commit])
        state.pending = (tokens[commit:], hidden[commit:])
        state.usable = True

    def _trunk(self, state: State, tokens: list[int], commit: int, slots) -> np.ndarray:
        """All layers and the final norm -> [M, H]. Moves no cursor, so the operations see where it began."""
        x = self.embed(tokens)
        delta_index = 0
        for layer, weights in zip(state.layers, self.weights.layers, strict=True):
            if isinstance(layer, KVCache):
                self._attention_layer(x, layer, weights)
            else:
                self._delta_layer(x, layer, weights, commit, None if slots is None else slots[delta_index])
                delta_index += 1
            self._feed_forward(x, weights.feed_forward)
        return self.backend.rms_norm(x, self.weights.norm, self.config.rms_norm_eps)

    def _delta_layer(self, x, layer: DeltaLayer, weights: DeltaWeights, commit: int, slots) -> None:
        backend, eps = self.backend, self.config.rms_norm_eps
        normed = backend.rms_norm(x, weights.norm, eps)
        beta_a = backend.matmul(normed, weights.beta_a)  # [M, 2*Hv]
        qkv_z = backend.matmul(normed, weights.qkv_z)  # [M, conv_dim + Hv*dv]
        mixed = backend.conv_silu(qkv_z, layer, weights.taps)  # [M, conv_dim]
        inputs = backend.delta_inputs(mixed, beta_a, weights, layer)
        self._replay(layer)
        out = backend.delta_rows(inputs, mixed, layer, commit, slots)
        gate = qkv_z[:, self.config.conv_dim :]
        out = backend.gated_norm(out, gate, weights.output_norm, eps)
        backend.add(x, backend.matmul(out, weights.output))

    def _replay(self, layer: DeltaLayer) -> None:
        start = time.perf_counter()
        self.backend.delta_replay(layer)
        self.replay_seconds += time.perf_counter() - start

    def _attention_layer(
        self, x, cache: KVCache, weights: AttentionWeights, last_row_only: bool = False
    ) -> np.ndarray:
        """Adds the layer's output to x [M, H], or to its last row alone; returns the rows it went on with."""
        backend, eps = self.backend, self.config.rms_norm_eps
        qkv = backend.matmul(backend.rms_norm(x, weights.norm, eps), weights.qkv)
        query = backend.attention_inputs(
            qkv, weights, eps, self._rope.tables, cache, self.config.num_attention_heads
        )
        first = len(x) - 1 if last_row_only else 0
        out = backend.attention(query[first:], qkv[first:], cache, cache.length + first)
        x = x[first:] if first else x
        backend.add(x, backend.matmul(out, weights.output))
        return x

    def _feed_forward(self, x, weights: FeedForward) -> None:
        backend = self.backend
        normed = backend.rms_norm(x, weights.norm, self.config.rms_norm_eps)
        hidden = backend.swiglu(backend.matmul(normed, weights.gate_up))
        backend.add(x, backend.matmul(hidden, weights.down))

    # --- MTP head ------------------------------------------------------------------------------------------

    def draft(
        self, state: State, next_token: int, count: int, head: DraftHead, sampler: Sampler
    ) -> list[int]:
        """`count` >= 1 guesses for the tokens after `next_token` (certain, not yet consumed): the first step reads
        the trunk's hidden row, later steps the MTP head's own output."""
        drafts: list[int] = []
        hidden = self.mtp_row(state, next_token)
        while True:
            position = state.length + 1 + len(drafts)
            drafts.append(sampler.sample_draft(head.logits(hidden), head.ids, position, drafts))
            if len(drafts) == count:
                return drafts
            hidden = self.mtp_chain(state, drafts[-1], hidden, step=len(drafts))

    def fill_mtp(self, state: State) -> None:
        """Give the MTP head all pairs whose next token is known: (token p+1, hidden p) for p < length-1."""
        start, end = state.mtp.length, state.length - 1
        if end > start:
            self._rope.fill(end)
            hidden = state.hidden.newest(state.length - start)[:-1]
            self._mtp_input(state, state.tokens[start + 1 : end + 1], hidden)
            state.mtp.length = end
        state.hidden.keep(1)

    def _mtp_input(self, state: State, tokens: list[int], hidden: np.ndarray) -> None:
        """Only the keys and values of these rows are ever used, so nothing behind them is computed."""
        x = self._mtp_projection(tokens, hidden)
        layer, eps = self.weights.mtp.layer, self.config.rms_norm_eps
        qkv = self.backend.matmul(self.backend.rms_norm(x, layer.norm, eps), layer.qkv)
        heads = self.config.num_attention_heads
        self.backend.attention_inputs(qkv, layer, eps, self._rope.tables, state.mtp, heads)

    def _mtp_projection(self, tokens: list[int], hidden: np.ndarray) -> np.ndarray:
        backend, eps, mtp = self.backend, self.config.rms_norm_eps, self.weights.mtp
        embedded = backend.rms_norm(self.embed(tokens), mtp.embedding_norm, eps)
        hidden = backend.rms_norm(np.ascontiguousarray(hidden), mtp.hidden_norm, eps)
        return backend.matmul(backend.concatenate(embedded, hidden), mtp.projection)

    def mtp_row(self, state: State, next_token: int) -> np.ndarray:
        """Catch up with the trunk: all pending pairs, the newest with the certain, unconsumed `next_token`.

        Returns the head's normed output for that newest pair [1, H]; afterwards mtp.length == state.length.
        """
        out = self._mtp_layer(state, *self.pending_pairs(state, next_token))
        self.pairs_taken(state)
        return out

    def pending_pairs(self, state: State, next_token: int) -> tuple[list[int], np.ndarray]:
        """Tokens and hidden rows of the pairs from mtp.length on, the newest with `next_token`."""
        self._rope.fill(state.length + MAX_DRAFT)  # drafts go on behind the pairs
        start = state.mtp.length
        if start == state.length:  # the newest pair was taken with another next token
            start = state.mtp.length = state.length - 1
        return [*state.tokens[start + 1 :], next_token], state.hidden.newest(state.length - start)

    def pairs_taken(self, state: State) -> None:
        """Note that the MTP head has taken all pending pairs."""
        state.mtp.length = state.length
        state.hidden.keep(1)

    def mtp_chain(self, state: State, token: int, hidden: np.ndarray, step: int) -> np.ndarray:
        """Draft step `step` >= 1: the head's own last output [1, H] and the draft it gave. -> [1, H].

        Its keys lie at and beyond mtp.length and are overwritten by the next round.
        """
        cache = state.mtp
        cache.length = state.length + step - 1
        try:
            return self._mtp_layer(state, [token], hidden)
        finally:
            cache.length = state.length

    def _mtp_layer(self, state: State, tokens: list[int], hidden: np.ndarray) -> np.ndarray:
        """Rows at mtp.length…: keys and values of all, the normed output of the last one -> [1, H]."""
        mtp = self.weights.mtp
        x = self._mtp_projection(tokens, hidden)
        x = self._attention_layer(x, state.mtp, mtp.layer, last_row_only=True)
        self._feed_forward(x, mtp.layer.feed_forward)
        return self.backend.rms_norm(x, mtp.norm, self.config.rms_norm_eps)
