"""Rotations of the positions (rotary embedding), computed when a position first comes up: those of a context of
262,144 tokens would take longer than mapping the weights."""

from __future__ import annotations

import numpy as np

from kestrel_engine import numerics

CHUNK = 1024
"""Positions computed together: about a millisecond's work."""


class RopeTables:
    """`numerics.rope_tables` of `positions`, filled in place, so that recorded passes may point into it. The bits of a
    row do not depend on when it is computed."""

    def __init__(self, positions: int, rotary_dim: int, theta: float):
        self._rotary_dim, self._theta = rotary_dim, theta
        self.tables = tuple(np.empty((positions, rotary_dim // 2), np.float32) for _ in range(2))
        """cos and sin [positions, rotary_dim/2] float32; only rows below `filled` mean anything."""
        self.filled = 0

    def fill(self, count: int) -> None:
        """See to it that the first `count` rows are there, or all when there are fewer."""
        positions = len(self.tables[0])
        while self.filled < min(count, positions):
            begin, end = self.filled, min(self.filled + CHUNK, positions)
            rows = numerics.rope_tables(end, self._rotary_dim, self._theta, begin)
            for table, values in zip(self.tables, rows, strict=True):
                table[begin:end] = values
            self.filled = end
