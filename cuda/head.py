"""A draft head on the device."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kestrel_cuda.arrays import Operand, Vocabulary
from kestrel_cuda.operations import Operations
from kestrel_cuda.target import SIMULATOR

if TYPE_CHECKING:
    from kestrel_engine.draft_head import DraftHead

ADDED_ROWS = 64 if SIMULATOR else 2048
"""Room for tokens that a chat adds to its draft head."""


class DeviceHead:
    """A draft head on the device: its own matrix, and room for the tokens that the chat adds to it.

    Everything stays where it is until the room is full, so that captured graphs stay valid; `generation` counts
    how often it was.
    """

    def __init__(self, head: DraftHead, operations: Operations):
        self.head, self.operations, self.generation = head, operations, 0
        self._count = 0
        self._make_room(max(ADDED_ROWS, 2 * len(head.added)) if head.ids is not None else 0)

    def _make_room(self, room: int) -> None:
        memory, matrix = self.operations.memory, self.head.matrix
        self.added = self.operations.empty_matrix(room, matrix.width, self.head.format) if room else None
        self._logits = memory.zeros((matrix.rows + room,), np.float32)
        self.logits = memory.reshape(self._logits, (1, matrix.rows + room))
        self.first_logits = memory.view(self._logits, 0, (1, matrix.rows), np.float32)
        self.added_logits = memory.view(self._logits, matrix.rows, (1, room), np.float32) if room else None
        self.candidates = self.operations.choice.candidates(1, matrix.rows + room)
        self.vocabulary = self.operations.choice.every_id()
        if room:
            self.vocabulary = Vocabulary(*(memory.upload(array) for array in self._entries()))
        self._count = 0

    def _entries(self) -> tuple[np.ndarray, np.ndarray]:
        """The head's tokens, ascending (-1: no token), and where their logits stand. Both [rows + room] int32."""
        ids = np.full(len(self._logits), -1, np.int32)
        places = np.arange(len(ids), dtype=np.int32)
        ids[: len(self.head.ids)] = self.head.ids
        if self.head.added:
            places[: len(self.head.ids)] = self.head.order
        return ids, places

    def update(self) -> None:
        """Take the tokens that were added to the head since the last call."""
        new = self.head.added[self._count :]
        if not new:
            return
        if self._count + len(new) > self.added.rows:
            self.generation += 1
            self._make_room(2 * (self._count + len(new)))
            new = self.head.added
        self.operations.pack_rows(self.head.rows_of(new), self.added, self._count)
        self._count += len(new)
        for there, here in zip((self.vocabulary.ids, self.vocabulary.places), self._entries(), strict=True):
            self.operations.memory.copy(there, here)

    def multiply(self, x: Operand) -> None:
        self.operations.matmul(x, 1, self.head.matrix, self.first_logits)
        if self.added is not None:
            self.operations.matmul(x, 1, self.added, self.added_logits)
