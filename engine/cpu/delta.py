"""The gated delta rule on the CPU: committed rows, speculative rows on a scratch state, and the replay log."""

from __future__ import annotations

import numpy as np
from numba import prange

from kestrel_engine.cpu.functions import ONE, ZERO, exp, sigmoid, softplus, sum_of_squares
from kestrel_engine.cpu.jit import address_of, call_range, kernel
from kestrel_engine.numerics import HEAD_SEGMENT

L2_EPS = np.float32(1e-6)


@kernel(
    "void(float32[:,::1], float32[:,:], float32[::1], float32[::1],"
    " float32[:,:,::1], float32[:,:,::1], float32[:,::1], float32[:,::1])"
)
def delta_inputs(mixed, beta_a, negative_a, dt_bias, query, key, decay, beta):
    """Normalised queries and keys [M, Hk, dk], decays and betas [M, Hv] from the convolved rows.

    mixed [M, 2*Hk*dk + Hv*dv]; beta_a [M, ≥2Hv] holds b then a.
    """
    rows, heads, width = query.shape
    value_heads = decay.shape[1]
    query_scale = np.float32(1.0 / np.sqrt(np.float64(width)))
    for m in range(rows):
        for head in range(heads):
            q = mixed[m, head * width : (head + 1) * width]
            k = mixed[m, (heads + head) * width : (heads + head + 1) * width]
            q_inverse = ONE / np.sqrt(sum_of_squares(q) + L2_EPS)
            k_inverse = ONE / np.sqrt(sum_of_squares(k) + L2_EPS)
            for i in range(width):
                query[m, head, i] = (q[i] * q_inverse) * query_scale
                key[m, head, i] = k[i] * k_inverse
        for head in range(value_heads):
            beta[m, head] = sigmoid(beta_a[m, head])
            decay[m, head] = exp(negative_a[head] * softplus(beta_a[m, value_heads + head] + dt_bias[head]))


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
def _rows_of_head(state, query, key, value, decay, beta, commit, log_decay, log_key, log_correction, out):
    """All rows of one head. The first `commit` rows change `state`; later rows run on a copy and are logged."""
    width = state.shape[1]
    seen, partial, correction = (
        np.empty(width, np.float32),
        np.empty(width, np.float32),
        np.empty(width, np.float32),
    )
    scratch = np.empty(state.shape if commit < len(decay) else (0, 0), np.float32)
    for m in range(len(decay)):
        if m == commit:
            for i in range(state.shape[0]):
                for j in range(width):
                    scratch[i, j] = state[i, j]
            state = scratch
        _decay_and_read(state, decay[m], key[m], seen, partial)
        for j in range(width):
            correction[j] = (value[m, j] - seen[j]) * beta[m]
        _write_and_read(state, key[m], correction, query[m], out[m], partial)
        if m >= commit:
            log_decay[m - commit] = decay[m]
            for i in range(state.shape[0]):
                log_key[m - commit, i] = key[m, i]
            for j in range(width):
                log_correction[m - commit, j] = correction[j]


_ROWS = (
    "void(float32[:,:,::1], float32[:,:,::1], float32[:,:,::1], float32[:,::1], float32[:,::1], float32[:,::1],"
    " intp, float32[:,::1], float32[:,:,::1], float32[:,:,::1], float32[:,:,::1], {})"
)


@kernel(_ROWS.format("intp, intp"))
def delta_heads(
    state, query, key, mixed, decay, beta, commit, log_decay, log_key, log_correction, out, first, last
):
    """The delta rule over M rows, for value heads first..last-1.

    state [Hv, dk, dv]; query, key [M, Hk, dk]; mixed [M, C] ends in the values; decay, beta [M, Hv];
    log_decay [L, Hv], log_key [L, Hk, dk], log_correction [L, Hv, dv] take rows commit…; out [M, Hv, dv].
    """
    heads, _, width = state.shape
    shared = heads // key.shape[1]
    values = mixed.shape[1] - heads * width
    for head in range(first, last):
        start = values + head * width
        _rows_of_head(
            state[head],
            query[:, head // shared],
            key[:, head // shared],
            mixed[:, start : start + width],
            decay[:, head],
            beta[:, head],
            commit,
            log_decay[:, head],
            log_key[:, head // shared],
            log_correction[:, head],
            out[:, head],
        )


DELTA_HEADS = address_of(delta_heads)


@kernel(_ROWS.format("intp, intp"), parallel=True)
def delta_heads_parallel(
    state, query, key, mixed, decay, beta, commit, log_decay, log_key, log_correction, out, address, threads
):
    """`delta_heads`, given by its address, for every head, shared among `threads`."""
    heads = state.shape[0]
    for part in prange(threads):
        first, last = heads * part // threads, heads * (part + 1) // threads
        log = (log_decay, log_key, log_correction)
        call_range(address, (state, query, key, mixed, decay, beta, commit, *log, out), first, last)


@kernel("void(float32[:,:,::1], float32[:,::1], float32[:,:,::1], float32[:,:,::1], intp)")
def delta_replay(state, log_decay, log_key, log_correction, count):
    """Apply the first `count` records to state [Hv, dk, dv]: element-wise, the same operations again."""
    shared = state.shape[0] // log_key.shape[1]
    for head in range(state.shape[0]):
        for r in range(count):
            decay, correction = log_decay[r, head], log_correction[r, head]
            for i in range(state.shape[1]):
                key = log_key[r, head // shared, i]
                for j in range(state.shape[2]):
                    state[head, i, j] = state[head, i, j] * decay + key * correction[j]
