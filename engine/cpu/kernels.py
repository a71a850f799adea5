"""Row operations of the CPU backend: look-up, norms, quantisation, convolution, SwiGLU."""

from __future__ import annotations

import numpy as np

from kestrel_engine.cpu.functions import ZERO, sigmoid
from kestrel_engine.cpu.jit import float_from_bits, inlined, kernel, word
from kestrel_engine.cpu.operation import (
    RUN_POSITION,
    RUN_TOKENS,
    f32_1d,
    f32_2d,
    i8_2d,
    i32_1d,
    i64_2d,
    integer,
    number,
    operation,
    u16_2d,
)
from kestrel_engine.cpu.reductions import inverse_rms
from kestrel_engine.cpu.simd import ROW_GROUP
from kestrel_engine.cpu.vectors import (
    LANES,
    largest_magnitude,
    load,
    quantize_block,
    sigmoid16,
    splat,
    store,
)
from kestrel_engine.numerics import BLOCK, SMALLEST_SCALE

LEVELS = np.float32(127)
COLUMNS = 256
"""Columns of an item where rows are cut."""


@operation
def embed(op, run, first, last):
    """Arguments: table [V, H] bfloat16 bits, out [M, H]. Items: rows."""
    table, out = u16_2d(op, 0), f32_2d(op, 1)
    for m in range(first, last):
        token = word(run, RUN_TOKENS + m)
        for k in range(table.shape[1]):
            out[m, k] = float_from_bits(np.int32(table[token, k]) << np.int32(16))


@operation
def copy_columns(op, run, first, last):
    """Arguments: x [M, A], width A, out [M, ≥A]. Items: rows."""
    x, width, out = f32_2d(op, 0), integer(op, 1), f32_2d(op, 2)
    for m in range(first, last):
        for k in range(width):
            out[m, k] = x[m, k]


@operation
def rms_norm(op, run, first, last):
    """numerics.rms_norm. Arguments: x [M, H], scale [H], eps, out [M, H]. Items: rows."""
    x, scale, eps, out = f32_2d(op, 0), f32_1d(op, 1), number(op, 2), f32_2d(op, 3)
    width = len(scale)
    for m in range(first, last):
        row = x[m, :width]
        inverse = inverse_rms(row, eps)
        for k in range(width):
            out[m, k] = (row[k] * inverse) * scale[k]


@operation
def add(op, run, first, last):
    """x += y, the residual connection. Arguments: x [M, H], y [M, H], H. Items: rows."""
    x, y, width = f32_2d(op, 0), f32_2d(op, 1), integer(op, 2)
    for m in range(first, last):
        for k in range(width):
            x[m, k] += y[m, k]


@operation
def quantize(op, run, first, last):
    """numerics.quantize_activations, and what the weights' zero point adds to each block's product.

    Arguments: x [M, K]; values [M*K/32, 32] int8, scales [M*K/32] and offsets [M*K/32] int32, of each ROW_GROUP
    rows block by block, the rows of a block side by side; K/32; the zero point; columns of an item, a multiple of
    32. Items: cuts of so many columns; rows, where that is 0.
    """
    x, values, scales, offsets = f32_2d(op, 0), i8_2d(op, 1), f32_1d(op, 2), i32_1d(op, 3)
    blocks, zero_point, cut = integer(op, 4), integer(op, 5), integer(op, 6) // BLOCK
    if cut == 0:
        start, end, top_row, bottom_row = 0, blocks, first, last
    else:
        start, end, top_row, bottom_row = first * cut, min(last * cut, blocks), 0, x.shape[0]
    for m in range(top_row, bottom_row):
        row, group = x[m], m // ROW_GROUP * ROW_GROUP
        rows = min(ROW_GROUP, x.shape[0] - group)
        for block in range(start, end):
            place = group * blocks + block * rows + m - group
            top = float_from_bits(largest_magnitude(row, block * BLOCK))
            scales[place] = top / LEVELS
            inverse = LEVELS / top if top > SMALLEST_SCALE else ZERO
            offsets[place] = -zero_point * quantize_block(row, block * BLOCK, inverse, values[place])


@inlined
def _earlier_row(ring, zeros, position):
    """The raw row at a position before the pass, zeros before the first of all."""
    return ring[position % ring.shape[0]] if position >= 0 else zeros


@kernel
def _convolve(a, b, c, x, taps, start, end, out):
    """silu(a * taps[0] + b * taps[1] + c * taps[2] + d * taps[3]) for channels start..end-1 and each row d of x,
    whose predecessors are c, b, a. The window stays in registers."""
    t0, t1, t2, t3 = taps[0], taps[1], taps[2], taps[3]
    whole = start + (end - start) // LANES * LANES
    for k in range(start, whole, LANES):
        tap0, tap1, tap2, tap3 = load(t0, k), load(t1, k), load(t2, k), load(t3, k)
        window0, window1, window2 = load(a, k), load(b, k), load(c, k)
        for m in range(len(out)):
            newest = load(x[m], k)
            y = window0 * tap0
            y = y + window1 * tap1
            y = y + window2 * tap2
            y = y + newest * tap3
            store(out[m], k, y * sigmoid16(y))
            window0, window1, window2 = window1, window2, newest
    for k in range(whole, end):
        first, second, third = a[k], b[k], c[k]
        for m in range(len(out)):
            y = first * t0[k]
            y = y + second * t1[k]
            y = y + third * t2[k]
            y = y + x[m, k] * t3[k]
            out[m, k] = y * sigmoid(y)
            first, second, third = second, third, x[m, k]


@operation
def conv_silu(op, run, first, last):
    """numerics.conv_silu for rows at positions RUN_POSITION, …; positions before 0 count as zeros.

    Arguments: x [M, ≥C] raw rows, ring [R, C] raw rows of earlier positions (place = position % R), which
    takes the new rows, taps [4, C], out [M, C], strips [S, 2]. Items: of each strip, which begins at channel
    strips[s, 0], the next strips[s, 1] channels.
    """
    x, ring, taps, out = f32_2d(op, 0), f32_2d(op, 1), f32_2d(op, 2), f32_2d(op, 3)
    strips = i64_2d(op, 4)
    position, rows, places = word(run, RUN_POSITION), out.shape[0], ring.shape[0]
    zeros = np.zeros(taps.shape[1] if position < 3 else 0, np.float32)
    a, b, c = (
        _earlier_row(ring, zeros, position - 3),
        _earlier_row(ring, zeros, position - 2),
        _earlier_row(ring, zeros, position - 1),
    )
    for s in range(len(strips)):
        start, end = strips[s, 0] + first * strips[s, 1], strips[s, 0] + last * strips[s, 1]
        _convolve(a, b, c, x, taps, start, end, out)
        for m in range(max(0, rows - places), rows):
            source, target = x[m, start:end], ring[(position + m) % places, start:end]
            for k in range(end - start):
                target[k] = source[k]


@operation
def gated_norm(op, run, first, last):
    """RMSNorm over each value head times silu(gate): the output norm of a GDN layer.

    Arguments: x [M, Hv*dv], gate [M, ≥Hv*dv], scale [dv], eps, out [M, Hv*dv], heads of an item. Items: so many
    value heads.
    """
    x, gate, scale = f32_2d(op, 0), f32_2d(op, 1), f32_1d(op, 2)
    eps, out, shared = number(op, 3), f32_2d(op, 4), integer(op, 5)
    width = len(scale)
    whole = width // LANES * LANES
    for head in range(first * shared, last * shared):
        start, end = head * width, (head + 1) * width
        for m in range(x.shape[0]):
            row, target, z = x[m, start:end], out[m, start:end], gate[m, start:end]
            inverse = inverse_rms(row, eps)
            factor = splat(inverse)
            for k in range(0, whole, LANES):
                gates = load(z, k)
                store(target, k, ((load(row, k) * factor) * load(scale, k)) * (gates * sigmoid16(gates)))
            for k in range(whole, width):
                target[k] = ((row[k] * inverse) * scale[k]) * (z[k] * sigmoid(z[k]))


@operation
def swiglu(op, run, first, last):
    """silu(gate) * up. Arguments: gate_up [M, ≥2I] (gate, then up), out [M, I], columns of an item. Items: cuts of so
    many columns."""
    gate_up, out, cut = f32_2d(op, 0), f32_2d(op, 1), integer(op, 2)
    width = out.shape[1]
    start, end = first * cut, min(last * cut, width)
    whole = (end - start) // LANES * LANES
    for m in range(out.shape[0]):
        gate, up, target = gate_up[m, start:end], gate_up[m, width + start : width + end], out[m, start:end]
        for k in range(0, whole, LANES):
            gates = load(gate, k)
            store(target, k, (gates * sigmoid16(gates)) * load(up, k))
        for k in range(whole, end - start):
            target[k] = (gate[k] * sigmoid(gate[k])) * up[k]
