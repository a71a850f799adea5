"""Gated attention on the CPU: head norms, rotary embedding, cache writes, softmax attention.

Keys are kept transposed in blocks of 32 positions, [Hkv, blocks, d, 32], so that a vector lane is a
position; values are [Hkv, positions, d].
"""

from __future__ import annotations

import numpy as np
from numba import prange

from kestrel_engine.cpu.functions import ZERO, exp, inverse_rms, sigmoid
from kestrel_engine.cpu.jit import address_of, call_range, kernel
from kestrel_engine.numerics import HEAD_SEGMENT, SEGMENT

KEY_BLOCK = 32
"""Positions in a block of the key cache."""


@kernel
def _norm_and_rotate(x, scale, eps, cos, sin, out):
    """RMSNorm over a head, then rotary embedding of its first 2*len(cos) entries."""
    inverse = inverse_rms(x, eps)
    half = len(cos)
    for i in range(len(x)):
        out[i] = (x[i] * inverse) * scale[i]
    for i in range(half):
        low, high = out[i], out[half + i]
        out[i] = low * cos[i] - high * sin[i]
        out[half + i] = high * cos[i] + low * sin[i]


@kernel(
    "void(float32[:,:], float32[::1], float32[::1], float32, float32[:,::1], float32[:,::1], intp,"
    " float32[:,:,::1], float32[:,:,:,::1], float32[:,:,::1])"
)
def attention_inputs(qkv, query_scale, key_scale, eps, cos, sin, position, query, keys, values):
    """Queries [M, Hq, d] ready for the scores; keys and values written to the cache at their positions.

    qkv [M, ≥ 2*Hq*d + 2*Hkv*d]: per head query then gate, then keys, then values.
    """
    rows, heads, width = query.shape
    kv_heads = values.shape[0]
    first_key = 2 * heads * width
    first_value = first_key + kv_heads * width
    key = np.empty(width, np.float32)
    for m in range(rows):
        at = position + m
        for head in range(heads):
            start = 2 * head * width
            _norm_and_rotate(
                qkv[m, start : start + width], query_scale, eps, cos[at], sin[at], query[m, head]
            )
        for head in range(kv_heads):
            start = first_key + head * width
            _norm_and_rotate(qkv[m, start : start + width], key_scale, eps, cos[at], sin[at], key)
            for i in range(width):
                keys[head, at // KEY_BLOCK, i, at % KEY_BLOCK] = key[i]
                values[head, at, i] = qkv[m, first_value + head * width + i]


@kernel
def _scores(query, keys, length, weights):
    """weights[p] = q.k_p / sqrt(d), in segments of 32 over d. Returns the largest."""
    width = len(query)
    scale = np.float32(1.0 / np.sqrt(np.float64(width)))
    total, partial = np.empty(KEY_BLOCK, np.float32), np.empty(KEY_BLOCK, np.float32)
    largest = np.float32(-np.inf)
    for block in range((length + KEY_BLOCK - 1) // KEY_BLOCK):
        for p in range(KEY_BLOCK):
            total[p] = ZERO
        for first in range(0, width, HEAD_SEGMENT):
            for p in range(KEY_BLOCK):
                partial[p] = ZERO
            for i in range(first, min(first + HEAD_SEGMENT, width)):
                for p in range(KEY_BLOCK):
                    partial[p] += keys[block, i, p] * query[i]
            for p in range(KEY_BLOCK):
                total[p] += partial[p]
        start = block * KEY_BLOCK
        for p in range(min(KEY_BLOCK, length - start)):
            score = total[p] * scale
            weights[start + p] = score
            largest = score if score > largest else largest
    return largest


@kernel
def _attend(query, keys, values, length, out):
    """numerics.attention_head for one query over positions 0..length-1."""
    width = len(query)
    weights = np.empty(length, np.float32)
    largest = _scores(query, keys, length, weights)
    for p in range(length):
        weights[p] = exp(weights[p] - largest)
    partial = np.empty(width, np.float32)
    for i in range(width):
        out[i] = ZERO
    denominator = ZERO
    for first in range(0, length, SEGMENT):
        for i in range(width):
            partial[i] = ZERO
        weight_sum = ZERO
        for p in range(first, min(first + SEGMENT, length)):
            weight = weights[p]
            weight_sum += weight
            for i in range(width):
                partial[i] += weight * values[p, i]
        denominator += weight_sum
        for i in range(width):
            out[i] += partial[i]
    for i in range(width):
        out[i] = out[i] / denominator


_ROWS = (
    "void(float32[:,:,::1], float32[:,:], float32[:,:,:,::1], float32[:,:,::1], intp, float32[:,:,::1], {})"
)


@kernel(_ROWS.format("intp, intp"))
def attention_items(query, qkv, keys, values, position, out, first, last):
    """Items first..last-1 of M*Hq (row-major): row m attends to positions 0..position+m of its head's keys.

    query, out [M, Hq, d]; out = attention * sigmoid(gate), the gate read from qkv.
    """
    _, heads, width = query.shape
    shared = heads // values.shape[0]
    for item in range(first, last):
        m, head = item // heads, item % heads
        row = out[m, head]
        _attend(query[m, head], keys[head // shared], values[head // shared], position + m + 1, row)
        gate = qkv[m, (2 * head + 1) * width : (2 * head + 2) * width]
        for i in range(width):
            row[i] = row[i] * sigmoid(gate[i])


ATTENTION_ITEMS = address_of(attention_items)


@kernel(_ROWS.format("intp, intp"), parallel=True)
def attention_parallel(query, qkv, keys, values, position, out, address, threads):
    """`attention_items`, given by its address, for every item, shared among `threads`."""
    items = query.shape[0] * query.shape[1]
    for part in prange(threads):
        first, last = items * part // threads, items * (part + 1) // threads
        call_range(address, (query, qkv, keys, values, position, out), first, last)
