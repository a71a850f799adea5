"""The gated delta rule on the CPU: committed rows, speculative rows on a scratch state, and the replay log."""

from __future__ import annotations

import numpy as np

from kestrel_engine.cpu.functions import ONE, ZERO, exp, sigmoid, softplus
from kestrel_engine.cpu.jit import inlined, kernel, word
from kestrel_engine.cpu.operation import (
    RUN_COMMIT,
    RUN_LOG,
    f32_1d,
    f32_2d,
    f32_3d,
    f32_4d,
    integer,
    operation,
)
from kestrel_engine.cpu.reductions import sum_of_squares
from kestrel_engine.cpu.vectors import LANES, broadcast, load, prefetch, splat, store
from kestrel_engine.numerics import HEAD_SEGMENT

L2_EPS = np.float32(1e-6)
COLUMNS = 2 * LANES
"""Columns of a head's state that are worked on together."""


@operation
def delta_inputs(op, run, first, last):
    """Normalised queries and keys, decays and betas from the convolved rows.

    Arguments: mixed [M, 2*Hk*dk + Hv*dv], beta_a [M, ≥2Hv] (b, then a), negative_a [Hv], dt_bias [Hv], query
    and key [M, Hk, dk], decay and beta [M, Hv]. Items: key heads.
    """
    mixed, beta_a, negative_a, dt_bias = f32_2d(op, 0), f32_2d(op, 1), f32_1d(op, 2), f32_1d(op, 3)
    query, key, decay, beta = f32_3d(op, 4), f32_3d(op, 5), f32_2d(op, 6), f32_2d(op, 7)
    rows, heads, width = query.shape
    value_heads = len(negative_a)
    shared = value_heads // heads
    query_scale = np.float32(1.0 / np.sqrt(np.float64(width)))
    for m in range(rows):
        for head in range(first, last):
            q = mixed[m, head * width : (head + 1) * width]
            k = mixed[m, (heads + head) * width : (heads + head + 1) * width]
            q_inverse = ONE / np.sqrt(sum_of_squares(q) + L2_EPS)
            k_inverse = ONE / np.sqrt(sum_of_squares(k) + L2_EPS)
            for i in range(width):
                query[m, head, i] = (q[i] * q_inverse) * query_scale
                key[m, head, i] = k[i] * k_inverse
        for head in range(first * shared, last * shared):
            beta[m, head] = sigmoid(beta_a[m, head])
            decay[m, head] = exp(negative_a[head] * softplus(beta_a[m, value_heads + head] + dt_bias[head]))


@inlined
def _segments(first, depth):
    """Two segments of rows that begin at `first`, or one: where the second begins (or `first`), and rows of each."""
    if first + 2 * HEAD_SEGMENT <= depth:
        return first + HEAD_SEGMENT, HEAD_SEGMENT
    return first, min(HEAD_SEGMENT, depth - first)


@inlined
def _prefetch_pair(x, at):
    prefetch(x, at)
    prefetch(x, at + LANES)


# A token fades a state and looks at it with its key, then changes it and looks at it with its query. The second
# half of a token and the first half of the next one go over the rows together. Both halves work on 32 columns and
# on two segments of rows at a time: a sum waits for its own last addition.


@kernel
def _first_token(state, at, step, packed, decay, key, ahead, ahead_at, pace):
    """The first half: packed [dk * 32] takes state[at + i * step …] faded; returns what it holds for key [dk].
    Prefetches rows as of state from ahead[ahead_at] on, `pace` / 256 for each two."""
    faded, depth, first = splat(decay), len(key), 0
    seen0, seen1 = splat(ZERO), splat(ZERO)
    while first < depth:
        second, rows = _segments(first, depth)
        part0, part1, part2, part3 = splat(ZERO), splat(ZERO), splat(ZERO), splat(ZERO)
        for n in range(rows):
            i, j = first + n, second + n
            _prefetch_pair(ahead, ahead_at + ((first // 2 + n) * pace >> 8) * step)
            here, there, key0, key1 = at + i * step, at + j * step, broadcast(key, i), broadcast(key, j)
            s0, s1 = load(state, here) * faded, load(state, here + LANES) * faded
            s2, s3 = load(state, there) * faded, load(state, there + LANES) * faded
            store(packed, i * COLUMNS, s0)
            store(packed, i * COLUMNS + LANES, s1)
            store(packed, j * COLUMNS, s2)
            store(packed, j * COLUMNS + LANES, s3)
            part0, part1 = part0 + s0 * key0, part1 + s1 * key0
            part2, part3 = part2 + s2 * key1, part3 + s3 * key1
        seen0, seen1 = seen0 + part0, seen1 + part1
        if second > first:
            seen0, seen1 = seen0 + part2, seen1 + part3
        first = second + rows
    return seen0, seen1


@kernel
def _next_token(
    packed, change0, change1, key, query, target, target_at, step, next_decay, next_key, ahead, ahead_at, pace
):
    """The second half of a token, and the first half of the next one unless next_key is empty.

    Adds key ⊗ change to the rows in packed and leaves them in target[target_at + i * step …] too, unless that is
    negative. Returns what they hold for query and, when faded, for next_key. Prefetches as `_first_token`.
    """
    faded, depth, first = splat(next_decay), len(key), 0
    out0, out1, seen0, seen1 = splat(ZERO), splat(ZERO), splat(ZERO), splat(ZERO)
    while first < depth:
        second, rows = _segments(first, depth)
        part0, part1, part2, part3 = splat(ZERO), splat(ZERO), splat(ZERO), splat(ZERO)
        next0, next1, next2, next3 = splat(ZERO), splat(ZERO), splat(ZERO), splat(ZERO)
        for n in range(rows):
            i, j = first + n, second + n
            _prefetch_pair(ahead, ahead_at + ((first // 2 + n) * pace >> 8) * step)
            key0, key1, query0, query1 = (
                broadcast(key, i),
                broadcast(key, j),
                broadcast(query, i),
                broadcast(query, j),
            )
            s0 = load(packed, i * COLUMNS) + key0 * change0
            s1 = load(packed, i * COLUMNS + LANES) + key0 * change1
            s2 = load(packed, j * COLUMNS) + key1 * change0
            s3 = load(packed, j * COLUMNS + LANES) + key1 * change1
            part0, part1 = part0 + s0 * query0, part1 + s1 * query0
            part2, part3 = part2 + s2 * query1, part3 + s3 * query1
            if target_at >= 0:
                here, there = target_at + i * step, target_at + j * step
                store(target, here, s0)
                store(target, here + LANES, s1)
                store(target, there, s2)
                store(target, there + LANES, s3)
            if len(next_key) > 0:
                key0, key1 = broadcast(next_key, i), broadcast(next_key, j)
                s0, s1, s2, s3 = s0 * faded, s1 * faded, s2 * faded, s3 * faded
                store(packed, i * COLUMNS, s0)
                store(packed, i * COLUMNS + LANES, s1)
                store(packed, j * COLUMNS, s2)
                store(packed, j * COLUMNS + LANES, s3)
                next0, next1 = next0 + s0 * key0, next1 + s1 * key0
                next2, next3 = next2 + s2 * key1, next3 + s3 * key1
        out0, out1, seen0, seen1 = out0 + part0, out1 + part1, seen0 + next0, seen1 + next1
        if second > first:
            out0, out1, seen0, seen1 = out0 + part2, out1 + part3, seen0 + next2, seen1 + next3
        first = second + rows
    return out0, out1, seen0, seen1


@kernel
def _one_column(column, decay, beta, key, query, value):
    """One token for a single column [dk] of a head's state. Returns the correction and the output."""
    depth, seen, out = len(key), ZERO, ZERO
    for first in range(0, depth, HEAD_SEGMENT):
        part = ZERO
        for i in range(first, min(first + HEAD_SEGMENT, depth)):
            column[i] *= decay
            part += column[i] * key[i]
        seen += part
    correction = (value - seen) * beta
    for first in range(0, depth, HEAD_SEGMENT):
        part = ZERO
        for i in range(first, min(first + HEAD_SEGMENT, depth)):
            column[i] += key[i] * correction
            part += column[i] * query[i]
        out += part
    return correction, out


@kernel
def _replay(state, log_decay, log_key, log_correction, head, key_head, count):
    """Apply the first `count` records to a head's state: element-wise, the same operations again."""
    for r in range(count):
        decay, correction = log_decay[r, head], log_correction[r, head]
        for i in range(state.shape[0]):
            k = log_key[r, key_head, i]
            for j in range(state.shape[1]):
                state[i, j] = state[i, j] * decay + k * correction[j]


@operation
def delta_replay(op, run, first, last):
    """Apply RUN_LOG records. Arguments: state [Hv, dk, dv] and the log, as in `delta_rows`. Items: key heads."""
    state, log_decay, log_key, log_correction = f32_3d(op, 0), f32_2d(op, 1), f32_3d(op, 2), f32_3d(op, 3)
    shared = state.shape[0] // log_key.shape[1]
    for head in range(first * shared, last * shared):
        _replay(state[head], log_decay, log_key, log_correction, head, head // shared, word(run, RUN_LOG))


@kernel
def _prefetch(state, step):
    """The first columns of a head's state."""
    for at in range(0, len(state), step):
        _prefetch_pair(state, at)


@operation
def delta_rows(op, run, first, last):
    """The delta rule over M rows; the first RUN_COMMIT change the state, later rows run on a copy.

    Arguments: state [Hv, dk, dv]; log_decay [L, Hv], log_key [L, Hk, dk], log_correction [L, Hv, dv], which
    take the rows from RUN_COMMIT on; query, key [M, Hk, dk]; decay, beta [M, Hv]; mixed [M, C], which ends in
    the values; C; out [M, Hv*dv]; slots [M, Hv, dk, dv], which take the state after each row unless empty.
    Items: key heads.
    """
    state, log_decay, log_key, log_correction = f32_3d(op, 0), f32_2d(op, 1), f32_3d(op, 2), f32_3d(op, 3)
    query, key, decay, beta = f32_3d(op, 4), f32_3d(op, 5), f32_2d(op, 6), f32_2d(op, 7)
    mixed, out, slots = f32_2d(op, 8), f32_2d(op, 10), f32_4d(op, 11)
    heads, depth, width = state.shape
    rows, commit, shared = out.shape[0], word(run, RUN_COMMIT), heads // key.shape[1]
    first_value = integer(op, 9) - heads * width
    packed, corrections = np.empty(depth * COLUMNS, np.float32), np.empty(width, np.float32)
    whole, nothing = width // COLUMNS * COLUMNS, np.empty(0, np.float32)
    # While some columns are worked on, the next ones are fetched from memory, evenly over all rows.
    pace = 512 // (rows + 1) + 1
    span = (depth // 2 * pace >> 8) * width
    first, last = first * shared, last * shared
    for head in range(first, last):
        key_head, at, place = head // shared, first_value + head * width, head * width
        own, following = state[head].reshape(-1), state[min(head + 1, last - 1)].reshape(-1)
        if head == first:
            _prefetch(own, width)
        # The columns of a state do not know of each other: a few at a time stay in the nearest cache over
        # all rows, beside each other: in the state their rows fall on few places of that cache.
        for start in range(0, whole, COLUMNS):
            ahead, ahead_at = own, start + COLUMNS
            if ahead_at == whole:
                ahead, ahead_at = following, 0
            seen0, seen1 = _first_token(
                own, start, width, packed, decay[0, head], key[0, key_head], ahead, ahead_at, pace
            )
            for m in range(rows):
                correction = log_correction[m - commit, head] if m >= commit else corrections
                strength, value = splat(beta[m, head]), mixed[m, at : at + width]
                change0 = (load(value, start) - seen0) * strength
                change1 = (load(value, start + LANES) - seen1) * strength
                store(correction, start, change0)
                store(correction, start + LANES, change1)
                target, target_at = own, start if m == commit - 1 else -1
                if len(slots) > 0 and m != commit - 1:
                    target, target_at = slots[m, head].reshape(-1), start
                following_key = key[m + 1, key_head] if m + 1 < rows else nothing
                out0, out1, seen0, seen1 = _next_token(
                    packed,
                    change0,
                    change1,
                    key[m, key_head],
                    query[m, key_head],
                    target,
                    target_at,
                    width,
                    decay[min(m + 1, rows - 1), head],
                    following_key,
                    ahead,
                    ahead_at + (m + 1) * span,
                    pace,
                )
                store(out[m, place : place + width], start, out0)
                store(out[m, place : place + width], start + LANES, out1)
        for j in range(whole, width):
            for i in range(depth):
                packed[i] = own[i * width + j]
            for m in range(rows):
                k, q, value = key[m, key_head], query[m, key_head], mixed[m, at + j]
                change, out[m, place + j] = _one_column(packed, decay[m, head], beta[m, head], k, q, value)
                if m >= commit:
                    log_correction[m - commit, head, j] = change
                if m == commit - 1 or len(slots) > 0:
                    target = own if m == commit - 1 else slots[m, head].reshape(-1)
                    for i in range(depth):
                        target[i * width + j] = packed[i]
        if 0 < commit <= len(slots):
            slots[commit - 1, head] = state[head]
        for m in range(commit, rows):
            log_decay[m - commit, head] = decay[m, head]
            for i in range(depth):
                log_key[m - commit, key_head, i] = key[m, key_head, i]
