"""The elementary functions of numerics.py as scalar numba functions; LLVM vectorises the loops around them.

They are inlined before LLVM sees them: a call, even one that LLVM inlines later, keeps the loop scalar.

The bodies repeat the same float32 operations in the same order. Numba is left without fast-math, so
nothing is reassociated and no multiply-add is fused.
"""

from __future__ import annotations

import numpy as np

from kestrel_engine import numerics
from kestrel_engine.cpu.jit import bits_from_float, float_from_bits, inlined

ZERO, ONE, TWO, HALF = np.float32(0), np.float32(1), np.float32(2), np.float32(0.5)
LOWEST, HIGHEST = numerics.EXP_LOWEST, numerics.EXP_HIGHEST
LOG2_E, LN2_HIGH, LN2_LOW, LN2 = numerics.LOG2_E, numerics.LN2_HIGH, numerics.LN2_LOW, numerics.LN2
SQRT_2 = numerics.SQRT_2
E0, E1, E2, E3, E4, E5 = numerics.EXP_COEFFICIENTS
A0, A1, A2, A3, A4, A5, A6, A7 = numerics.ATANH_COEFFICIENTS


@inlined
def exp(x):
    x = x if x > LOWEST else LOWEST
    x = x if x < HIGHEST else HIGHEST
    n = np.rint(x * LOG2_E)
    r = x - n * LN2_HIGH
    r = r - n * LN2_LOW
    polynomial = ((((E0 * r + E1) * r + E2) * r + E3) * r + E4) * r + E5
    y = polynomial * (r * r)
    y = y + r
    y = y + ONE
    return y * float_from_bits((np.int32(n) + np.int32(127)) << np.int32(23))


@inlined
def twice_atanh(s):
    z = s * s
    return (s + s) * (((((((A0 * z + A1) * z + A2) * z + A3) * z + A4) * z + A5) * z + A6) * z + A7)


@inlined
def log(x):
    bits = bits_from_float(x)
    exponent = (bits >> np.int32(23)) - np.int32(127)
    mantissa = float_from_bits((bits & np.int32(0x007FFFFF)) | np.int32(0x3F800000))
    high = mantissa > SQRT_2
    mantissa = mantissa * HALF if high else mantissa
    exponent = exponent + np.int32(1) if high else exponent
    return twice_atanh((mantissa - ONE) / (mantissa + ONE)) + np.float32(exponent) * LN2


@inlined
def sigmoid(x):
    return ONE / (ONE + exp(-x))


@inlined
def softplus(x):
    u = exp(-abs(x))
    return (x if x > ZERO else ZERO) + twice_atanh(u / (TWO + u))
