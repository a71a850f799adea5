"""A copy of the recurrent state after every row, as vLLM, SGLang and llama.cpp keep: the accepted one is taken back."""

from __future__ import annotations

from kestrel_engine.bench.schemes.base import RoundScheme
from kestrel_engine.drafter import Drafter
from kestrel_engine.model import Model
from kestrel_engine.rollback import SnapshotRollback


class SnapshotPerPosition(RoundScheme):
    def __init__(self, model: Model, draft_length: int, drafter: Drafter):
        super().__init__("snapshot", model, draft_length, drafter, SnapshotRollback())

    def copied(self, drafted: int, rejected: bool) -> int:
        return (1 + drafted + rejected) * self.recurrent_bytes

    @property
    def state_bytes(self) -> int:
        return (2 + self.draft_length) * self.recurrent_bytes + self.ring_bytes
