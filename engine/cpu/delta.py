"""The gated delta rule on the CPU: committed rows, speculative rows on a scratch state, and the replay log."""

from __future__ import annotations

import numpy as np

from kestrel_engine.cpu.functions import ONE, ZERO, exp, sigmoid, softplus, sum_of_squares
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
from kestrel_engine.numerics import HEAD_SEGMENT

L2_EPS = np.float32(1e-6)


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
def _decay_and_read(state, decay, key, seen, partial):
    """state *= decay; seen = state^T key, in segments of 32 over the key width."""
    for j in range(state.shape[1]):
        seen[j] = ZERO
    for first in range(0, state.shape[0], HEAD_SEGMENT):
        for j in range(state.shape[1]):
            partial[j] = ZERO
        for i in range(first, min(first + HEAD_SEGMENT, state.shape[0])):
            for j in range(state.shape[1]):
                state[i, j] = state[i, j] * decay
                partial[j] += state[i, j] * key[i]
        for j in range(state.shape[1]):
            seen[j] += partial[j]


@kernel
def _write_and_read(state, key, correction, query, output, partial):
    """state += key x correction; output = state^T query, in segments of 32 over the key width."""
    for j in range(state.shape[1]):
        output[j] = ZERO
    for first in range(0, state.shape[0], HEAD_SEGMENT):
        for j in range(state.shape[1]):
            partial[j] = ZERO
        for i in range(first, min(first + HEAD_SEGMENT, state.shape[0])):
            for j in range(state.shape[1]):
                state[i, j] = state[i, j] + key[i] * correction[j]
                partial[j] += state[i, j] * query[i]
        for j in range(state.shape[1]):
            output[j] += partial[j]


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
    seen, partial, correction = (
        np.empty(width, np.float32),
        np.empty(width, np.float32),
        np.empty(width, np.float32),
    )
    scratch = np.empty((depth, width), np.float32)
    for head in range(first, last):
        current, key_head = state[head], head // shared
        value, target = first_value + head * width, head * width
        for m in range(rows):
            if m == commit:
                for i in range(depth):
                    for j in range(width):
                        scratch[i, j] = current[i, j]
                current = scratch
            _decay_and_read(current, decay[m, head], key[m, key_head], seen, partial)
            for j in range(width):
                correction[j] = (mixed[m, value + j] - seen[j]) * beta[m, head]
            output = out[m, target : target + width]
            _write_and_read(current, key[m, key_head], correction, query[m, key_head], output, partial)
            if m >= commit:
                log_decay[m - commit, head] = decay[m, head]
                for i in range(depth):
                    log_key[m - commit, key_head, i] = key[m, key_head, i]
                for j in range(width):
                    log_correction[m - commit, head, j] = correction[j]
            if len(slots) > 0:
                for i in range(depth):
                    for j in range(width):
                        slots[m, head, i, j] = current[i, j]
