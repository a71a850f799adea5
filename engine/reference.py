"""The numpy reference backend: `numerics.py` behind the operations that `model.py` asks of a backend.

Slow, and the definition of right: every other backend is tested bit-equal to this one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kestrel_engine import numerics
from kestrel_engine.config import ModelConfig
from kestrel_engine.model import Model
from kestrel_engine.state import KEY_BLOCK, DeltaLayer, KVCache
from kestrel_engine.weights import DeltaWeights, Weights


@dataclass(frozen=True, slots=True)
class ReferenceMatrix:
    """values: bfloat16 bits (uint16), or int8 with `scales` (bfloat16 bits per block). [N, K]."""

    format: str
    values: np.ndarray
    scales: np.ndarray | None

    @property
    def bytes(self) -> int:
        return self.values.nbytes + (0 if self.scales is None else self.scales.nbytes)


class ReferenceBackend:
    """See `backend.Backend` for what each operation takes and returns."""

    name = "reference"
    threads = 1

    def pack(self, matrix: np.ndarray, format: str) -> ReferenceMatrix:
        if format == "bf16":
            return ReferenceMatrix(format, np.array(matrix), None)
        values, scales = numerics.quantize_weights(numerics.from_bfloat16(matrix), 8 if format == "q8" else 4)
        return ReferenceMatrix(format, values, scales)

    def make_model(self, config: ModelConfig, weights: Weights, context: int) -> Model:
        return Model(config, weights, self, context)

    def embed(self, tokens: list[int], table: np.ndarray) -> np.ndarray:
        return numerics.from_bfloat16(table[tokens])

    def concatenate(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.concatenate([x, y], axis=1)

    def matmul(self, x: np.ndarray, matrix: ReferenceMatrix) -> np.ndarray:
        if matrix.format == "bf16":
            return numerics.matmul_bfloat16(x, matrix.values)
        values, scales = numerics.quantize_activations(x)
        return numerics.matmul_quantized(values, scales, matrix.values, matrix.scales)

    def rms_norm(self, x: np.ndarray, scale: np.ndarray, eps: float) -> np.ndarray:
        return numerics.rms_norm(x, scale, eps)

    def add(self, x: np.ndarray, y: np.ndarray) -> None:
        x += y

    def conv_silu(self, x: np.ndarray, layer: DeltaLayer, taps: np.ndarray) -> np.ndarray:
        position, ring = layer.conv_length, layer.ring
        rows = []
        earlier = [
            ring[p % len(ring)] if p >= 0 else np.zeros_like(ring[0]) for p in range(position - 3, position)
        ]
        history = np.concatenate([np.stack(earlier), x[:, : ring.shape[1]]])
        for m in range(len(x)):
            rows.append(numerics.conv_silu(history[m : m + 4], taps))
        for m in range(max(0, len(x) - len(ring)), len(x)):
            ring[(position + m) % len(ring)] = history[m + 3]
        return np.stack(rows)

    def delta_inputs(self, mixed: np.ndarray, beta_a: np.ndarray, weights: DeltaWeights, layer: DeltaLayer):
        rows = len(mixed)
        heads, (value_heads, width, _) = layer.log_key.shape[1], layer.state.shape
        query, key = (
            numerics.l2_norm(
                mixed[:, n * heads * width : (n + 1) * heads * width].reshape(rows, heads, width)
            )
            for n in range(2)
        )
        query = query * numerics.F(1.0 / np.sqrt(np.float64(width)))
        beta, a = beta_a[:, :value_heads], beta_a[:, value_heads : 2 * value_heads]
        decay, beta = numerics.delta_gates(a, beta, weights.negative_a, weights.dt_bias)
        return query, key, decay, beta

    def delta_rows(
        self, inputs, mixed: np.ndarray, layer: DeltaLayer, commit: int, slots: np.ndarray | None = None
    ) -> np.ndarray:
        query, key, decay, beta = inputs
        heads, _, width = layer.state.shape
        shared = heads // key.shape[1]
        values = mixed[:, -heads * width :].reshape(len(mixed), heads, width)
        out = np.empty((len(mixed), heads, width), np.float32)
        for head in range(heads):
            state = layer.state[head]
            for m in range(len(mixed)):
                state, correction, out[m, head] = numerics.delta_step(
                    state,
                    decay[m, head],
                    beta[m, head],
                    query[m, head // shared],
                    key[m, head // shared],
                    values[m, head],
                )
                if slots is not None:
                    slots[m, head] = state
                if m < commit:
                    layer.state[head] = state
                else:
                    layer.log_decay[m - commit, head] = decay[m, head]
                    layer.log_key[m - commit, head // shared] = key[m, head // shared]
                    layer.log_correction[m - commit, head] = correction
        return out.reshape(len(mixed), heads * width)

    def delta_replay(self, layer: DeltaLayer) -> None:
        shared = layer.state.shape[0] // layer.log_key.shape[1]
        for head in range(layer.state.shape[0]):
            for r in range(layer.log_length):
                layer.state[head] = numerics.delta_replay(
                    layer.state[head],
                    layer.log_decay[r, head],
                    layer.log_key[r, head // shared],
                    layer.log_correction[r, head],
                )

    def gated_norm(self, x: np.ndarray, gate: np.ndarray, scale: np.ndarray, eps: float) -> np.ndarray:
        heads = x.reshape(len(x), -1, len(scale))
        return numerics.rms_norm(heads, scale, eps).reshape(x.shape) * numerics.silu(gate)

    def attention_inputs(self, qkv, weights, eps, tables, cache: KVCache, heads: int) -> np.ndarray:
        rows, (kv_heads, _, width) = len(qkv), cache.values.shape
        first_key, first_value = 2 * heads * width, (2 * heads + kv_heads) * width
        query = qkv[:, :first_key].reshape(rows, heads, 2, width)[:, :, 0]
        key = qkv[:, first_key:first_value].reshape(rows, kv_heads, width)
        value = qkv[:, first_value : first_value + kv_heads * width].reshape(rows, kv_heads, width)
        query, key = (
            numerics.rms_norm(query, weights.query_norm, eps),
            numerics.rms_norm(key, weights.key_norm, eps),
        )
        out = np.empty((rows, heads, width), np.float32)
        for m in range(rows):
            at = cache.length + m
            cos, sin = tables[0][at], tables[1][at]
            out[m] = numerics.rotate(query[m], cos, sin)
            cache.keys[:, at // KEY_BLOCK, :, at % KEY_BLOCK] = numerics.rotate(key[m], cos, sin)
            cache.values[:, at] = value[m]
        return out

    def attention(self, query: np.ndarray, qkv: np.ndarray, cache: KVCache, position: int) -> np.ndarray:
        rows, heads, width = query.shape
        shared = heads // len(cache.values)
        gate = qkv[:, : 2 * heads * width].reshape(rows, heads, 2, width)[:, :, 1]
        out = np.empty((rows, heads, width), np.float32)
        for m in range(rows):
            length = position + m + 1
            keys = cache.key_rows(length)
            for head in range(heads):
                kv_head = head // shared
                out[m, head] = numerics.attention_head(
                    query[m, head], keys[kv_head], cache.values[kv_head, :length]
                )
        return (out * numerics.sigmoid(gate)).reshape(rows, heads * width)

    def swiglu(self, gate_up: np.ndarray) -> np.ndarray:
        width = gate_up.shape[1] // 2
        return numerics.swiglu(gate_up[:, :width], gate_up[:, width:])

    def log_sum_exp(self, x: np.ndarray) -> np.float32:
        return numerics.log_sum_exp(x)

    def top_k(self, x: np.ndarray, count: int) -> np.ndarray:
        return numerics.top_k(x, count)

    def gumbel(self, seed: int, position: int, ids: np.ndarray) -> np.ndarray:
        return numerics.gumbel(seed, position, ids)
