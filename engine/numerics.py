"""The canonical arithmetic: what every backend reproduces bit for bit (docs/design.md §1).

Only float32 `+ - * /` and `sqrt`, each rounded to nearest even, never contracted to a fused multiply-add.
Two reduction orders, each a function of the index within the row alone:

- lanes: LANES strided partial sums, `lane[l] += x[l + LANES*i]` for i = 0, 1, …, then a halving tree
  (16, 8, 4, 2, 1). A SIMD register pair and a GPU warp both hold the lanes. For norms.
- segments: partial sums of SEGMENT consecutive terms, each added one term after another from 0.0; the
  partial sums are then added in order. A backend splits the work by segment. For products with a matrix,
  for attention and for the recurrent state.

Everything is plain numpy, slow and obviously right.
"""

from __future__ import annotations

import numpy as np

F = np.float32

LANES = 32
BLOCK = 32
"""Consecutive inputs that share one quantisation scale."""
SEGMENT = 256
"""Terms in a segment of a matrix product (8 blocks) and of a sum over positions."""
HEAD_SEGMENT = 32
"""Terms in a segment of a sum over a head's width."""

LOG2_E = F(1.44269504088896341)
LN2_HIGH = F(0.693359375)
LN2_LOW = F(-2.12194440e-4)
LN2 = F(0.693147180559945309)
SMALLEST_SCALE = F(1e-30)
"""Activation blocks below this are quantised to zeros: 127 / x would overflow."""
EXP_LOWEST = F(-87.0)
EXP_HIGHEST = F(88.0)
EXP_COEFFICIENTS = tuple(
    F(c)
    for c in (
        1.9875691500e-4,
        1.3981999507e-3,
        8.3334519073e-3,
        4.1665795894e-2,
        1.6666665459e-1,
        5.0000001201e-1,
    )
)
ATANH_COEFFICIENTS = tuple(F(1.0 / n) for n in (15, 13, 11, 9, 7, 5, 3, 1))
SQRT_2 = F(1.41421356237309505)


# --- elementary functions ---------------------------------------------------------------------------------


def exp(x: np.ndarray) -> np.ndarray:
    """e**x, float32, |relative error| < 2 ulp; x is first clamped to [-87, 88], so the result is normal.

    Source: Cephes `expf` (Moshier, 1989): Cody-Waite reduction and a degree-5 polynomial.
    """
    x = np.asarray(x, F)
    x = np.where(x > EXP_LOWEST, x, EXP_LOWEST)
    x = np.where(x < EXP_HIGHEST, x, EXP_HIGHEST)
    n = np.rint(x * LOG2_E)
    r = x - n * LN2_HIGH
    r = r - n * LN2_LOW
    polynomial = EXP_COEFFICIENTS[0]
    for coefficient in EXP_COEFFICIENTS[1:]:
        polynomial = polynomial * r + coefficient
    y = polynomial * (r * r)
    y = y + r
    y = y + F(1)
    power = ((n.astype(np.int32) + np.int32(127)) << np.int32(23)).view(F)
    return y * power


def _twice_atanh(s: np.ndarray) -> np.ndarray:
    """2*atanh(s) = log((1+s)/(1-s)) for |s| <= 1/3, by its series through s**15."""
    z = s * s
    polynomial = ATANH_COEFFICIENTS[0]
    for coefficient in ATANH_COEFFICIENTS[1:]:
        polynomial = polynomial * z + coefficient
    return (s + s) * polynomial


def log(x: np.ndarray) -> np.ndarray:
    """Natural logarithm of a positive normal float32: x = m * 2**e with m in (sqrt(1/2), sqrt(2)]."""
    x = np.asarray(x, F)
    bits = x.view(np.int32)
    exponent = (bits >> np.int32(23)) - np.int32(127)
    mantissa = ((bits & np.int32(0x007FFFFF)) | np.int32(0x3F800000)).view(F)
    high = mantissa > SQRT_2
    mantissa = np.where(high, mantissa * F(0.5), mantissa)
    exponent = np.where(high, exponent + np.int32(1), exponent).astype(F)
    s = (mantissa - F(1)) / (mantissa + F(1))
    return _twice_atanh(s) + exponent * LN2


def sigmoid(x: np.ndarray) -> np.ndarray:
    """1 / (1 + e**-x)."""
    return F(1) / (F(1) + exp(-np.asarray(x, F)))


def silu(x: np.ndarray) -> np.ndarray:
    """x * sigmoid(x)."""
    return np.asarray(x, F) * sigmoid(x)


def softplus(x: np.ndarray) -> np.ndarray:
    """log(1 + e**x) = max(x, 0) + log1p(e**-|x|); log1p(u) = 2*atanh(u / (2 + u))."""
    x = np.asarray(x, F)
    u = exp(-np.abs(x))
    return np.where(x > F(0), x, F(0)) + _twice_atanh(u / (F(2) + u))


# --- reductions -------------------------------------------------------------------------------------------


def lane_sum(x: np.ndarray) -> np.ndarray:
    """Sum over the last axis in the lanes order. [..., n] -> [...]; a ragged tail leaves its lanes alone."""
    x = np.asarray(x, F)
    padding = -x.shape[-1] % LANES
    x = np.concatenate([x, np.zeros((*x.shape[:-1], padding), F)], axis=-1)
    lanes = np.zeros((*x.shape[:-1], LANES), F)
    for start in range(0, x.shape[-1], LANES):
        lanes = lanes + x[..., start : start + LANES]
    width = LANES // 2
    while width:
        lanes = lanes[..., :width] + lanes[..., width : 2 * width]
        width //= 2
    return lanes[..., 0]


def segment_sum(terms: np.ndarray, length: int) -> np.ndarray:
    """Sum over the first axis in the segments order. [n, ...] -> [...]."""
    total = np.zeros(terms.shape[1:], F)
    for start in range(0, terms.shape[0], length):
        partial = np.zeros(terms.shape[1:], F)
        for term in terms[start : start + length]:
            partial = partial + term
        total = total + partial
    return total


# --- number formats ---------------------------------------------------------------------------------------


def to_bfloat16(x: np.ndarray) -> np.ndarray:
    """float32 -> bfloat16 bits (uint16), to nearest even. Finite input."""
    bits = np.ascontiguousarray(x, F).view(np.uint32)
    return ((bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)).astype(
        np.uint16
    )


def from_bfloat16(bits: np.ndarray) -> np.ndarray:
    """bfloat16 bits (uint16) -> float32, exact."""
    return (np.asarray(bits, np.uint16).astype(np.uint32) << np.uint32(16)).view(F)


def quantize_activations(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Symmetric int8 in blocks of 32. [M, K] float32 -> values [M, K] int8, scales [M, K/32] float32."""
    rows, width = x.shape
    blocks = np.asarray(x, F).reshape(rows, width // BLOCK, BLOCK)
    largest = np.abs(blocks).max(axis=2)
    scales = largest / F(127)
    used = largest > SMALLEST_SCALE
    inverse = np.where(used, F(127) / np.where(used, largest, F(1)), F(0))
    values = np.rint(blocks * inverse[:, :, None]).astype(np.int8)
    return values.reshape(rows, width), scales


def quantize_weights(weight: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Symmetric 8- or 4-bit weights in blocks of 32 along the input, with bfloat16 scales.

    [N, K] float32 -> values [N, K] int8 in ±127 or ±7, scales [N, K/32] uint16 (bfloat16 bits). The scale
    is rounded first and the values are chosen for the rounded scale.
    """
    rows, width = weight.shape
    limit = 127 if bits == 8 else 7
    blocks = np.asarray(weight, F).reshape(rows, width // BLOCK, BLOCK)
    scales = to_bfloat16(np.abs(blocks).max(axis=2) / F(limit))
    divisor = from_bfloat16(scales)[:, :, None]
    values = np.rint(blocks / np.where(divisor > F(0), divisor, F(1)))
    values = np.clip(values, -limit, limit).astype(np.int8)
    return values.reshape(rows, width), scales


# --- layers -----------------------------------------------------------------------------------------------


def matmul_bfloat16(x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """x [M, K] float32, weight [N, K] bfloat16 bits -> [M, N]: segments of 256 over K."""
    w = from_bfloat16(weight)
    return np.stack([segment_sum((w * row).T, SEGMENT) for row in np.asarray(x, F)])


def matmul_quantized(
    values: np.ndarray, scales: np.ndarray, weight: np.ndarray, weight_scales: np.ndarray
) -> np.ndarray:
    """int8 activations times int8 (or int4) weights -> [M, N] float32.

    Each block of 32 is an exact integer dot product; `(float(dot) * weight_scale) * scale` is then summed
    over blocks in segments of 8 blocks. values [M, K], scales [M, K/32], weight [N, K],
    weight_scales [N, K/32] bfloat16 bits.
    """
    rows, width = values.shape
    blocks = width // BLOCK
    w = weight.reshape(-1, blocks, BLOCK).astype(np.int32)
    w_scales = from_bfloat16(weight_scales)
    out = np.empty((rows, len(w)), F)
    for m in range(rows):
        x = values[m].reshape(blocks, BLOCK).astype(np.int32)
        dots = np.einsum("nbk,bk->bn", w, x).astype(F)
        terms = (dots * w_scales.T) * scales[m][:, None]
        out[m] = segment_sum(terms, SEGMENT // BLOCK)
    return out


def rms_norm(x: np.ndarray, scale: np.ndarray, eps: float) -> np.ndarray:
    """(x / rms(x)) * scale over the last axis. `scale` is 1 + w, or w for the norm inside the GDN layer."""
    mean = lane_sum(x * x) / F(x.shape[-1])
    inverse = F(1) / np.sqrt(mean + F(eps))
    return (x * inverse[..., None]) * scale


def l2_norm(x: np.ndarray, eps: float = 1e-6) -> np.ndarray:
    """x / sqrt(sum(x**2) + eps) over the last axis."""
    return x * (F(1) / np.sqrt(lane_sum(x * x) + F(eps)))[..., None]


def conv_silu(window: np.ndarray, taps: np.ndarray) -> np.ndarray:
    """Causal depth-wise convolution of width 4 and SiLU for one token.

    window [4, C]: the rows of three earlier tokens and this one, oldest first; taps [4, C] -> [C].
    """
    y = window[0] * taps[0]
    for j in range(1, 4):
        y = y + window[j] * taps[j]
    return silu(y)


def delta_gates(a: np.ndarray, b: np.ndarray, negative_a: np.ndarray, dt_bias: np.ndarray):
    """Decay e**g with g = -e**A_log * softplus(a + dt_bias), and beta = sigmoid(b). All [Hv]."""
    return exp(negative_a * softplus(a + dt_bias)), sigmoid(b)


def delta_step(state, decay, beta, query, key, value):
    """One token of one head of the gated delta rule (Yang et al., 2024, arXiv:2412.06464).

    state [dk, dv], decay and beta scalars, query and key [dk], value [dv].
    Returns the new state, the correction d [dv] for the replay log, and the output [dv].
    """
    state = state * decay
    seen = segment_sum(state * key[:, None], HEAD_SEGMENT)
    correction = (value - seen) * beta
    state = state + key[:, None] * correction
    return state, correction, segment_sum(state * query[:, None], HEAD_SEGMENT)


def delta_replay(state, decay, key, correction):
    """The state update of `delta_step` again, from its record: the same operations on the same values."""
    return state * decay + key[:, None] * correction


def rotate(x: np.ndarray, cos: np.ndarray, sin: np.ndarray) -> np.ndarray:
    """Rotary position embedding (Su et al., 2021), half-split form, on the first 2*len(cos) entries."""
    half = len(cos)
    low, high = x[..., :half], x[..., half : 2 * half]
    rotated = [low * cos - high * sin, high * cos + low * sin, x[..., 2 * half :]]
    return np.concatenate(rotated, axis=-1)


def rope_tables(
    positions: int, rotary_dim: int, theta: float, first: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """cos and sin [positions - first, rotary_dim/2] float32 of positions first, …, from float64: made once, shared
    by every backend."""
    frequency = theta ** (-np.arange(0, rotary_dim, 2, dtype=np.float64) / rotary_dim)
    angle = np.arange(first, positions, dtype=np.float64)[:, None] * frequency
    return np.cos(angle).astype(F), np.sin(angle).astype(F)


def attention_head(query: np.ndarray, keys: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Softmax attention of one query over all its keys. query [d], keys and values [n, d] -> [d].

    The scores are reduced in segments of 32 over d; the weights e**(s - max) and the weighted values in
    segments of 256 over absolute positions; the maximum needs no order.
    """
    scale = F(1.0 / np.sqrt(np.float64(query.shape[0])))
    scores = segment_sum(keys.T * query[:, None], HEAD_SEGMENT) * scale
    weights = exp(scores - scores.max())
    return segment_sum(weights[:, None] * values, SEGMENT) / segment_sum(weights, SEGMENT)


def swiglu(gate: np.ndarray, up: np.ndarray) -> np.ndarray:
    """silu(gate) * up (Shazeer, 2020)."""
    return silu(gate) * up


def argmax(x: np.ndarray) -> int:
    """Index of the largest entry; ties go to the lowest index."""
    return int(np.argmax(x))


def log_sum_exp(x: np.ndarray) -> np.float32:
    """log(sum(e**x)) of a 1-D array, summed in the lanes order."""
    largest = x.max()
    return largest + log(lane_sum(exp(x - largest)))


# --- noise ------------------------------------------------------------------------------------------------

PHILOX_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
PHILOX_WEYL = (0x9E3779B9, 0xBB67AE85)
PHILOX_ROUNDS = 10


def philox(seed: int, position: int, ids: np.ndarray) -> np.ndarray:
    """First word of Philox4x32-10 (Salmon et al., 2011) with key = seed and counter = (id, position, 0, 0).

    ids [n] -> [n] uint32.
    """
    low = np.uint64(0xFFFFFFFF)
    c0 = np.asarray(ids, np.uint64)
    c1 = np.full_like(c0, position)
    c2, c3 = np.zeros_like(c0), np.zeros_like(c0)
    key0, key1 = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(PHILOX_ROUNDS):
        product0, product1 = PHILOX_MULTIPLIERS[0] * c0, PHILOX_MULTIPLIERS[1] * c2
        c0, c2 = (
            (product1 >> np.uint64(32)) ^ c1 ^ np.uint64(key0),
            (product0 >> np.uint64(32)) ^ c3 ^ np.uint64(key1),
        )
        c1, c3 = product1 & low, product0 & low
        key0, key1 = (key0 + PHILOX_WEYL[0]) & 0xFFFFFFFF, (key1 + PHILOX_WEYL[1]) & 0xFFFFFFFF
    return c0.astype(np.uint32)


def gumbel(seed: int, position: int, ids: np.ndarray) -> np.ndarray:
    """Standard Gumbel noise -log(-log(u)) [n] float32, a pure function of (seed, position, id).

    u = (23 random bits + 1/2) / 2**23 lies strictly inside (0, 1) and is exact in float32.
    """
    u = ((philox(seed, position, ids) >> np.uint32(9)).astype(F) + F(0.5)) * F(2.0**-23)
    return -log(-log(u))


def top_k(x: np.ndarray, count: int) -> np.ndarray:
    """Indices of the `count` largest entries, largest first, ties to the lower index. -> int64."""
    return np.lexsort((np.arange(len(x)), -x))[:count].astype(np.int64)
