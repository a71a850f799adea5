"""Every operation of the CPU backend against the reference, bit for bit, on poisoned memory."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from bits import assert_same, poison_heap, poison_numpy_empty, same
from hypothesis import given, settings
from hypothesis import strategies as st

from kestrel_engine import numerics
from kestrel_engine.cpu import backend as cpu_backend
from kestrel_engine.cpu import linear, program
from kestrel_engine.cpu.backend import CpuBackend
from kestrel_engine.options import MAX_DRAFT
from kestrel_engine.reference import ReferenceBackend
from kestrel_engine.state import KEY_BLOCK, RING_ROWS, DeltaLayer, KVCache

REFERENCE = ReferenceBackend()
EPS = 1e-6
FORMATS = ("bf16", "q8", "q4")
F = np.float32


@pytest.fixture(autouse=True, scope="module")
def poisoned_buffers():
    """Output and scratch start as NaN, so that an element left unwritten or read too early shows."""
    with pytest.MonkeyPatch.context() as patch:
        poison_numpy_empty(patch, cpu_backend, program, linear)
        yield


@pytest.fixture(params=[1, 2], ids=["1 thread", "2 threads"])
def backend(request, monkeypatch) -> CpuBackend:
    """With two threads even the smallest work goes the parallel way."""
    return parallel_everywhere(monkeypatch, request.param)


def parallel_everywhere(monkeypatch, threads: int) -> CpuBackend:
    monkeypatch.setattr(program, "PARALLEL_BYTES", 0)
    backend = CpuBackend(threads)
    poison_heap()
    return backend


def draw(seed, *shape: int, scale: float = 1.0) -> np.ndarray:
    """Normal numbers with some zeros of both signs, very small and large ones among them."""
    random = np.random.default_rng(seed)
    x = random.standard_normal(shape) * scale
    special = random.choice([0.0, -0.0, 1e-30, -1e-38, 30.0, -30.0], shape)
    return np.where(random.random(shape) < 0.1, special, x).astype(F)


def padded(x: np.ndarray, columns: int = 16) -> np.ndarray:
    """x as a view of wider rows, as matrix products are; the rest is NaN."""
    wide = np.full((len(x), x.shape[1] + columns), np.nan, F)
    wide[:, : x.shape[1]] = x
    return wide[:, : x.shape[1]]


def copies(item):
    """A DeltaLayer or KVCache twice: one for each backend."""
    fields = {name: getattr(item, name) for name in item.__slots__}
    return tuple(
        type(item)(**{k: v.copy() if isinstance(v, np.ndarray) else v for k, v in fields.items()})
        for _ in range(2)
    )


def assert_same_fields(one, other) -> None:
    for name in one.__slots__:
        assert_same(getattr(one, name), getattr(other, name), name)


# --- matrices ---------------------------------------------------------------------------------------------


def draw_matrix(seed, rows: int, width: int) -> np.ndarray:
    """bfloat16 bits, with blocks of zeros, of tiny and of equal values, and blocks with one outlier."""
    random = np.random.default_rng(seed)
    blocks = random.standard_normal((rows, width // 32, 32)).astype(F)
    kind = random.integers(0, 12, (rows, width // 32))
    blocks[kind == 0] = 0
    blocks[kind == 1] *= F(1e-39)
    blocks[kind == 2] = -1
    blocks[kind == 3, 5] = 1000
    return numerics.to_bfloat16(blocks.reshape(rows, width))


def draw_rows(seed, rows: int, width: int) -> np.ndarray:
    """Activations, with blocks of zeros and blocks too small to quantise."""
    random = np.random.default_rng(seed)
    blocks = draw(seed, rows, width // 32, 32)
    kind = random.integers(0, 12, (rows, width // 32))
    blocks[kind == 0] = -0.0
    blocks[kind == 1] = F(1e-31)
    return blocks.reshape(rows, width)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("width", [32, 64, 96, 288, 544, 1056])
def test_matmul(backend, format, width):
    """Any number of rows gives the reference's bits, so row m of many has the bits of one row alone."""
    for outputs in (1, 7, 16, 17, 37, 85):
        matrix, x = draw_matrix(outputs, outputs, width), draw_rows(width, 11, width)
        expected = REFERENCE.matmul(x, REFERENCE.pack(matrix, format))
        packed = backend.pack(matrix, format)
        for rows in range(1, 12):
            ours = backend.matmul(x[:rows].copy(), packed)
            assert_same(ours, expected[:rows], (outputs, rows))
        for m in range(11):
            assert_same(backend.matmul(x[m : m + 1].copy(), packed), expected[m : m + 1], (outputs, m))


@pytest.mark.parametrize("format", FORMATS)
def test_matmul_of_many_rows_and_more_threads_than_tiles(format, monkeypatch):
    matrix, x = draw_matrix(0, 18, 96), draw_rows(1, 70, 96)
    expected = REFERENCE.matmul(x, REFERENCE.pack(matrix, format))
    for threads in (1, 2, 3, 7):
        backend = parallel_everywhere(monkeypatch, threads)
        assert_same(backend.matmul(x, backend.pack(matrix, format)), expected, threads)


@pytest.mark.parametrize("format", FORMATS)
def test_products_of_what_a_pass_has_just_made(backend, format):
    """Rows are quantised one by one behind a norm, in cuts behind SwiGLU, and in groups that end anywhere."""
    matrix, scale, x = draw_matrix(0, 37, 96), draw(1, 96), draw_rows(2, 25, 96)
    gate_up, reference = draw(3, 25, 192, scale=20), REFERENCE.pack(matrix, format)
    normed, gated = REFERENCE.rms_norm(x, scale, F(EPS)), REFERENCE.swiglu(gate_up)
    expected = [REFERENCE.matmul(each, reference) for each in (x, normed, gated)]
    packed = backend.pack(matrix, format)
    for rows in (1, 2, 7, 8, 9, 15, 16, 17, 25):
        given, wide = x[:rows].copy(), padded(gate_up[:rows])
        with backend.recording(rows) as steps:
            products = [
                backend.matmul(given, packed),
                backend.matmul(backend.rms_norm(given, scale, EPS), packed),
                backend.matmul(backend.swiglu(wide), packed),
            ]
        steps.seal().execute()
        for product, whole in zip(products, expected, strict=True):
            assert_same(product, whole[:rows], rows)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("sign", [1, -1])
def test_sums_of_the_largest_products(format, sign):
    """A block's sum is exact where sums of fewer bits would not hold it."""
    matrix = numerics.to_bfloat16(np.full((17, 64), sign, F))
    for rows in (1, 9):
        x = np.full((rows, 64), -1, F)
        ours = CpuBackend(1).matmul(x, CpuBackend(1).pack(matrix, format))
        assert_same(ours, REFERENCE.matmul(x, REFERENCE.pack(matrix, format)), rows)


@pytest.mark.parametrize("format", FORMATS)
def test_another_order_of_additions_would_be_noticed(format, monkeypatch):
    matrix, x = draw_matrix(0, 16, 544), draw_rows(1, 3, 544)
    ours = CpuBackend(1).matmul(x, CpuBackend(1).pack(matrix, format))
    monkeypatch.setattr(numerics, "SEGMENT", 128)
    assert not same(ours, REFERENCE.matmul(x, REFERENCE.pack(matrix, format)))


@pytest.mark.parametrize("format", ["q8", "q4"])
@settings(max_examples=40)
@given(st.integers(1, 20), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_packed_weights_are_the_canonical_ones(format, rows, blocks, seed):
    matrix = np.random.default_rng(seed).integers(0, 0x10000, (rows, 32 * blocks)).astype(np.uint16)
    matrix[(matrix & 0x7F80) == 0x7F80] &= 0x807F  # finite numbers of every exponent
    packed, expected = CpuBackend(1).pack(matrix, format), REFERENCE.pack(matrix, format)
    values, scales = unpack(packed)
    assert_same(values[:rows], expected.values)
    assert_same(scales[:rows], expected.scales)


def unpack(packed) -> tuple[np.ndarray, np.ndarray]:
    """Values [16*tiles, K] int8 and scales [16*tiles, K/32] of a packed matrix."""
    tiles, blocks, _ = packed.weights.shape
    groups = packed.weights.reshape(tiles, blocks, -1, 16, 4)
    if packed.format == "q4":
        values = np.concatenate([groups & 15, groups >> 4], axis=2).astype(np.int8) - np.int8(8)
    else:
        values = (groups.astype(np.int16) - 128).astype(np.int8)
    values = values.transpose(0, 3, 1, 2, 4).reshape(16 * tiles, 32 * blocks)
    return values, packed.scales.transpose(0, 2, 1).reshape(16 * tiles, blocks)


def test_bfloat16_matrices_of_any_numbers_and_mapped_files(tmp_path):
    matrix = draw_matrix(0, 5, 64)
    matrix.tofile(tmp_path / "matrix")
    mapped = np.memmap(tmp_path / "matrix", np.uint16, "r", shape=matrix.shape)
    x = draw_rows(1, 2, 64)
    for format in FORMATS:
        expected = REFERENCE.matmul(x, REFERENCE.pack(matrix, format))
        for source in (mapped, np.asfortranarray(matrix), np.stack([matrix, matrix])[1]):
            assert_same(CpuBackend(1).matmul(x, CpuBackend(1).pack(source, format)), expected)


# --- rows -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1, 31, 32, 33, 64, 96, 288, 1000])
@pytest.mark.parametrize("rows", [1, 2, 9])
def test_norms_and_additions(width, rows):
    backend, x, scale = CpuBackend(1), draw(width, rows, width), draw(1, width)
    assert_same(backend.rms_norm(x, scale, EPS), REFERENCE.rms_norm(x, scale, EPS))
    zeros = np.zeros_like(x)
    assert_same(backend.rms_norm(zeros, scale, EPS), REFERENCE.rms_norm(zeros, scale, EPS))
    one, other = x.copy(), x.copy()
    backend.add(one, padded(draw(2, rows, width)))
    REFERENCE.add(other, draw(2, rows, width))
    assert_same(one, other)


@pytest.mark.parametrize("width", [16, 32, 48, 64, 96])
def test_gated_norm(width):
    for heads, rows in itertools.product((1, 3), (1, 5)):
        x, gate, scale = draw(width, rows, heads * width), draw(1, rows, heads * width), draw(2, width)
        ours = CpuBackend(1).gated_norm(x, padded(gate, 48), scale, EPS)
        assert_same(ours, REFERENCE.gated_norm(x, gate, scale, EPS))


@pytest.mark.parametrize("width", [1, 7, 16, 33, 96, 200])
def test_swiglu(width):
    for rows in (1, 2, 9):
        gate_up = draw(width, rows, 2 * width, scale=20)
        assert_same(CpuBackend(1).swiglu(padded(gate_up)), REFERENCE.swiglu(gate_up))


def draw_layer(seed, key_heads=2, value_heads=4, dk=32, dv=16) -> DeltaLayer:
    """A layer whose log is NaN wherever nothing was recorded."""
    channels = 2 * key_heads * dk + value_heads * dv
    return DeltaLayer(
        state=draw(seed, value_heads, dk, dv),
        ring=np.full((RING_ROWS, channels), np.nan, F),
        log_decay=np.full((MAX_DRAFT, value_heads), np.nan, F),
        log_key=np.full((MAX_DRAFT, key_heads, dk), np.nan, F),
        log_correction=np.full((MAX_DRAFT, value_heads, dv), np.nan, F),
    )


@pytest.mark.parametrize("position", [0, 1, 2, 3, 15, 16, 17, 1000])
@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (1, 1, 8, 1), (2, 4, 5, 7), (1, 2, 16, 24)], ids=str)
def test_convolution(position, shape):
    """Of the ring only the three rows before `position` hold numbers; the output and the ring must agree."""
    channels = draw_layer(0, *shape).ring.shape[1]
    for rows in (*range(1, 12), 15, 16, 17, 40):
        layer = draw_layer(0, *shape)
        layer.conv_length = position
        for p in range(max(0, position - 3), position):
            layer.ring[p % RING_ROWS] = draw(p, channels)
        x, taps = draw(rows, rows, channels), draw(1, 4, channels)
        one, other = copies(layer)
        assert_same(CpuBackend(1).conv_silu(padded(x), one, taps), REFERENCE.conv_silu(x, other, taps), rows)
        assert_same(one.ring, other.ring, rows)
        assert one.conv_length == position, "the caller moves the cursor"


# --- the gated delta rule ---------------------------------------------------------------------------------

DELTA_SHAPES = [  # key heads, value heads, dk, dv
    (1, 1, 16, 16),
    (2, 2, 32, 32),
    (2, 4, 48, 16),
    (1, 3, 64, 96),
    (3, 6, 32, 48),
    (2, 2, 96, 64),
]


def delta_inputs(backend, seed, rows, key_heads, value_heads, dk, dv):
    """(inputs, mixed) for `delta_rows`, as `backend` makes them."""
    mixed = draw(seed, rows, 2 * key_heads * dk + value_heads * dv)
    beta_a = draw(seed + 1, rows, 2 * value_heads, scale=8)
    weights = SimpleNamespace(
        negative_a=-np.abs(draw(seed + 2, value_heads, scale=4)), dt_bias=draw(seed + 3, value_heads)
    )
    layer = draw_layer(seed, key_heads, value_heads, dk, dv)
    return backend.delta_inputs(mixed, padded(beta_a, 11), weights, layer), mixed


@pytest.mark.parametrize("shape", DELTA_SHAPES, ids=str)
def test_delta_inputs(shape):
    for rows in (1, 2, 9):
        ours, _ = delta_inputs(CpuBackend(1), rows, rows, *shape)
        expected, _ = delta_inputs(REFERENCE, rows, rows, *shape)
        for name, one, other in zip(("query", "key", "decay", "beta"), ours, expected, strict=True):
            assert_same(one, other, name)


@pytest.mark.parametrize("shape", DELTA_SHAPES, ids=str)
def test_delta_rows_and_replay(backend, shape):
    """Outputs, state and log after every split of rows into committed and speculative ones, then the replay."""
    for rows, commit in [(1, 1), (2, 1), (5, 1), (9, 1), (4, 3), (5, 5), (11, 3), (12, 4)]:
        layer = draw_layer(rows, *shape)
        inputs, mixed = delta_inputs(REFERENCE, rows, rows, *shape)
        one, other = copies(layer)
        out = backend.delta_rows(inputs, mixed, one, commit)
        assert_same(out, REFERENCE.delta_rows(inputs, mixed, other, commit), (rows, commit))
        assert_same_fields(one, other)
        one.log_length = other.log_length = min(rows - commit, 5)
        backend.delta_replay(one)
        REFERENCE.delta_replay(other)
        assert_same_fields(one, other)


@settings(max_examples=30)
@given(st.sampled_from(DELTA_SHAPES), st.integers(1, 9), st.integers(0, 8), st.integers(0, 2**20))
def test_replaying_accepted_rows_is_committing_them(shape, rows, accepted, seed):
    accepted = min(accepted, rows - 1)
    backend, layer = CpuBackend(1), draw_layer(seed, *shape)
    inputs, mixed = delta_inputs(backend, seed, rows, *shape)
    speculative, committed = copies(layer)
    out = backend.delta_rows(inputs, mixed, speculative, 1)
    speculative.log_length = accepted
    backend.delta_replay(speculative)

    kept = accepted + 1
    expected = backend.delta_rows(
        tuple(a[:kept].copy() for a in inputs), mixed[:kept].copy(), committed, kept
    )
    assert_same(out[:kept], expected)
    assert_same(speculative.state, committed.state)


# --- attention --------------------------------------------------------------------------------------------

BORDERS = [0, 1, 30, 31, 32, 33, 254, 255, 256, 257, 512, 513]


def draw_cache(seed, kv_heads: int, width: int, length: int, positions: int) -> KVCache:
    """A cache of `length` keys and values; every place beyond is NaN."""
    blocks = -(-positions // KEY_BLOCK)
    keys = np.full((kv_heads, blocks, KEY_BLOCK, width), np.nan, F)
    keys.reshape(kv_heads, -1, width)[:, :length] = draw(seed, kv_heads, length, width)
    values = np.full((kv_heads, positions, width), np.nan, F)
    values[:, :length] = draw(seed + 1, kv_heads, length, width)
    return KVCache(np.ascontiguousarray(keys.transpose(0, 1, 3, 2)), values, length)


ATTENTION_SHAPES = [(1, 1, 16), (4, 2, 32), (3, 3, 48), (6, 2, 64), (4, 1, 96), (9, 1, 72), (10, 2, 64)]
"""Query heads, kv heads, d."""


@pytest.mark.parametrize("shape", ATTENTION_SHAPES, ids=str)
@pytest.mark.parametrize("rows", [1, 2, 5])
def test_attention_inputs(shape, rows):
    """Queries, and the whole caches: written at these positions, untouched elsewhere."""
    heads, kv_heads, width = shape
    weights = SimpleNamespace(query_norm=draw(1, width), key_norm=draw(2, width))
    for length, rotary in itertools.product((0, 3, 30, 31, 32, 255), (width // 4, width)):
        cache = draw_cache(length, kv_heads, width, length, 300)
        tables = numerics.rope_tables(300, rotary, 1e4)
        qkv = draw(rows, rows, 2 * heads * width + 2 * kv_heads * width)
        one, other = copies(cache)
        ours = CpuBackend(1).attention_inputs(padded(qkv), weights, EPS, tables, one, heads)
        assert_same(ours, REFERENCE.attention_inputs(qkv, weights, EPS, tables, other, heads))
        assert_same_fields(one, other)


@pytest.mark.parametrize("shape", ATTENTION_SHAPES, ids=str)
def test_attention(backend, shape):
    heads, kv_heads, width = shape
    for position, rows in itertools.product(BORDERS, (1, 3)):
        cache = draw_cache(position, kv_heads, width, position + rows, position + rows + 9)
        query = draw(1, rows, heads, width)
        qkv = draw(2, rows, 2 * heads * width + 2 * kv_heads * width)
        expected = REFERENCE.attention(query, qkv, cache, position)
        assert_same(backend.attention(query, padded(qkv), cache, position), expected, (position, rows))
        last = slice(rows - 1, rows)
        alone = backend.attention(query[last].copy(), qkv[last], cache, position + rows - 1)
        assert_same(alone, expected[last], (position, rows))


def test_attention_over_extreme_scores(backend):
    """Weights at the lower end of exp, equal scores, and one key that takes everything."""
    cache = draw_cache(0, 1, 32, 70, 80)
    query, qkv = draw(1, 2, 2, 32), draw(2, 2, 192)
    for scale in (F(0), F(1e-20), F(30), F(1e4)):
        expected = REFERENCE.attention(query * scale, qkv, cache, 68)
        assert np.isfinite(expected).all()
        assert_same(backend.attention(query * scale, padded(qkv), cache, 68), expected, scale)


# --- choosing ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [1, 2, 31, 32, 33, 97, 1000])
def test_log_sum_exp(length):
    x = draw(length, length, scale=30)
    assert_same(CpuBackend(1).log_sum_exp(x), REFERENCE.log_sum_exp(x))
    x[: length // 2] = -np.inf
    assert_same(CpuBackend(1).log_sum_exp(x), REFERENCE.log_sum_exp(x))


@given(
    st.lists(st.sampled_from([-np.inf, -1.0, -0.0, 0.0, 1e-30, 1.0, 2.0, np.inf]), min_size=1, max_size=60),
    st.integers(1, 70),
)
def test_top_k(values, count):
    x = np.asarray(values, F)
    assert_same(CpuBackend(1).top_k(x, count), REFERENCE.top_k(x, count))


@given(st.integers(0, 2**63 - 1), st.integers(0, 2**32 - 1), st.lists(st.integers(0, 2**31 - 1), min_size=1))
def test_gumbel(seed, position, ids):
    ids = np.asarray(ids, np.int64)
    assert_same(CpuBackend(1).gumbel(seed, position, ids), REFERENCE.gumbel(seed, position, ids))
