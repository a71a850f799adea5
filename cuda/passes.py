"""What a pass launches, in order: the trunk, the logits, the MTP head. Only the cursor decides where.

Nothing here waits for the device or reads from the host, so that any sequence of these calls can be captured
as a graph and replayed.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from kestrel_cuda.buffers import Buffers, Post
from kestrel_cuda.cursor import MTP_POSITION, NEWEST_POSITION, NEWEST_ROW, POSITION
from kestrel_cuda.memory import DeviceArray, Memory
from kestrel_cuda.operations import CudaMatrix, Operand, Operations
from kestrel_engine.config import ModelConfig
from kestrel_engine.numerics import BLOCK
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
        inputs: Post,
        results: Post,
    ):
        self.operations, self.config, self.weights, self.tables = operations, config, weights, tables
        self.buffers, self.inputs, self.results = buffers, inputs, results
        self.cursor = inputs.there["cursor"]

    def trunk(self, state: State, count: int) -> None:
        """The first `count` input tokens through all layers; the normed rows to the results."""
        operations, buffers = self.operations, self.buffers
        operations.embed(self.inputs.there["tokens"], 0, count, self.weights.embedding, buffers.x)
        for layer, weights in zip(state.layers, self.weights.layers, strict=True):
            if isinstance(layer, KVCache):
                self._attention_layer(layer, weights, count)
            else:
                self._delta_layer(layer, weights, count)
            self._feed_forward(buffers.x, weights.feed_forward, count)
        hidden = self.results.there["hidden"]
        self._norm(buffers.x, count, self.weights.norm, buffers.final, plain=hidden)

    def logits(self, count: int) -> None:
        """Of the rows that the last norm left."""
        self.operations.matmul(self.buffers.final, count, self.weights.output, self.buffers.logits)

    def _norm(
        self, x, count: int, scale, out: Operand, first_block: int = 0, plain: DeviceArray | None = None
    ) -> None:
        self.operations.norm(x, count, scale, self.config.rms_norm_eps, out, first_block, plain)

    def _delta_layer(self, layer: DeltaLayer, weights: DeltaWeights, count: int) -> None:
        operations, b, eps = self.operations, self.buffers, self.config.rms_norm_eps
        self._norm(b.x, count, weights.norm, b.normed)
        operations.matmul(b.normed, count, weights.qkv_z, b.qkv_z)
        operations.matmul(b.normed, count, weights.beta_a, b.beta_a)
        operations.conv_inputs(
            b.qkv_z, b.beta_a, layer, weights, self.cursor, count, b.mixed, b.decay, b.beta
        )
        operations.delta_rows(layer, b.mixed, b.decay, b.beta, self.cursor, count, b.delta_out)
        operations.gated_norm(
            b.delta_out,
            b.qkv_z,
            weights.output_norm,
            eps,
            b.gated,
            b.mixed,
            b.decay,
            layer,
            self.cursor,
            count,
        )
        operations.matmul(b.gated, count, weights.output, b.x, add=True)

    def _attention_layer(self, cache: KVCache, weights: AttentionWeights, count: int) -> None:
        operations, b = self.operations, self.buffers
        self._norm(b.x, count, weights.norm, b.normed)
        operations.matmul(b.normed, count, weights.qkv, b.qkv)
        where = (self.cursor, POSITION, 0)
        eps = self.config.rms_norm_eps
        operations.attention_inputs(b.qkv, weights, eps, self.tables, *where, count, b.query, cache)
        operations.attention(b.query, b.qkv, cache, b.scratch, *where, count, b.attended)
        operations.to_operand(b.attended, count, b.attention_out)
        operations.matmul(b.attention_out, count, weights.output, b.x, add=True)

    def _feed_forward(self, x: DeviceArray, weights: FeedForward, count: int) -> None:
        operations, b = self.operations, self.buffers
        self._norm(x, count, weights.norm, b.normed)
        operations.matmul(b.normed, count, weights.gate_up, b.gate_up)
        operations.swiglu(b.gate_up, count, b.activated)
        operations.matmul(b.activated, count, weights.down, x, add=True)

    # --- MTP head ------------------------------------------------------------------------------------------

    def mtp_input(self, state: State, count: int) -> None:
        """Keys and values of `count` pairs (pair_tokens[i], hidden[i] of the inputs) from MTP_POSITION on."""
        self._mtp_projection(self.inputs.there["pair_tokens"], 0, self.inputs.there["hidden"], count)
        self._mtp_qkv(state.mtp, self.buffers.pair_x, count, MTP_POSITION, 0)

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
        self._mtp_projection(self.inputs.there["tokens"], step, b.draft_hidden, 1)
        self._mtp_qkv(state.mtp, b.pair_x, 1, NEWEST_POSITION, step)
        self._mtp_output(state.mtp, b.query, b.qkv, b.pair_x, step)

    def _mtp_projection(self, tokens: DeviceArray, first: int, hidden: DeviceArray, count: int) -> None:
        b, mtp = self.buffers, self.weights.mtp
        self.operations.embed(tokens, first, count, self.weights.embedding, b.x)
        self._norm(b.x, count, mtp.embedding_norm, b.pair)
        self._norm(hidden, count, mtp.hidden_norm, b.pair, self.config.hidden_size // BLOCK)
        self.operations.matmul(b.pair, count, mtp.projection, b.pair_x)

    def _mtp_qkv(self, cache: KVCache, x: DeviceArray, count: int, place: int, offset: int) -> None:
        b, weights = self.buffers, self.weights.mtp.layer
        self._norm(x, count, weights.norm, b.normed)
        self.operations.matmul(b.normed, count, weights.qkv, b.qkv)
        eps, where = self.config.rms_norm_eps, (self.cursor, place, offset)
        self.operations.attention_inputs(b.qkv, weights, eps, self.tables, *where, count, b.query, cache)

    def _mtp_output(self, cache: KVCache, query, qkv, x: DeviceArray, offset: int) -> None:
        """From the first row of query and qkv on; x is the residual row."""
        operations, b, mtp = self.operations, self.buffers, self.weights.mtp
        where = (self.cursor, NEWEST_POSITION, offset)
        operations.attention(query, qkv, cache, b.scratch, *where, 1, b.attended)
        operations.to_operand(b.attended, 1, b.attention_out)
        operations.matmul(b.attention_out, 1, mtp.layer.output, x, add=True)
        self._feed_forward(x, mtp.layer.feed_forward, 1)
        self._norm(x, 1, mtp.norm, b.final, plain=b.draft_hidden)
