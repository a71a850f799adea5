"""How matrices and the rows they multiply lie in device memory.

One thread ("item") owns one segment of 256 inputs of one output row, so that the canonical order (segments
added in order, docs/design.md §1) costs no exchange until the very end. A block of threads owns `tile_rows`
output rows with all their segments. Whatever the 32 lanes of a warp read together lies together: weights as
[warp of items][16-byte load][lane][16 bytes], activations as [row][load][segment][16 bytes].
"""

from __future__ import annotations

from dataclasses import dataclass

from kestrel_engine.numerics import BLOCK, SEGMENT

BLOCKS = SEGMENT // BLOCK
"""Quantisation blocks in a segment."""
LOAD_BYTES = 16
LOADS = {"q4": 8, "q8": 16, "bf16": 32}
"""16-byte weight loads in an item."""
MOST_THREADS = 1024
MOST_TILE_ROWS = 128


@dataclass(frozen=True, slots=True)
class Layout:
    """Of a matrix [rows, width]: `segments` to a row (padded with zeros), `tile_rows` rows to a block."""

    rows: int
    width: int
    segments: int
    tile_rows: int

    @property
    def threads(self) -> int:
        return self.tile_rows * self.segments

    @property
    def tiles(self) -> int:
        return -(-self.rows // self.tile_rows)

    @property
    def items(self) -> int:
        return self.tiles * self.threads

    def weight_bytes(self, format: str) -> int:
        return self.items * LOADS[format] * LOAD_BYTES

    def scale_bytes(self, format: str) -> int:
        return 0 if format == "bf16" else self.items * BLOCKS * 2

    def bytes(self, format: str) -> int:
        """Bytes that one product reads."""
        return self.weight_bytes(format) + self.scale_bytes(format)


def padded_segments(width: int) -> int:
    """Segments of an input of `width`, padded so that whole warps share the rows of a tile."""
    segments = -(-width // SEGMENT)
    if segments <= 16:
        return segments
    segments = -(-segments // 4) * 4
    return segments if segments * 8 <= MOST_THREADS else -(-segments // 32) * 32


def make_layout(rows: int, width: int, least_threads: int = 128) -> Layout:
    """The layout of a matrix [rows, width]: whole warps, and at least `least_threads` threads, in a block."""
    assert width % BLOCK == 0, width
    segments = padded_segments(width)
    tile_rows = 1
    while tile_rows * segments % 32 or tile_rows * segments < least_threads:
        tile_rows *= 2
    assert tile_rows <= MOST_TILE_ROWS and tile_rows * segments <= MOST_THREADS
    return Layout(rows, width, segments, tile_rows)
