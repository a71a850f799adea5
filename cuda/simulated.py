"""`intrinsics.py` for numba's CUDA simulator: the same results by plain numpy, in the same order."""

from __future__ import annotations

import random
import struct
import sys
import threading
import time

import numpy as np
from numba.cuda.simulator import kernel

WARP = 32
PATIENCE = 60
"""Seconds after which a lane gives up on its warp: another lane has raised."""


class _Thread(kernel.BlockThread):
    """A simulated thread that sleeps at a barrier: numba's own spins, and takes several times as long."""

    def run(self) -> None:
        super().run()
        self._manager.leave(self)

    def syncthreads(self) -> None:
        self._manager.meet()


class _Block(kernel.BlockManager):
    """A block of such threads. One that ends is not waited for any more."""

    def run(self, grid_point, *args) -> None:
        self._turn, self._failed, self._waiting = threading.Condition(), None, 0

        def work() -> None:
            self._f(*args)

        threads = [_Thread(work, self, grid_point, at, False) for at in np.ndindex(*self._block_dim)]
        self._alive, self._round = len(threads), 0
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self._failed is not None:
            raise self._failed[0].with_traceback(self._failed[1])

    def meet(self) -> None:
        with self._turn:
            self._waiting, round_ = self._waiting + 1, self._round
            self._pass_on()
            self._turn.wait_for(lambda: self._round != round_ or self._failed)
        if self._failed:
            raise RuntimeError("another thread has raised")

    def leave(self, thread: _Thread) -> None:
        with self._turn:
            self._alive -= 1
            self._failed = self._failed or thread.exception
            self._pass_on()

    def _pass_on(self) -> None:
        if self._failed or self._waiting == self._alive:
            self._waiting, self._round = 0, self._round + 1
            self._turn.notify_all()


class _Numpy:
    """numpy as the simulator sees it: the blocks of a launch come in no order that a kernel could rely on."""

    def __getattr__(self, name: str):
        return getattr(np, name)

    @staticmethod
    def ndindex(*shape: int) -> list[tuple[int, ...]]:
        blocks = list(np.ndindex(*shape))
        random.Random(len(blocks)).shuffle(blocks)
        return blocks


kernel.BlockManager, kernel.np = _Block, _Numpy()


class _Shared:
    """Shared memory, poisoned, of the calling thread's block; arrays are told apart by their source line."""

    @staticmethod
    def array(shape, dtype) -> np.ndarray:
        dtype = np.dtype(dtype.name)
        frame = sys._getframe(1)
        place = 0 if shape == 0 else (frame.f_code.co_filename, frame.f_lineno)
        with _lock:
            arrays = threading.current_thread()._manager.__dict__.setdefault("kestrel_shared", {})
            if place not in arrays:
                size = shape or kernel._get_kernel_context()._shared._dynshared_size // dtype.itemsize
                arrays[place] = np.empty(size, dtype)
                arrays[place].view(np.uint8).fill(0xFF if dtype.kind == "f" else 0x7F)
            return arrays[place]


class _Cuda:
    """What kernels use of `numba.cuda`, also in functions of other modules than the kernel's own."""

    shared = _Shared

    def __getattr__(self, name: str):
        return getattr(kernel._get_kernel_context(), name)


cuda = _Cuda()
_lock = threading.Lock()


def mul(a, b):
    return a * b


def sqrt(x):
    return np.sqrt(x)


def float_from_bits(bits):
    return np.int32(bits).view(np.float32)


def bits_from_float(x):
    return np.float32(x).view(np.int32)


_word, _bytes = struct.Struct("i").pack, struct.Struct("4b").unpack


def dot4(a, b, accumulator):
    if not a or not b:  # padding is everywhere in small shapes
        return accumulator
    a0, a1, a2, a3 = _bytes(_word(a))
    b0, b1, b2, b3 = _bytes(_word(b))
    return np.int32(int(accumulator) + a0 * b0 + a1 * b1 + a2 * b2 + a3 * b3)


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


read_floats = load_floats


def load_word(array, offset):
    assert offset % 4 == 0, "a word must be aligned"
    flat = array._item._ary.reshape(-1).view(np.uint8)
    assert 0 <= offset <= flat.size - 4, "a load outside of its array"
    return flat[offset : offset + 4].view(np.int32)[0]


def store_words(array, offset, *words):
    assert offset % 16 == 0, "a wide store must be aligned"
    flat = array._item._ary.reshape(-1).view(np.uint8)
    assert 0 <= offset <= flat.size - 16, "a wide store outside of its array"
    flat[offset : offset + 16].view(np.int32)[:] = words


def clock_nanoseconds():
    return time.perf_counter_ns()


class _Warp:
    """Where the lanes of a warp meet: the last to come hands everybody's values to all."""

    def __init__(self):
        self._turn, self._values, self._count, self._all = threading.Condition(), [None] * WARP, 0, None

    def exchange(self, lane: int, value) -> list:
        with self._turn:
            values = self._values
            values[lane], self._count = value, self._count + 1
            if self._count == WARP:
                self._values, self._count, self._all = [None] * WARP, 0, values
                self._turn.notify_all()
            while self._all is not values:  # nobody can replace it before this lane comes again
                if not self._turn.wait(PATIENCE):
                    raise RuntimeError(
                        "a lane waits for its warp: another lane has raised or gone another way"
                    )
        return values


def _exchange(value) -> list:
    """The values of all lanes of the calling thread's warp."""
    thread = threading.current_thread()
    warp, lane = divmod(thread.thread_id, WARP)
    with _lock:
        warps = thread._manager.__dict__.setdefault("kestrel_warps", {})
        if warp not in warps:
            warps[warp] = _Warp()
    return warps[warp].exchange(lane, value)


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


def warp_rank(value):
    values = [int(other) for other in _exchange(value)]
    lane = threading.current_thread().thread_id % WARP
    return values[:lane].count(int(value)), values.count(int(value))


def warp_barrier():
    _exchange(None)


def dot_tile(a0, a1, a2, a3, b0, b1):
    """Products of 16 rows of 32 signed bytes with 8 columns of 32, from and to the lanes that
    intrinsics.dot_tile names."""
    words = np.array(_exchange((a0, a1, a2, a3, b0, b1)), np.int32)  # [lane, 6]
    bytes_ = words.view(np.int8).reshape(8, 4, 6, 4).astype(np.int32)  # [g, t, register, byte]
    rows = [
        np.concatenate([bytes_[:, :, n].reshape(8, 16) for n in half], axis=1) for half in ((0, 2), (1, 3))
    ]
    columns = np.concatenate([bytes_[:, :, n].reshape(8, 16) for n in (4, 5)], axis=1)
    products = [half @ columns.T for half in rows]
    g, t = divmod(threading.current_thread().thread_id % WARP, 4)
    return tuple(np.int32(product[g, 2 * t + n]) for product in products for n in (0, 1))
