"""Rows times a matrix, q4, q8 and bf16, and the packing of matrices on the device (layouts: layout.py)."""

from __future__ import annotations

import functools

import numpy as np
from numba import cuda, float32

from kestrel_cuda.functions import ONE, ZERO, rint
from kestrel_cuda.target import (
    bits_from_float,
    device,
    dot4,
    float_from_bits,
    kernel,
    load_floats,
    load_words,
    mul,
    stream_words,
)
from kestrel_engine.numerics import BLOCK, SEGMENT

LOW_BITS, HIGH_BITS = np.int32(0x0000FFFF), np.int32(-65536)
NIBBLES = np.int32(-252645136)
"""0xF0F0F0F0: a nibble in the high half of a byte is its value times 16."""


@device
def low_bfloat16(word):
    return float_from_bits(np.int32(word << np.int32(16)))


@device
def high_bfloat16(word):
    return float_from_bits(np.int32(word & HIGH_BITS))


# --- packing ----------------------------------------------------------------------------------------------


@device
def _block_scale(matrix, row, first, limit):
    """Bfloat16 bits of a weight block's scale: numerics.quantize_weights."""
    largest = ZERO
    for k in range(BLOCK):
        largest = max(largest, abs(low_bfloat16(np.int32(matrix[row, first + k]))))
    bits = bits_from_float(largest / limit)
    return (bits + np.int32(0x7FFF) + ((bits >> np.int32(16)) & np.int32(1))) >> np.int32(16)


@device
def _quantized(matrix, row, k, divisor, limit):
    value = rint(low_bfloat16(np.int32(matrix[row, k])) / divisor)
    value = value if value > -limit else -limit
    return np.int32(value if value < limit else limit)


@kernel
def pack_q8(matrix, weights, scales, first_row, segments):
    """Rows first_row… of a matrix. matrix [n, K] uint16 (bfloat16 bits); weights [bytes] uint8, scales
    [items*8] uint16, both zero before. A thread packs one block."""
    blocks = matrix.shape[1] // BLOCK
    block = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    row = block // blocks
    if row >= matrix.shape[0]:
        return
    block = block % blocks
    limit = np.float32(127)
    scale = _block_scale(matrix, row, block * BLOCK, limit)
    divisor = float_from_bits(np.int32(scale << np.int32(16)))
    divisor = divisor if divisor > ZERO else ONE
    item = (first_row + row) * segments + block // 8
    scales[item * 8 + block % 8] = scale
    for k in range(BLOCK):
        load = (item // 32 * 16 + block % 8 * 2 + k // 16) * 32 + item % 32
        value = _quantized(matrix, row, block * BLOCK + k, divisor, limit)
        weights[load * 16 + k % 16] = value & np.int32(255)


@kernel
def pack_q4(matrix, weights, scales, first_row, segments):
    """As `pack_q8`; a byte holds weights k (low nibble) and k + 16 (high nibble) of a block."""
    blocks = matrix.shape[1] // BLOCK
    block = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    row = block // blocks
    if row >= matrix.shape[0]:
        return
    block = block % blocks
    limit = np.float32(7)
    scale = _block_scale(matrix, row, block * BLOCK, limit)
    divisor = float_from_bits(np.int32(scale << np.int32(16)))
    divisor = divisor if divisor > ZERO else ONE
    item = (first_row + row) * segments + block // 8
    scales[item * 8 + block % 8] = scale
    load = (item // 32 * 8 + block % 8) * 32 + item % 32
    for k in range(BLOCK // 2):
        low = _quantized(matrix, row, block * BLOCK + k, divisor, limit)
        high = _quantized(matrix, row, block * BLOCK + k + 16, divisor, limit)
        weights[load * 16 + k] = (low & np.int32(15)) | ((high & np.int32(15)) << np.int32(4))


@kernel
def pack_bfloat16(matrix, weights, scales, first_row, segments):
    """As `pack_q8`, weights as stored. A thread packs 32; `scales` is not used."""
    blocks = matrix.shape[1] // BLOCK
    block = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    row = block // blocks
    if row >= matrix.shape[0]:
        return
    block = block % blocks
    item = (first_row + row) * segments + block // 8
    for k in range(BLOCK):
        load = (item // 32 * 32 + block % 8 * 4 + k // 8) * 32 + item % 32
        bits = np.int32(matrix[row, block * BLOCK + k])
        weights[load * 16 + k % 8 * 2] = bits & np.int32(255)
        weights[load * 16 + k % 8 * 2 + 1] = bits >> np.int32(8)


PACK_KERNELS = {"q8": pack_q8, "q4": pack_q4, "bf16": pack_bfloat16}


# --- multiplying ------------------------------------------------------------------------------------------


@device
def _dot_low(words, x, accumulator):
    """Low nibbles of four words times 16 activations, times 16."""
    accumulator = dot4(np.int32((words[0] << np.int32(4)) & NIBBLES), x[0], accumulator)
    accumulator = dot4(np.int32((words[1] << np.int32(4)) & NIBBLES), x[1], accumulator)
    accumulator = dot4(np.int32((words[2] << np.int32(4)) & NIBBLES), x[2], accumulator)
    return dot4(np.int32((words[3] << np.int32(4)) & NIBBLES), x[3], accumulator)


@device
def _dot_high(words, x, accumulator):
    accumulator = dot4(np.int32(words[0] & NIBBLES), x[0], accumulator)
    accumulator = dot4(np.int32(words[1] & NIBBLES), x[1], accumulator)
    accumulator = dot4(np.int32(words[2] & NIBBLES), x[2], accumulator)
    return dot4(np.int32(words[3] & NIBBLES), x[3], accumulator)


@device
def _dot16(words, x, accumulator):
    accumulator = dot4(words[0], x[0], accumulator)
    accumulator = dot4(words[1], x[1], accumulator)
    accumulator = dot4(words[2], x[2], accumulator)
    return dot4(words[3], x[3], accumulator)


@device
def _sum_segments(partial, out, residual, rows, segments, tile_rows):
    """Each row's partial sums, one a thread, added in order; onto `out` when it is the residual stream.

    partial: this thread's, [rows]; shared memory takes [rows, tile_rows, segments].
    """
    partials = cuda.shared.array(0, float32)
    for m in range(rows):
        partials[m * cuda.blockDim.x + cuda.threadIdx.x] = partial[m]
    cuda.syncthreads()
    tile = cuda.blockIdx.x * tile_rows
    for place in range(cuda.threadIdx.x, rows * tile_rows, cuda.blockDim.x):
        m, n = place // tile_rows, tile + place % tile_rows
        if n < out.shape[1]:
            total = ZERO
            for segment in range(place * segments, (place + 1) * segments):
                total = total + partials[segment]
            if residual:
                total = out[m, n] + total
            out[m, n] = total


@functools.cache
def make_q4_rows(rows: int):
    """out[:rows] = x times a q4 matrix, or out += it.

    weights [bytes] uint8, scales [items*8] uint16, x [rows * 256 * segments] int8 and
    x_scales [rows * 8 * segments] float32 as layout.py says; out [≥rows, N] float32.
    Launch: [tiles, tile_rows * segments] with 4 * rows * threads bytes of shared memory.
    """

    @device
    def add_block(words, scale, x, x_scales, block, segment, segments, partial):
        for m in range(rows):
            at = ((m * 8 + block) * 2 * segments + segment) * 16
            dot = _dot_low(words, load_words(x, at), np.int32(0))
            dot = _dot_high(words, load_words(x, at + 16 * segments), dot)
            x_scale = x_scales[(m * 8 + block) * segments + segment]
            partial[m] = partial[m] + mul(mul(np.float32(dot >> np.int32(4)), scale), x_scale)

    @kernel
    def q4_rows(weights, scales, x, x_scales, out, residual, segments, tile_rows):
        thread = cuda.threadIdx.x
        segment = thread % segments
        item = cuda.blockIdx.x * cuda.blockDim.x + thread
        at = (item // 32 * 256 + item % 32) * 16
        w0, w1 = stream_words(weights, at), stream_words(weights, at + 512)
        w2, w3 = stream_words(weights, at + 1024), stream_words(weights, at + 1536)
        w4, w5 = stream_words(weights, at + 2048), stream_words(weights, at + 2560)
        w6, w7 = stream_words(weights, at + 3072), stream_words(weights, at + 3584)
        s = stream_words(scales, item * 16)
        partial = cuda.local.array(rows, float32)
        for m in range(rows):
            partial[m] = ZERO
        add_block(w0, low_bfloat16(s[0]), x, x_scales, 0, segment, segments, partial)
        add_block(w1, high_bfloat16(s[0]), x, x_scales, 1, segment, segments, partial)
        add_block(w2, low_bfloat16(s[1]), x, x_scales, 2, segment, segments, partial)
        add_block(w3, high_bfloat16(s[1]), x, x_scales, 3, segment, segments, partial)
        add_block(w4, low_bfloat16(s[2]), x, x_scales, 4, segment, segments, partial)
        add_block(w5, high_bfloat16(s[2]), x, x_scales, 5, segment, segments, partial)
        add_block(w6, low_bfloat16(s[3]), x, x_scales, 6, segment, segments, partial)
        add_block(w7, high_bfloat16(s[3]), x, x_scales, 7, segment, segments, partial)
        _sum_segments(partial, out, residual, rows, segments, tile_rows)

    return q4_rows


@functools.cache
def make_q8_rows(rows: int):
    """As `make_q4_rows`, for q8."""

    @device
    def add_block(low, high, scale, x, x_scales, block, segment, segments, partial):
        for m in range(rows):
            at = ((m * 8 + block) * 2 * segments + segment) * 16
            dot = _dot16(low, load_words(x, at), np.int32(0))
            dot = _dot16(high, load_words(x, at + 16 * segments), dot)
            x_scale = x_scales[(m * 8 + block) * segments + segment]
            partial[m] = partial[m] + mul(mul(np.float32(dot), scale), x_scale)

    @device
    def add_two(weights, at, scales, x, x_scales, block, segment, segments, partial):
        """Blocks `block` and `block` + 1."""
        w0, w1 = stream_words(weights, at), stream_words(weights, at + 512)
        w2, w3 = stream_words(weights, at + 1024), stream_words(weights, at + 1536)
        add_block(w0, w1, low_bfloat16(scales), x, x_scales, block, segment, segments, partial)
        add_block(w2, w3, high_bfloat16(scales), x, x_scales, block + 1, segment, segments, partial)

    @kernel
    def q8_rows(weights, scales, x, x_scales, out, residual, segments, tile_rows):
        thread = cuda.threadIdx.x
        segment = thread % segments
        item = cuda.blockIdx.x * cuda.blockDim.x + thread
        at = (item // 32 * 512 + item % 32) * 16
        s = stream_words(scales, item * 16)
        partial = cuda.local.array(rows, float32)
        for m in range(rows):
            partial[m] = ZERO
        add_two(weights, at, s[0], x, x_scales, 0, segment, segments, partial)
        add_two(weights, at + 2048, s[1], x, x_scales, 2, segment, segments, partial)
        add_two(weights, at + 4096, s[2], x, x_scales, 4, segment, segments, partial)
        add_two(weights, at + 6144, s[3], x, x_scales, 6, segment, segments, partial)
        _sum_segments(partial, out, residual, rows, segments, tile_rows)

    return q8_rows


@functools.cache
def make_bfloat16_rows(rows: int):
    """As `make_q4_rows`, for bf16: x [rows * 256 * segments] float32; `scales` and `x_scales` are not used."""

    @device
    def add_pair(word, x0, x1, partial):
        partial = partial + mul(low_bfloat16(word), x0)
        return partial + mul(high_bfloat16(word), x1)

    @kernel
    def bfloat16_rows(weights, scales, x, x_scales, out, residual, segments, tile_rows):
        thread = cuda.threadIdx.x
        segment = thread % segments
        item = cuda.blockIdx.x * cuda.blockDim.x + thread
        at = (item // 32 * 1024 + item % 32) * 16
        partial = cuda.local.array(rows, float32)
        for m in range(rows):
            partial[m] = ZERO
        for load in range(SEGMENT // 8):
            w = stream_words(weights, at + load * 512)
            for m in range(rows):
                place = ((m * 64 + 2 * load) * segments + segment) * 16
                low, high = load_floats(x, place), load_floats(x, place + 16 * segments)
                total = add_pair(w[0], low[0], low[1], partial[m])
                total = add_pair(w[1], low[2], low[3], total)
                total = add_pair(w[2], high[0], high[1], total)
                partial[m] = add_pair(w[3], high[2], high[3], total)
        _sum_segments(partial, out, residual, rows, segments, tile_rows)

    return bfloat16_rows


ROW_KERNELS = {"q8": make_q8_rows, "q4": make_q4_rows, "bf16": make_bfloat16_rows}
