"""Prefill in wide chunks: as `Passes.trunk`, with products on the tensor cores, and what lies between them in
parts of a few rows, through the kernels that decode.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kestrel_cuda.arrays import Operand
from kestrel_cuda.buffers import Buffers
from kestrel_cuda.cursor import POSITION
from kestrel_cuda.memory import DeviceArray
from kestrel_cuda.operations import WIDE_SIZES, Operations, parts
from kestrel_cuda.passes import Passes
from kestrel_engine.config import ModelConfig
from kestrel_engine.state import DeltaLayer, KVCache, State
from kestrel_engine.weights import AttentionWeights, DeltaWeights, FeedForward

F = np.float32


@dataclass(slots=True)
class WideBuffers:
    """Rows of a wide chunk: as in `Buffers`."""

    x: DeviceArray
    normed: Operand
    qkv_z: DeviceArray
    beta_a: DeviceArray
    gated: Operand
    qkv: DeviceArray
    attention_out: Operand
    gate_up: DeviceArray
    activated: Operand
    hidden: DeviceArray


def make_wide_buffers(operations: Operations, config: ModelConfig, format: str) -> WideBuffers:
    most = max(WIDE_SIZES)

    def rows(width: int) -> DeviceArray:
        return operations.memory.empty((most, width), F)

    def operand(width: int, *formats: str) -> Operand:
        return operations.operand(most, width, {format, *formats})

    queries, hidden = config.num_attention_heads * config.head_dim, config.hidden_size
    return WideBuffers(
        x=rows(hidden),
        normed=operand(hidden, "bf16"),
        qkv_z=rows(config.conv_dim + config.value_dim),
        beta_a=rows(2 * config.linear_num_value_heads),
        gated=operand(config.value_dim),
        qkv=rows(2 * queries + 2 * config.num_key_value_heads * config.head_dim),
        attention_out=operand(queries),
        gate_up=rows(2 * config.intermediate_size),
        activated=operand(config.intermediate_size),
        hidden=rows(hidden),
    )


class WidePasses:
    """Wide chunks of the model that `passes` runs; all rows are committed."""

    def __init__(self, passes: Passes, buffers: WideBuffers):
        self.passes, self.buffers = passes, buffers
        self.operations, self.config = passes.operations, passes.config

    def trunk(self, state: State, count: int) -> None:
        """The first `count` input tokens through all layers; the normed rows into `hidden`."""
        operations, w, eps = self.operations, self.buffers, self.config.rms_norm_eps
        weights = self.passes.weights
        tokens = self.passes.post.there["tokens"]
        scales = [each.norm for each in weights.layers[1:]] + [weights.norm]
        operations.embed(tokens, 0, count, weights.embedding, w.x, weights.layers[0].norm, eps, w.normed)
        for layer, layer_weights, scale in zip(state.layers, weights.layers, scales, strict=True):
            if isinstance(layer, KVCache):
                self._attention_layer(layer, layer_weights, count)
            else:
                self._delta_layer(layer, layer_weights, count)
            self._feed_forward(layer_weights.feed_forward, count)
            operations.norm(w.x, count, scale, eps, w.normed, w.hidden)

    def _delta_layer(self, layer: DeltaLayer, weights: DeltaWeights, count: int) -> None:
        operations, w, eps = self.operations, self.buffers, self.config.rms_norm_eps
        narrow: Buffers = self.passes.buffers
        operations.matmul_wide(w.normed, count, weights.qkv_z, w.qkv_z)
        operations.matmul_wide(w.normed, count, weights.beta_a, w.beta_a)
        for first, rows in parts(count):
            qkv_z, beta_a = (operations.memory.rows(x, first, rows) for x in (w.qkv_z, w.beta_a))
            out = w.gated.part(first, rows)
            cursor = self.passes.cursor
            operations.delta_rows(
                layer, qkv_z, beta_a, weights, cursor, first, rows, narrow.delta_out, eps, out
            )
        operations.matmul_wide(w.gated, count, weights.output, w.x, add=True)

    def _attention_layer(self, cache: KVCache, weights: AttentionWeights, count: int) -> None:
        operations, w, eps = self.operations, self.buffers, self.config.rms_norm_eps
        narrow: Buffers = self.passes.buffers
        operations.matmul_wide(w.normed, count, weights.qkv, w.qkv)
        for first, rows in parts(count):
            qkv, where = (
                operations.memory.rows(w.qkv, first, rows),
                (self.passes.cursor, POSITION, first, rows),
            )
            tables, query = self.passes.tables, narrow.query
            operations.attention_inputs(qkv, weights, eps, tables, *where, query, cache)
            out = w.attention_out.part(first, rows)
            operations.attention(query, qkv, cache, narrow.scratch, *where, out)
        operations.matmul_wide(w.attention_out, count, weights.output, w.x, add=True)

    def _feed_forward(self, weights: FeedForward, count: int) -> None:
        operations, w = self.operations, self.buffers
        operations.norm(w.x, count, weights.norm, self.config.rms_norm_eps, w.normed)
        operations.matmul_wide(w.normed, count, weights.gate_up, w.gate_up)
        operations.swiglu(w.gate_up, count, w.activated)
        operations.matmul_wide(w.activated, count, weights.down, w.x, add=True)
