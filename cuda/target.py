"""Where kernels run: on a GPU, or in numba's CUDA simulator (NUMBA_ENABLE_CUDASIM=1), which has no warp
shuffles and no inline PTX.

Everything that differs between the two is imported from here; kernels are written once.
"""

from __future__ import annotations

import functools

import numba
from numba import cuda

SIMULATOR: bool = bool(numba.config.ENABLE_CUDASIM)

if SIMULATOR:
    import kestrel_cuda.simulated as primitives
else:
    import kestrel_cuda.intrinsics as primitives

bits_from_float = primitives.bits_from_float
dot4 = primitives.dot4
float_from_bits = primitives.float_from_bits
load_floats = primitives.load_floats
load_words = primitives.load_words
mul = primitives.mul
sqrt = primitives.sqrt
stream_words = primitives.stream_words
warp_best = primitives.warp_best
warp_max = primitives.warp_max
warp_sum = primitives.warp_sum

kernel = cuda.jit if SIMULATOR else functools.partial(cuda.jit, cache=True)
"""Decorator of every kernel. Products that may be added to something are written `mul(a, b)`: PTX `mul.rn`,
which no compiler contracts to a fused multiply-add."""


def device(function):
    """Decorator of a function that kernels call. In the simulator it stays plain Python, since a simulated
    device function cannot be in several threads at once."""
    return function if SIMULATOR else cuda.jit(device=True)(function)
