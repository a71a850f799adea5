"""Compile every kernel without a GPU: PTX by NVVM, SASS by ptxas and nvdisasm, and what they say about it."""

from __future__ import annotations

from dataclasses import dataclass

from numba import types

from kestrel_cuda import linear

ARCHITECTURES = ("80", "90", "120")
REGISTERS_PER_SM = 65536
THREADS_PER_SM = {"80": 2048, "90": 2048, "120": 1536}
BLOCKS_PER_SM = {"80": 32, "90": 32, "120": 24}
SHARED_PER_SM = {"80": 164 << 10, "90": 228 << 10, "120": 100 << 10}
SHARED_PER_BLOCK = 1024
"""What the system keeps of each block's shared memory (compute capability 8.0 and later)."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel with the launch of a typical call: threads in a block, bytes of dynamic shared memory."""

    name: str
    function: object
    signature: object
    threads: int
    shared: int = 0


def _array(item, dimensions: int):
    return types.Array(item, dimensions, "C")


U8, I8, U16, I32, F32 = types.uint8, types.int8, types.uint16, types.int32, types.float32
N = types.int64
"""A Python int of a launch."""


def f32(dimensions: int):
    return _array(F32, dimensions)


CURSOR = _array(I32, 1)
OPERAND = (N, N, _array(I8, 1), f32(1), f32(1))
"""kinds, segments, values, scales, floats."""


def matrix_kernels(row_counts) -> list[Launch]:
    q = (_array(U8, 1), _array(U16, 1), _array(I8, 1), f32(1), f32(2), N, N, N)
    b = (_array(U8, 1), _array(U16, 1), f32(1), f32(1), f32(2), N, N, N)
    return [
        Launch(f"{format}_rows[{m}]", make(m), types.void(*(b if format == "bf16" else q)), 160, 4 * m * 160)
        for format, make in linear.ROW_KERNELS.items()
        for m in row_counts
    ]
