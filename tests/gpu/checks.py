"""Every kernel of the GPU backend against the numpy reference, bit for bit, on poisoned memory.

The same checks run in numba's CUDA simulator on small odd shapes (tests/test_cuda_simulator.py) and on a GPU
(tests/gpu/prove.py). A check is a function of `Operations` that raises when a bit differs.
"""

from __future__ import annotations

from types import SimpleNamespace
from unittest import mock

import numpy as np

from kestrel_cuda import cursor as places
from kestrel_cuda import finish, sampling
from kestrel_cuda.operations import Operations, Settings
from kestrel_cuda.settings import setting_arrays
from kestrel_engine import numerics
from kestrel_engine.options import MAX_DRAFT, SamplingOptions
from kestrel_engine.reference import ReferenceBackend
from kestrel_engine.sampling import Sampler
from kestrel_engine.state import KEY_BLOCK, RING_ROWS, DeltaLayer, KVCache

REFERENCE = ReferenceBackend()
EPS = 1e-6
F = np.float32


def draw(seed, *shape: int, scale: float = 1.0) -> np.ndarray:
    """Normal numbers with some zeros of both signs, very small and large ones among them."""
    random = np.random.default_rng(seed)
    x = random.standard_normal(shape) * scale
    special = random.choice([0.0, -0.0, 1e-30, -1e-38, 30.0, -30.0], shape)
    return np.where(random.random(shape) < 0.1, special, x).astype(F)


def assert_same(one, other, what: object) -> None:
    one, other = (np.ascontiguousarray(x) for x in (one, other))
    assert one.shape == other.shape and one.dtype == other.dtype, (what, one.shape, other.shape)
    bits = np.uint32 if one.dtype == F else one.dtype
    wrong = np.argwhere(one.view(bits) != other.view(bits))
    assert len(wrong) == 0, (what, f"{len(wrong)} of {one.size} differ, first {wrong[:3].tolist()}")


def cursor_of(kernels: Operations, **values: int):
    cursor = np.full(places.SIZE, 1 << 20, np.int32)
    for name, value in values.items():
        cursor[getattr(places, name.upper())] = value
    return kernels.memory.upload(cursor)


def read_operand(operand, rows: int, kind: str) -> tuple:
    """An operand's rows as numpy has them: floats [M, K], or values [M, K] and scales [M, K/32]."""
    segments, width = operand.segments, operand.width
    if kind == "bf16":
        flat = operand.floats.host().reshape(-1, 64, segments, 4).transpose(0, 2, 1, 3)
        return (flat.reshape(len(flat), -1)[:rows, :width],)
    values = operand.values.host().reshape(-1, 8, 2, segments, 16).transpose(0, 3, 1, 2, 4)
    scales = operand.scales.host().reshape(-1, 8, segments).transpose(0, 2, 1)
    values, scales = values.reshape(len(values), -1), scales.reshape(len(scales), -1)
    return values[:rows, :width], scales[:rows, : width // numerics.BLOCK]


def check_operand(operand, x: np.ndarray, what: str) -> None:
    """The operand holds rows x [M, K], for every kind of matrix that it serves."""
    if operand.kinds & 2:
        assert_same(read_operand(operand, len(x), "bf16")[0], x, f"{what}: floats")
    if operand.kinds & 1:
        values, scales = numerics.quantize_activations(x)
        read = read_operand(operand, len(x), "q8")
        assert_same(read[0], values, f"{what}: int8 values")
        assert_same(read[1], scales, f"{what}: int8 scales")


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
    with mock.patch.object(finish, "STAGED", staged or finish.STAGED):
        for _ in range(1 if add else 2):  # the counters must be as they were
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
    for _ in range(2):
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
) -> None:
    """Convolution, inputs, replay, rows, gated norm and the new log: a whole layer between its products."""
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
    cursor = cursor_of(kernels, position=position - offset, log_length=log, commit=commit + offset)
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
    cache = KVCache(
        draw(21, kv_heads, blocks, width, KEY_BLOCK), draw(22, kv_heads, positions, width), position
    )
    qkv = draw((23, rows), rows, 2 * (query_heads + kv_heads) * width)
    weights = SimpleNamespace(query_norm=draw(24, width), key_norm=draw(25, width))
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


# --- sampling ---------------------------------------------------------------------------------------------


def choose(
    kernels: Operations, rows: int, size: int, options: dict, first_step: int = 0, ids: bool = False
) -> None:
    """Tokens, their logits, and log-sum-exps of rows of logits, with the engine's own sampler as the truth."""
    memory, options = kernels.memory, SamplingOptions(seed=0x5EED_1234_5678, **options)
    random = np.random.default_rng(rows)
    logits = draw((31, rows), rows, size, scale=3)
    logits[:, 1 : size // 2 : 7] = logits[:, 0:1]  # ties
    names = np.sort(random.choice(3 * size, size, replace=False)) if ids else None
    vocabulary = 3 * size if ids else size
    prompt, emitted = (random.choice(vocabulary, 9).tolist() for _ in range(2))
    drafts = random.choice(vocabulary if names is None else names, first_step + rows).tolist()
    sampler = Sampler(options, REFERENCE, prompt)
    for token in emitted:
        sampler.emit(token)

    flags = np.zeros(vocabulary, np.uint8)
    flags[prompt] |= sampling.IN_PROMPT if options.repetition_penalty != 1 else 0
    flags[emitted[:4]] |= sampling.IN_ANSWER
    integers, reals = setting_arrays(options)
    integers[sampling.MARK_COUNT] = len(emitted) - 4
    position = 1000
    settings = Settings(
        cursor_of(kernels, position=position),
        memory.upload(integers),
        memory.upload(reals),
        memory.upload(np.array([7, *drafts], np.int32)),
        memory.upload(flags),
        memory.zeros((2,), np.int32),
    )
    there = memory.upload(logits)
    damaged = memory.empty((16,), np.int32)
    chosen, values, judged = memory.empty((16,), np.int32), memory.empty((16,), F), memory.empty((16,), F)
    kernels.begin_round(settings, memory.upload(np.array(emitted[4:], np.int32)), damaged)
    tokens = memory.upload(np.zeros(1, np.int32) if names is None else names.astype(np.int32))
    outcome = (chosen, values, judged, damaged)
    kernels.choose(there, tokens, rows, first_step, ids, settings, kernels.candidates(rows), outcome)
    sums = memory.empty((rows,), F)
    kernels.log_sum_exp(there, rows, sums)
    for m in range(rows):
        step = first_step + m
        call = sampler.sample if names is None else sampler.sample_draft
        extra = () if names is None else (names,)
        token = call(logits[m], *extra, position + 1 + step, drafts[:step])
        place = token if names is None else int(np.searchsorted(names, token))
        assert chosen.host()[step] == token, ("token", m, chosen.host()[step], token)
        assert_same(values.host()[step], logits[m, place], "its logit")
        if names is None:
            assert_same(judged.host()[step], logits[m, drafts[step]], "the judged draft's logit")
        assert_same(sums.host()[m], REFERENCE.log_sum_exp(logits[m]), "log-sum-exp")
    assert not damaged.host().any()


def damage(kernels: Operations) -> None:
    """A NaN or an infinity among the logits is noticed, in its row alone."""
    memory = kernels.memory
    logits = draw(41, 3, 40)
    logits[1, 17], logits[2, 39] = np.nan, np.inf
    integers, reals = setting_arrays(SamplingOptions())
    settings = Settings(
        cursor_of(kernels, position=4),
        *(memory.upload(x) for x in (integers, reals, np.zeros(9, np.int32), np.zeros(40, np.uint8))),
        memory.zeros((2,), np.int32),
    )
    outcome = tuple(memory.empty((9,), kind) for kind in (np.int32, F, F, np.int32))
    kernels.begin_round(settings, memory.zeros((1,), np.int32), outcome[3])
    ids = memory.zeros((1,), np.int32)
    kernels.choose(memory.upload(logits), ids, 3, 0, False, settings, kernels.candidates(3), outcome)
    assert outcome[3].host().tolist() == [0, 1, 1, 0, 0, 0, 0, 0, 0]


FILTERED = dict(temperature=0.8, top_k=5, top_p=0.9, min_p=0.02)
PENALTIES = dict(presence_penalty=1.5, repetition_penalty=1.2)

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
        dict(rows=1, commit=1, log=0, position=0, heads=(1, 1), widths=(32, 32)),
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
        dict(rows=2, commit=2, log=2, position=40, heads=(1, 1), widths=(32, 32), offset=8),
    ),
    "attention, first token": (attention, dict(rows=1, position=0, heads=(2, 1), width=32, rotary=16)),
    "attention, across blocks": (attention, dict(rows=2, position=31, heads=(4, 2), width=64, rotary=12)),
    "attention, across segments": (attention, dict(rows=2, position=255, heads=(2, 1), width=32, rotary=8)),
    "attention, many pairs": (attention, dict(rows=9, position=35, heads=(3, 1), width=32, rotary=32)),
    "attention behind a product": (
        attention,
        dict(rows=2, position=3, heads=(2, 1), width=32, rotary=16, hidden=32, threads=64),
    ),
    "greedy, with ties": (choose, dict(rows=3, size=97, options={})),
    "greedy with penalties": (choose, dict(rows=2, size=64, options=PENALTIES)),
    "temperature": (choose, dict(rows=2, size=133, options=dict(temperature=1.3))),
    "filters": (choose, dict(rows=3, size=150, options=FILTERED)),
    "filters and penalties": (choose, dict(rows=2, size=96, options=FILTERED | PENALTIES)),
    "top k above the vocabulary": (choose, dict(rows=1, size=5, options=dict(temperature=1, top_k=9))),
    "draft rows with ids": (
        choose,
        dict(rows=1, size=70, options=FILTERED | PENALTIES, first_step=2, ids=True),
    ),
    "damaged logits": (damage, {}),
}
"""Name -> (check, arguments): small odd shapes, for the simulator and for a GPU."""
