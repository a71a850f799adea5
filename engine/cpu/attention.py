"""Gated attention on the CPU: head norms, rotary embedding, cache writes, softmax attention.

Keys are kept transposed in blocks of 32 positions, [Hkv, blocks, d, 32], so that a vector lane is a
position; values are [Hkv, positions, d]. One read of a block of keys or of a segment of values serves all
queries of its head, those of all rows.
"""

from __future__ import annotations

import numpy as np

from kestrel_engine.cpu.functions import ZERO, exp, inverse_rms, sigmoid
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
from kestrel_engine.numerics import HEAD_SEGMENT, SEGMENT
from kestrel_engine.state import KEY_BLOCK

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
def _block_scores(query, keys, total, partial):
    width = len(query)
    for p in range(KEY_BLOCK):
        total[p] = ZERO
    for first in range(0, width, HEAD_SEGMENT):
        for p in range(KEY_BLOCK):
            partial[p] = ZERO
        for i in range(first, min(first + HEAD_SEGMENT, width)):
            for p in range(KEY_BLOCK):
                partial[p] += keys[i, p] * query[i]
        for p in range(KEY_BLOCK):
            total[p] += partial[p]


@operation
def attention_scores(op, run, first, last):
    """scores[m, h, p] = q.k_p / sqrt(d), in segments of 32 over d, for all p up to the row's own position.

    Arguments: query [M, Hq, d], keys, offset of row 0 from RUN_POSITION, scores [M, Hq, positions]. Items: SHARES
    of each kv head.
    """
    query, keys, offset, scores = f32_3d(op, 0), f32_4d(op, 1), integer(op, 2), f32_3d(op, 3)
    rows, heads, width = query.shape
    kv_heads = len(keys)
    shared = heads // kv_heads
    length = word(run, RUN_POSITION) + offset + rows
    scale = np.float32(1.0 / np.sqrt(np.float64(width)))
    total, partial = np.empty(KEY_BLOCK, np.float32), np.empty(KEY_BLOCK, np.float32)
    for item in range(first, last):
        kv_head = item // SHARES
        for block in range(item % SHARES, (length + KEY_BLOCK - 1) // KEY_BLOCK, SHARES):
            for m in range(rows):
                for head in range(kv_head * shared, (kv_head + 1) * shared):
                    _block_scores(query[m, head], keys[kv_head, block], total, partial)
                    start = block * KEY_BLOCK
                    for p in range(min(KEY_BLOCK, length - start)):
                        scores[m, head, start + p] = total[p] * scale


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
        largest = row[0]
        for p in range(len(row)):
            largest = row[p] if row[p] > largest else largest
        for p in range(len(row)):
            row[p] = exp(row[p] - largest)


@kernel
def _segment_sums(weights, values, sums):
    """sums = weighted sum of values; returns the sum of the weights."""
    weight_sum = ZERO
    for i in range(len(sums)):
        sums[i] = ZERO
    for p in range(len(weights)):
        weight_sum += weights[p]
        for i in range(len(sums)):
            sums[i] += weights[p] * values[p, i]
    return weight_sum


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
    position = word(run, RUN_POSITION) + offset
    for item in range(first, last):
        kv_head = item // SHARES
        for segment in range(item % SHARES, (position + rows - 1) // SEGMENT + 1, SHARES):
            start = segment * SEGMENT
            for m in range(rows):
                end = min(start + SEGMENT, position + m + 1)
                for head in range(kv_head * shared, (kv_head + 1) * shared):
                    weight_sums[segment, m, head] = _segment_sums(
                        weights[m, head, start:end], values[kv_head, start:end], sums[segment, m, head]
                    )


@operation
def attention_output(op, run, first, last):
    """The segments' sums added in order, divided by the sum of the weights, times sigmoid(gate).

    Arguments: sums [segments, M, Hq, d], weight sums [segments, M, Hq], offset, qkv [M, …] with the gates, out
    [M, Hq*d]. Items: rows and heads.
    """
    sums, weight_sums, offset = f32_4d(op, 0), f32_3d(op, 1), integer(op, 2)
    qkv, out = f32_2d(op, 3), f32_2d(op, 4)
    _, _, heads, width = sums.shape
    for item in range(first, last):
        m, head = item // heads, item % heads
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
        for i in range(width):
            target[i] = (target[i] / denominator) * sigmoid(gate[i])
