"""Every kernel of the GPU backend against the numpy reference, bit for bit, on poisoned memory.

The same checks run in numba's CUDA simulator on small odd shapes (tests/test_cuda_simulator.py) and on a GPU
(tests/gpu/prove.py). A check is a function of `Operations` that raises when a bit differs.
"""

from __future__ import annotations

from types import SimpleNamespace
from unittest import mock

import checks_sampling
import checks_settle
import numpy as np
from compare import F, assert_same, check_operand, cursor_of, draw, spoil

from kestrel_cuda import cursor as places
from kestrel_cuda import finish
from kestrel_cuda.operations import Operations
from kestrel_cuda.target import SIMULATOR
from kestrel_engine import numerics
from kestrel_engine.options import MAX_DRAFT
from kestrel_engine.reference import ReferenceBackend
from kestrel_engine.state import KEY_BLOCK, RING_ROWS, DeltaLayer, KVCache

REFERENCE = ReferenceBackend()
EPS = 1e-6


# --- matrices ---------------------------------------------------------------------------------------------


def matmul(kernels: Operations, format: str, rows: int, count: int, width: int, add: bool = False) -> None:
    memory = kernels.memory
    bits = numerics.to_bfloat16(draw((rows, count, width), count, width, scale=0.1))
    x = draw((width, rows), rows, width)
    matrix, reference = kernels.pack(bits, format), REFERENCE.pack(bits, format)
    operand = kernels.operand(rows, width, {format})
    kernels.to_operand(memory.upload(x), rows, operand)
    check_operand(operand, x, "operand")
    before = draw(3, rows, count)
    out = memory.upload(before) if add else memory.empty((rows, count), F)
    kernels.matmul(operand, rows, matrix, out, add)
    expected = REFERENCE.matmul(x, reference)
    assert_same(out.host(), before + expected if add else expected, f"{format} {rows}x{count}x{width}")


def tiles(kernels: Operations, format: str, rows: int, count: int, width: int, add: bool) -> None:
    """A product on the tensor cores; many rows in bf16 are multiplied a few at a time."""
    operand, matrix, expected = product(kernels, format, rows, count, width)
    before = draw(3, rows, count)
    out = kernels.memory.upload(before) if add else kernels.memory.empty((rows, count), F)
    kernels.matmul_wide(operand, rows, matrix, out, add)
    assert_same(out.host(), before + expected if add else expected, f"{format} {rows}x{count}x{width}")


# --- rows -------------------------------------------------------------------------------------------------


def embed(kernels: Operations, pairs: bool) -> None:
    """Embeddings and their norms; with `pairs`, the norms of hidden rows beside them."""
    memory = kernels.memory
    table, hidden = numerics.to_bfloat16(draw(1, 37, 96)), draw(6, 3, 96)
    scale, hidden_scale = draw(7, 96), draw(8, 96)
    tokens = np.array([5, 0, 36, 36, 7], np.int32)
    out, operand = memory.empty((3, 96), F), kernels.operand(3, 96 * (1 + pairs), {"q8", "bf16"})
    beside = (memory.upload(hidden), memory.upload(hidden_scale)) if pairs else None
    there = memory.upload(tokens), 2, 3, memory.upload(table), out, memory.upload(scale)
    kernels.embed(*there, EPS, operand, beside)
    expected = REFERENCE.embed(list(tokens[2:]), table)
    assert_same(out.host(), expected, "embed")
    normed = REFERENCE.rms_norm(expected, scale, F(EPS))
    if pairs:
        right = REFERENCE.rms_norm(hidden, hidden_scale, F(EPS))
        normed = np.concatenate([normed, right], axis=1)
    check_operand(operand, normed, "norms")


def norm(kernels: Operations, rows: int, width: int, formats: tuple) -> None:
    memory = kernels.memory
    x, scale = draw((2, rows), rows, width), draw(3, width)
    operand = kernels.operand(rows, width, set(formats))
    plain = memory.empty((rows, width), F)
    kernels.norm(memory.upload(x), rows, memory.upload(scale), EPS, operand, plain)
    expected = REFERENCE.rms_norm(x, scale, F(EPS))
    assert_same(plain.host(), expected, "norm")
    check_operand(operand, expected, "norm")


def halves(kernels: Operations) -> None:
    """Activations that lie half-way between two integers."""
    x = np.arange(64, dtype=F).reshape(2, 32) - F(31.5)
    x[:, 0] = 127
    operand = kernels.operand(2, 32, {"q8"})
    kernels.to_operand(kernels.memory.upload(x), 2, operand)
    check_operand(operand, x, "halves")


def product(kernels: Operations, format: str, rows: int, count: int, width: int) -> tuple:
    """-> the operand, the matrix, and the product that the reference makes of them."""
    bits = numerics.to_bfloat16(draw((rows, count, width), count, width, scale=0.1))
    x = draw((width, rows), rows, width)
    operand = kernels.operand(rows, width, {format, "bf16"})
    kernels.to_operand(kernels.memory.upload(x), rows, operand)
    return operand, kernels.pack(bits, format), REFERENCE.matmul(x, REFERENCE.pack(bits, format))


def norm_behind(
    kernels: Operations,
    format: str,
    rows: int,
    count: int,
    width: int,
    formats: tuple,
    add: bool,
    staged: int = 0,
) -> None:
    """A product whose last block does the norm of its rows; in the simulator `staged` floats of them at once."""
    memory = kernels.memory
    operand, matrix, expected = product(kernels, format, rows, count, width)
    before, scale = draw(3, rows, count), draw(5, count)
    normed, plain = kernels.operand(rows, count, set(formats)), memory.empty((rows, count), F)
    out = memory.upload(before) if add else memory.empty((rows, count), F)
    staged = staged if SIMULATOR and staged else finish.STAGED  # a card has compiled it
    with mock.patch.object(finish, "STAGED", staged):
        for _ in range(1 if add else 2):
            spoil(normed)
            if not add:
                out[...] = np.full(out.shape, np.nan, F)
            kernels.matmul_norm(operand, rows, matrix, out, add, memory.upload(scale), EPS, normed, plain)
    expected = before + expected if add else expected
    assert_same(out.host(), expected, "product")
    expected = REFERENCE.rms_norm(expected, scale, F(EPS))
    assert_same(plain.host(), expected, "norm")
    check_operand(normed, expected, "norm")


def swiglu_behind(
    kernels: Operations, format: str, rows: int, width: int, inner: int, formats: tuple
) -> None:
    """A product whose blocks go on to SwiGLU."""
    operand, matrix, expected = product(kernels, format, rows, 2 * inner, width)
    gate_up, out = kernels.memory.empty((rows, 2 * inner), F), kernels.operand(rows, inner, set(formats))
    for _ in range(2):  # the counters must be as they were
        spoil(out)
        kernels.matmul_swiglu(operand, rows, matrix, gate_up, out)
    assert_same(gate_up.host(), expected, "product")
    check_operand(out, REFERENCE.swiglu(expected), "SwiGLU")


def two_products(kernels: Operations, format: str, rows: int, counts: tuple[int, int], width: int) -> None:
    """One launch of a matrix and a second one in bf16."""
    operand, matrix, expected = product(kernels, format, rows, counts[0], width)
    bits = numerics.to_bfloat16(draw(9, counts[1], width))
    outs = [kernels.memory.empty((rows, count), F) for count in counts]
    kernels.two_matmuls(operand, rows, matrix, outs[0], kernels.pack(bits, "bf16"), outs[1])
    assert_same(outs[0].host(), expected, "the first")
    x = draw((width, rows), rows, width)
    assert_same(outs[1].host(), REFERENCE.matmul(x, REFERENCE.pack(bits, "bf16")), "the second")


def swiglu(kernels: Operations, rows: int, width: int, formats: tuple) -> None:
    gate_up = draw((4, rows), rows, 2 * width, scale=3)
    operand = kernels.operand(rows, width, set(formats))
    kernels.swiglu(kernels.memory.upload(gate_up), rows, operand)
    check_operand(operand, REFERENCE.swiglu(gate_up), "swiglu")


def take_row(kernels: Operations) -> None:
    x, out = draw(8, 5, 70), kernels.memory.empty((1, 70), F)
    cursor = cursor_of(kernels, newest_row=3)
    kernels.take_row(kernels.memory.upload(x), cursor, places.NEWEST_ROW, out)
    assert_same(out.host(), x[3:4], "take row")


# --- recurrent layers -------------------------------------------------------------------------------------


def delta_layer(seed: int, key_heads: int, value_heads: int, dk: int, dv: int, log: int) -> DeltaLayer:
    channels = 2 * key_heads * dk + value_heads * dv
    return DeltaLayer(
        state=draw((seed, 1), value_heads, dk, dv),
        ring=draw((seed, 2), RING_ROWS, channels),
        log_decay=np.abs(draw((seed, 3), MAX_DRAFT, value_heads)),
        log_key=draw((seed, 4), MAX_DRAFT, key_heads, dk),
        log_correction=draw((seed, 5), MAX_DRAFT, value_heads, dv),
        log_length=log,
    )


def on_device(kernels: Operations, item) -> SimpleNamespace:
    """A copy of a DeltaLayer, KVCache or namespace with its arrays on the device."""
    names = getattr(item, "__slots__", None) or vars(item)
    fields = {name: getattr(item, name) for name in names}
    return SimpleNamespace(
        **{k: kernels.memory.upload(v) if isinstance(v, np.ndarray) else v for k, v in fields.items()}
    )


def delta(
    kernels: Operations,
    rows: int,
    commit: int,
    log: int,
    position: int,
    heads: tuple[int, int],
    widths: tuple[int, int],
    formats: tuple = ("q8",),
    offset: int = 0,
    more: int = 0,
) -> None:
    """Convolution, inputs, replay, rows, gated norm and the new log: a whole layer between its products; the rows
    are part of a pass, `offset` rows before them and `more` behind."""
    memory, (key_heads, value_heads), (dk, dv) = kernels.memory, heads, widths
    layer = delta_layer(rows, key_heads, value_heads, dk, dv, log)
    channels, value_width = layer.ring.shape[1], value_heads * dv
    weights = SimpleNamespace(
        taps=draw(11, 4, channels),
        negative_a=-np.abs(draw(12, value_heads)),
        dt_bias=draw(13, value_heads),
        output_norm=draw(16, dv),
    )
    qkv_z, beta_a = draw((14, rows), rows, channels + value_width), draw((15, rows), rows, 2 * value_heads)
    device_layer, device_weights = on_device(kernels, layer), on_device(kernels, weights)
    cursor = cursor_of(kernels, position=position - offset, log_length=log, commit=commit + offset + more)
    operand = kernels.operand(rows, value_width, set(formats))
    out = memory.empty((rows, value_width), F)
    there = memory.upload(qkv_z), memory.upload(beta_a), device_weights, cursor, offset, rows, out
    kernels.delta_rows(device_layer, *there, EPS, operand)

    layer.conv_length, layer.log_length = position, 0 if offset else log
    convolved = REFERENCE.conv_silu(qkv_z, layer, weights.taps)
    inputs = REFERENCE.delta_inputs(convolved, beta_a, weights, layer)
    REFERENCE.delta_replay(layer)
    expected = REFERENCE.delta_rows(inputs, convolved, layer, commit)
    assert_same(out.host(), expected, "rows")
    for name in ("ring", "state", "log_correction", "log_key", "log_decay"):
        assert_same(getattr(device_layer, name).host(), getattr(layer, name), name)
    gated = REFERENCE.gated_norm(expected, qkv_z[:, channels:], weights.output_norm, F(EPS))
    check_operand(operand, gated, "gated norm")


# --- attention --------------------------------------------------------------------------------------------


def attention(
    kernels: Operations,
    rows: int,
    position: int,
    heads: tuple[int, int],
    width: int,
    rotary: int,
    hidden: int = 0,
    threads: int = 0,
) -> None:
    """Head norms, rotation and cache writes, and the gated attention of rows position…; with `hidden`, behind
    the product of rows of that width, in blocks of at least that many threads."""
    memory, (query_heads, kv_heads) = kernels.memory, heads
    positions = position + rows + 5
    blocks = -(-positions // KEY_BLOCK)
    keys = np.clip(draw(21, kv_heads, blocks, width, KEY_BLOCK), -2, 2)  # so that every position has a weight
    cache = KVCache(keys, draw(22, kv_heads, positions, width), position)
    qkv = draw((23, rows), rows, 2 * (query_heads + kv_heads) * width)
    weights = SimpleNamespace(
        query_norm=np.clip(draw(24, width), -1, 1), key_norm=np.clip(draw(25, width), -1, 1)
    )
    tables = numerics.rope_tables(positions, rotary, 1e7)
    there, device_weights = on_device(kernels, cache), on_device(kernels, weights)
    cursor = cursor_of(kernels, mtp_position=position - 1)
    where = (cursor, places.MTP_POSITION, 1)
    query = memory.empty((rows, query_heads, width), F)
    device_tables = tuple(memory.upload(table) for table in tables)
    if hidden:
        kernels = Operations(memory, kernels.warps, threads)
        operand, matrix, qkv = product(kernels, "q8", rows, qkv.shape[1], hidden)
        qkv_there = memory.empty(qkv.shape, F)
        inputs = (device_weights, EPS, device_tables, *where, query, there)
        kernels.matmul_heads(operand, rows, matrix, qkv_there, *inputs)
    else:
        qkv_there = memory.upload(qkv)
        kernels.attention_inputs(qkv_there, device_weights, EPS, device_tables, *where, rows, query, there)
    scratch = kernels.scratch(rows, query_heads, width, positions)
    out = kernels.operand(rows, query_heads * width, {"q4", "bf16"})
    kernels.attention(query, qkv_there, there, scratch, *where, rows, out)

    expected = REFERENCE.attention_inputs(qkv, weights, F(EPS), tables, cache, query_heads)
    assert_same(query.host(), expected, "queries")
    assert_same(there.keys.host(), cache.keys, "keys")
    assert_same(there.values.host(), cache.values, "values")
    check_operand(out, REFERENCE.attention(expected, qkv, cache, position), "attention")


SMALL = {
    "embed": (embed, dict(pairs=False)),
    "embed pairs": (embed, dict(pairs=True)),
    "take row": (take_row, {}),
    **{
        f"{format} product, {rows} x {width} -> {count}{', added' * add}": (
            matmul,
            dict(format=format, rows=rows, count=count, width=width, add=add),
        )
        for format in ("q4", "q8", "bf16")
        for rows, count, width, add in ((1, 33, 288, False), (3, 5, 544, True), (9, 7, 64, False))
    },
    **{
        f"{format} tiles, {rows} x {width} -> {count}{', added' * add}": (
            tiles,
            dict(format=format, rows=rows, count=count, width=width, add=add),
        )
        for format, rows, count, width, add in (
            ("q4", 35, 5, 32, False),
            ("q4", 9, 19, 32, True),
            ("q8", 11, 18, 288, True),
            ("bf16", 7, 3, 64, True),
        )
    },
    "halves": (halves, {}),
    "two products": (two_products, dict(format="q4", rows=2, counts=(37, 6), width=288)),
    "norm": (norm, dict(rows=2, width=96, formats=("q8", "bf16"))),
    "norm behind a product": (
        norm_behind,
        dict(format="q4", rows=1, count=96, width=288, formats=("q4",), add=False),
    ),
    "norm behind a sum, in parts": (
        norm_behind,
        dict(format="bf16", rows=3, count=64, width=64, formats=("q8", "bf16"), add=True, staged=32),
    ),
    "norm of many rows behind a product": (
        norm_behind,
        dict(format="q8", rows=5, count=64, width=32, formats=("q8",), add=True),
    ),
    "SwiGLU": (swiglu, dict(rows=3, width=96, formats=("q8", "bf16"))),
    "SwiGLU behind a product": (
        swiglu_behind,
        dict(format="q8", rows=2, width=544, inner=32, formats=("q8",)),
    ),
    "SwiGLU behind wide tiles": (
        swiglu_behind,
        dict(format="q4", rows=1, width=32, inner=96, formats=("q4", "bf16")),
    ),
    "delta, first token": (
        delta,
        dict(rows=1, commit=1, log=0, position=0, heads=(1, 1), widths=(64, 32)),
    ),
    "delta, a round behind a replay": (
        delta,
        dict(rows=4, commit=1, log=3, position=13, heads=(1, 2), widths=(48, 32), formats=("q4", "bf16")),
    ),
    "delta, all rows committed": (
        delta,
        dict(rows=3, commit=3, log=1, position=2, heads=(2, 2), widths=(16, 64)),
    ),
    "delta, the longest round": (
        delta,
        dict(rows=9, commit=1, log=8, position=30, heads=(1, 3), widths=(64, 32)),
    ),
    "delta, further rows of a pass": (
        delta,
        dict(rows=2, commit=2, log=2, position=40, heads=(1, 1), widths=(32, 32), offset=8, more=3),
    ),
    "attention, first token": (attention, dict(rows=1, position=0, heads=(2, 1), width=32, rotary=16)),
    "attention, across blocks": (attention, dict(rows=2, position=31, heads=(4, 2), width=64, rotary=12)),
    "attention, across segments": (attention, dict(rows=2, position=255, heads=(2, 1), width=32, rotary=8)),
    "attention, many pairs": (attention, dict(rows=9, position=35, heads=(3, 1), width=32, rotary=32)),
    "attention behind a product": (
        attention,
        dict(rows=2, position=3, heads=(2, 1), width=32, rotary=16, hidden=32, threads=64),
    ),
    **checks_sampling.SMALL,
    **checks_settle.SMALL,
}
"""Name -> (check, arguments): small odd shapes, for the simulator and for a GPU."""
