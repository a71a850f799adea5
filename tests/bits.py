"""Bit-for-bit comparison, and memory that is poisoned so that reading too much shows."""

from __future__ import annotations

import contextlib
import ctypes
import sys
import types

import numpy as np


def as_bits(array) -> np.ndarray:
    """float32 as uint32, so that the sign of a zero and the payload of a NaN count; others as they are."""
    array = np.ascontiguousarray(array)
    return array.view(np.uint32) if array.dtype == np.float32 else array


def same(one, other) -> bool:
    """Same shape, dtype and bits."""
    one, other = np.asarray(one), np.asarray(other)
    return (
        one.shape == other.shape and one.dtype == other.dtype and np.array_equal(as_bits(one), as_bits(other))
    )


def assert_same(one, other, what: object = "") -> None:
    one, other = np.asarray(one), np.asarray(other)
    assert one.shape == other.shape and one.dtype == other.dtype, what
    wrong = np.argwhere(as_bits(one) != as_bits(other))
    assert len(wrong) == 0, (what, len(wrong), wrong[:3].tolist())


def poisoned(shape, dtype=float) -> np.ndarray:
    """NaN, or integers of bytes 0x7f."""
    out = np.empty(shape, dtype)
    if out.dtype.kind == "f":
        out.fill(np.nan)
    else:
        out.view(np.uint8).fill(0x7F)
    return out


def poison_numpy_empty(monkeypatch, *modules) -> None:
    """`np.empty` and `np.empty_like` of these modules return poisoned arrays."""
    numpy = types.SimpleNamespace(**{name: getattr(np, name) for name in np.__all__})
    numpy.empty = poisoned
    numpy.empty_like = lambda array: poisoned(array.shape, array.dtype)
    for module in modules:
        monkeypatch.setattr(module, "np", numpy)


def poison_heap() -> None:
    """Fill freed memory with NaN, where the C library can be reached: what a kernel's own scratch is made of."""
    if not sys.platform.startswith("linux"):
        return
    with contextlib.suppress(AttributeError, OSError):
        library = ctypes.CDLL(None)
        library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
        library.free.argtypes = [ctypes.c_void_p]
        blocks = [(size, library.malloc(size)) for size in SCRATCH_SIZES for _ in range(4)]
        for size, address in blocks:
            ctypes.memset(address, 0xFF, size)
        for _, address in blocks:
            library.free(address)


SCRATCH_SIZES = [*range(64, 1040, 16), *range(1088, 8192, 1024), 1 << 16]
