"""The Gated DeltaNet layer: convolution and inputs, the delta rule with its replay log, the gated norm.

In a pass the state is read once and written once: the log of the last round is applied to it, then the rows
run on it in registers; what the committed rows made of it is written back, the rest only recorded.
"""

from __future__ import annotations

import numpy as np
from numba import cuda, float32

from kestrel_cuda.cursor import COMMIT, LOG_LENGTH, POSITION
from kestrel_cuda.functions import ONE, ZERO, exp, sigmoid, silu, softplus
from kestrel_cuda.rows import store_block
from kestrel_cuda.target import device, kernel, mul, sqrt, warp_sum
from kestrel_engine.numerics import BLOCK, HEAD_SEGMENT

L2_EPS = np.float32(1e-6)
MOST_SEGMENTS = 8
"""Segments of 32 in a key head's width: it may be up to 256."""
MOST_KEY_WIDTH = MOST_SEGMENTS * HEAD_SEGMENT
COLUMNS = 32
"""Columns of the state in a block of threads, a lane each."""


@device
def _convolve(qkv, ring, taps, position, m, channel):
    """numerics.conv_silu for one channel of row m; puts the raw value into the ring."""
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
    ring[(position + m) % ring.shape[0], channel] = qkv[m, channel]
    return silu(total)


@kernel
def conv_inputs(
    qkv,
    beta_a,
    ring,
    taps,
    negative_a,
    dt_bias,
    cursor,
    rows,
    key_heads,
    key_width,
    query_scale,
    mixed,
    decay,
    beta,
):
    """Convolution, SiLU, normalised queries and keys, decays and betas.

    qkv [≥M, ≥C] raw rows; beta_a [≥M, 2Hv] holds b then a; ring [16, C] takes the raw rows; mixed [≥M, C]:
    queries, keys, values; decay, beta [≥M, Hv]. A warp takes a head. Launch: [(2Hk + Hv + 1) / warps, warps].
    """
    unit = cuda.blockIdx.x * (cuda.blockDim.x // 32) + cuda.threadIdx.x // 32
    lane = cuda.threadIdx.x % 32
    value_heads, channels, position = decay.shape[1], mixed.shape[1], cursor[POSITION]
    normed = 2 * key_heads
    if unit < normed:
        for m in range(rows):
            total = ZERO
            for i in range(lane, key_width, 32):
                value = _convolve(qkv, ring, taps, position, m, unit * key_width + i)
                mixed[m, unit * key_width + i] = value
                total = total + mul(value, value)
            inverse = ONE / sqrt(warp_sum(total) + L2_EPS)
            for i in range(lane, key_width, 32):
                value = mul(mixed[m, unit * key_width + i], inverse)
                mixed[m, unit * key_width + i] = mul(value, query_scale) if unit < key_heads else value
    elif unit < normed + value_heads:
        width = (channels - normed * key_width) // value_heads
        first = normed * key_width + (unit - normed) * width
        for m in range(rows):
            for i in range(lane, width, 32):
                mixed[m, first + i] = _convolve(qkv, ring, taps, position, m, first + i)
    elif unit == normed + value_heads:
        for place in range(lane, rows * value_heads, 32):
            m, head = place // value_heads, place % value_heads
            beta[m, head] = sigmoid(beta_a[m, head])
            a = beta_a[m, value_heads + head] + dt_bias[head]
            decay[m, head] = exp(mul(negative_a[head], softplus(a)))


@kernel
def delta_rows(state, mixed, decay, beta, log_decay, log_key, log_correction, cursor, rows, out):
    """The delta rule over M rows, for one head and 32 columns of its state, a lane each; a warp holds a
    segment of 32 of their entries in registers.

    state [Hv, dk, dv]; mixed [≥M, C]; decay, beta [≥M, Hv]; out [≥M, Hv*dv]. The first cursor[LOG_LENGTH]
    records of the log are applied first; log_correction takes the rows that are not committed (`gated_norm`
    writes the rest of their records: here another block may still read the old ones).
    Launch: [(Hv, dv/32), 32 * dk/32].
    """
    head, heads = cuda.blockIdx.x, state.shape[0]
    thread = cuda.threadIdx.x
    warp, lane = thread // COLUMNS, thread % COLUMNS
    key_width, width = state.shape[1], state.shape[2]
    key_heads = log_key.shape[1]
    key_head = head // (heads // key_heads)
    column, first, warps = cuda.blockIdx.y * COLUMNS + lane, warp * HEAD_SEGMENT, cuda.blockDim.x // COLUMNS
    inside = column < width
    commit = cursor[COMMIT]
    sums = cuda.shared.array((2, MOST_SEGMENTS, COLUMNS), float32)
    staged = cuda.shared.array((4, MOST_KEY_WIDTH), float32)
    entries = cuda.local.array(HEAD_SEGMENT, float32)
    for i in range(HEAD_SEGMENT):
        entries[i] = state[head, first + i, column] if inside and first + i < key_width else ZERO

    for record in range(cursor[LOG_LENGTH]):
        # Two buffers in turn: one barrier is enough.
        staged[record % 2, thread] = log_key[record, key_head, thread] if thread < key_width else ZERO
        cuda.syncthreads()
        gain = log_decay[record, head]
        correction = log_correction[record, head, column] if inside else ZERO
        for i in range(HEAD_SEGMENT):
            added = mul(staged[record % 2, first + i], correction)
            entries[i] = mul(entries[i], gain) + added

    for m in range(rows):
        gain, strength = decay[m, head], beta[m, head]
        at = key_head * key_width + thread
        staged[2, thread] = mixed[m, at] if thread < key_width else ZERO
        staged[3, thread] = mixed[m, key_heads * key_width + at] if thread < key_width else ZERO
        cuda.syncthreads()
        value_at = 2 * key_heads * key_width + head * width + column
        value = mixed[m, value_at] if inside else ZERO
        partial = ZERO
        for i in range(HEAD_SEGMENT):
            entries[i] = mul(entries[i], gain)
            partial = partial + mul(entries[i], staged[3, first + i])
        sums[0, warp, lane] = partial
        cuda.syncthreads()
        seen = ZERO
        for segment in range(warps):
            seen = seen + sums[0, segment, lane]
        correction = mul(value - seen, strength)
        partial = ZERO
        for i in range(HEAD_SEGMENT):
            entries[i] = entries[i] + mul(staged[3, first + i], correction)
            partial = partial + mul(entries[i], staged[2, first + i])
        sums[1, warp, lane] = partial
        cuda.syncthreads()
        if warp == 0 and inside:
            total = ZERO
            for segment in range(warps):
                total = total + sums[1, segment, lane]
            out[m, head * width + column] = total
            if m >= commit:
                log_correction[m - commit, head, column] = correction
        if m == commit - 1 and inside:
            for i in range(HEAD_SEGMENT):
                if first + i < key_width:
                    state[head, first + i, column] = entries[i]


@kernel
def gated_norm(
    x,
    qkv,
    scale,
    eps,
    kinds,
    segments,
    values,
    scales,
    floats,
    mixed,
    decay,
    cursor,
    log_decay,
    log_key,
):
    """RMSNorm over each value head times silu(gate), as an operand; and the keys and decays of the rows that
    are not committed into the log.

    x [≥M, Hv*dv]; the gates are the last Hv*dv columns of qkv. Launch: [M, warps] with 4*Hv*dv bytes of
    shared memory.
    """
    m, heads, width = cuda.blockIdx.x, decay.shape[1], scale.shape[0]
    warp, lane, warps = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32, cuda.blockDim.x // 32
    gates = qkv.shape[1] - heads * width
    normed = cuda.shared.array(0, float32)
    for head in range(warp, heads, warps):
        total = ZERO
        for i in range(lane, width, 32):
            value = x[m, head * width + i]
            total = total + mul(value, value)
        inverse = ONE / sqrt(warp_sum(total) / np.float32(width) + eps)
        for i in range(lane, width, 32):
            at = head * width + i
            normed[at] = mul(mul(mul(x[m, at], inverse), scale[i]), silu(qkv[m, gates + at]))
    cuda.syncthreads()
    for block in range(warp, heads * width // BLOCK, warps):
        value = normed[block * BLOCK + lane]
        store_block(value, m, block, lane, kinds, segments, values, scales, floats)
    record = m - cursor[COMMIT]
    if record >= 0:
        key_heads, key_width = log_key.shape[1], log_key.shape[2]
        for place in range(cuda.threadIdx.x, key_heads * key_width, cuda.blockDim.x):
            key = mixed[m, key_heads * key_width + place]
            log_key[record, place // key_width, place % key_width] = key
        for head in range(cuda.threadIdx.x, heads, cuda.blockDim.x):
            log_decay[record, head] = decay[m, head]
