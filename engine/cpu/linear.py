"""Rows times a matrix on the CPU: weights packed in tiles of 16 output rows, bf16, q8 or q4.

The order of additions of one output element depends on nothing but its place along K, so a row of an
M-row call has the bits of a 1-row call, and the number of threads never matters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import prange, types

from kestrel_engine.cpu.functions import ONE, ZERO
from kestrel_engine.cpu.jit import address_of, call_range, kernel
from kestrel_engine.cpu.kernels import quantize_rows
from kestrel_engine.cpu.simd import (
    Q4_BLOCK_BYTES,
    Q8_BLOCK_BYTES,
    ROW_GROUP,
    TILE,
    bfloat16_tile,
    bits_from_float,
    float_from_bits,
    q4_tile,
    q8_tile,
)
from kestrel_engine.numerics import BLOCK

PARALLEL_PRODUCTS = 1 << 21
"""Fewer products (weights times rows) are not worth waking the threads."""


@dataclass(frozen=True, slots=True)
class PackedMatrix:
    """weights: q8 [tiles, K/32, 512] uint8, q4 [tiles, K/32, 256] uint8, bf16 [tiles, K, 16] uint16;
    scales: [tiles, K/32, 16] uint16 (bfloat16 bits), empty for bf16."""

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
                weights[tile, k, lane] = matrix[n, k] if n < rows else 0


@kernel("void(int8[:,::1], uint16[:,::1], uint8[:,:,::1], uint16[:,:,::1], intp)")
def _pack_quantized(values, value_scales, weights, scales, bits):
    rows, width = values.shape
    for tile in range(weights.shape[0]):
        for block in range(width // BLOCK):
            for lane in range(TILE):
                n = tile * TILE + lane
                scales[tile, block, lane] = value_scales[n, block] if n < rows else 0
                for k in range(BLOCK):
                    value = values[n, block * BLOCK + k] if n < rows else 0
                    place = lane * 4 + k % 4
                    if bits == 8:
                        weights[tile, block, (k // 4) * 64 + place] = value + 128
                    elif k < BLOCK // 2:
                        weights[tile, block, (k // 4) * 64 + place] = value + 8
                    else:
                        weights[tile, block, (k // 4 - 4) * 64 + place] |= (value + 8) << 4


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
        weights = aligned_empty((tiles, width, TILE), np.uint16)
        _pack_bfloat16(matrix, weights)
        return PackedMatrix(format, rows, width, weights, np.empty((0, 0, 0), np.uint16))
    bits = 8 if format == "q8" else 4
    values, value_scales = np.empty((rows, width), np.int8), np.empty((rows, blocks), np.uint16)
    _quantize_matrix(matrix, values, value_scales, bits)
    weights = aligned_empty((tiles, blocks, Q8_BLOCK_BYTES if bits == 8 else Q4_BLOCK_BYTES), np.uint8)
    scales = aligned_empty((tiles, blocks, TILE), np.uint16)
    _pack_quantized(values, value_scales, weights, scales, bits)
    return PackedMatrix(format, rows, width, weights, scales)


# --- multiplying ------------------------------------------------------------------------------------------

_QUANTIZED = (
    "void(uint8[:,:,::1], uint16[:,:,::1], int8[:,::1], float32[:,::1], int32[:,::1], float32[:,::1],"
    " intp, {})"
)
_BFLOAT16 = "void(uint16[:,:,::1], float32[:,::1], float32[:,::1], intp, {})"


@kernel(_QUANTIZED.format("intp, intp"))
def _q8_range(weights, scales, x, x_scales, x_sums, out, rows, first, last):
    for tile in range(first, last):
        for row in range(0, rows, ROW_GROUP):
            group = min(ROW_GROUP, rows - row)
            q8_tile(
                weights, scales, x, x_scales, x_sums, out, tile, weights.shape[1], row, group, out.shape[1]
            )


@kernel(_QUANTIZED.format("intp, intp"))
def _q4_range(weights, scales, x, x_scales, x_sums, out, rows, first, last):
    for tile in range(first, last):
        for row in range(0, rows, ROW_GROUP):
            group = min(ROW_GROUP, rows - row)
            q4_tile(
                weights, scales, x, x_scales, x_sums, out, tile, weights.shape[1], row, group, out.shape[1]
            )


@kernel(_BFLOAT16.format("intp, intp"))
def _bfloat16_range(weights, x, out, rows, first, last):
    for tile in range(first, last):
        for row in range(0, rows, ROW_GROUP):
            group = min(ROW_GROUP, rows - row)
            bfloat16_tile(weights, x, out, tile, weights.shape[1], row, group, out.shape[1])


_Q8_RANGE, _Q4_RANGE, _BFLOAT16_RANGE = map(address_of, (_q8_range, _q4_range, _bfloat16_range))


@kernel(_QUANTIZED.format("intp, intp"), parallel=True)
def _quantized_parallel(weights, scales, x, x_scales, x_sums, out, rows, address, threads):
    tiles = weights.shape[0]
    for part in prange(threads):
        first, last = tiles * part // threads, tiles * (part + 1) // threads
        call_range(address, (weights, scales, x, x_scales, x_sums, out, rows), first, last)


@kernel(_BFLOAT16.format("intp, intp"), parallel=True)
def _bfloat16_parallel(weights, x, out, rows, address, threads):
    tiles = weights.shape[0]
    for part in prange(threads):
        first, last = tiles * part // threads, tiles * (part + 1) // threads
        call_range(address, (weights, x, out, rows), first, last)


def matmul(x: np.ndarray, matrix: PackedMatrix, threads: int) -> np.ndarray:
    """x [M, K] float32 times the packed matrix -> [M, N], a view of rows padded to whole tiles."""
    rows = len(x)
    out = np.empty((rows, len(matrix.weights) * TILE), np.float32)
    if rows * matrix.rows * matrix.width < PARALLEL_PRODUCTS:
        threads = 1
    if matrix.format == "bf16":
        if threads == 1:
            _bfloat16_range(matrix.weights, x, out, rows, 0, len(matrix.weights))
        else:
            _bfloat16_parallel(matrix.weights, x, out, rows, _BFLOAT16_RANGE, threads)
        return out[:, : matrix.rows]
    blocks = matrix.width // BLOCK
    values, sums = np.empty((rows, matrix.width), np.int8), np.empty((rows, blocks), np.int32)
    scales = np.empty((rows, blocks), np.float32)
    quantize_rows(x, values, scales, sums)
    arguments = (matrix.weights, matrix.scales, values, scales, sums, out, rows)
    if threads == 1:
        (_q8_range if matrix.format == "q8" else _q4_range)(*arguments, 0, len(matrix.weights))
    else:
        _quantized_parallel(*arguments, _Q8_RANGE if matrix.format == "q8" else _Q4_RANGE, threads)
    return out[:, : matrix.rows]
