"""Digests of what the CPU kernels compute, for comparing code generated for different CPUs.

Run as a script it prints them as JSON, with "vnni" true where the dot products were AVX-512 VNNI's.
"""

from __future__ import annotations

import hashlib
import json
from types import SimpleNamespace

import numpy as np

from kestrel_engine import numerics
from kestrel_engine.cpu.backend import CpuBackend
from kestrel_engine.cpu.simd import has_vnni
from kestrel_engine.options import MAX_DRAFT
from kestrel_engine.state import KEY_BLOCK, RING_ROWS, DeltaLayer, KVCache

KEY_HEADS, VALUE_HEADS, DK, DV = 2, 4, 48, 80
HEADS, KV_HEADS, WIDTH, LENGTH = 4, 2, 48, 300


def draw(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def matrices(backend: CpuBackend) -> dict[str, list[np.ndarray]]:
    """Products of 1 to 9 rows, and one whose sums are as large as can be."""
    weights, ones = numerics.to_bfloat16(draw(0, 85, 544)), np.ones((9, 64), np.float32)
    return {
        format: [
            *(backend.matmul(draw(rows, rows, 544), backend.pack(weights, format)) for rows in range(1, 10)),
            backend.matmul(-ones, backend.pack(numerics.to_bfloat16(ones), format)),
        ]
        for format in ("bf16", "q8", "q4")
    }


def rows(backend: CpuBackend) -> list[np.ndarray]:
    x, gate, scale = draw(1, 3, 6 * 48) * 5, draw(2, 3, 6 * 48) * 20, draw(3, 48)
    return [
        backend.rms_norm(x, draw(4, 6 * 48), 1e-6),
        backend.gated_norm(x, gate, scale, 1e-6),
        backend.swiglu(gate),
        np.float32([backend.log_sum_exp(row) for row in gate]),
        backend.gumbel(5, 6, np.arange(1000)),
        backend.top_k(gate[0], 40),
    ]


def delta(backend: CpuBackend) -> list[np.ndarray]:
    channels = 2 * KEY_HEADS * DK + VALUE_HEADS * DV
    layer = DeltaLayer(
        state=draw(1, VALUE_HEADS, DK, DV),
        ring=np.zeros((RING_ROWS, channels), np.float32),
        log_decay=np.zeros((MAX_DRAFT, VALUE_HEADS), np.float32),
        log_key=np.zeros((MAX_DRAFT, KEY_HEADS, DK), np.float32),
        log_correction=np.zeros((MAX_DRAFT, VALUE_HEADS, DV), np.float32),
    )
    weights = SimpleNamespace(negative_a=-np.abs(draw(2, VALUE_HEADS)), dt_bias=draw(3, VALUE_HEADS))
    mixed = backend.conv_silu(draw(4, 7, channels), layer, draw(5, 4, channels))
    inputs = backend.delta_inputs(mixed, draw(6, 7, 2 * VALUE_HEADS), weights, layer)
    out = backend.delta_rows(inputs, mixed, layer, 2)
    layer.log_length = 4
    backend.delta_replay(layer)
    return [mixed, *inputs, out, layer.state, layer.ring, layer.log_decay, layer.log_correction]


def attention(backend: CpuBackend) -> list[np.ndarray]:
    blocks = -(-(LENGTH + 5) // KEY_BLOCK)
    cache = KVCache(
        draw(1, KV_HEADS, blocks, WIDTH, KEY_BLOCK), draw(2, KV_HEADS, blocks * KEY_BLOCK, WIDTH), LENGTH
    )
    weights = SimpleNamespace(query_norm=draw(3, WIDTH), key_norm=draw(4, WIDTH))
    tables = numerics.rope_tables(LENGTH + 5, 12, 1e4)
    qkv = draw(5, 5, 2 * (HEADS + KV_HEADS) * WIDTH)
    query = backend.attention_inputs(qkv, weights, 1e-6, tables, cache, HEADS)
    return [query, cache.keys, backend.attention(query, qkv, cache, LENGTH)]


def digests() -> dict[str, str]:
    backend = CpuBackend(1)
    groups = {
        **matrices(backend),
        "rows": rows(backend),
        "delta": delta(backend),
        "attention": attention(backend),
    }
    return {
        name: hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()
        for name, arrays in groups.items()
    }


if __name__ == "__main__":
    print(json.dumps({"vnni": has_vnni(), **digests()}))
