"""The canonical arithmetic against outside oracles (float64, published vectors) and orders written out by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kestrel_engine import numerics
from kestrel_engine.numerics import F

RANDOM = np.random.default_rng


def bits(x) -> np.ndarray:
    """float32 as bits, so that NaN and -0.0 count."""
    return np.atleast_1d(np.asarray(x, F)).view(np.uint32)


def ulps(ours: np.ndarray, exact: np.ndarray) -> float:
    """Largest error in units of the last place of a float32 of the exact value's size."""
    unit = np.spacing(np.abs(exact).astype(F)).astype(np.float64)
    return float((np.abs(ours.astype(np.float64) - exact) / unit).max())


def floats(values) -> np.ndarray:
    return np.asarray(values, F)


# --- elementary functions against float64 -----------------------------------------------------------------

WHOLE_RANGE = np.linspace(-87, 87, 500_001).astype(F)
NEAR_ZERO = (2.0 ** RANDOM(0).uniform(-40, 0, 50_000) * RANDOM(1).choice([-1, 1], 50_000)).astype(F)
ARGUMENTS = np.concatenate([WHOLE_RANGE, NEAR_ZERO, floats([-87, 88, 0.0, -0.0])])


def test_exp_is_within_one_ulp():
    assert ulps(numerics.exp(ARGUMENTS), np.exp(ARGUMENTS.astype(np.float64))) <= 1


def test_exp_at_and_beyond_its_ends():
    ends = numerics.exp(floats([-87, 88]))
    assert (bits(numerics.exp(floats([-np.inf, -1e9, -88, np.nan]))) == bits(ends[0])).all()
    assert (bits(numerics.exp(floats([np.inf, 1e9, 89]))) == bits(ends[1])).all()
    assert np.isfinite(ends).all() and ends[0] >= np.finfo(F).tiny
    assert (bits(numerics.exp(floats([0.0, -0.0]))) == bits(1)).all()


def test_log_is_within_three_ulp():
    every_exponent = RANDOM(2).integers(0x00800000, 0x7F800000, 500_000).astype(np.uint32).view(F)
    near_one = (1 + np.linspace(-0.5, 1, 500_001)).astype(F)
    for x in (every_exponent, near_one[near_one != 1]):
        assert ulps(numerics.log(x), np.log(x.astype(np.float64))) <= 3
    assert bits(numerics.log(floats([1]))) == bits(0)


def test_softplus_is_within_four_ulp():
    x = ARGUMENTS[ARGUMENTS > -87]
    exact = np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x.astype(np.float64))))
    assert ulps(numerics.softplus(x), exact) <= 4
    assert numerics.softplus(floats([1e9])) == F(1e9)


def test_sigmoid_is_within_three_ulp():
    x = ARGUMENTS[np.abs(ARGUMENTS) < 87]
    assert ulps(numerics.sigmoid(x), 1 / (1 + np.exp(-x.astype(np.float64)))) <= 3
    assert numerics.sigmoid(floats([1e9])) == 1


def test_silu_is_x_times_sigmoid():
    x = WHOLE_RANGE[::100]
    assert np.array_equal(bits(numerics.silu(x)), bits(x * numerics.sigmoid(x)))


# --- reductions, written out ------------------------------------------------------------------------------


def lane_sum_by_hand(x: np.ndarray) -> np.float32:
    lanes = [F(0)] * 32
    for n, value in enumerate(x):
        lanes[n % 32] = lanes[n % 32] + value
    for width in (16, 8, 4, 2, 1):
        lanes = [lanes[lane] + lanes[lane + width] for lane in range(width)]
    return lanes[0]


@pytest.mark.parametrize("length", [1, 2, 31, 32, 33, 63, 65, 97, 300])
def test_lane_sum_order(length):
    x = RANDOM(length).standard_normal((2, 3, length)).astype(F) * F(1000) ** RANDOM(1).uniform(-1, 1, length)
    x = x.astype(F)
    ours = numerics.lane_sum(x)
    assert ours.shape == (2, 3)
    for at in itertools.product(range(2), range(3)):
        assert bits(ours[at]) == bits(lane_sum_by_hand(x[at]))


def segment_sum_by_hand(terms: np.ndarray, length: int) -> np.float32:
    total = F(0)
    for start in range(0, len(terms), length):
        partial = F(0)
        for term in terms[start : start + length]:
            partial = partial + term
        total = total + partial
    return total


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 31, 33, 65, 257, 513])
@pytest.mark.parametrize("length", [8, 32, 256])
def test_segment_sum_order(count, length):
    terms = RANDOM(count).standard_normal((count, 3)).astype(F)
    ours = numerics.segment_sum(terms, length)
    for column in range(3):
        assert bits(ours[column]) == bits(segment_sum_by_hand(terms[:, column], length))


def test_the_orders_differ():
    """Else the two tests above would pass with any order."""
    x = RANDOM(0).standard_normal((50, 1000)).astype(F)
    sums = {
        "lanes": numerics.lane_sum(x),
        "segments of 32": numerics.segment_sum(x.T, 32),
        "segments of 256": numerics.segment_sum(x.T, 256),
        "numpy": x.sum(axis=1),
    }
    for one, other in itertools.combinations(sums, 2):
        assert not np.array_equal(sums[one], sums[other]), (one, other)


# --- bfloat16 ---------------------------------------------------------------------------------------------


def nearest_bfloat16(x: float) -> int:
    """By search: the nearer of the two neighbours, the even one when both are as near."""
    below = int(bits(x)[0]) >> 16
    neighbours = [below, below + 1]
    distance = [abs(float(numerics.from_bfloat16(n)) - float(x)) for n in neighbours]
    if distance[0] == distance[1]:
        return neighbours[neighbours[1] % 2 == 0]
    return neighbours[distance[1] < distance[0]]


@given(st.floats(-(2.0**100), 2.0**100, width=32))
def test_bfloat16_rounds_to_nearest(x):
    assert int(numerics.to_bfloat16(floats([x]))[0]) == nearest_bfloat16(F(x))


def test_bfloat16_ties_go_to_even():
    for stored in (0x3F80, 0x3F81, 0xBF80, 0xBF81, 0x0001, 0x7F7E):
        tie = np.uint32([stored << 16 | 0x8000]).view(F)
        expected = stored + stored % 2
        assert numerics.to_bfloat16(tie)[0] == expected
        below, above = (np.uint32([stored << 16 | low]).view(F) for low in (0x7FFF, 0x8001))
        assert numerics.to_bfloat16(below)[0] == stored
        assert numerics.to_bfloat16(above)[0] == stored + 1


def test_bfloat16_of_stored_numbers_is_exact():
    finite = np.arange(0x10000, dtype=np.uint32)
    finite = finite[(finite & 0x7F80) != 0x7F80].astype(np.uint16)
    assert np.array_equal(numerics.to_bfloat16(numerics.from_bfloat16(finite)), finite)


# --- quantisation -----------------------------------------------------------------------------------------


def block(*values: float) -> np.ndarray:
    """One block [1, 32] that starts with `values`; the others are 0."""
    return floats([[*values, *[0.0] * (32 - len(values))]])


def test_activations_of_a_zero_block_are_zeros():
    values, scales = numerics.quantize_activations(block(0.0, -0.0))
    assert (values == 0).all() and bits(scales) == bits(0.0)


def test_activations_below_the_smallest_scale_are_zeros():
    smallest = numerics.SMALLEST_SCALE
    for tiny in (smallest, F(1e-38), np.finfo(F).smallest_subnormal):
        values, scales = numerics.quantize_activations(block(tiny, -tiny))
        assert (values == 0).all() and scales[0, 0] == tiny / F(127)
    just_above = np.nextafter(smallest, F(1))
    values, _ = numerics.quantize_activations(block(just_above, -just_above))
    assert values[0, 0] == 127 and values[0, 1] == -127


@pytest.mark.parametrize("largest", [1e-29, 0.3, 1.0, 127.0, 3e38])
def test_largest_activation_becomes_127(largest):
    values, scales = numerics.quantize_activations(block(largest, -largest, largest / 2))
    assert values[0, 0] == 127 and values[0, 1] == -127 and scales[0, 0] == F(largest) / F(127)


def test_activations_round_half_to_even():
    values, _ = numerics.quantize_activations(block(127, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999997))
    assert values[0, :8].tolist() == [127, 0, 2, 2, 0, -2, -2, 0]


def test_activation_blocks_have_scales_of_their_own():
    x = np.concatenate([block(1.0), block(0.0), block(1000.0)], axis=1)
    values, scales = numerics.quantize_activations(x)
    assert values.reshape(3, 32)[:, 0].tolist() == [127, 0, 127]
    assert np.array_equal(scales, (floats([[1, 0, 1000]]) / F(127)))


@given(st.integers(0, 2**32 - 1), st.integers(-30, 30))
def test_activation_error_is_half_a_step(seed, exponent):
    x = (RANDOM(seed).standard_normal((2, 96)) * 2.0**exponent).astype(F)
    values, scales = numerics.quantize_activations(x)
    step = np.repeat(scales, 32, axis=1).astype(np.float64)
    assert (np.abs(values * step - x) <= 0.5001 * step).all()


@pytest.mark.parametrize("width, limit", [(8, 127), (4, 7)])
def test_weights_of_a_zero_or_tiny_block_are_zeros(width, limit):
    for weight in (block(0.0), block(np.finfo(F).smallest_subnormal), block(-1e-42)):
        values, scales = numerics.quantize_weights(weight, width)
        assert (values == 0).all() and scales[0, 0] == 0
    values, scales = numerics.quantize_weights(block(1e-30, -1e-30), width)
    assert values[0, :2].tolist() == [limit, -limit] and scales[0, 0] > 0


@pytest.mark.parametrize("width, limit", [(8, 127), (4, 7)])
def test_weights_are_clipped_where_the_scale_was_rounded_down(width, limit):
    # 1 + 3/8 of a bfloat16 step: the scale rounds down to 1, so largest / scale rounds beyond the limit.
    largest = F(limit * (1 + 2.0**-7 * 0.45))
    values, scales = numerics.quantize_weights(block(largest, -largest), width)
    assert numerics.from_bfloat16(scales)[0, 0] == 1
    assert values[0, :2].tolist() == [limit, -limit]


@pytest.mark.parametrize("width, limit", [(8, 127), (4, 7)])
def test_weights_round_half_to_even_for_the_rounded_scale(width, limit):
    weight = block(limit, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5)
    values, scales = numerics.quantize_weights(weight, width)
    assert numerics.from_bfloat16(scales)[0, 0] == 1
    assert values[0, :7].tolist() == [limit, 0, 2, 2, 0, -2, -2]


@given(st.integers(0, 2**32 - 1), st.sampled_from([8, 4]))
def test_weight_error_is_half_a_step_or_the_clipped_end(seed, width):
    weight = RANDOM(seed).standard_normal((3, 64)).astype(F)
    values, scales = numerics.quantize_weights(weight, width)
    step = np.repeat(numerics.from_bfloat16(scales), 32, axis=1).astype(np.float64)
    limit = 127 if width == 8 else 7
    assert np.abs(values).max() <= limit
    error = np.abs(values * step - weight)
    assert (error[np.abs(values) < limit] <= 0.5001 * step[np.abs(values) < limit]).all()
    assert (error <= np.maximum(0.5, limit * 2.0**-8) * 1.01 * step).all()


# --- products and layers against float64 ------------------------------------------------------------------


def test_matmul_bfloat16_against_float64():
    random = RANDOM(3)
    x, weight = (
        random.standard_normal((3, 288)).astype(F),
        random.integers(0x3C00, 0x4000, (7, 288)).astype("u2"),
    )
    exact = x.astype(np.float64) @ numerics.from_bfloat16(weight).astype(np.float64).T
    assert np.abs(numerics.matmul_bfloat16(x, weight) - exact).max() < 1e-5 * np.abs(exact).max()


def test_matmul_quantized_adds_exact_blocks_in_order():
    random = RANDOM(4)
    values, weight = (random.integers(-127, 128, (n, 288)).astype(np.int8) for n in (3, 7))
    scales = random.uniform(0.01, 1, (3, 9)).astype(F)
    weight_scales = numerics.to_bfloat16(random.uniform(0.01, 1, (7, 9)).astype(F))
    ours = numerics.matmul_quantized(values, scales, weight, weight_scales)
    for m, n in itertools.product(range(3), range(7)):
        terms = []
        for b in range(9):
            part = slice(32 * b, 32 * b + 32)
            dot = sum(int(a) * int(w) for a, w in zip(values[m, part], weight[n, part], strict=True))
            terms.append(F(dot) * numerics.from_bfloat16(weight_scales[n, b]) * scales[m, b])
        assert bits(ours[m, n]) == bits(segment_sum_by_hand(floats(terms), 8))


def test_attention_head_against_float64():
    random = RANDOM(5)
    query, keys, values = (random.standard_normal(s).astype(F) for s in ((48,), (300, 48), (300, 48)))
    scores = keys.astype(np.float64) @ query / np.sqrt(48)
    weights = np.exp(scores - scores.max())
    exact = weights @ values / weights.sum()
    assert np.abs(numerics.attention_head(query, keys, values) - exact).max() < 1e-5


def test_replaying_a_record_is_the_step_again():
    random = RANDOM(6)
    state, query, key, value = (random.standard_normal(s).astype(F) for s in ((48, 16), (48,), (48,), (16,)))
    decay, beta = F(0.97), F(0.4)
    after, correction, output = numerics.delta_step(state, decay, beta, query, key, value)
    assert np.array_equal(bits(numerics.delta_replay(state, decay, key, correction)), bits(after))
    exact = state.astype(np.float64) * decay
    exact += np.outer(key, beta * (value - key @ exact))
    assert np.abs(after - exact).max() < 1e-4
    assert np.abs(output - query @ exact).max() < 1e-4


def test_rope_tables():
    cos, sin = numerics.rope_tables(5000, 16, 1e7)
    assert cos.shape == sin.shape == (5000, 8) and cos.dtype == sin.dtype == F
    assert (cos[0] == 1).all() and (sin[0] == 0).all()
    for position, pair in ((1, 0), (1, 7), (4999, 0), (4999, 3)):
        angle = position * 1e7 ** (-2 * pair / 16)
        assert cos[position, pair] == F(np.cos(angle)) and sin[position, pair] == F(np.sin(angle))


def test_rotation_keeps_the_length_and_the_tail():
    x = RANDOM(7).standard_normal((3, 32)).astype(F)
    cos, sin = numerics.rope_tables(100, 8, 1e4)
    turned = numerics.rotate(x, cos[77], sin[77])
    assert np.array_equal(bits(turned[:, 8:]), bits(x[:, 8:]))
    pairs = [x[:, :4] + 1j * x[:, 4:8], turned[:, :4] + 1j * turned[:, 4:8]]
    assert np.abs(pairs[0] * (cos[77] + 1j * sin[77]) - pairs[1]).max() < 1e-5


# --- choosing ---------------------------------------------------------------------------------------------


def test_argmax_and_top_k_ties_go_to_the_lowest_index():
    assert numerics.argmax(floats([1, 3, 3, 2, 3])) == 1
    assert numerics.argmax(floats([-0.0, 0.0])) == 0
    assert numerics.top_k(floats([1, 3, 0.0, 3, -0.0, 3]), 5).tolist() == [1, 3, 5, 0, 2]
    assert numerics.top_k(floats([2, 1]), 5).tolist() == [0, 1]


def test_log_sum_exp_against_float64():
    x = RANDOM(8).standard_normal(1001).astype(F) * F(20)
    exact = np.log(np.exp(x.astype(np.float64)).sum())
    assert abs(float(numerics.log_sum_exp(x)) - exact) < 1e-5 * abs(exact)


# --- noise ------------------------------------------------------------------------------------------------


def philox_by_hand(counter, key) -> list[int]:
    """Philox4x32-10, all four words, in Python integers."""
    (c0, c1, c2, c3), (k0, k1), word = counter, key, 0xFFFFFFFF
    for _ in range(10):
        first, second = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (second >> 32) ^ c1 ^ k0, second & word, (first >> 32) ^ c3 ^ k1, first & word
        k0, k1 = (k0 + 0x9E3779B9) & word, (k1 + 0xBB67AE85) & word
    return [c0, c1, c2, c3]


KNOWN_ANSWERS = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]
"""Random123's `kat_vectors` for philox4x32-10: counter, key, output."""


@pytest.mark.parametrize("counter, key, answer", KNOWN_ANSWERS)
def test_philox_by_hand_gives_the_published_answers(counter, key, answer):
    assert philox_by_hand(counter, key) == list(answer)


def test_philox_published_answer():
    assert numerics.philox(0, 0, np.array([0])).tolist() == [0x6627E8D5]


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_philox_is_keyed_by_seed_and_counts_id_and_position(seed, position, token):
    expected = philox_by_hand((token, position, 0, 0), (seed & 0xFFFFFFFF, seed >> 32))[0]
    assert numerics.philox(seed, position, np.array([token])).tolist() == [expected]


def test_gumbel_moments():
    noise = numerics.gumbel(1234, 7, np.arange(1_000_000)).astype(np.float64)
    assert abs(noise.mean() - 0.5772156649) < 5 * np.sqrt(np.pi**2 / 6 / len(noise))
    assert abs(noise.var() - np.pi**2 / 6) < 0.02
    assert abs((noise < 0).mean() - np.exp(-1)) < 0.003  # the distribution is e**-e**-x


def test_gumbel_is_independent_across_seeds_and_positions():
    ids = np.arange(50_000)
    draws = [numerics.gumbel(seed, position, ids) for seed, position in ((0, 0), (0, 1), (1, 0), (2**40, 0))]
    for one, other in itertools.combinations(draws, 2):
        assert abs(np.corrcoef(one, other)[0, 1]) < 0.03


def test_gumbel_is_finite_at_both_ends(monkeypatch):
    for word in (0, 2**32 - 1):
        monkeypatch.setattr(numerics, "philox", lambda *_, word=word: np.array([word], np.uint32))
        assert np.isfinite(numerics.gumbel(0, 0, np.array([0]))).all()
