"""Gated attention on the CPU: head norms, rotary embedding, cache writes, softmax attention.

Keys are kept transposed in blocks of 32 positions, [Hkv, blocks, d, 32], so that a vector lane is a
position; values are [Hkv, positions, d]. One read of a block of keys or of a segment of values serves all
queries of its head, those of all rows.
"""

from __future__ import annotations

import numpy as np

from kestrel_engine.cpu.functions import ZERO, exp, sigmoid
from kestrel_engine.cpu.jit import kernel, word
from kestrel_engine.cpu.operation import (
    RUN_POSITION,
    f32_1d,
    f32_2d,
    f32_3d,
    f32_4d,
    integer,
    number,
    operation,
)
from kestrel_engine.cpu.reductions import inverse_rms, largest
from kestrel_engine.cpu.vectors import LANES, exp16, load, sigmoid16, splat, store
from kestrel_engine.numerics import HEAD_SEGMENT, SEGMENT
from kestrel_engine.state import KEY_BLOCK

COLUMNS = 4 * LANES
SHARES = 16
"""Items per kv head where positions are shared out: item n takes the blocks or segments n, n + SHARES, …"""


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


@operation
def attention_inputs(op, run, first, last):
    """Queries ready for the scores; keys and values written to the cache at RUN_POSITION, ….

    Arguments: qkv [M, ≥2*Hq*d + 2*Hkv*d] (per head query then gate, then keys, then values), query scale [d],
    key scale [d], eps, cos and sin [positions, rotary/2], query [M, Hq, d], keys, values. Items: rows.
    """
    qkv, query_scale, key_scale, eps = f32_2d(op, 0), f32_1d(op, 1), f32_1d(op, 2), number(op, 3)
    cos, sin, query = f32_2d(op, 4), f32_2d(op, 5), f32_3d(op, 6)
    keys, values = f32_4d(op, 7), f32_3d(op, 8)
    _, heads, width = query.shape
    kv_heads = values.shape[0]
    first_key = 2 * heads * width
    first_value = first_key + kv_heads * width
    key = np.empty(width, np.float32)
    for m in range(first, last):
        at = word(run, RUN_POSITION) + m
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
def _scores_of_two(one, other, keys, scale, one_scores, other_scores):
    """Scores [32] of two queries [d] with a block of keys [d, 32], each in segments of 32 over d."""
    width, scales = len(one), splat(scale)
    a0, a1, b0, b1 = splat(ZERO), splat(ZERO), splat(ZERO), splat(ZERO)
    for first in range(0, width, HEAD_SEGMENT):
        c0, c1, d0, d1 = splat(ZERO), splat(ZERO), splat(ZERO), splat(ZERO)
        for i in range(first, min(first + HEAD_SEGMENT, width)):
            low, high = load(keys[i], 0), load(keys[i], LANES)
            a, b = splat(one[i]), splat(other[i])
            c0 = c0 + low * a
            c1 = c1 + high * a
            d0 = d0 + low * b
            d1 = d1 + high * b
        a0 = a0 + c0
        a1 = a1 + c1
        b0 = b0 + d0
        b1 = b1 + d1
    store(one_scores, 0, a0 * scales)
    store(one_scores, LANES, a1 * scales)
    store(other_scores, 0, b0 * scales)
    store(other_scores, LANES, b1 * scales)


@operation
def attention_scores(op, run, first, last):
    """scores[m, h, p] = q.k_p / sqrt(d), in segments of 32 over d, for all p up to the row's own position.

    Arguments: query [M, Hq, d], keys, offset of row 0 from RUN_POSITION, scores [M, Hq, positions], whole
    blocks of positions. Items: SHARES of each kv head. What stands beyond a row's own position means nothing.
    """
    query, keys, offset, scores = f32_3d(op, 0), f32_4d(op, 1), integer(op, 2), f32_3d(op, 3)
    rows, heads, width = query.shape
    kv_heads = len(keys)
    shared = heads // kv_heads
    length = word(run, RUN_POSITION) + offset + rows
    scale = np.float32(1.0 / np.sqrt(np.float64(width)))
    for item in range(first, last):
        kv_head = item // SHARES
        head = kv_head * shared
        for block in range(item % SHARES, (length + KEY_BLOCK - 1) // KEY_BLOCK, SHARES):
            start, end = block * KEY_BLOCK, (block + 1) * KEY_BLOCK
            for n in range(0, rows * shared, 2):
                # The last of an odd number is paired with itself.
                m, h = n // shared, head + n % shared
                other = min(n + 1, rows * shared - 1)
                m2, h2 = other // shared, head + other % shared
                _scores_of_two(
                    query[m, h],
                    query[m2, h2],
                    keys[kv_head, block],
                    scale,
                    scores[m, h, start:end],
                    scores[m2, h2, start:end],
                )


@operation
def attention_weights(op, run, first, last):
    """scores[m, h, p] becomes e**(score - largest of the row).

    Arguments: scores [M, Hq, positions], offset. Items: rows and heads.
    """
    scores, offset = f32_3d(op, 0), integer(op, 1)
    heads = scores.shape[1]
    for item in range(first, last):
        m, head = item // heads, item % heads
        row = scores[m, head, : word(run, RUN_POSITION) + offset + m + 1]
        top = largest(row)
        whole, shift = len(row) // LANES * LANES, splat(top)
        for p in range(0, whole, LANES):
            store(row, p, exp16(load(row, p) - shift))
        for p in range(whole, len(row)):
            row[p] = exp(row[p] - top)


@kernel
def _sums_of_two(one, other, values, at, one_sums, other_sums):
    """Columns at..at+63 of the sums of values [n, d], weighted by `one` and by `other` [n]."""
    a0, a1, a2, a3 = splat(ZERO), splat(ZERO), splat(ZERO), splat(ZERO)
    b0, b1, b2, b3 = splat(ZERO), splat(ZERO), splat(ZERO), splat(ZERO)
    for p in range(len(one)):
        a, b, row = splat(one[p]), splat(other[p]), values[p]
        v0, v1 = load(row, at), load(row, at + LANES)
        v2, v3 = load(row, at + 2 * LANES), load(row, at + 3 * LANES)
        a0 = a0 + a * v0
        a1 = a1 + a * v1
        a2 = a2 + a * v2
        a3 = a3 + a * v3
        b0 = b0 + b * v0
        b1 = b1 + b * v1
        b2 = b2 + b * v2
        b3 = b3 + b * v3
    store(one_sums, at, a0)
    store(one_sums, at + LANES, a1)
    store(one_sums, at + 2 * LANES, a2)
    store(one_sums, at + 3 * LANES, a3)
    store(other_sums, at, b0)
    store(other_sums, at + LANES, b1)
    store(other_sums, at + 2 * LANES, b2)
    store(other_sums, at + 3 * LANES, b3)


@kernel
def _few_sums(weights, values, at, sums):
    """Columns from `at` on of the sum of values [n, d], weighted by `weights` [n]."""
    for i in range(at, len(sums)):
        sums[i] = ZERO
    for p in range(len(weights)):
        for i in range(at, len(sums)):
            sums[i] += weights[p] * values[p, i]


@kernel
def _sum(weights):
    total = ZERO
    for p in range(len(weights)):
        total += weights[p]
    return total


@operation
def attention_values(op, run, first, last):
    """For every segment of 256 positions: the sum of the weights, and the sum of the weighted values.

    Arguments: scores (now weights) [M, Hq, positions], values [Hkv, positions, d], offset, sums
    [segments, M, Hq, d], weight sums [segments, M, Hq]. Items: as in `attention_scores`.
    """
    weights, values, offset = f32_3d(op, 0), f32_3d(op, 1), integer(op, 2)
    sums, weight_sums = f32_4d(op, 3), f32_3d(op, 4)
    rows, heads, _ = weights.shape
    kv_heads = len(values)
    shared = heads // kv_heads
    position, whole = word(run, RUN_POSITION) + offset, values.shape[2] // COLUMNS * COLUMNS
    for item in range(first, last):
        kv_head = item // SHARES
        for segment in range(item % SHARES, (position + rows - 1) // SEGMENT + 1, SHARES):
            start = segment * SEGMENT
            for m in range(rows):
                end = min(start + SEGMENT, position + m + 1)
                part = values[kv_head, start:end]
                for head in range(kv_head * shared, (kv_head + 1) * shared, 2):
                    pair = min(head + 1, (kv_head + 1) * shared - 1)
                    one, other = weights[m, head, start:end], weights[m, pair, start:end]
                    for at in range(0, whole, COLUMNS):
                        _sums_of_two(one, other, part, at, sums[segment, m, head], sums[segment, m, pair])
                    _few_sums(one, part, whole, sums[segment, m, head])
                    _few_sums(other, part, whole, sums[segment, m, pair])
                    weight_sums[segment, m, head], weight_sums[segment, m, pair] = _sum(one), _sum(other)


@operation
def attention_output(op, run, first, last):
    """The segments' sums added in order, divided by the sum of the weights, times sigmoid(gate).

    Arguments: sums [segments, M, Hq, d], weight sums [segments, M, Hq], offset, qkv [M, …] with the gates, out
    [M, Hq*d]. Items: heads.
    """
    sums, weight_sums, offset = f32_4d(op, 0), f32_3d(op, 1), integer(op, 2)
    qkv, out = f32_2d(op, 3), f32_2d(op, 4)
    width = sums.shape[3]
    rows = out.shape[0]
    for item in range(first * rows, last * rows):
        head, m = item // rows, item % rows
        segments = (word(run, RUN_POSITION) + offset + m) // SEGMENT + 1
        target = out[m, head * width : (head + 1) * width]
        gate = qkv[m, (2 * head + 1) * width : (2 * head + 2) * width]
        denominator = ZERO
        for i in range(width):
            target[i] = ZERO
        for segment in range(segments):
            denominator += weight_sums[segment, m, head]
            for i in range(width):
                target[i] += sums[segment, m, head, i]
        whole = width // LANES * LANES
        for i in range(0, whole, LANES):
            store(target, i, (load(target, i) / splat(denominator)) * sigmoid16(load(gate, i)))
        for i in range(whole, width):
            target[i] = (target[i] / denominator) * sigmoid(gate[i])
