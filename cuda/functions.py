"""The elementary functions of numerics.py for the GPU: the same float32 operations in the same order."""

from __future__ import annotations

import numpy as np

from kestrel_cuda.target import bits_from_float, device, float_from_bits, mul
from kestrel_engine import numerics

ZERO, ONE, TWO, HALF = np.float32(0), np.float32(1), np.float32(2), np.float32(0.5)
LOWEST, HIGHEST = numerics.EXP_LOWEST, numerics.EXP_HIGHEST
LOG2_E, LN2_HIGH, LN2_LOW, LN2 = numerics.LOG2_E, numerics.LN2_HIGH, numerics.LN2_LOW, numerics.LN2
SQRT_2 = numerics.SQRT_2
E0, E1, E2, E3, E4, E5 = numerics.EXP_COEFFICIENTS
A0, A1, A2, A3, A4, A5, A6, A7 = numerics.ATANH_COEFFICIENTS
ROUNDER = np.float32(1.5 * 2**23)
"""Adding and subtracting it rounds |x| < 2**22 to the nearest even integer."""


HIGH_BITS = np.int32(-65536)


@device
def low_bfloat16(word):
    """The low half of a word as float32."""
    return float_from_bits(np.int32(word << np.int32(16)))


@device
def high_bfloat16(word):
    return float_from_bits(np.int32(word & HIGH_BITS))


@device
def rint(x):
    return (x + ROUNDER) - ROUNDER


@device
def exp(x):
    x = x if x > LOWEST else LOWEST
    x = x if x < HIGHEST else HIGHEST
    n = rint(mul(x, LOG2_E))
    r = x - mul(n, LN2_HIGH)
    r = r - mul(n, LN2_LOW)
    y = mul(E0, r) + E1
    y = mul(y, r) + E2
    y = mul(y, r) + E3
    y = mul(y, r) + E4
    y = mul(y, r) + E5
    y = mul(y, mul(r, r))
    y = y + r
    y = y + ONE
    return mul(y, float_from_bits(np.int32((np.int32(n) + np.int32(127)) << np.int32(23))))


@device
def twice_atanh(s):
    z = mul(s, s)
    y = mul(A0, z) + A1
    y = mul(y, z) + A2
    y = mul(y, z) + A3
    y = mul(y, z) + A4
    y = mul(y, z) + A5
    y = mul(y, z) + A6
    y = mul(y, z) + A7
    return mul(s + s, y)


@device
def log(x):
    bits = bits_from_float(x)
    exponent = np.int32((bits >> np.int32(23)) - np.int32(127))
    mantissa = float_from_bits(np.int32((bits & np.int32(0x007FFFFF)) | np.int32(0x3F800000)))
    if mantissa > SQRT_2:
        mantissa = mul(mantissa, HALF)
        exponent = np.int32(exponent + np.int32(1))
    return twice_atanh((mantissa - ONE) / (mantissa + ONE)) + mul(np.float32(exponent), LN2)


@device
def sigmoid(x):
    return ONE / (ONE + exp(-x))


@device
def silu(x):
    return mul(x, sigmoid(x))


@device
def softplus(x):
    u = exp(-abs(x))
    return (x if x > ZERO else ZERO) + twice_atanh(u / (TWO + u))
