"""What the operations take and give: packed matrices, operands of products, scratch memory, settings."""

from __future__ import annotations

from dataclasses import dataclass

from kestrel_cuda.layout import Layout
from kestrel_cuda.memory import DeviceArray
from kestrel_engine.numerics import BLOCK, SEGMENT


@dataclass(frozen=True, slots=True)
class CudaMatrix:
    """A packed matrix [rows, width] in device memory."""

    format: str
    layout: Layout
    weights: DeviceArray
    scales: DeviceArray

    @property
    def rows(self) -> int:
        return self.layout.rows

    @property
    def width(self) -> int:
        return self.layout.width

    @property
    def bytes(self) -> int:
        return self.weights.nbytes + self.scales.nbytes


@dataclass(frozen=True, slots=True)
class Operand:
    """Rows [≥M, width] in the layout that matrix products read; zeros beyond `width`."""

    width: int
    segments: int
    kinds: int
    values: DeviceArray
    scales: DeviceArray
    floats: DeviceArray

    @property
    def arguments(self) -> tuple:
        return self.kinds, self.segments, self.values, self.scales, self.floats

    def part(self, first: int, count: int) -> Operand:
        """The same memory's rows first…"""

        def rows(array: DeviceArray, size: int) -> DeviceArray:
            whole = array.size > 1
            return array.memory.rows(array, first * size, count * size) if whole else array

        size = self.segments * SEGMENT
        arrays = (rows(self.values, size), rows(self.scales, size // BLOCK), rows(self.floats, size))
        return Operand(self.width, self.segments, self.kinds, *arrays)


@dataclass(frozen=True, slots=True)
class Scratch:
    """What the attention kernels hand to each other."""

    scores: DeviceArray  # [M, Hq, positions]
    maxima: DeviceArray  # [M*Hq, units]
    sums: DeviceArray  # [segments, M*Hq]
    partials: DeviceArray  # [segments, M*Hq, d]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What the logits of a row are of (sampling.py): entries in the order of their tokens."""

    ids: DeviceArray  # [n] int32, or [1]: the token of each entry
    places: DeviceArray  # [n] int32, or [1]: where its logit stands


@dataclass(frozen=True, slots=True)
class Candidates:
    """What the kernels that choose hand to each other."""

    largest: DeviceArray  # [M, chunks, 1] float32: the largest value of each chunk of a row
    found: DeviceArray  # [M, chunks, MOST_TOP_K] float32: its best values
    places: DeviceArray  # int32: their entries
    entries: DeviceArray  # [M, n] int64: all entries, sorted
    moved: DeviceArray  # [M, n] int64
    counts: DeviceArray  # [M, tiles, DIGITS] int32


@dataclass(frozen=True, slots=True)
class Settings:
    """What sampling reads on the device: the options, the round's tokens, and which ids were seen."""

    cursor: DeviceArray
    integers: DeviceArray  # [SETTINGS] int32
    reals: DeviceArray  # [SETTINGS] float32
    tokens: DeviceArray  # [≥9] int32: the certain token and the drafts
    flags: DeviceArray  # [V] uint8
    stamps: DeviceArray  # [2] int32: takes the time of the round's beginning, and of its last draft
