"""The gated delta rule on the CPU: committed rows, speculative rows on a scratch state, and the replay log."""

from __future__ import annotations

import numpy as np

from kestrel_engine.cpu.functions import ONE, ZERO, exp, sigmoid, softplus
from kestrel_engine.cpu.jit import kernel, word
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
from kestrel_engine.cpu.vectors import LANES, load, prefetch, splat, store
from kestrel_engine.numerics import HEAD_SEGMENT

L2_EPS = np.float32(1e-6)
COLUMNS = 2 * LANES
"""Columns of a head's state that are worked on together."""


@operation
def delta_inputs(op, run, first, last):
    """Normalised queries and keys, decays and betas from the convolved rows.

    Arguments: mixed [M, 2*Hk*dk + Hv*dv], beta_a [M, ≥2Hv] (b, then a), negative_a [Hv], dt_bias [Hv], query
    and key [M, Hk, dk], decay and beta [M, Hv]. Items: rows and key heads, then rows.
    """
    mixed, beta_a, negative_a, dt_bias = f32_2d(op, 0), f32_2d(op, 1), f32_1d(op, 2), f32_1d(op, 3)
    query, key, decay, beta = f32_3d(op, 4), f32_3d(op, 5), f32_2d(op, 6), f32_2d(op, 7)
    rows, heads, width = query.shape
    value_heads = len(negative_a)
    query_scale = np.float32(1.0 / np.sqrt(np.float64(width)))
    for item in range(first, last):
        if item < rows * heads:
            m, head = item // heads, item % heads
            q = mixed[m, head * width : (head + 1) * width]
            k = mixed[m, (heads + head) * width : (heads + head + 1) * width]
            q_inverse = ONE / np.sqrt(sum_of_squares(q) + L2_EPS)
            k_inverse = ONE / np.sqrt(sum_of_squares(k) + L2_EPS)
            for i in range(width):
                query[m, head, i] = (q[i] * q_inverse) * query_scale
                key[m, head, i] = k[i] * k_inverse
        else:
            m = item - rows * heads
            for head in range(value_heads):
                beta[m, head] = sigmoid(beta_a[m, head])
                decay[m, head] = exp(
                    negative_a[head] * softplus(beta_a[m, value_heads + head] + dt_bias[head])
                )


@kernel
def _two_vectors(
    source, source_at, packed, target, target_at, decay, beta, key, query, at, value, correction, output
):
    """One token for 32 columns of a head's state, those from `at` on.

    Reads them from source [dk, …] at `source_at`, leaves them in target [dk, …] at `target_at`, and goes through
    packed [dk, 32], which may be either: rows of a whole state fall on few places of the nearest cache. key,
    query [dk]; value, correction, output [dv]. Sums in segments of 32 over dk.
    """
    depth, faded = source.shape[0], splat(decay)
    seen0, seen1 = splat(ZERO), splat(ZERO)
    for first in range(0, depth, HEAD_SEGMENT):
        part0, part1 = splat(ZERO), splat(ZERO)
        for i in range(first, min(first + HEAD_SEGMENT, depth)):
            k = splat(key[i])
            s0, s1 = load(source[i], source_at) * faded, load(source[i], source_at + LANES) * faded
            store(packed[i], 0, s0)
            store(packed[i], LANES, s1)
            part0 = part0 + s0 * k
            part1 = part1 + s1 * k
        seen0 = seen0 + part0
        seen1 = seen1 + part1
    c0 = (load(value, at) - seen0) * splat(beta)
    c1 = (load(value, at + LANES) - seen1) * splat(beta)
    store(correction, at, c0)
    store(correction, at + LANES, c1)
    out0, out1 = splat(ZERO), splat(ZERO)
    for first in range(0, depth, HEAD_SEGMENT):
        part0, part1 = splat(ZERO), splat(ZERO)
        for i in range(first, min(first + HEAD_SEGMENT, depth)):
            k, q = splat(key[i]), splat(query[i])
            s0, s1 = load(packed[i], 0) + k * c0, load(packed[i], LANES) + k * c1
            store(target[i], target_at, s0)
            store(target[i], target_at + LANES, s1)
            part0 = part0 + s0 * q
            part1 = part1 + s1 * q
        out0 = out0 + part0
        out1 = out1 + part1
    store(output, at, out0)
    store(output, at + LANES, out1)


@kernel
def _one_column(source, source_at, target, target_at, decay, beta, key, query, j, value, correction, output):
    """`_two_vectors` for column j alone."""
    depth = source.shape[0]
    seen = ZERO
    for first in range(0, depth, HEAD_SEGMENT):
        part = ZERO
        for i in range(first, min(first + HEAD_SEGMENT, depth)):
            target[i, target_at] = source[i, source_at] * decay
            part += target[i, target_at] * key[i]
        seen += part
    correction[j] = (value[j] - seen) * beta
    out = ZERO
    for first in range(0, depth, HEAD_SEGMENT):
        part = ZERO
        for i in range(first, min(first + HEAD_SEGMENT, depth)):
            target[i, target_at] = target[i, target_at] + key[i] * correction[j]
            part += target[i, target_at] * query[i]
        out += part
    output[j] = out


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
    """Apply RUN_LOG records. Arguments: state [Hv, dk, dv] and the log, as in `delta_rows`. Items: value heads."""
    state, log_decay, log_key, log_correction = f32_3d(op, 0), f32_2d(op, 1), f32_3d(op, 2), f32_3d(op, 3)
    shared = state.shape[0] // log_key.shape[1]
    for head in range(first, last):
        _replay(state[head], log_decay, log_key, log_correction, head, head // shared, word(run, RUN_LOG))


@kernel
def _prefetch(state):
    for i in range(state.shape[0]):
        for j in range(0, state.shape[1], LANES):
            prefetch(state[i], j)


@operation
def delta_rows(op, run, first, last):
    """The delta rule over M rows; the first RUN_COMMIT change the state, later rows run on a copy.

    Arguments: state [Hv, dk, dv]; log_decay [L, Hv], log_key [L, Hk, dk], log_correction [L, Hv, dv], which
    take the rows from RUN_COMMIT on; query, key [M, Hk, dk]; decay, beta [M, Hv]; mixed [M, C], which ends in
    the values; C; out [M, Hv*dv]; slots [M, Hv, dk, dv], which take the state after each row unless empty.
    Items: value heads.
    """
    state, log_decay, log_key, log_correction = f32_3d(op, 0), f32_2d(op, 1), f32_3d(op, 2), f32_3d(op, 3)
    query, key, decay, beta = f32_3d(op, 4), f32_3d(op, 5), f32_2d(op, 6), f32_2d(op, 7)
    mixed, out, slots = f32_2d(op, 8), f32_2d(op, 10), f32_4d(op, 11)
    heads, depth, width = state.shape
    rows, commit, shared = out.shape[0], word(run, RUN_COMMIT), heads // key.shape[1]
    first_value = integer(op, 9) - heads * width
    packed, corrections = np.empty((depth, COLUMNS), np.float32), np.empty(width, np.float32)
    whole = width // COLUMNS * COLUMNS
    for head in range(first, last):
        key_head, at, target = head // shared, first_value + head * width, head * width
        if head == first:
            _prefetch(state[head])
        if head + 1 < last:
            _prefetch(state[head + 1])
        # The columns of a state do not know of each other: a few at a time stay in the nearest cache over
        # all rows.
        for start in range(0, width, COLUMNS):
            source, source_at = state[head], start
            for m in range(rows):
                target_state, target_at = (state[head], start) if m == commit - 1 else (packed, 0)
                correction = log_correction[m - commit, head] if m >= commit else corrections
                value, output = mixed[m, at : at + width], out[m, target : target + width]
                k, q, fade, b = key[m, key_head], query[m, key_head], decay[m, head], beta[m, head]
                if start < whole:
                    _two_vectors(
                        source,
                        source_at,
                        packed,
                        target_state,
                        target_at,
                        fade,
                        b,
                        k,
                        q,
                        start,
                        value,
                        correction,
                        output,
                    )
                else:
                    for n in range(width - start):
                        _one_column(
                            source,
                            source_at + n,
                            target_state,
                            target_at + n,
                            fade,
                            b,
                            k,
                            q,
                            start + n,
                            value,
                            correction,
                            output,
                        )
                source, source_at = target_state, target_at
                if len(slots) > 0:
                    for i in range(depth):
                        for n in range(min(COLUMNS, width - start)):
                            slots[m, head, i, start + n] = source[i, source_at + n]
        for m in range(commit, rows):
            log_decay[m - commit, head] = decay[m, head]
            for i in range(depth):
                log_key[m - commit, key_head, i] = key[m, key_head, i]
