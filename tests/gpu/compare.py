"""What the checks of the GPU kernels are made of: numbers to try, and comparisons of every bit."""

from __future__ import annotations

import numpy as np

from kestrel_cuda import cursor as places
from kestrel_cuda.operations import Operations
from kestrel_engine import numerics

F = np.float32


def draw(seed, *shape: int, scale: float = 1.0) -> np.ndarray:
    """Normal numbers with some zeros of both signs, very small and large ones among them."""
    random = np.random.default_rng(seed)
    x = random.standard_normal(shape) * scale
    special = random.choice([0.0, -0.0, 1e-30, -1e-38, 30.0, -30.0], shape)
    return np.where(random.random(shape) < 0.1, special, x).astype(F)


def assert_same(one, other, what: object) -> None:
    one, other = (np.ascontiguousarray(x) for x in (one, other))
    assert one.shape == other.shape and one.dtype == other.dtype, (what, one.shape, other.shape)
    bits = np.uint32 if one.dtype == F else one.dtype
    wrong = np.argwhere(one.view(bits) != other.view(bits))
    assert len(wrong) == 0, (what, f"{len(wrong)} of {one.size} differ, first {wrong[:3].tolist()}")


def cursor_of(kernels: Operations, **values: int):
    cursor = np.full(places.SIZE, 1 << 20, np.int32)
    for name, value in values.items():
        cursor[getattr(places, name.upper())] = value
    return kernels.memory.upload(cursor)


def read_operand(operand, rows: int, kind: str) -> tuple:
    """An operand's rows as numpy has them: floats [M, K], or values [M, K] and scales [M, K/32]."""
    segments, width = operand.segments, operand.width
    if kind == "bf16":
        flat = operand.floats.host().reshape(-1, 64, segments, 4).transpose(0, 2, 1, 3)
        return (flat.reshape(len(flat), -1)[:rows, :width],)
    values = operand.values.host().reshape(-1, 8, 2, segments, 16).transpose(0, 3, 1, 2, 4)
    scales = operand.scales.host().reshape(-1, 8, segments).transpose(0, 2, 1)
    values, scales = values.reshape(len(values), -1), scales.reshape(len(scales), -1)
    return values[:rows, :width], scales[:rows, : width // numerics.BLOCK]


def check_operand(operand, x: np.ndarray, what: str) -> None:
    """The operand holds rows x [M, K], for every kind of matrix that it serves."""
    if operand.kinds & 2:
        assert_same(read_operand(operand, len(x), "bf16")[0], x, f"{what}: floats")
    if operand.kinds & 1:
        values, scales = numerics.quantize_activations(x)
        read = read_operand(operand, len(x), "q8")
        assert_same(read[0], values, f"{what}: int8 values")
        assert_same(read[1], scales, f"{what}: int8 scales")


def spoil(operand) -> None:
    """Write what no check accepts all over an operand."""
    for array in (operand.values, operand.scales, operand.floats):
        if array.size > 1:
            array[...] = np.full(array.shape, 77, array.dtype)
