"""The Gated DeltaNet layer between its products, one launch: convolution and inputs, the delta rule with its
replay log, the gated norm.

In a pass the state is read once and written once: the log of the last round is applied to it, then the rows
run on it in registers; what the committed rows made of it is written back, the rest only recorded. A block of
threads takes one head and 32 columns of its state, and convolves its queries and keys itself: that costs less
than a launch.
"""

from __future__ import annotations

import numpy as np
from numba import float32

from kestrel_cuda.arrival import arrive
from kestrel_cuda.cursor import COMMIT, LOG_LENGTH, POSITION
from kestrel_cuda.functions import ONE, ZERO, exp, sigmoid, silu, softplus
from kestrel_cuda.rows import store_block
from kestrel_cuda.target import cuda, device, kernel, mul, sqrt, warp_sum
from kestrel_engine.numerics import BLOCK, HEAD_SEGMENT

L2_EPS = np.float32(1e-6)
MOST_SEGMENTS = 8
"""Segments of 32 in a key head's width: it may be up to 256."""
MOST_KEY_WIDTH = MOST_SEGMENTS * HEAD_SEGMENT
COLUMNS = 32
"""Columns of the state in a block of threads, a lane each."""


@device
def _convolve(qkv, ring, taps, position, m, channel):
    """numerics.conv_silu for one channel of row m."""
    total = ZERO
    for tap in range(4):
        source = m - 3 + tap
        value = ZERO
        if source >= 0:
            value = qkv[source, channel]
        elif position + source >= 0:
            value = ring[(position + source) % ring.shape[0], channel]
        product = mul(value, taps[tap, channel])
        total = product if tap == 0 else total + product
    return silu(total)


@device
def _prepare(
    qkv, beta_a, ring, taps, gates, position, rows, key_heads, key_head, shape, query_scale, prepared
):
    """What the rows of this block's head and columns need, into shared memory `prepared`: normalised queries
    and keys [rows, threads] each, with zeros beyond their width, values [rows, 32], decays and betas [rows].
    A warp takes a part of a row. The raw rows go to the ring, each channel from one block alone.
    """
    negative_a, dt_bias = gates
    head, heads, key_width, width = shape
    threads, warp, lane = cuda.blockDim.x, cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
    column = cuda.blockIdx.y * COLUMNS + lane
    keeps = cuda.blockIdx.y == 0 and head % (heads // key_heads) == 0
    for unit in range(warp, 3 * rows + 1, threads // 32):
        kind, m = unit // rows, unit % rows
        slot = (position + m) % ring.shape[0]
        if kind < 2:
            first, at = (kind * key_heads + key_head) * key_width, unit * threads
            total = ZERO
            for i in range(lane, threads, 32):
                value = ZERO
                if i < key_width:
                    value = _convolve(qkv, ring, taps, position, m, first + i)
                    total = total + mul(value, value)
                    if keeps:
                        ring[slot, first + i] = qkv[m, first + i]
                prepared[at + i] = value
            inverse = ONE / sqrt(warp_sum(total) + L2_EPS)
            for i in range(lane, key_width, 32):
                value = mul(prepared[at + i], inverse)
                prepared[at + i] = mul(value, query_scale) if kind == 0 else value
        elif kind == 2:
            channel = 2 * key_heads * key_width + head * width + column
            if column < width:
                value = _convolve(qkv, ring, taps, position, m, channel)
                prepared[2 * rows * threads + m * COLUMNS + lane] = value
                ring[slot, channel] = qkv[m, channel]
        else:
            at = rows * (2 * threads + COLUMNS)
            for row in range(lane, rows, 32):
                a = beta_a[row, heads + head] + dt_bias[head]
                prepared[at + row] = exp(mul(negative_a[head], softplus(a)))
                prepared[at + rows + row] = sigmoid(beta_a[row, head])


@kernel
def delta_rows(
    state,
    qkv,
    beta_a,
    ring,
    taps,
    gates,
    log_decay,
    log_key,
    log_correction,
    cursor,
    offset,
    rows,
    query_scale,
    out,
    counters,
    scale,
    eps,
    operand,
):
    """A pass of M ≤ 12 rows, row m standing at cursor[POSITION] + offset + m, from the raw rows of the product
    to the operand of the next one: RMSNorm over each value head of the delta rule's output, times silu(gate).

    state [Hv, dk, dv], dv a multiple of 32; qkv [≥M, C + Hv*dv]: queries, keys, values, and gates; beta_a
    [≥M, 2Hv]: b then a; ring [16, C]; taps [4, C]; gates: negative_a and dt_bias [Hv]; out [≥M, Hv*dv] is
    scratch; counters [≥2Hv] int32. The first pass after a round (offset 0) applies cursor[LOG_LENGTH] records
    of the log; rows that are not committed are recorded in it, keys and decays only when no block reads the
    old ones any more. Launch: [(Hv, dv/32), 32 * dk/32] with 4 * M * (2 * threads + 34) bytes of shared memory.
    """
    head, heads = cuda.blockIdx.x, state.shape[0]
    thread = cuda.threadIdx.x
    threads, warp, lane = cuda.blockDim.x, thread // COLUMNS, thread % COLUMNS
    key_width, width = state.shape[1], state.shape[2]
    key_heads = log_key.shape[1]
    key_head = head // (heads // key_heads)
    column, first, warps = cuda.blockIdx.y * COLUMNS + lane, warp * HEAD_SEGMENT, threads // COLUMNS
    commit = min(cursor[COMMIT] - offset, rows)
    records = cursor[LOG_LENGTH] if offset == 0 else 0
    sums = cuda.shared.array((2, MOST_SEGMENTS, COLUMNS), float32)
    staged = cuda.shared.array((2, MOST_KEY_WIDTH), float32)
    prepared = cuda.shared.array(0, float32)
    entries = cuda.local.array(HEAD_SEGMENT, float32)
    for i in range(HEAD_SEGMENT):
        entries[i] = state[head, first + i, column] if first + i < key_width else ZERO
    shape = (head, heads, key_width, width)
    position = cursor[POSITION] + offset
    _prepare(
        qkv, beta_a, ring, taps, gates, position, rows, key_heads, key_head, shape, query_scale, prepared
    )

    for record in range(records):
        # Two buffers in turn: one barrier is enough.
        staged[record % 2, thread] = log_key[record, key_head, thread] if thread < key_width else ZERO
        cuda.syncthreads()
        gain = log_decay[record, head]
        correction = log_correction[record, head, column]
        for i in range(HEAD_SEGMENT):
            added = mul(staged[record % 2, first + i], correction)
            entries[i] = mul(entries[i], gain) + added
    cuda.syncthreads()

    for m in range(rows):
        query_at, key_at = m * threads + first, (rows + m) * threads + first
        at = rows * (2 * threads + COLUMNS) + m
        gain, strength = prepared[at], prepared[at + rows]
        value = prepared[2 * rows * threads + m * COLUMNS + lane]
        partial = ZERO
        for i in range(HEAD_SEGMENT):
            entries[i] = mul(entries[i], gain)
            partial = partial + mul(entries[i], prepared[key_at + i])
        sums[0, warp, lane] = partial
        cuda.syncthreads()
        seen = ZERO
        for segment in range(warps):
            seen = seen + sums[0, segment, lane]
        correction = mul(value - seen, strength)
        partial = ZERO
        for i in range(HEAD_SEGMENT):
            entries[i] = entries[i] + mul(prepared[key_at + i], correction)
            partial = partial + mul(entries[i], prepared[query_at + i])
        sums[1, warp, lane] = partial
        cuda.syncthreads()
        if warp == 0:
            total = ZERO
            for segment in range(warps):
                total = total + sums[1, segment, lane]
            out[m, head * width + column] = total
            if m >= commit:
                log_correction[m - commit, head, column] = correction
        if m == commit - 1:
            for i in range(HEAD_SEGMENT):
                if first + i < key_width:
                    state[head, first + i, column] = entries[i]

    if arrive(counters, head, 1, cuda.gridDim.y):
        _gated_norm(out, qkv, rows, head, heads, width, scale, eps, operand)
        at = rows * (2 * threads + COLUMNS)
        for m in range(thread, rows, threads):
            if m >= commit:
                log_decay[m - commit, head] = prepared[at + m]
    if arrive(counters, heads + key_head, 1, cuda.gridDim.y * (heads // key_heads)):
        for m in range(max(commit, 0), rows):
            if thread < key_width:
                log_key[m - commit, key_head, thread] = prepared[(rows + m) * threads + thread]


@device
def _gated_norm(x, qkv, rows, head, heads, width, scale, eps, operand):
    """RMSNorm of one head of rows x [≥M, Hv*dv] times silu(gate), a warp to a row; the gates are the last
    Hv*dv columns of qkv."""
    kinds, segments, values, scales, floats = operand
    warp, lane, warps = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32, cuda.blockDim.x // 32
    first, gates = head * width, qkv.shape[1] - heads * width
    for m in range(warp, rows, warps):
        total = ZERO
        for i in range(lane, width, 32):
            value = x[m, first + i]
            total = total + mul(value, value)
        inverse = ONE / sqrt(warp_sum(total) / np.float32(width) + eps)
        for i in range(lane, width, 32):
            at = first + i
            value = mul(mul(mul(x[m, at], inverse), scale[i]), silu(qkv[m, gates + at]))
            store_block(value, m, at // BLOCK, lane, kinds, segments, values, scales, floats)
