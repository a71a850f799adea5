"""Device memory, streams and graphs: torch's on a GPU, numpy arrays in the CUDA simulator."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from kestrel_cuda.available import memory_guard
from kestrel_cuda.target import SIMULATOR

STAGING_BYTES = 32 << 20
"""Size of each of the two pinned buffers that weights pass through."""


class DeviceArray:
    """An array on the device. Copies and whole assignments work as with numpy, so that a `State` made of them
    can be snapshot, restored and rolled back by the engine."""

    __slots__ = ("array", "dtype", "memory", "owner", "shape")

    def __init__(self, memory: Memory, owner: Any, array: Any, shape: tuple[int, ...], dtype):
        self.memory, self.owner, self.array = memory, owner, array
        self.shape, self.dtype = shape, np.dtype(dtype)

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def copy(self) -> DeviceArray:
        out = self.memory.empty(self.shape, self.dtype)
        self.memory.copy(out, self)
        return out

    def __setitem__(self, key, source: DeviceArray | np.ndarray) -> None:
        assert key is Ellipsis, "only whole arrays are assigned"
        self.memory.copy(self, source)

    def __deepcopy__(self, memo: dict) -> DeviceArray:
        return self.copy()

    def host(self) -> np.ndarray:
        """A copy in host memory, after all work so far."""
        return self.memory.download(self)


class Memory(Protocol):
    """What the runner asks of a device. `launch` and the copies are in the order of one stream."""

    def empty(self, shape: tuple[int, ...], dtype) -> DeviceArray: ...

    def copy(self, target: DeviceArray, source: DeviceArray | np.ndarray) -> None: ...

    def download(self, source: DeviceArray) -> np.ndarray: ...

    def launch(self, kernel, blocks: int | tuple, threads: int, *arguments, shared: int = 0) -> None: ...

    def wait(self) -> None:
        """Until all work so far is done."""

    def capture(self, work: Callable[[], None]) -> Callable[[], None]:
        """A function that repeats the launches of `work`, and the copies of mirrors."""

    def view(self, source: DeviceArray, first: int, shape: tuple[int, ...], dtype) -> DeviceArray:
        """Part of a flat array of 4-byte items, as another type of 4 bytes."""

    def reshape(self, source: DeviceArray, shape: tuple[int, ...]) -> DeviceArray:
        """The same memory in another shape."""

    def rows(self, source: DeviceArray, first: int, count: int) -> DeviceArray:
        """The same memory's rows first… of the first axis."""

    def mirror(self, size: int) -> Mirror:
        """`size` int32 on both sides, zero at first."""

    def mark(self) -> Callable[[], float]:
        """Note the time here in the stream. The result, called after everything is done, says when it was, in
        seconds on a clock of its own."""

    def zeros(self, shape: tuple[int, ...], dtype) -> DeviceArray:
        out = self.empty(shape, dtype)
        self.copy(out, np.zeros(shape, dtype))
        return out

    def upload(self, source: np.ndarray) -> DeviceArray:
        out = self.empty(source.shape, source.dtype)
        self.copy(out, source)
        return out


class Mirror(Protocol):
    """A small int32 array that goes to the device, or comes from there, in one copy."""

    def __init__(self, host: np.ndarray, device: DeviceArray):
        self.host, self.device = host, device

    def send(self, first: int, end: int) -> None:
        """The items first..end-1 from host to device, in the order of the stream: the host side must not change
        until something behind has been waited for."""

    def fetch(self, first: int, end: int) -> None:
        """The items first..end-1 from device to host, in the order of the stream."""


def _arguments(arguments) -> tuple:
    return tuple(
        a.array if isinstance(a, DeviceArray) else _arguments(a) if isinstance(a, tuple) else a
        for a in arguments
    )


def _fake(array: np.ndarray):
    from numba.cuda.simulator.cudadrv import devicearray

    # As kernels see it; the simulator wraps only what is not in a tuple.
    return devicearray.FakeWithinKernelCUDAArray(devicearray.FakeCUDAArray(array))


class SimulatedMemory(Memory):
    """In the CUDA simulator. New memory is poisoned with NaN, so that reading too early shows."""

    def _array(self, array: np.ndarray) -> DeviceArray:
        return DeviceArray(self, array, _fake(array), array.shape, array.dtype)

    def empty(self, shape: tuple[int, ...], dtype) -> DeviceArray:
        array = np.empty(shape, dtype)
        array.view(np.uint8).fill(0xFF if array.dtype.kind == "f" else 0x7F)
        return self._array(array)

    def copy(self, target: DeviceArray, source: DeviceArray | np.ndarray) -> None:
        target.owner[...] = source.owner if isinstance(source, DeviceArray) else source

    def download(self, source: DeviceArray) -> np.ndarray:
        return source.owner.copy()

    def launch(self, kernel, blocks: int | tuple, threads: int, *arguments, shared: int = 0) -> None:
        with np.errstate(all="ignore"):
            kernel[blocks, threads, 0, shared](*_arguments(arguments))

    def wait(self) -> None:
        pass

    def capture(self, work: Callable[[], None]) -> Callable[[], None]:
        return work

    def view(self, source: DeviceArray, first: int, shape: tuple[int, ...], dtype) -> DeviceArray:
        return self._array(source.owner[first : first + int(np.prod(shape))].view(dtype).reshape(shape))

    def reshape(self, source: DeviceArray, shape: tuple[int, ...]) -> DeviceArray:
        return self._array(source.owner.reshape(shape))

    def rows(self, source: DeviceArray, first: int, count: int) -> DeviceArray:
        return self._array(source.owner[first : first + count])

    def mirror(self, size: int) -> Mirror:
        return _SimulatedMirror(np.zeros(size, np.int32), self.zeros((size,), np.int32))

    def mark(self) -> Callable[[], float]:
        now = time.perf_counter()
        return lambda: now


class _SimulatedMirror(Mirror):
    def send(self, first: int, end: int) -> None:
        self.device.owner[first:end] = self.host[first:end]

    def fetch(self, first: int, end: int) -> None:
        self.host[first:end] = self.device.owner[first:end]


class TorchMemory(Memory):
    """On a GPU: torch owns the memory, the stream and the graphs; numba's kernels are launched on its stream."""

    def __init__(self) -> None:
        import torch
        from numba import cuda

        self._torch, self._cuda = torch, cuda
        self._stream = torch.cuda.Stream()
        self._numba_stream = cuda.external_stream(self._stream.cuda_stream)
        self._staging = [torch.empty(STAGING_BYTES, dtype=torch.uint8, pin_memory=True) for _ in range(2)]
        self._free = [torch.cuda.Event(), torch.cuda.Event()]
        self._first = torch.cuda.Event(enable_timing=True)
        self._first.record(self._stream)

    def empty(self, shape: tuple[int, ...], dtype) -> DeviceArray:
        dtype = np.dtype(dtype)
        kind = getattr(self._torch, dtype.name)
        with memory_guard(), self._torch.cuda.stream(self._stream):
            tensor = self._torch.empty(shape, dtype=kind, device="cuda")
        return DeviceArray(self, tensor, self._cuda.as_cuda_array(tensor), tuple(shape), dtype)

    def _bytes(self, array: DeviceArray):
        return array.owner.reshape(-1).view(self._torch.uint8)

    def copy(self, target: DeviceArray, source: DeviceArray | np.ndarray) -> None:
        """From the host in slabs through two pinned buffers, one filled while the other is sent."""
        assert target.shape == tuple(source.shape) and target.dtype == source.dtype
        with self._torch.cuda.stream(self._stream):
            if isinstance(source, DeviceArray):
                target.owner.copy_(source.owner)
                return
            there = self._bytes(target)
            here = np.ascontiguousarray(source).reshape(-1).view(np.uint8)
            for slab, start in enumerate(range(0, len(here), STAGING_BYTES)):
                part = here[start : start + STAGING_BYTES]
                staging, free = self._staging[slab % 2], self._free[slab % 2]
                free.synchronize()
                staging.numpy()[: len(part)] = part
                there[start : start + len(part)].copy_(staging[: len(part)], non_blocking=True)
                free.record(self._stream)
            for free in self._free:
                free.synchronize()  # the next copy fills the same buffers

    def download(self, source: DeviceArray) -> np.ndarray:
        with self._torch.cuda.stream(self._stream):
            flat = self._bytes(source).cpu().numpy()
        return flat.view(source.dtype).reshape(source.shape)

    def launch(self, kernel, blocks: int | tuple, threads: int, *arguments, shared: int = 0) -> None:
        with memory_guard():
            kernel[blocks, threads, self._numba_stream, shared](*_arguments(arguments))

    def wait(self) -> None:
        self._stream.synchronize()

    def capture(self, work: Callable[[], None]) -> Callable[[], None]:
        """`work` must have run once before: a kernel's first launch compiles and loads it."""
        self._stream.synchronize()
        graph = self._torch.cuda.CUDAGraph()
        captured = self._torch.cuda.graph(graph, stream=self._stream, capture_error_mode="relaxed")
        with memory_guard(), captured:
            work()

        def replay() -> None:
            with self._torch.cuda.stream(self._stream):
                graph.replay()

        return replay

    def view(self, source: DeviceArray, first: int, shape: tuple[int, ...], dtype) -> DeviceArray:
        kind = getattr(self._torch, np.dtype(dtype).name)
        part = source.owner[first : first + int(np.prod(shape))].view(kind).reshape(shape)
        return DeviceArray(self, part, self._cuda.as_cuda_array(part), tuple(shape), dtype)

    def reshape(self, source: DeviceArray, shape: tuple[int, ...]) -> DeviceArray:
        part = source.owner.reshape(shape)
        return DeviceArray(self, part, self._cuda.as_cuda_array(part), shape, source.dtype)

    def rows(self, source: DeviceArray, first: int, count: int) -> DeviceArray:
        part = source.owner[first : first + count]
        return DeviceArray(self, part, self._cuda.as_cuda_array(part), tuple(part.shape), source.dtype)

    def mirror(self, size: int) -> Mirror:
        with memory_guard():
            pinned = self._torch.zeros(size, dtype=self._torch.int32, pin_memory=True)
        return _TorchMirror(self._torch, self._stream, pinned, self.zeros((size,), np.int32))

    def mark(self) -> Callable[[], float]:
        event = self._torch.cuda.Event(enable_timing=True)
        event.record(self._stream)
        return lambda: self._first.elapsed_time(event) / 1e3


class _TorchMirror(Mirror):
    def __init__(self, torch, stream, pinned, device: DeviceArray):
        super().__init__(pinned.numpy(), device)
        self._torch, self._stream, self._pinned = torch, stream, pinned

    def send(self, first: int, end: int) -> None:
        with self._torch.cuda.stream(self._stream):
            self.device.owner[first:end].copy_(self._pinned[first:end], non_blocking=True)

    def fetch(self, first: int, end: int) -> None:
        with self._torch.cuda.stream(self._stream):
            self._pinned[first:end].copy_(self.device.owner[first:end], non_blocking=True)


def make_memory() -> Memory:
    return SimulatedMemory() if SIMULATOR else TorchMemory()
