"""`intrinsics.py` for numba's CUDA simulator: the same results by plain numpy, in the same order."""

from __future__ import annotations

import sys
import threading

import numpy as np

WARP = 32
PATIENCE = 60
"""Seconds after which a lane gives up on its warp: another lane has raised."""

# The simulator's threads wait for each other all the time.
sys.setswitchinterval(1e-4)


def mul(a, b):
    return a * b


def sqrt(x):
    return np.sqrt(x)


def float_from_bits(bits):
    return np.int32(bits).view(np.float32)


def bits_from_float(x):
    return np.float32(x).view(np.int32)


def dot4(a, b, accumulator):
    if not a or not b:  # padding is everywhere in small shapes
        return accumulator
    left, right = int(a), int(b)
    total = int(accumulator)
    for shift in (0, 8, 16, 24):
        x, y = (left >> shift) & 255, (right >> shift) & 255
        total += (x - 256 * (x > 127)) * (y - 256 * (y > 127))
    return np.int32(total)


def _items(array, offset: int, dtype) -> tuple:
    assert offset % 16 == 0, "a wide load must be aligned"
    flat = array._item._ary.reshape(-1).view(np.uint8)
    assert offset >= 0 and offset + 16 <= flat.size, "a wide load outside of its array"
    return tuple(flat[offset : offset + 16].view(dtype))


def load_words(array, offset):
    return _items(array, offset, np.int32)


stream_words = load_words


def load_floats(array, offset):
    return _items(array, offset, np.float32)


_warps_lock = threading.Lock()


def _exchange(value) -> list:
    """The values of all lanes of the calling thread's warp."""
    thread = threading.current_thread()
    warp, lane = divmod(thread.thread_id, WARP)
    with _warps_lock:
        warps = thread._manager.__dict__.setdefault("kestrel_warps", {})
        barrier, values = warps.setdefault(warp, (threading.Barrier(WARP), [None] * WARP))
    values[lane] = value
    barrier.wait(PATIENCE)
    everyone = list(values)
    barrier.wait(PATIENCE)
    return everyone


def warp_sum(value):
    lanes = np.array(_exchange(value), np.float32)
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = lanes[:half] + lanes[half:]
    return lanes[0]


def warp_max(value):
    return np.float32(max(_exchange(value)))


def warp_best(value, index):
    """The largest value of the warp's (value, index) pairs, the lowest index among equals; for every lane."""
    pairs = _exchange((value, index))
    return max(pairs, key=lambda pair: (pair[0], -int(pair[1])))
