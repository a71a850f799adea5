"""What sampling needs over a row of logits: the largest entries, noise."""

from __future__ import annotations

import numpy as np

from kestrel_engine.cpu.functions import HALF, log
from kestrel_engine.cpu.jit import kernel
from kestrel_engine.cpu.vectors import LANES, any_greater, greater, load
from kestrel_engine.numerics import PHILOX_MULTIPLIERS, PHILOX_ROUNDS, PHILOX_WEYL

PHILOX_M0, PHILOX_M1 = PHILOX_MULTIPLIERS
PHILOX_W0, PHILOX_W1 = np.uint64(PHILOX_WEYL[0]), np.uint64(PHILOX_WEYL[1])
NOISE_STEP = np.float32(2.0**-23)
STRIDE = 4 * LANES


@kernel("void(uint64, uint64, int64[::1], float32[::1])")
def gumbel_noise(seed, position, ids, out):
    """numerics.gumbel for token ids."""
    low = np.uint64(0xFFFFFFFF)
    for n in range(len(ids)):
        c0, c1, c2, c3 = np.uint64(ids[n]), position, np.uint64(0), np.uint64(0)
        key0, key1 = seed & low, seed >> np.uint64(32)
        for _ in range(PHILOX_ROUNDS):
            product0, product1 = PHILOX_M0 * c0, PHILOX_M1 * c2
            c0 = (product1 >> np.uint64(32)) ^ c1 ^ key0
            c2 = (product0 >> np.uint64(32)) ^ c3 ^ key1
            c1, c3 = product1 & low, product0 & low
            key0, key1 = (key0 + PHILOX_W0) & low, (key1 + PHILOX_W1) & low
        u = (np.float32(c0 >> np.uint64(9)) + HALF) * NOISE_STEP
        out[n] = -log(-log(u))


@kernel
def _insert(x, i, out, filled):
    """Puts index i among the first `filled` of out, largest first; the last one falls out when out is full."""
    place = filled if filled < len(out) else len(out) - 1
    while place > 0 and x[i] > x[out[place - 1]]:
        out[place] = out[place - 1]
        place -= 1
    out[place] = i


@kernel("void(float32[::1], int64[::1])")
def top_k_indices(x, out):
    """numerics.top_k: the len(out) largest entries of x, largest first, ties to the lower index."""
    count, whole = len(out), len(x) // STRIDE * STRIDE
    for i in range(count):
        _insert(x, i, out, i)
    start = (count + STRIDE - 1) // STRIDE * STRIDE
    for i in range(count, min(start, len(x))):
        if x[i] > x[out[count - 1]]:
            _insert(x, i, out, count)
    for first in range(start, whole, STRIDE):
        # Most stretches hold nothing that is large enough: one look tells.
        top = greater(load(x, first), load(x, first + LANES))
        rest = greater(load(x, first + 2 * LANES), load(x, first + 3 * LANES))
        if any_greater(greater(top, rest), x[out[count - 1]]):
            for i in range(first, first + STRIDE):
                if x[i] > x[out[count - 1]]:
                    _insert(x, i, out, count)
    for i in range(max(start, whole), len(x)):
        if x[i] > x[out[count - 1]]:
            _insert(x, i, out, count)
