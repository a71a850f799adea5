"""Rows times a matrix, q4, q8 and bf16 (layouts: layout.py), and what the last block does with the result."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from numba import float32

from kestrel_cuda.functions import ZERO, high_bfloat16, low_bfloat16
from kestrel_cuda.target import cuda, device, dot4, kernel, load_floats, load_words, mul, stream_words
from kestrel_engine.numerics import SEGMENT

UNROLLED_ROWS = 5
"""Up to here all loads of an item are under way at once. With more rows that would leave a multiprocessor few
threads, and on sm_80 a block of 544 (17,408 inputs) not enough registers."""
NIBBLES = np.int32(-252645136)
"""0xF0F0F0F0: a nibble in the high half of a byte is its value times 16."""


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


# --- one item: a segment of one output row ------------------------------------------------------------------


@functools.cache
def make_q4_item(rows: int):
    """partial[m] = row m's sum over one item's segment.

    weights [bytes] uint8, scales [items*8] uint16, x [rows * 256 * segments] int8 and x_scales
    [rows * 8 * segments] float32 as layout.py says; partial [rows] float32, zero before.
    """

    @device
    def add_block(words, scale, x, x_scales, block, segment, segments, partial):
        for m in range(rows):
            at = ((m * 8 + block) * 2 * segments + segment) * 16
            dot = _dot_low(words, load_words(x, at), np.int32(0))
            dot = _dot_high(words, load_words(x, at + 16 * segments), dot)
            x_scale = x_scales[(m * 8 + block) * segments + segment]
            partial[m] = partial[m] + mul(mul(np.float32(dot >> np.int32(4)), scale), x_scale)

    @device
    def q4_item_by_block(weights, scales, x, x_scales, item, segment, segments, partial):
        at = (item // 32 * 256 + item % 32) * 16
        words = stream_words(weights, at)
        for block in range(8):
            ahead = stream_words(weights, at + 512 * min(block + 1, 7))
            scale = low_bfloat16(np.int32(scales[item * 8 + block]))
            add_block(words, scale, x, x_scales, block, segment, segments, partial)
            words = ahead

    @device
    def q4_item(weights, scales, x, x_scales, item, segment, segments, partial):
        at = (item // 32 * 256 + item % 32) * 16
        w0, w1 = stream_words(weights, at), stream_words(weights, at + 512)
        w2, w3 = stream_words(weights, at + 1024), stream_words(weights, at + 1536)
        w4, w5 = stream_words(weights, at + 2048), stream_words(weights, at + 2560)
        w6, w7 = stream_words(weights, at + 3072), stream_words(weights, at + 3584)
        s = stream_words(scales, item * 16)
        add_block(w0, low_bfloat16(s[0]), x, x_scales, 0, segment, segments, partial)
        add_block(w1, high_bfloat16(s[0]), x, x_scales, 1, segment, segments, partial)
        add_block(w2, low_bfloat16(s[1]), x, x_scales, 2, segment, segments, partial)
        add_block(w3, high_bfloat16(s[1]), x, x_scales, 3, segment, segments, partial)
        add_block(w4, low_bfloat16(s[2]), x, x_scales, 4, segment, segments, partial)
        add_block(w5, high_bfloat16(s[2]), x, x_scales, 5, segment, segments, partial)
        add_block(w6, low_bfloat16(s[3]), x, x_scales, 6, segment, segments, partial)
        add_block(w7, high_bfloat16(s[3]), x, x_scales, 7, segment, segments, partial)

    return q4_item if rows <= UNROLLED_ROWS else q4_item_by_block


@functools.cache
def make_q8_item(rows: int):
    """As `make_q4_item`, for q8."""

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

    @device
    def q8_item(weights, scales, x, x_scales, item, segment, segments, partial):
        at = (item // 32 * 512 + item % 32) * 16
        s = stream_words(scales, item * 16)
        add_two(weights, at, s[0], x, x_scales, 0, segment, segments, partial)
        add_two(weights, at + 2048, s[1], x, x_scales, 2, segment, segments, partial)
        add_two(weights, at + 4096, s[2], x, x_scales, 4, segment, segments, partial)
        add_two(weights, at + 6144, s[3], x, x_scales, 6, segment, segments, partial)

    @device
    def q8_item_by_block(weights, scales, x, x_scales, item, segment, segments, partial):
        at = (item // 32 * 512 + item % 32) * 16
        for block in range(8):
            low, high = (
                stream_words(weights, at + 1024 * block),
                stream_words(weights, at + 1024 * block + 512),
            )
            scale = low_bfloat16(np.int32(scales[item * 8 + block]))
            add_block(low, high, scale, x, x_scales, block, segment, segments, partial)

    return q8_item if rows <= UNROLLED_ROWS else q8_item_by_block


@functools.cache
def make_bfloat16_item(rows: int):
    """As `make_q4_item`, for bf16: x [rows * 256 * segments] float32; `scales` and `x_scales` are not used."""

    @device
    def add_pair(word, x0, x1, partial):
        partial = partial + mul(low_bfloat16(word), x0)
        return partial + mul(high_bfloat16(word), x1)

    @device
    def bfloat16_item(weights, scales, x, x_scales, item, segment, segments, partial):
        at = (item // 32 * 1024 + item % 32) * 16
        for load in range(SEGMENT // 8):
            w = stream_words(weights, at + load * 512)
            for m in range(rows):
                place = ((m * 64 + 2 * load) * segments + segment) * 16
                low, high = load_floats(x, place), load_floats(x, place + 16 * segments)
                total = add_pair(w[0], low[0], low[1], partial[m])
                total = add_pair(w[1], low[2], low[3], total)
                total = add_pair(w[2], high[0], high[1], total)
                partial[m] = add_pair(w[3], high[2], high[3], total)

    return bfloat16_item


ITEMS = {"q8": make_q8_item, "q4": make_q4_item, "bf16": make_bfloat16_item}


# --- whole products -----------------------------------------------------------------------------------------


@device
def _add_segments(partial, out, residual, rows, segments, tile_rows, tile):
    """Rows tile… of `out`: the partial sums, one a thread, added in order; onto `out` when it is the residual
    stream.

    partial: this thread's, [rows]; shared memory takes [rows, tile_rows, segments].
    """
    partials = cuda.shared.array(0, float32)
    for m in range(rows):
        partials[m * cuda.blockDim.x + cuda.threadIdx.x] = partial[m]
    cuda.syncthreads()
    for place in range(cuda.threadIdx.x, rows * tile_rows, cuda.blockDim.x):
        m, n = place // tile_rows, tile + place % tile_rows
        if n < out.shape[1]:
            total = ZERO
            for segment in range(place * segments, (place + 1) * segments):
                total = total + partials[segment]
            if residual:
                total = out[m, n] + total
            out[m, n] = total


@device
def finish_nothing(out, rows, tile, tile_rows, extra):
    pass


def _named(name: str, rows: int, function: Callable):
    """The kernel under a name of its own, for profilers, caches and the cost model, which reads `rows`, too."""
    function.__name__ = function.__qualname__ = name
    function.rows = rows
    return kernel(function)


@functools.cache
def make_rows(format: str, rows: int, finish=finish_nothing):
    """A kernel for out[:rows] = x times a matrix, or out += it, and then `finish` (finish.py).

    Arguments as in `make_q4_item`; out [≥rows, N] float32; `extra` is a tuple for `finish`.
    Launch: [tiles, tile_rows * segments] with at least 4 * rows * threads bytes of shared memory.
    """
    sum_item = ITEMS[format](rows)

    def product_rows(weights, scales, x, x_scales, out, residual, segments, tile_rows, extra):
        thread, tile = cuda.threadIdx.x, cuda.blockIdx.x * tile_rows
        item = cuda.blockIdx.x * cuda.blockDim.x + thread
        partial = cuda.local.array(rows, float32)
        for m in range(rows):
            partial[m] = ZERO
        sum_item(weights, scales, x, x_scales, item, thread % segments, segments, partial)
        _add_segments(partial, out, residual, rows, segments, tile_rows, tile)
        finish(out, rows, tile, tile_rows, extra)

    return _named(f"{format}_rows", rows, product_rows)


@functools.cache
def make_two_rows(format: str, rows: int):
    """Two products of the same rows in one launch: out of a matrix in `format`, side_out of one in bf16, whose
    tiles come first because they take longer. Both have the same width, hence the same tiles.
    Launch: [tiles of both, threads] as `make_rows`."""
    sum_item, sum_side_item = ITEMS[format](rows), ITEMS["bf16"](rows)

    def product_rows(
        weights, scales, x, x_scales, out, side_weights, side_x, side_out, side_tiles, segments, tile_rows
    ):
        thread, block = cuda.threadIdx.x, cuda.blockIdx.x
        partial = cuda.local.array(rows, float32)
        for m in range(rows):
            partial[m] = ZERO
        if block < side_tiles:
            item = block * cuda.blockDim.x + thread
            sum_side_item(side_weights, scales, side_x, x_scales, item, thread % segments, segments, partial)
            _add_segments(partial, side_out, 0, rows, segments, tile_rows, block * tile_rows)
        else:
            block = block - side_tiles
            item = block * cuda.blockDim.x + thread
            sum_item(weights, scales, x, x_scales, item, thread % segments, segments, partial)
            _add_segments(partial, out, 0, rows, segments, tile_rows, block * tile_rows)

    return _named(f"{format}_two_rows", rows, product_rows)
