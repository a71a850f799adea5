"""The sums of numerics.py in the lanes order: 32 strided partial sums, a pair of vectors, and a halving tree."""

from __future__ import annotations

import numpy as np

from kestrel_engine import numerics
from kestrel_engine.cpu.functions import ONE, ZERO, exp, log
from kestrel_engine.cpu.jit import kernel
from kestrel_engine.cpu.vectors import LANES, exp16, greater, halving_sum, load, splat, store

PAIR = 2 * LANES
assert PAIR == numerics.LANES


@kernel
def sum_of_squares(x):
    """numerics.lane_sum(x * x) of a 1-D array."""
    low, high = splat(ZERO), splat(ZERO)
    whole = len(x) // PAIR * PAIR
    for k in range(0, whole, PAIR):
        a, b = load(x, k), load(x, k + LANES)
        low = low + a * a
        high = high + b * b
    if whole == len(x):
        return halving_sum(low + high)
    lanes = np.empty(PAIR, np.float32)
    store(lanes, 0, low)
    store(lanes, LANES, high)
    for lane in range(len(x) - whole):
        lanes[lane] += x[whole + lane] * x[whole + lane]
    return halving_sum(load(lanes, 0) + load(lanes, LANES))


@kernel
def inverse_rms(x, eps):
    return ONE / np.sqrt(sum_of_squares(x) / np.float32(len(x)) + eps)


@kernel
def largest(x):
    """The largest entry of a 1-D array of numbers."""
    whole, top = len(x) // LANES * LANES, x[0]
    if whole:
        lanes = load(x, 0)
        for k in range(LANES, whole, LANES):
            lanes = greater(load(x, k), lanes)
        found = np.empty(LANES, np.float32)
        store(found, 0, lanes)
        for lane in range(LANES):
            top = found[lane] if found[lane] > top else top
    for k in range(whole, len(x)):
        top = x[k] if x[k] > top else top
    return top


@kernel("float32(float32[::1])")
def log_sum_exp(x):
    """numerics.log_sum_exp: log(sum(e**x)) of a 1-D array."""
    top = largest(x)
    low, high, shift = splat(ZERO), splat(ZERO), splat(top)
    whole = len(x) // PAIR * PAIR
    for k in range(0, whole, PAIR):
        low = low + exp16(load(x, k) - shift)
        high = high + exp16(load(x, k + LANES) - shift)
    lanes = np.empty(PAIR, np.float32)
    store(lanes, 0, low)
    store(lanes, LANES, high)
    for lane in range(len(x) - whole):
        lanes[lane] += exp(x[whole + lane] - top)
    return top + log(halving_sum(load(lanes, 0) + load(lanes, LANES)))
