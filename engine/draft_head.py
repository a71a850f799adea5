"""The rows of the output matrix that drafts are chosen from: the frequent tokens, and those of this chat.

A whole vocabulary of 248,320 would make a draft cost a third of a step. BPE ids follow merge order, which is
roughly that of frequency, so the first ids cover most text; the control tokens and every token that the chat has
held are added as they come. Drafts may be anything, so the head has fewer bits than the model.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from kestrel_engine.model import Model

DRAFT_VOCABULARY = 32_768
"""Rows by default."""
FORMATS = {"bf16": "q8", "q8": "q4", "q4": "q4"}
"""Format of a head for a model in each format. On kestrel-nano rounds of three drafts have as many tokens with a q8
head as with a bf16 one, and 3 % fewer with a q4 one, for half of the bytes."""
BLOCK_ROWS = 256
"""Rows packed together as they come; only the newest block is ever packed again."""

Keep = Callable[[str, str, Callable[[], Any]], Any]
"""(name, format, make) -> the matrix that `make` packs, or that it packed in an earlier start."""


class DraftHead:
    """`ids` [n] int64, ascending: the token of each logit; None: every id of the vocabulary.

    `matrix` holds the rows that the head began with; before the first `add`, these are all.
    """

    def __init__(self, backend: Any, matrix: Any, ids: np.ndarray | None, bits: np.ndarray, format: str):
        """matrix: rows `ids` (None: all) of `bits` [V, H] (bfloat16 bits), packed; added rows take `format`."""
        self.matrix, self.ids = matrix, ids
        self._backend, self._bits, self.format = backend, bits, format
        self._first_ids = ids
        self._known: set[int] = set() if ids is None else set(ids.tolist())
        self._added: list[int] = []
        self._packed = 0
        self._blocks: list[Any] = []
        self._order = np.empty(0, np.int64)

    def add(self, tokens: Iterable[int]) -> None:
        """Let drafts be these tokens, too."""
        if self._first_ids is None:
            return
        new = [t for t in dict.fromkeys(tokens) if 0 <= t < len(self._bits) and t not in self._known]
        if not new:
            return
        self._known.update(new)
        self._added += new
        # Ascending, so that a tie goes to the lowest id here as everywhere.
        ids = np.concatenate([self._first_ids, np.array(self._added, np.int64)])
        self._order = np.argsort(ids)
        self.ids = ids[self._order]

    @property
    def added(self) -> list[int]:
        """Tokens added so far, in the order they came."""
        return self._added

    def rows_of(self, tokens: list[int]) -> np.ndarray:
        """Rows of the output matrix, bfloat16 bits [n, H]."""
        return self._bits[tokens]

    def _pack_added(self) -> None:
        closed = self._packed // BLOCK_ROWS
        del self._blocks[closed:]
        for start in range(closed * BLOCK_ROWS, len(self._added), BLOCK_ROWS):
            rows = self.rows_of(self._added[start : start + BLOCK_ROWS])
            self._blocks.append(self._backend.pack(rows, self.format))
        self._packed = len(self._added)

    def matrices(self) -> list[Any]:
        """All rows: those the head began with, then those added, in blocks."""
        if self._packed < len(self._added):
            self._pack_added()
        return [self.matrix, *self._blocks]

    @property
    def order(self) -> np.ndarray:
        """Places of the logits among the rows of `matrices` [n] int64; meaningless before anything was added."""
        return self._order

    def logits(self, hidden: np.ndarray) -> np.ndarray:
        """hidden [1, H] -> [n] float32, in the order of `ids`."""
        parts = [self._backend.matmul(hidden, matrix)[0] for matrix in self.matrices()]
        return np.concatenate(parts)[self._order] if self._added else parts[0]


def make_draft_head(
    model: Model,
    rows: int | str | None,
    control_ids: Iterable[int],
    keep: Keep = lambda name, format, make: make(),
) -> DraftHead:
    """The first `rows` ids (None: DRAFT_VOCABULARY) and the control tokens. "all": the model's own output matrix,
    which needs no memory."""
    weights, backend = model.weights, model.backend
    bits = weights.output_bits
    if rows == "all":
        return DraftHead(backend, weights.output, None, bits, weights.format)
    count = min(len(bits), DRAFT_VOCABULARY if rows is None else int(rows))
    format = FORMATS[weights.format]
    if count == len(bits):
        return DraftHead(backend, backend.pack(bits, format), None, bits, format)
    ids = np.array(sorted({*range(count), *(i for i in control_ids if 0 <= i < len(bits))}), np.int64)
    name = f"draft head {hashlib.sha256(ids.tobytes()).hexdigest()}"
    return DraftHead(backend, keep(name, format, lambda: backend.pack(bits[ids], format)), ids, bits, format)
