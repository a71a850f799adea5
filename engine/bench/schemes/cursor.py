"""Kestrel's own: the recurrent state lags behind, and accepted drafts wait in a log of small records."""

from __future__ import annotations

from kestrel_engine.bench.schemes.base import RoundScheme
from kestrel_engine.drafter import Drafter
from kestrel_engine.model import Model
from kestrel_engine.rollback import CursorRollback


class Cursor(RoundScheme):
    def __init__(self, model: Model, draft_length: int, drafter: Drafter):
        super().__init__("cursor", model, draft_length, drafter, CursorRollback())

    def copied(self, drafted: int, rejected: bool) -> int:
        """No state is saved or restored; a draft writes its records."""
        layers = self.state.delta_layers
        return drafted * sum(_log_bytes(layer) // len(layer.log_decay) for layer in layers)

    @property
    def state_bytes(self) -> int:
        return self.recurrent_bytes + self.ring_bytes + sum(map(_log_bytes, self.state.delta_layers))


def _log_bytes(layer) -> int:
    return layer.log_decay.nbytes + layer.log_key.nbytes + layer.log_correction.nbytes
