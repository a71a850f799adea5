"""Chapter 14 of the hand-written Transformer course: a snapshot before every verify pass, a re-run on a miss.

The chapter drafts one token: [t, d] are verified, and on a miss the state of before comes back and [t] runs
through the whole model again. With more drafts the accepted ones run again with it, in one pass.
"""

from __future__ import annotations

from kestrel_engine.bench.schemes.base import RoundScheme
from kestrel_engine.drafter import Drafter
from kestrel_engine.model import Model
from kestrel_engine.rollback import RerunRollback


class Chapter14(RoundScheme):
    def __init__(self, model: Model, draft_length: int, drafter: Drafter):
        super().__init__("ch14", model, draft_length, drafter, RerunRollback())

    def copied(self, drafted: int, rejected: bool) -> int:
        return (bool(drafted) + rejected) * self.recurrent_bytes

    @property
    def state_bytes(self) -> int:
        return 2 * self.recurrent_bytes + self.ring_bytes
