"""Many rows times a q4 or q8 matrix on the tensor cores, for prefill, with the bits of linear.py.

A tensor core multiplies 16 output rows with 8 rows of activations over 32 inputs, which is one quantisation
block: an exact integer. What follows is the canonical order: a block's term is scaled and added to its
segment's sum, and the segments are added one after the other, all by the same lane.
"""

from __future__ import annotations

import functools

import numpy as np
from numba import float32

from kestrel_cuda.functions import ZERO, low_bfloat16
from kestrel_cuda.linear import NIBBLES
from kestrel_cuda.target import cuda, device, dot_tile, kernel, load_word, mul

TILE_ROWS = 16
"""Output rows of a warp."""
TILE_COLUMNS = 8
COLUMN_TILES = 4
"""Tiles of 8 rows of activations that a warp multiplies with the weights it has loaded."""
COLUMNS = TILE_COLUMNS * COLUMN_TILES
SUMS = 4 * COLUMN_TILES


@device
def _q8_words(weights, item, block, t):
    """Words t and t + 4 of one block of an item."""
    at = ((item // 32 * 16 + 2 * block) * 32 + item % 32) * 16 + 4 * t
    return load_word(weights, at), load_word(weights, at + 512)


@device
def _q4_words(weights, item, block, t):
    """The same, each weight times 16."""
    both = load_word(weights, ((item // 32 * 8 + block) * 32 + item % 32) * 16 + 4 * t)
    return np.int32((both << np.int32(4)) & NIBBLES), np.int32(both & NIBBLES)


WORDS = {"q8": (_q8_words, 0), "q4": (_q4_words, 4)}
"""Format -> how weights are loaded, and how far a sum of products is shifted back."""


@functools.cache
def make_tiles(format: str):
    """out[:rows] = x times a matrix, or out += it; arguments as `linear.make_rows`, any number of rows.

    Launch: [(rows / 32, N / 16 / warps), warps]: blocks beside each other share weights in the cache.
    """
    words, shift = WORDS[format]
    back = np.int32(shift)

    def product_tiles(weights, scales, x, x_scales, out, residual, rows, segments):
        warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
        g, t = lane // 4, lane % 4
        count = out.shape[1]
        n0 = (cuda.blockIdx.y * (cuda.blockDim.x // 32) + warp) * TILE_ROWS + g
        n1 = n0 + TILE_COLUMNS
        first = cuda.blockIdx.x * COLUMNS
        total, partial = cuda.local.array(SUMS, float32), cuda.local.array(SUMS, float32)
        for i in range(SUMS):
            total[i] = ZERO
        for segment in range(segments):
            # Beyond the end the last row is taken again; nothing of it is stored.
            item0 = min(n0, count - 1) * segments + segment
            item1 = min(n1, count - 1) * segments + segment
            for i in range(SUMS):
                partial[i] = ZERO
            for block in range(8):
                a0, a2 = words(weights, item0, block, t)
                a1, a3 = words(weights, item1, block, t)
                scale0 = low_bfloat16(np.int32(scales[item0 * 8 + block]))
                scale1 = low_bfloat16(np.int32(scales[item1 * 8 + block]))
                for tile in range(COLUMN_TILES):
                    column = first + tile * TILE_COLUMNS
                    m = min(column + g, rows - 1)
                    at = ((m * 8 + block) * 2 * segments + segment) * 16 + 4 * t
                    dots = dot_tile(a0, a1, a2, a3, load_word(x, at), load_word(x, at + 16 * segments))
                    m0, m1 = min(column + 2 * t, rows - 1), min(column + 2 * t + 1, rows - 1)
                    by0 = x_scales[(m0 * 8 + block) * segments + segment]
                    by1 = x_scales[(m1 * 8 + block) * segments + segment]
                    i = 4 * tile
                    partial[i] = partial[i] + mul(mul(np.float32(dots[0] >> back), scale0), by0)
                    partial[i + 1] = partial[i + 1] + mul(mul(np.float32(dots[1] >> back), scale0), by1)
                    partial[i + 2] = partial[i + 2] + mul(mul(np.float32(dots[2] >> back), scale1), by0)
                    partial[i + 3] = partial[i + 3] + mul(mul(np.float32(dots[3] >> back), scale1), by1)
            for i in range(SUMS):
                total[i] = total[i] + partial[i]
        for i in range(SUMS):
            m, n = first + i // 4 * TILE_COLUMNS + 2 * t + i % 2, n0 if i % 4 < 2 else n1
            if m < rows and n < count:
                out[m, n] = out[m, n] + total[i] if residual else total[i]

    product_tiles.__name__ = product_tiles.__qualname__ = f"{format}_tiles"
    return kernel(product_tiles)
