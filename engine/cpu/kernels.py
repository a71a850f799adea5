"""Row kernels of the CPU backend: norms, quantisation, convolution, SwiGLU, and what sampling needs."""

from __future__ import annotations

import numpy as np

from kestrel_engine.cpu.functions import HALF, ZERO, exp, inverse_rms, log, sigmoid
from kestrel_engine.cpu.jit import kernel
from kestrel_engine.numerics import BLOCK, PHILOX_MULTIPLIERS, PHILOX_ROUNDS, PHILOX_WEYL, SMALLEST_SCALE

LEVELS = np.float32(127)
PHILOX_M0, PHILOX_M1 = PHILOX_MULTIPLIERS
PHILOX_W0, PHILOX_W1 = np.uint64(PHILOX_WEYL[0]), np.uint64(PHILOX_WEYL[1])
NOISE_STEP = np.float32(2.0**-23)


@kernel("void(float32[:,::1], int8[:,::1], float32[:,::1], int32[:,::1])")
def quantize_rows(x, values, scales, sums):
    """numerics.quantize_activations, and the block sums that fold the weights' zero point in."""
    for m in range(x.shape[0]):
        for block in range(x.shape[1] // BLOCK):
            row = x[m, block * BLOCK : (block + 1) * BLOCK]
            largest = ZERO
            for k in range(BLOCK):
                largest = max(largest, abs(row[k]))
            scales[m, block] = largest / LEVELS
            inverse = LEVELS / largest if largest > SMALLEST_SCALE else ZERO
            total = np.int32(0)
            for k in range(BLOCK):
                value = np.int8(np.rint(row[k] * inverse))
                values[m, block * BLOCK + k] = value
                total += np.int32(value)
            sums[m, block] = total


@kernel("void(float32[:,::1], float32[::1], float32, float32[:,::1])")
def rms_norm_rows(x, scale, eps, out):
    """numerics.rms_norm of each row."""
    for m in range(x.shape[0]):
        inverse = inverse_rms(x[m], eps)
        for k in range(x.shape[1]):
            out[m, k] = (x[m, k] * inverse) * scale[k]


@kernel("void(float32[:,::1], float32[:,:])")
def add_rows(x, y):
    """x += y[:, :K], the residual connection; y may be wider (matrix rows padded to a tile)."""
    for m in range(x.shape[0]):
        for k in range(x.shape[1]):
            x[m, k] += y[m, k]


@kernel("void(float32[:,:], float32[:,::1], float32[:,::1], intp, float32[:,::1])")
def conv_silu_rows(x, ring, taps, position, out):
    """numerics.conv_silu for rows at absolute positions position, position+1, …

    x [M, ≥C] raw rows; ring [R, C] raw rows of earlier positions, place = position % R, and takes the new
    rows; taps [4, C]; out [M, C]. Positions before 0 count as zeros.
    """
    rows, channels, places = x.shape[0], taps.shape[1], ring.shape[0]
    for m in range(rows):
        row = out[m]
        for j in range(4):
            source = m - 3 + j
            place = (position + source) % places
            for c in range(channels):
                if source >= 0:
                    value = x[source, c]
                elif position + source >= 0:
                    value = ring[place, c]
                else:
                    value = ZERO
                row[c] = value * taps[j, c] if j == 0 else row[c] + value * taps[j, c]
        for c in range(channels):
            row[c] = row[c] * sigmoid(row[c])
    for m in range(max(0, rows - places), rows):
        for c in range(channels):
            ring[(position + m) % places, c] = x[m, c]


@kernel("void(float32[:,::1], float32[:,:], float32[::1], float32, float32[:,::1])")
def gated_norm_rows(x, gate, scale, eps, out):
    """RMSNorm over each value head of x [M, Hv*dv] times silu(gate): the output norm of a GDN layer."""
    width = len(scale)
    for m in range(x.shape[0]):
        for head in range(0, x.shape[1], width):
            row = x[m, head : head + width]
            inverse = inverse_rms(row, eps)
            for k in range(width):
                z = gate[m, head + k]
                out[m, head + k] = ((row[k] * inverse) * scale[k]) * (z * sigmoid(z))


@kernel("void(float32[:,:], float32[:,::1])")
def swiglu_rows(gate_up, out):
    """silu(gate) * up; gate_up [M, ≥2I] holds gate then up, out [M, I]."""
    width = out.shape[1]
    for m in range(out.shape[0]):
        for k in range(width):
            gate = gate_up[m, k]
            out[m, k] = (gate * sigmoid(gate)) * gate_up[m, width + k]


@kernel("float32(float32[::1])")
def log_sum_exp(x):
    """log(sum(e**x)), summed in 32 lanes over strided entries and a halving tree."""
    largest = x[0]
    for k in range(len(x)):
        largest = x[k] if x[k] > largest else largest
    lanes = np.zeros(32, np.float32)
    whole = len(x) // 32 * 32
    for start in range(0, whole, 32):
        for lane in range(32):
            lanes[lane] += exp(x[start + lane] - largest)
    for lane in range(len(x) - whole):
        lanes[lane] += exp(x[whole + lane] - largest)
    width = 16
    while width > 0:
        for lane in range(width):
            lanes[lane] += lanes[lane + width]
        width //= 2
    return largest + log(lanes[0])


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


@kernel("void(float32[::1], int64[::1])")
def top_k_indices(x, out):
    """numerics.top_k: the len(out) largest entries of x, largest first, ties to the lower index."""
    count, filled = len(out), 0
    for i in range(len(x)):
        if filled == count and x[i] <= x[out[count - 1]]:
            continue
        place = filled if filled < count else count - 1
        while place > 0 and x[i] > x[out[place - 1]]:
            out[place] = out[place - 1]
            place -= 1
        out[place] = i
        filled = min(filled + 1, count)
