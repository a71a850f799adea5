"""Gated attention on the CPU: head norms, rotary embedding, cache writes, softmax attention.

Keys are kept transposed in blocks of 32 positions, [Hkv, blocks, d, 32], so that a vector lane is a
position; values are [Hkv, positions, d]. One read of a block of keys or of a segment of values serves all
queries of its head, those of all rows.
"""

from __future__ import annotations

import numpy as np

from kestrel_engine.cpu.functions import ONE, ZERO, exp, sigmoid
from kestrel_engine.cpu.jit import inlined, kernel, word
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
from kestrel_engine.cpu.vectors import LANES, exp16, load, prefetch, sigmoid16, splat, store
from kestrel_engine.cpu.weighted_sums import (
    KEY_SUMS,
    VALUE_COLUMNS,
    VALUE_SUMS,
    WHOLE_PACE,
    key_sums,
    value_sums,
)
from kestrel_engine.numerics import SEGMENT
from kestrel_engine.state import KEY_BLOCK

SHARES = 16
"""Items per kv head where the blocks or segments of all of them are shared out, in order: how many there are turns out
in the run."""


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


@inlined
def _units(first, last, items, units):
    """The first unit of items first..last-1, and the one behind them, where all `items` share so many out in order."""
    return first * units // items, last * units // items


@inlined
def _places(rows, heads, shared, apart):
    """Where the rows of `shared` heads begin in a flat array of rows and heads whose beginnings lie so far apart."""
    places = np.empty(rows * shared, np.int64)
    for n in range(len(places)):
        places[n] = (n // shared * heads + n % shared) * apart
    return places


@inlined
def _fetch(x, start, end):
    """Ask for all of it at once: nothing before it could."""
    for at in range(start, end, LANES):
        prefetch(x, at)


@operation
def attention_scores(op, run, first, last):
    """scores[m, h, p] = q.k_p / sqrt(d), in segments of 32 over d, for all p up to the row's own position.

    Arguments: query [M, Hq, d], keys, offset of row 0 from RUN_POSITION, scores [M, Hq, positions], whole
    blocks of positions. Items: SHARES for each kv head. What stands beyond a row's own position means nothing.
    """
    query, keys, offset, scores = f32_3d(op, 0), f32_4d(op, 1), integer(op, 2), f32_3d(op, 3)
    rows, heads, width = query.shape
    kv_heads, most_blocks = keys.shape[:2]
    shared, positions, size = heads // kv_heads, scores.shape[2], width * KEY_BLOCK
    blocks = (word(run, RUN_POSITION) + offset + rows - 1) // KEY_BLOCK + 1
    scale = np.float32(1.0 / np.sqrt(np.float64(width)))
    flat_query, flat_keys, flat_scores = query.reshape(-1), keys.reshape(-1), scores.reshape(-1)
    sums = rows * shared
    query_places, score_places = _places(rows, heads, shared, width), _places(rows, heads, shared, positions)
    pace = WHOLE_PACE // -(-sums // KEY_SUMS) + 1
    begin, end = _units(first, last, kv_heads * SHARES, kv_heads * blocks)
    for unit in range(begin, end):
        kv_head, block = divmod(unit, blocks)
        next_head, next_block = divmod(min(unit + 1, end - 1), blocks)
        start, at = block * KEY_BLOCK, (kv_head * most_blocks + block) * size
        ahead, here = (next_head * most_blocks + next_block) * size - at, flat_keys[at:]
        if unit == begin:
            _fetch(flat_keys, at, at + size)
        queries = flat_query[kv_head * shared * width :]
        found = flat_scores[kv_head * shared * positions + start :]
        keys_and_sums = here, KEY_BLOCK, queries, query_places, scale, found, score_places
        for n in range(0, sums, KEY_SUMS):
            key_sums(*keys_and_sums, n, min(KEY_SUMS, sums - n), width, ahead, n // KEY_SUMS * width, pace)


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
def _few_sums(weights, values, at, sums):
    """Columns from `at` on of the sum of values [n, d], weighted by `weights` [n]."""
    for i in range(at, len(sums)):
        sums[i] = ZERO
    for p in range(len(weights)):
        for i in range(at, len(sums)):
            sums[i] += weights[p] * values[p, i]


@kernel
def _sum_each(weights, sums):
    """sums [n] of weights [n, positions], four at a time: a sum waits for its own last addition."""
    count, head = len(sums), 0
    while head + 4 <= count:
        a, b, c, d = ZERO, ZERO, ZERO, ZERO
        for p in range(weights.shape[1]):
            a += weights[head, p]
            b += weights[head + 1, p]
            c += weights[head + 2, p]
            d += weights[head + 3, p]
        sums[head], sums[head + 1], sums[head + 2], sums[head + 3] = a, b, c, d
        head += 4
    while head < count:
        total = ZERO
        for p in range(weights.shape[1]):
            total += weights[head, p]
        sums[head] = total
        head += 1


@operation
def attention_values(op, run, first, last):
    """For every segment of 256 positions: the sum of the weights, and the sum of the weighted values.

    Arguments: scores (now weights) [M, Hq, positions], values [Hkv, positions, d], offset, sums
    [segments, M, Hq, d], weight sums [segments, M, Hq]. Items: as in `attention_scores`.
    """
    weights, values, offset = f32_3d(op, 0), f32_3d(op, 1), integer(op, 2)
    sums, weight_sums = f32_4d(op, 3), f32_3d(op, 4)
    rows, heads, positions = weights.shape
    kv_heads, most, width = values.shape
    shared, whole = heads // kv_heads, width // VALUE_COLUMNS * VALUE_COLUMNS
    position = word(run, RUN_POSITION) + offset
    segments = (position + rows - 1) // SEGMENT + 1
    flat_weights, flat_values, flat_sums = weights.reshape(-1), values.reshape(-1), sums.reshape(-1)
    weight_places, sum_places = _places(rows, heads, shared, positions), _places(rows, heads, shared, width)
    begin, end = _units(first, last, kv_heads * SHARES, kv_heads * segments)
    for unit in range(begin, end):
        kv_head, segment = divmod(unit, segments)
        next_head, next_segment = divmod(min(unit + 1, end - 1), segments)
        start, own_heads = segment * SEGMENT, slice(kv_head * shared, (kv_head + 1) * shared)
        at = (kv_head * most + start) * width
        ahead = (next_head * most + next_segment * SEGMENT) * width - at
        if unit == begin:
            _fetch(flat_values, at, at + min(SEGMENT, position + rows - start) * width)
        own = flat_weights[kv_head * shared * positions + start :]
        found = flat_sums[(segment * rows * heads + kv_head * shared) * width :]
        # Rows that see all of a segment are as one; the others see different numbers of positions.
        together = rows if start + SEGMENT <= position + 1 else 1
        readings = rows // together * -(-together * shared // VALUE_SUMS)
        pace, before = WHOLE_PACE // readings + 1, 0
        for m in range(0, rows, together):
            length = max(0, min(SEGMENT, position + m + 1 - start))
            for n in range(m * shared, (m + together) * shared, VALUE_SUMS):
                count = min(VALUE_SUMS, (m + together) * shared - n)
                for column in range(0, whole, VALUE_COLUMNS):
                    columns = (
                        flat_values[at + column :],
                        width,
                        own,
                        weight_places,
                        ONE,
                        found[column:],
                        sum_places,
                    )
                    value_sums(*columns, n, count, length, ahead - column, before, pace)
                    before += SEGMENT
        for m in range(rows):
            part = weights[m, own_heads, start : max(start, min(start + SEGMENT, position + m + 1))]
            _sum_each(part, weight_sums[segment, m, own_heads])
            if whole < width:
                for n in range(shared):
                    total = sums[segment, m, kv_head * shared + n]
                    _few_sums(part[n], values[kv_head, start:], whole, total)


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
