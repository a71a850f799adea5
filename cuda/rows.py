"""Row kernels: embedding, norms, SwiGLU, and the operands of the matrix products that follow them.

An operand is what `linear.py` multiplies: int8 in blocks of 32 (for q8 and q4), or float32 (for bf16), in the
layout of layout.py. `kinds` says what to write: INT8 | FLOAT | PLAIN (rows as they are).
"""

from __future__ import annotations

import numpy as np
from numba import cuda, float32

from kestrel_cuda.functions import ONE, ZERO, rint, sigmoid
from kestrel_cuda.linear import low_bfloat16
from kestrel_cuda.target import device, kernel, mul, sqrt, warp_max, warp_sum
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


@kernel
def embed_rows(tokens, first, table, out):
    """out[m] = table[tokens[first + m]]. tokens int32; table [V, H] uint16 (bfloat16 bits); out [≥M, H].
    Launch: [M, any]."""
    m = cuda.blockIdx.x
    token = tokens[first + m]
    for k in range(cuda.threadIdx.x, table.shape[1], cuda.blockDim.x):
        out[m, k] = low_bfloat16(np.int32(table[token, k]))


@kernel
def take_row(source, cursor, place, out):
    """out[0] = source[cursor[place]], both [≥1, K] float32. Launch: [any, any]."""
    row = cursor[place]
    start = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    for k in range(start, out.shape[1], cuda.gridDim.x * cuda.blockDim.x):
        out[0, k] = source[row, k]


@kernel
def norm_rows(x, scale, eps, kinds, first_block, segments, values, scales, floats, plain):
    """RMSNorm of rows x [≥M, H] float32, H a multiple of 32, into an operand from `first_block` on.

    Launch: [M, warps] with 4 * (H + 1) bytes of shared memory.
    """
    m, width = cuda.blockIdx.x, x.shape[1]
    warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
    row = cuda.shared.array(0, float32)
    for k in range(cuda.threadIdx.x, width, cuda.blockDim.x):
        row[k] = x[m, k]
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
    m, lane = cuda.blockIdx.y, cuda.threadIdx.x % 32
    block = cuda.blockIdx.x * (cuda.blockDim.x // 32) + cuda.threadIdx.x // 32
    width = gate_up.shape[1] // 2
    if block < width // BLOCK:
        k = block * BLOCK + lane
        gate = gate_up[m, k]
        value = mul(mul(gate, sigmoid(gate)), gate_up[m, width + k])
        store_block(value, m, block, lane, kinds, segments, values, scales, floats)
