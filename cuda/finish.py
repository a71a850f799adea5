"""What the block that comes last does with the rows of a product: norms, SwiGLU, or the inputs of attention.

Each is the last argument of `linear.make_rows`: (out, rows, tile, tile_rows, extra) with `extra` a tuple whose
first entry are the counters of arrival.py.
"""

from __future__ import annotations

from numba import float32

from kestrel_cuda.arrival import arrive
from kestrel_cuda.attention import store_head_input
from kestrel_cuda.functions import ONE, ZERO
from kestrel_cuda.rows import store_own_block, store_swiglu_block
from kestrel_cuda.target import cuda, device, mul, sqrt, warp_sum
from kestrel_engine.numerics import BLOCK

STAGED = 6144
"""Floats of the rows that the last block has in shared memory at once."""
MOST_ROWS = 16


@device
def _inverse_norms(x, rows, eps, inverses):
    """inverses[m] = 1 / rms of row m of x, a warp to a row; parts of the rows pass through shared memory, so
    that many loads are under way at once. Every thread calls it, and waits before it reads `inverses`."""
    staged = cuda.shared.array(0, float32)
    thread, threads, width = cuda.threadIdx.x, cuda.blockDim.x, x.shape[1]
    warp, lane, warps = thread // 32, thread % 32, threads // 32
    part = STAGED // min(rows, warps) // 32 * 32
    for base in range(0, rows, warps):
        count = min(warps, rows - base)
        total = ZERO
        for first in range(0, width, part):
            size = min(part, width - first)
            cuda.syncthreads()
            for m in range(count):
                for k in range(thread, size, threads):
                    staged[m * part + k] = x[base + m, first + k]
            cuda.syncthreads()
            if warp < count:
                for k in range(lane, size, 32):
                    value = staged[warp * part + k]
                    total = total + mul(value, value)
        if warp < count:
            total = warp_sum(total)
            if lane == 0:
                inverses[base + warp] = ONE / sqrt(total / float32(width) + eps)


@device
def finish_norm(out, rows, tile, tile_rows, extra):
    """RMSNorm of the whole rows into an operand and, with PLAIN, as they are.
    Needs 4 * STAGED bytes of shared memory."""
    counters, scale, eps, kinds, segments, values, scales, floats, plain = extra
    if arrive(counters, 0, 1, cuda.gridDim.x):
        inverses = cuda.shared.array(MOST_ROWS, float32)
        _inverse_norms(out, rows, eps, inverses)
        cuda.syncthreads()
        blocks = out.shape[1] // BLOCK
        for place in range(cuda.threadIdx.x, rows * blocks, cuda.blockDim.x):
            m, block = place // blocks, place % blocks
            store_own_block(out, m, block, inverses[m], scale, kinds, segments, values, scales, floats, plain)


@device
def finish_swiglu(out, rows, tile, tile_rows, extra):
    """silu(gate) * up as an operand, by whoever writes the last of a block's 32 gates and 32 ups."""
    counters, kinds, segments, values, scales, floats = extra
    warp, warps = cuda.threadIdx.x // 32, cuda.blockDim.x // 32
    blocks = out.shape[1] // (2 * BLOCK)
    for first in range(tile, min(tile + tile_rows, out.shape[1]), BLOCK):
        block = first // BLOCK % blocks
        if arrive(counters, block, min(tile_rows, BLOCK), 2 * BLOCK):
            for m in range(warp, rows, warps):
                store_swiglu_block(out, m, block, kinds, segments, values, scales, floats)


@device
def finish_heads(out, rows, tile, tile_rows, extra):
    """The inputs of attention, by whoever writes the last of a head."""
    counters, query_scale, key_scale, eps, cos, sin, cursor, place, offset, query, keys, values = extra
    warp, lane, warps = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32, cuda.blockDim.x // 32
    heads, width, kv_heads = query.shape[1], query.shape[2], values.shape[0]
    first, end = tile, min(tile + tile_rows, out.shape[1])
    while first < end:
        part = first // width  # per head query and gate, then keys, then values
        part_end = min((part + 1) * width, end)
        unit, expected = part // 2, width
        if part >= 2 * heads:
            unit, expected = heads + (part - 2 * heads) % kv_heads, 2 * width
        is_input = part >= 2 * heads or part % 2 == 0
        if is_input and arrive(counters, unit, part_end - first, expected):
            for m in range(warp, rows, warps):
                at = cursor[place] + offset + m
                store_head_input(
                    out, m, unit, lane, query_scale, key_scale, eps, cos, sin, at, query, keys, values
                )
        first = part_end
