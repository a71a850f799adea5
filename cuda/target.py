"""Where kernels run: on a GPU, or in numba's CUDA simulator (NUMBA_ENABLE_CUDASIM=1), which has no warp
shuffles and no inline PTX.

Everything that differs between the two is imported from here; kernels are written once.
"""

from __future__ import annotations

import contextlib

import numba
import numba.cuda

SIMULATOR: bool = bool(numba.config.ENABLE_CUDASIM)

if SIMULATOR:
    import kestrel_cuda.simulated as primitives

    cuda = primitives.cuda
else:
    import kestrel_cuda.intrinsics as primitives

    cuda = numba.cuda

bits_from_float = primitives.bits_from_float
clock_nanoseconds = primitives.clock_nanoseconds
dot_tile = primitives.dot_tile
dot4 = primitives.dot4
float_from_bits = primitives.float_from_bits
load_floats = primitives.load_floats
load_word = primitives.load_word
load_words = primitives.load_words
mul = primitives.mul
read_floats = primitives.read_floats
sqrt = primitives.sqrt
store_words = primitives.store_words
stream_words = primitives.stream_words
warp_barrier = primitives.warp_barrier
warp_best = primitives.warp_best
warp_max = primitives.warp_max
warp_rank = primitives.warp_rank
warp_sum = primitives.warp_sum


def kernel(function):
    """Decorator of every kernel. Products that may be added to something are written `mul(a, b)`: PTX `mul.rn`,
    which no compiler contracts to a fused multiply-add."""
    made = numba.cuda.jit(function)
    if not SIMULATOR:
        from kestrel_cuda.kernel_cache import KernelCache

        with contextlib.suppress(RuntimeError):  # no folder to keep it in
            made._cache = KernelCache(function)
    return made


def device(function):
    """Decorator of a function that kernels call. In the simulator it stays plain Python, since a simulated
    device function cannot be in several threads at once."""
    return function if SIMULATOR else numba.cuda.jit(device=True)(function)
