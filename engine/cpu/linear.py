"""Rows times a matrix on the CPU: weights packed in tiles of 16 output rows, bf16, q8 or q4.

The order of additions of one output element depends on nothing but its place along K, so a row of an
M-row call has the bits of a 1-row call, and the number of threads never matters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import types

from kestrel_engine import large_pages
from kestrel_engine.cpu.functions import ONE, ZERO
from kestrel_engine.cpu.jit import bits_from_float, float_from_bits, kernel
from kestrel_engine.cpu.operation import f32_1d, f32_2d, i8_2d, i32_1d, i64_2d, operation, u8_3d, u16_3d
from kestrel_engine.cpu.simd import (
    FEW,
    Q4_BLOCK_BYTES,
    Q8_BLOCK_BYTES,
    ROW_GROUP,
    TILE,
    TOGETHER,
    WIDE,
    bfloat16_tile,
    bfloat16_tiles,
    q4_tile,
    q8_tile,
)
from kestrel_engine.numerics import BLOCK

ZERO_POINTS = {"q8": 128, "q4": 8}
"""Added to a stored weight, which makes it unsigned."""
STRIPS = 4
"""Most stretches of a product's columns that an item is made of."""


@dataclass(frozen=True, slots=True)
class PackedMatrix:
    """weights: q8 [tiles, K/32, 512] uint8, q4 [tiles, K/32, 256] uint8, bf16 [tiles, K/2, 32] uint16 (a lane's
    inputs k and k+1 side by side); scales: [tiles, K/32, 16] uint16 (bfloat16 bits), empty for bf16."""

    format: str
    rows: int
    width: int
    weights: np.ndarray
    scales: np.ndarray

    @property
    def bytes(self) -> int:
        return self.weights.nbytes + self.scales.nbytes


def aligned_empty(shape: tuple[int, ...], dtype) -> np.ndarray:
    """An array on a 64-byte boundary, so that no vector load crosses two cache lines."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.empty(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size].view(dtype).reshape(shape)


def _weights_empty(shape: tuple[int, ...], dtype) -> np.ndarray:
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return large_pages.empty(size).view(dtype).reshape(shape)


_STORED = types.Array(types.uint16, 2, "C", readonly=True)
"""bfloat16 bits, possibly of a mapped file."""


# --- packing ----------------------------------------------------------------------------------------------


@kernel(types.void(_STORED, types.uint16[:, :, ::1]))
def _pack_bfloat16(matrix, weights):
    rows, width = matrix.shape
    for tile in range(weights.shape[0]):
        for k in range(width):
            for lane in range(TILE):
                n = tile * TILE + lane
                weights[tile, k // 2, 2 * lane + k % 2] = matrix[n, k] if n < rows else 0


@kernel("void(int8[:,::1], uint16[:,::1], uint8[:,:,::1], uint16[:,:,::1], intp, intp)")
def _pack_quantized(values, value_scales, weights, scales, bits, zero_point):
    rows, width = values.shape
    for tile in range(weights.shape[0]):
        for block in range(width // BLOCK):
            for lane in range(TILE):
                n = tile * TILE + lane
                scales[tile, block, lane] = value_scales[n, block] if n < rows else 0
                for k in range(BLOCK):
                    value = values[n, block * BLOCK + k] if n < rows else 0
                    place = lane * 4 + k % 4
                    if bits == 8 or k < BLOCK // 2:
                        weights[tile, block, (k // 4) * 64 + place] = value + zero_point
                    else:
                        weights[tile, block, (k // 4 - 4) * 64 + place] |= (value + zero_point) << 4


@kernel(types.void(_STORED, types.int8[:, ::1], types.uint16[:, ::1], types.intp))
def _quantize_matrix(matrix, values, scales, bits):
    """numerics.quantize_weights, from bfloat16 bits."""
    limit = np.float32(127) if bits == 8 else np.float32(7)
    part = np.empty(BLOCK, np.float32)
    for n in range(matrix.shape[0]):
        for block in range(matrix.shape[1] // BLOCK):
            largest = ZERO
            for k in range(BLOCK):
                part[k] = float_from_bits(np.int32(matrix[n, block * BLOCK + k]) << np.int32(16))
                largest = max(largest, abs(part[k]))
            scale = bits_from_float(largest / limit)
            scale = (scale + 0x7FFF + ((scale >> 16) & 1)) >> 16  # numerics.to_bfloat16
            scales[n, block] = scale
            divisor = float_from_bits(scale << 16)
            divisor = divisor if divisor > ZERO else ONE
            for k in range(BLOCK):
                value = np.rint(part[k] / divisor)
                value = value if value > -limit else -limit
                values[n, block * BLOCK + k] = np.int8(value if value < limit else limit)


def pack_matrix(matrix: np.ndarray, format: str) -> PackedMatrix:
    """matrix [N, K] bfloat16 bits (uint16), K a multiple of 32 -> packed in `format`."""
    rows, width = matrix.shape
    matrix = np.ascontiguousarray(matrix)
    tiles, blocks = -(-rows // TILE), width // BLOCK
    if format == "bf16":
        weights = _weights_empty((tiles, width // 2, 2 * TILE), np.uint16)
        _pack_bfloat16(matrix, weights)
        return PackedMatrix(format, rows, width, weights, np.empty((0, 0, 0), np.uint16))
    bits = 8 if format == "q8" else 4
    values, value_scales = np.empty((rows, width), np.int8), np.empty((rows, blocks), np.uint16)
    _quantize_matrix(matrix, values, value_scales, bits)
    weights = _weights_empty((tiles, blocks, Q8_BLOCK_BYTES if bits == 8 else Q4_BLOCK_BYTES), np.uint8)
    scales = _weights_empty((tiles, blocks, TILE), np.uint16)
    _pack_quantized(values, value_scales, weights, scales, bits, ZERO_POINTS[format])
    return PackedMatrix(format, rows, width, weights, scales)


# --- multiplying ------------------------------------------------------------------------------------------


@operation
def q8_matmul(op, run, first, last):
    """Arguments: weights, scales as packed; x, its scales and offsets as of `kernels.quantize`; out [M, 16*tiles];
    strips [STRIPS, 2]. Items: of each strip, which begins at tile strips[s, 0], the next strips[s, 1] tiles."""
    weights, scales, x, x_scales = u8_3d(op, 0), u16_3d(op, 1), i8_2d(op, 2), f32_1d(op, 3)
    x_offsets, out = i32_1d(op, 4), f32_2d(op, 5)
    strips, blocks, rows = i64_2d(op, 6), weights.shape[1], out.shape[0]
    for s in range(len(strips)):
        start, each = strips[s, 0], strips[s, 1]
        for tile in range(start + first * each, start + last * each):
            for row in range(0, rows, ROW_GROUP):
                count = min(ROW_GROUP, rows - row)
                q8_tile(weights, scales, x, x_scales, x_offsets, out, tile, blocks, row, count, out.shape[1])


@operation
def q4_matmul(op, run, first, last):
    """As `q8_matmul`."""
    weights, scales, x, x_scales = u8_3d(op, 0), u16_3d(op, 1), i8_2d(op, 2), f32_1d(op, 3)
    x_offsets, out = i32_1d(op, 4), f32_2d(op, 5)
    strips, blocks, rows = i64_2d(op, 6), weights.shape[1], out.shape[0]
    for s in range(len(strips)):
        start, each = strips[s, 0], strips[s, 1]
        for tile in range(start + first * each, start + last * each):
            for row in range(0, rows, ROW_GROUP):
                count = min(ROW_GROUP, rows - row)
                q4_tile(weights, scales, x, x_scales, x_offsets, out, tile, blocks, row, count, out.shape[1])


@operation
def bfloat16_matmul(op, run, first, last):
    """Arguments: weights as packed, x [M, K] float32, out [M, 16*tiles], strips. Items: as in `q8_matmul`."""
    weights, x, out, strips = u16_3d(op, 0), f32_2d(op, 1), f32_2d(op, 2), i64_2d(op, 3)
    width, rows = 2 * weights.shape[1], x.shape[0]
    for s in range(len(strips)):
        tile, end = strips[s, 0] + first * strips[s, 1], strips[s, 0] + last * strips[s, 1]
        if rows <= FEW and width < WIDE:
            while tile + TOGETHER <= end:
                bfloat16_tiles(weights, x, out, tile, width, 0, rows, out.shape[1])
                tile += TOGETHER
        while tile < end:
            for row in range(0, rows, ROW_GROUP):
                count = min(ROW_GROUP, rows - row)
                bfloat16_tile(weights, x, out, tile, width, row, count, out.shape[1])
            tile += 1
