"""Row kernels: embedding, norms, SwiGLU, and the operands of the matrix products that follow them.

An operand is what `linear.py` multiplies: int8 in blocks of 32 (for q8 and q4), or float32 (for bf16), in the
layout of layout.py. `kinds` says what to write: INT8 | FLOAT | PLAIN (rows as they are).
"""

from __future__ import annotations

import numpy as np
from numba import float32

from kestrel_cuda.functions import ONE, ZERO, low_bfloat16, rint, sigmoid
from kestrel_cuda.target import (
    cuda,
    device,
    kernel,
    load_floats,
    mul,
    read_floats,
    sqrt,
    store_words,
    warp_max,
    warp_sum,
)
from kestrel_engine.numerics import BLOCK, SMALLEST_SCALE

INT8, FLOAT, PLAIN = 1, 2, 4
LEVELS = np.float32(127)


@device
def store_block(value, m, block, lane, kinds, segments, values, scales, floats):
    """A warp writes one block of 32 of row m's operand, a value per lane."""
    segment, part = block // 8, block % 8
    if kinds & INT8:
        largest = warp_max(abs(value))
        inverse = LEVELS / largest if largest > SMALLEST_SCALE else ZERO
        place = (((m * 8 + part) * 2 + lane // 16) * segments + segment) * 16 + lane % 16
        values[place] = np.int32(rint(mul(value, inverse)))
        if lane == 0:
            scales[(m * 8 + part) * segments + segment] = largest / LEVELS
    if kinds & FLOAT:
        floats[((m * 64 + part * 8 + lane // 4) * segments + segment) * 4 + lane % 4] = value


@device
def _word(a, b, c, d):
    """Four integers in -128..127 as the bytes of a word, the first lowest."""
    low = (np.int32(a) & np.int32(255)) | ((np.int32(b) & np.int32(255)) << np.int32(8))
    high = (np.int32(c) & np.int32(255)) | (np.int32(d) << np.int32(8))
    return np.int32(np.int32(low) | np.int32(np.int32(high) << np.int32(16)))


@device
def store_own_block(x, m, block, inverse, scale, kinds, segments, values, scales, floats, plain):
    """A thread writes one block of 32 of row m's operand: (x * inverse) * scale. x [≥M, H] float32 as other
    blocks of threads have left it."""
    normed = cuda.local.array(BLOCK, float32)
    largest = ZERO
    for part in range(0, BLOCK, 4):
        k = block * BLOCK + part
        four = read_floats(x, (m * x.shape[1] + k) * 4)
        by = load_floats(scale, k * 4)
        normed[part] = mul(mul(four[0], inverse), by[0])
        normed[part + 1] = mul(mul(four[1], inverse), by[1])
        normed[part + 2] = mul(mul(four[2], inverse), by[2])
        normed[part + 3] = mul(mul(four[3], inverse), by[3])
    segment, part = block // 8, block % 8
    if kinds & PLAIN:
        for k in range(BLOCK):
            plain[m, block * BLOCK + k] = normed[k]
    if kinds & FLOAT:
        for k in range(BLOCK):
            floats[((m * 64 + part * 8 + k // 4) * segments + segment) * 4 + k % 4] = normed[k]
    if kinds & INT8:
        for k in range(BLOCK):
            largest = max(largest, abs(normed[k]))
        levels = LEVELS / largest if largest > SMALLEST_SCALE else ZERO
        for k in range(BLOCK):
            normed[k] = rint(mul(normed[k], levels))
        for half in range(2):
            k = 16 * half
            store_words(
                values,
                (((m * 8 + part) * 2 + half) * segments + segment) * 16,
                _word(normed[k], normed[k + 1], normed[k + 2], normed[k + 3]),
                _word(normed[k + 4], normed[k + 5], normed[k + 6], normed[k + 7]),
                _word(normed[k + 8], normed[k + 9], normed[k + 10], normed[k + 11]),
                _word(normed[k + 12], normed[k + 13], normed[k + 14], normed[k + 15]),
            )
        scales[(m * 8 + part) * segments + segment] = largest / LEVELS


@device
def store_swiglu_block(gate_up, m, block, kinds, segments, values, scales, floats):
    """A warp writes one block of silu(gate) * up of row m; gate_up [≥M, 2I] float32."""
    lane, width = cuda.threadIdx.x % 32, gate_up.shape[1] // 2
    k = block * BLOCK + lane
    gate = gate_up[m, k]
    value = mul(mul(gate, sigmoid(gate)), gate_up[m, width + k])
    store_block(value, m, block, lane, kinds, segments, values, scales, floats)


@kernel
def take_row(source, cursor, place, out):
    """out[0] = source[cursor[place]], both [≥1, K] float32. Launch: [any, any]."""
    row = cursor[place]
    start = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    for k in range(start, out.shape[1], cuda.gridDim.x * cuda.blockDim.x):
        out[0, k] = source[row, k]


@device
def _store_norm(row, m, width, scale, eps, kinds, first_block, segments, values, scales, floats, plain):
    """RMSNorm of one row, in shared memory with room for one float more, into an operand."""
    warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
    cuda.syncthreads()
    if warp == 0:
        total = ZERO
        for k in range(lane, width, 32):
            total = total + mul(row[k], row[k])
        total = warp_sum(total)
        if lane == 0:
            row[width] = ONE / sqrt(total / np.float32(width) + eps)
    cuda.syncthreads()
    inverse = row[width]
    for block in range(warp, width // BLOCK, cuda.blockDim.x // 32):
        k = block * BLOCK + lane
        value = mul(mul(row[k], inverse), scale[k])
        if kinds & PLAIN:
            plain[m, k] = value
        store_block(value, m, first_block + block, lane, kinds, segments, values, scales, floats)


@kernel
def norm_rows(x, scale, eps, kinds, segments, values, scales, floats, plain):
    """RMSNorm of rows x [≥M, H] float32, H a multiple of 32, into an operand.

    Launch: [M, warps] with 4 * (H + 1) bytes of shared memory.
    """
    m, width = cuda.blockIdx.x, x.shape[1]
    row = cuda.shared.array(0, float32)
    for k in range(cuda.threadIdx.x, width, cuda.blockDim.x):
        row[k] = x[m, k]
    _store_norm(row, m, width, scale, eps, kinds, 0, segments, values, scales, floats, plain)


@kernel
def embed_rows(
    tokens,
    first,
    table,
    out,
    scale,
    hidden,
    hidden_scale,
    eps,
    kinds,
    segments,
    values,
    scales,
    floats,
):
    """out[m] = table[tokens[first + m]], and its RMSNorm into an operand; blocks with y = 1 put that of
    hidden[m] beside it.

    tokens int32; table [V, H] uint16 (bfloat16 bits); out, hidden [≥M, H] float32.
    Launch: [(M, 1 or 2), warps] with 4 * (H + 1) bytes of shared memory.
    """
    m, width = cuda.blockIdx.x, table.shape[1]
    row = cuda.shared.array(0, float32)
    if cuda.blockIdx.y == 0:
        token = tokens[first + m]
        for k in range(cuda.threadIdx.x, width, cuda.blockDim.x):
            row[k] = low_bfloat16(np.int32(table[token, k]))
            out[m, k] = row[k]
        _store_norm(row, m, width, scale, eps, kinds, 0, segments, values, scales, floats, out)
    else:
        for k in range(cuda.threadIdx.x, width, cuda.blockDim.x):
            row[k] = hidden[m, k]
        beside = width // BLOCK
        _store_norm(row, m, width, hidden_scale, eps, kinds, beside, segments, values, scales, floats, out)


@kernel
def operand_rows(x, kinds, segments, values, scales, floats):
    """Rows x [≥M, K] float32 as an operand. Launch: [(K/32 / warps, M), warps]."""
    m, lane = cuda.blockIdx.y, cuda.threadIdx.x % 32
    block = cuda.blockIdx.x * (cuda.blockDim.x // 32) + cuda.threadIdx.x // 32
    if block < x.shape[1] // BLOCK:
        value = x[m, block * BLOCK + lane]
        store_block(value, m, block, lane, kinds, segments, values, scales, floats)


@kernel
def swiglu_rows(gate_up, kinds, segments, values, scales, floats):
    """silu(gate) * up as an operand; gate_up [≥M, 2I] float32. Launch: [(I/32 / warps, M), warps]."""
    block = cuda.blockIdx.x * (cuda.blockDim.x // 32) + cuda.threadIdx.x // 32
    if block < gate_up.shape[1] // (2 * BLOCK):
        store_swiglu_block(gate_up, cuda.blockIdx.y, block, kinds, segments, values, scales, floats)
