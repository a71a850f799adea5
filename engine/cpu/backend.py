"""The CPU backend: numba kernels behind the operations that `model.py` asks for."""

from __future__ import annotations

import numba
import numpy as np

from kestrel_engine import numerics
from kestrel_engine.config import ModelConfig
from kestrel_engine.cpu import attention, delta, kernels
from kestrel_engine.cpu.linear import PackedMatrix, matmul, pack_matrix
from kestrel_engine.model import Model
from kestrel_engine.state import DeltaLayer, KVCache
from kestrel_engine.weights import DeltaWeights, Weights

PARALLEL_STATE = 1 << 18
"""Recurrent states with fewer entries, times rows, are not worth waking the threads."""
PARALLEL_KEYS = 1 << 20
"""Nor are attention reads of fewer key entries."""


class CpuBackend:
    """See `kestrel_engine.backend.Backend` for what each operation takes and returns."""

    name = "cpu"

    def __init__(self, threads: int):
        self.threads = threads

    def activate(self) -> None:
        """Give the calling thread its team size (numba keeps it per thread)."""
        numba.set_num_threads(min(self.threads, numba.config.NUMBA_NUM_THREADS))

    def pack(self, matrix: np.ndarray, format: str) -> PackedMatrix:
        return pack_matrix(matrix, format)

    def make_model(self, config: ModelConfig, weights: Weights, context: int) -> Model:
        return Model(config, weights, self, context)

    def embed(self, tokens: list[int], table: np.ndarray) -> np.ndarray:
        return numerics.from_bfloat16(table[tokens])

    def concatenate(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.concatenate([x, y], axis=1)

    def matmul(self, x: np.ndarray, matrix: PackedMatrix) -> np.ndarray:
        return matmul(x, matrix, self.threads)

    def rms_norm(self, x: np.ndarray, scale: np.ndarray, eps: float) -> np.ndarray:
        out = np.empty_like(x)
        kernels.rms_norm_rows(x, scale, eps, out)
        return out

    def add(self, x: np.ndarray, y: np.ndarray) -> None:
        kernels.add_rows(x, y)

    def conv_silu(self, x: np.ndarray, layer: DeltaLayer, taps: np.ndarray) -> np.ndarray:
        out = np.empty((len(x), taps.shape[1]), np.float32)
        kernels.conv_silu_rows(x, layer.ring, taps, layer.conv_length, out)
        return out

    def delta_inputs(self, mixed: np.ndarray, beta_a: np.ndarray, weights: DeltaWeights, layer: DeltaLayer):
        rows, heads, width = len(mixed), *layer.log_key.shape[1:]
        query, key = np.empty((2, rows, heads, width), np.float32)
        decay, beta = np.empty((2, rows, len(layer.state)), np.float32)
        delta.delta_inputs(mixed, beta_a, weights.negative_a, weights.dt_bias, query, key, decay, beta)
        return query, key, decay, beta

    def delta_rows(
        self, inputs, mixed: np.ndarray, layer: DeltaLayer, commit: int, slots: np.ndarray | None = None
    ) -> np.ndarray:
        if slots is None:
            return self._delta_rows(inputs, mixed, layer, commit)
        rows = []
        for m in range(len(mixed)):
            row = slice(m, m + 1)
            rows.append(self._delta_rows(tuple(a[row] for a in inputs), mixed[row], layer, 1))
            slots[m] = layer.state
        return np.concatenate(rows)

    def _delta_rows(self, inputs, mixed: np.ndarray, layer: DeltaLayer, commit: int) -> np.ndarray:
        query, key, decay, beta = inputs
        heads, _, width = layer.state.shape
        out = np.empty((len(mixed), heads, width), np.float32)
        log = (layer.log_decay, layer.log_key, layer.log_correction)
        arguments = (layer.state, query, key, mixed, decay, beta, commit, *log, out)
        if self.threads == 1 or layer.state.size * len(mixed) < PARALLEL_STATE:
            delta.delta_heads(*arguments, 0, heads)
        else:
            delta.delta_heads_parallel(*arguments, delta.DELTA_HEADS, self.threads)
        return out.reshape(len(mixed), heads * width)

    def delta_replay(self, layer: DeltaLayer) -> None:
        delta.delta_replay(
            layer.state, layer.log_decay, layer.log_key, layer.log_correction, layer.log_length
        )

    def gated_norm(self, x: np.ndarray, gate: np.ndarray, scale: np.ndarray, eps: float) -> np.ndarray:
        out = np.empty_like(x)
        kernels.gated_norm_rows(x, gate, scale, eps, out)
        return out

    def attention_inputs(self, qkv, weights, eps, tables, cache: KVCache, heads: int) -> np.ndarray:
        query = np.empty((len(qkv), heads, cache.values.shape[2]), np.float32)
        scales = (weights.query_norm, weights.key_norm)
        attention.attention_inputs(qkv, *scales, eps, *tables, cache.length, query, cache.keys, cache.values)
        return query

    def attention(self, query: np.ndarray, qkv: np.ndarray, cache: KVCache, position: int) -> np.ndarray:
        rows, heads, width = query.shape
        out = np.empty((rows, heads, width), np.float32)
        arguments = (query, qkv, cache.keys, cache.values, position, out)
        if self.threads == 1 or rows * heads * (position + rows) * width < PARALLEL_KEYS:
            attention.attention_items(*arguments, 0, rows * heads)
        else:
            attention.attention_parallel(*arguments, attention.ATTENTION_ITEMS, self.threads)
        return out.reshape(rows, heads * width)

    def swiglu(self, gate_up: np.ndarray) -> np.ndarray:
        out = np.empty((len(gate_up), gate_up.shape[1] // 2), np.float32)
        kernels.swiglu_rows(gate_up, out)
        return out

    def log_sum_exp(self, x: np.ndarray) -> np.float32:
        return np.float32(kernels.log_sum_exp(x))

    def top_k(self, x: np.ndarray, count: int) -> np.ndarray:
        out = np.empty(min(count, len(x)), np.int64)
        kernels.top_k_indices(x, out)
        return out

    def gumbel(self, seed: int, position: int, ids: np.ndarray) -> np.ndarray:
        out = np.empty(len(ids), np.float32)
        kernels.gumbel_noise(seed, position, ids, out)
        return out
