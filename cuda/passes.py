"""What a pass launches, in order: the trunk, the logits, the MTP head. Only the cursor decides where.

Nothing here waits for the device or reads from the host, so that any sequence of these calls can be captured
as a graph and replayed.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from kestrel_cuda.arrays import CudaMatrix, Operand
from kestrel_cuda.buffers import Buffers
from kestrel_cuda.cursor import MTP_POSITION, NEWEST_POSITION, NEWEST_ROW, POSITION
from kestrel_cuda.memory import DeviceArray, Memory
from kestrel_cuda.operations import Operations
from kestrel_cuda.post import Post
from kestrel_engine.config import ModelConfig
from kestrel_engine.state import DeltaLayer, KVCache, State
from kestrel_engine.weights import AttentionWeights, DeltaWeights, FeedForward, Weights


def on_device(memory: Memory, item: Any) -> Any:
    """Weights with their arrays on the device. `output_bits` stays: reduced heads are packed from it."""
    if isinstance(item, np.ndarray):
        return memory.upload(item)
    if isinstance(item, tuple):
        return tuple(on_device(memory, part) for part in item)
    if is_dataclass(item) and not isinstance(item, CudaMatrix):
        names = [field.name for field in fields(item) if field.name != "output_bits"]
        return replace(item, **{name: on_device(memory, getattr(item, name)) for name in names})
    return item


class Passes:
    """The launches of one model. `weights` are on the device (`on_device`)."""

    def __init__(
        self,
        operations: Operations,
        config: ModelConfig,
        weights: Weights,
        tables: tuple[DeviceArray, DeviceArray],
        buffers: Buffers,
        post: Post,
    ):
        self.operations, self.config, self.weights, self.tables = operations, config, weights, tables
        self.buffers, self.post = buffers, post
        self.cursor = post.there["cursor"]

    def trunk(self, state: State, count: int) -> None:
        """The first `count` input tokens through all layers; the normed rows to the results."""
        b, eps = self.buffers, self.config.rms_norm_eps
        layers = self.weights.layers
        tokens, table = self.post.there["tokens"], self.weights.embedding
        self.operations.embed(tokens, 0, count, table, b.x, layers[0].norm, eps, b.normed)
        norms = [(weights.norm, b.normed, None) for weights in layers[1:]]
        norms.append((self.weights.norm, b.final, self.post.there["hidden"]))
        for layer, weights, norm in zip(state.layers, layers, norms, strict=True):
            if isinstance(layer, KVCache):
                self._attention_layer(layer, weights, count)
            else:
                self._delta_layer(layer, weights, count)
            self._feed_forward(b.x, weights.feed_forward, count, norm)

    def logits(self, count: int) -> None:
        """Of the rows that the last norm left."""
        self.operations.matmul(self.buffers.final, count, self.weights.output, self.buffers.logits)

    # Each of these takes its rows from `normed`, and leaves there the next one's.

    def _delta_layer(self, layer: DeltaLayer, weights: DeltaWeights, count: int) -> None:
        b, eps = self.buffers, self.config.rms_norm_eps
        self.operations.two_matmuls(b.normed, count, weights.qkv_z, b.qkv_z, weights.beta_a, b.beta_a)
        self.operations.delta_rows(
            layer, b.qkv_z, b.beta_a, weights, self.cursor, 0, count, b.delta_out, eps, b.gated
        )
        self._onto(b.x, b.gated, weights.output, count, weights.feed_forward)

    def _attention_layer(self, cache: KVCache, weights: AttentionWeights, count: int) -> None:
        b, where = self.buffers, (self.cursor, POSITION, 0)
        self._heads(cache, weights, count, *where)
        self.operations.attention(b.query, b.qkv, cache, b.scratch, *where, count, b.attention_out)
        self._onto(b.x, b.attention_out, weights.output, count, weights.feed_forward)

    def _heads(self, cache: KVCache, weights: AttentionWeights, count: int, cursor, place, offset) -> None:
        b, eps = self.buffers, self.config.rms_norm_eps
        where = (cursor, place, offset)
        self.operations.matmul_heads(
            b.normed, count, weights.qkv, b.qkv, weights, eps, self.tables, *where, b.query, cache
        )

    def _onto(self, x, operand: Operand, matrix: CudaMatrix, count: int, feed_forward: FeedForward) -> None:
        """Add a layer's output to the residual rows; their norm is what the feed-forward part takes."""
        b, eps = self.buffers, self.config.rms_norm_eps
        self.operations.matmul_norm(operand, count, matrix, x, True, feed_forward.norm, eps, b.normed)

    def _feed_forward(self, x: DeviceArray, weights: FeedForward, count: int, norm: tuple) -> None:
        """norm: scale, operand, and where the normed rows go as they are."""
        b, eps, (scale, normed, plain) = self.buffers, self.config.rms_norm_eps, norm
        self.operations.matmul_swiglu(b.normed, count, weights.gate_up, b.gate_up, b.activated)
        self.operations.matmul_norm(b.activated, count, weights.down, x, True, scale, eps, normed, plain)

    # --- MTP head ------------------------------------------------------------------------------------------

    def mtp_input(self, state: State, count: int) -> None:
        """Keys and values of `count` pairs (pair_tokens[i], pair_hidden[i]) from MTP_POSITION on."""
        there = self.post.there
        self._mtp_heads(state.mtp, there["pair_tokens"], 0, there["pair_hidden"], count, MTP_POSITION, 0)

    def mtp_newest(self, state: State, count: int) -> None:
        """The same, and the head's output for the newest pair into `draft_hidden` and the `final` operand."""
        b = self.buffers
        self.mtp_input(state, count)
        for source, row in ((b.pair_x, b.last_x), (b.qkv, b.last_qkv)):
            self.operations.take_row(source, self.cursor, NEWEST_ROW, row)
        heads, width = b.query.shape[1:]
        memory = self.operations.memory
        self.operations.take_row(
            memory.reshape(b.query, (len(b.query), heads * width)),
            self.cursor,
            NEWEST_ROW,
            memory.reshape(b.last_query, (1, heads * width)),
        )
        self._mtp_output(state.mtp, b.last_query, b.last_qkv, b.last_x, 0)

    def mtp_chain(self, state: State, step: int) -> None:
        """Draft step `step` >= 1: token `step` of the inputs and the head's own last output."""
        b = self.buffers
        self._mtp_heads(state.mtp, self.post.there["tokens"], step, b.draft_hidden, 1, NEWEST_POSITION, step)
        self._mtp_output(state.mtp, b.query, b.qkv, b.pair_x, step)

    def _mtp_heads(
        self, cache: KVCache, tokens, first: int, hidden, count: int, place: int, offset: int
    ) -> None:
        """Pairs of tokens first… and rows `hidden` up to queries, keys and values."""
        b, mtp, eps = self.buffers, self.weights.mtp, self.config.rms_norm_eps
        beside = (hidden, mtp.hidden_norm)
        table = self.weights.embedding
        self.operations.embed(tokens, first, count, table, b.x, mtp.embedding_norm, eps, b.pair, beside)
        self.operations.matmul_norm(
            b.pair, count, mtp.projection, b.pair_x, False, mtp.layer.norm, eps, b.normed
        )
        self._heads(cache, mtp.layer, count, self.cursor, place, offset)

    def _mtp_output(self, cache: KVCache, query, qkv, x: DeviceArray, offset: int) -> None:
        """From the first row of query and qkv on; x is the residual row."""
        b, mtp = self.buffers, self.weights.mtp
        where = (self.cursor, NEWEST_POSITION, offset)
        self.operations.attention(query, qkv, cache, b.scratch, *where, 1, b.attention_out)
        self._onto(x, b.attention_out, mtp.layer.output, 1, mtp.layer.feed_forward)
        self._feed_forward(x, mtp.layer.feed_forward, 1, (mtp.norm, b.final, b.draft_hidden))
