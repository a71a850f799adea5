"""Gated attention: head norms, rotary embedding and cache writes; scores; weighted values; their sum.

Keys lie in blocks of 32 positions, [Hkv, blocks, d, 32]: a lane is a position. Positions are split by segments
of 256, whose sums are added in order, so the number of splits depends on the context's length alone. The
(row, head) pairs that share a key head are taken a few at a time (`pairs` of them in registers); groups of
pairs are the fastest dimension of the grid, so that all but the first find keys and values in the L2 cache.
"""

from __future__ import annotations

import functools

import numpy as np
from numba import float32, int64

from kestrel_cuda.arrival import arrive
from kestrel_cuda.functions import ONE, ZERO, exp, sigmoid
from kestrel_cuda.rows import store_block
from kestrel_cuda.target import cuda, device, kernel, load_floats, mul, sqrt, warp_max, warp_sum
from kestrel_engine.numerics import BLOCK, HEAD_SEGMENT, SEGMENT

KEY_BLOCK = 32
SUMS = 4
"""Pairs whose segments the last block adds at once."""
LOWEST = np.float32(-np.inf)


@device
def _normed(qkv, m, first, i, inverse, scale):
    return mul(mul(qkv[m, first + i], inverse), scale[i])


@device
def store_head_input(qkv, m, unit, lane, query_scale, key_scale, eps, cos, sin, at, query, keys, values):
    """A warp makes one head of row m, at position `at`, ready: a query, or (unit ≥ Hq) keys and values into the
    cache.

    qkv [≥M, 2*Hq*d + 2*Hkv*d]: per head query then gate, then keys, then values; query [≥M, Hq, d];
    keys [Hkv, blocks, d, 32]; values [Hkv, positions, d].
    """
    heads, width, kv_heads = query.shape[1], query.shape[2], values.shape[0]
    is_query = unit < heads
    first = 2 * unit * width if is_query else (heads + unit) * width
    scale = query_scale if is_query else key_scale
    total = ZERO
    for i in range(lane, width, 32):
        value = qkv[m, first + i]
        total = total + mul(value, value)
    inverse = ONE / sqrt(warp_sum(total) / np.float32(width) + eps)
    half = cos.shape[1]
    for i in range(lane, width, 32):
        value = _normed(qkv, m, first, i, inverse, scale)
        if i < half:
            high = _normed(qkv, m, first, half + i, inverse, scale)
            value = mul(value, cos[at, i]) - mul(high, sin[at, i])
        elif i < 2 * half:
            low = _normed(qkv, m, first, i - half, inverse, scale)
            value = mul(value, cos[at, i - half]) + mul(low, sin[at, i - half])
        if is_query:
            query[m, unit, i] = value
        else:
            head = unit - heads
            keys[head, at // KEY_BLOCK, i, at % KEY_BLOCK] = value
            values[head, at, i] = qkv[m, first + kv_heads * width + i]


@kernel
def attention_inputs(qkv, query_scale, key_scale, eps, cos, sin, cursor, place, offset, query, keys, values):
    """`store_head_input` of every head and row; row m stands at cursor[place] + offset + m.
    Launch: [((Hq + Hkv) / warps, M), warps]."""
    m, lane = cuda.blockIdx.y, cuda.threadIdx.x % 32
    unit = cuda.blockIdx.x * (cuda.blockDim.x // 32) + cuda.threadIdx.x // 32
    if unit < query.shape[1] + values.shape[0]:
        at = cursor[place] + offset + m
        store_head_input(qkv, m, unit, lane, query_scale, key_scale, eps, cos, sin, at, query, keys, values)


@functools.cache
def make_scores(pairs: int):
    """scores[m, head, p] = q.k_p * scale for p ≤ position of row m, and the largest each warp has seen.

    query [≥M, Hq, d] float32, d a multiple of 4; scores [≥M, Hq, positions]; maxima [≥M*Hq, warps in the
    grid's z]. Launch: [(groups of pairs, Hkv, any), warps].
    """

    @kernel
    def scores_rows(query, keys, scale, cursor, place, offset, rows, scores, maxima):
        lane, warps = cuda.threadIdx.x % 32, cuda.blockDim.x // 32
        unit, units = cuda.blockIdx.z * warps + cuda.threadIdx.x // 32, cuda.gridDim.z * warps
        heads, width, kv_head = query.shape[1], query.shape[2], cuda.blockIdx.y
        shared = heads // keys.shape[0]
        position = cursor[place] + offset
        query_at = cuda.local.array(pairs, int64)
        largest = cuda.local.array(pairs, float32)
        total, partial = cuda.local.array(pairs, float32), cuda.local.array(pairs, float32)
        for n in range(pairs):
            pair = min(cuda.blockIdx.x * pairs + n, rows * shared - 1)
            row = pair // shared * heads + kv_head * shared + pair % shared
            query_at[n] = row * width * 4
            largest[n] = LOWEST
        for block in range(unit, (position + rows + KEY_BLOCK - 1) // KEY_BLOCK, units):
            for n in range(pairs):
                total[n] = ZERO
            for first in range(0, width, HEAD_SEGMENT):
                for n in range(pairs):
                    partial[n] = ZERO
                for i in range(first, min(first + HEAD_SEGMENT, width), 4):
                    k0, k1 = keys[kv_head, block, i, lane], keys[kv_head, block, i + 1, lane]
                    k2, k3 = keys[kv_head, block, i + 2, lane], keys[kv_head, block, i + 3, lane]
                    for n in range(pairs):
                        q = load_floats(query, query_at[n] + 4 * i)
                        term = partial[n] + mul(k0, q[0])
                        term = term + mul(k1, q[1])
                        term = term + mul(k2, q[2])
                        partial[n] = term + mul(k3, q[3])
                for n in range(pairs):
                    total[n] = total[n] + partial[n]
            at = block * KEY_BLOCK + lane
            for n in range(pairs):
                pair = cuda.blockIdx.x * pairs + n
                if pair < rows * shared and at <= position + pair // shared:
                    score = mul(total[n], scale)
                    scores[pair // shared, kv_head * shared + pair % shared, at] = score
                    largest[n] = score if score > largest[n] else largest[n]
        for n in range(pairs):
            pair = cuda.blockIdx.x * pairs + n
            most = warp_max(largest[n])
            if lane == 0 and pair < rows * shared:
                maxima[pair // shared * heads + kv_head * shared + pair % shared, unit] = most

    return scores_rows


@functools.cache
def make_values(pairs: int):
    """Per segment of 256 positions: the sum of the weights e**(score - largest), and of the weighted values.

    values [Hkv, positions, d]; sums [segments, ≥M*Hq]; partials [segments, ≥M*Hq, d]; `units` columns of
    maxima count. A thread takes a column. The last block of a group adds the segments in order, divides, and
    multiplies with sigmoid(gate), the gates being in qkv: an operand of rows [≥M, Hq*d].
    Launch: [(groups of pairs, Hkv, any), d], d a multiple of 32.
    """

    weight_count = pairs * KEY_BLOCK

    @device
    def combine(position, rows, kv_head, heads, shared, sums, partials, qkv, operand):
        kinds, segments, values, scales, floats = operand
        thread, width = cuda.threadIdx.x, cuda.blockDim.x
        total, weight = cuda.local.array(SUMS, float32), cuda.local.array(SUMS, float32)
        first = cuda.blockIdx.x * pairs
        end = min(first + pairs, rows * shared)
        for base in range(first, end, SUMS):
            for n in range(SUMS):
                total[n], weight[n] = ZERO, ZERO
            for segment in range((position + rows - 1 + SEGMENT) // SEGMENT):
                for n in range(SUMS):
                    pair = min(base + n, end - 1)
                    row = pair // shared * heads + kv_head * shared + pair % shared
                    is_seen = segment * SEGMENT <= position + pair // shared
                    total[n] = total[n] + (partials[segment, row, thread] if is_seen else ZERO)
                    weight[n] = weight[n] + (sums[segment, row] if is_seen else ZERO)
            for n in range(SUMS):
                pair = base + n
                m, head = pair // shared, kv_head * shared + pair % shared
                if pair < end:
                    gate = qkv[m, (2 * head + 1) * width + thread]
                    value = mul(total[n] / weight[n], sigmoid(gate))
                    block = (head * width + thread) // BLOCK
                    store_block(value, m, block, thread % 32, kinds, segments, values, scales, floats)

    @kernel
    def values_rows(
        scores, maxima, values, cursor, place, offset, rows, units, sums, partials, qkv, counters, operand
    ):
        thread, threads, kv_head = cuda.threadIdx.x, cuda.blockDim.x, cuda.blockIdx.y
        heads = scores.shape[1]
        shared = heads // values.shape[0]
        position = cursor[place] + offset
        length = position + rows
        weights = cuda.shared.array(weight_count, float32)
        largest = cuda.shared.array(pairs, float32)
        for n in range(thread // 32, pairs, threads // 32):
            pair = min(cuda.blockIdx.x * pairs + n, rows * shared - 1)
            row = pair // shared * heads + kv_head * shared + pair % shared
            most = LOWEST
            for unit in range(thread % 32, units, 32):
                most = max(most, maxima[row, unit])
            most = warp_max(most)
            if thread % 32 == 0:
                largest[n] = most
        cuda.syncthreads()
        total = cuda.local.array(pairs, float32)
        for segment in range(cuda.blockIdx.z, (length + SEGMENT - 1) // SEGMENT, cuda.gridDim.z):
            weight_sum = ZERO
            for n in range(pairs):
                total[n] = ZERO
            for first in range(segment * SEGMENT, min((segment + 1) * SEGMENT, length), KEY_BLOCK):
                for item in range(thread, weight_count, threads):
                    n, at = item // KEY_BLOCK, first + item % KEY_BLOCK
                    pair = cuda.blockIdx.x * pairs + n
                    weight = ZERO  # adding nothing keeps a sum's bits: no sum is -0
                    if pair < rows * shared and at <= position + pair // shared:
                        m, head = pair // shared, kv_head * shared + pair % shared
                        weight = exp(scores[m, head, at] - largest[n])
                    weights[item] = weight
                cuda.syncthreads()
                count = min(KEY_BLOCK, length - first)
                for i in range(count):
                    value = values[kv_head, first + i, thread]
                    for n in range(pairs):
                        total[n] = total[n] + mul(weights[n * KEY_BLOCK + i], value)
                if thread < pairs:
                    for i in range(count):
                        weight_sum = weight_sum + weights[thread * KEY_BLOCK + i]
                cuda.syncthreads()
            for n in range(pairs):
                pair = cuda.blockIdx.x * pairs + n
                if pair < rows * shared:
                    row = pair // shared * heads + kv_head * shared + pair % shared
                    partials[segment, row, thread] = total[n]
                    if thread == n:
                        sums[segment, row] = weight_sum
        if arrive(counters, kv_head * cuda.gridDim.x + cuda.blockIdx.x, 1, cuda.gridDim.z):
            combine(position, rows, kv_head, heads, shared, sums, partials, qkv, operand)

    return values_rows
