"""Packing matrices on the device: numerics.quantize_weights, into the layouts of layout.py."""

from __future__ import annotations

import numpy as np

from kestrel_cuda.functions import ONE, ZERO, low_bfloat16, rint
from kestrel_cuda.target import bits_from_float, cuda, device, float_from_bits, kernel
from kestrel_engine.numerics import BLOCK


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
