"""What a scheme is: it decodes greedily, round by round, and says what undoing cost.

All schemes run on the same model, kernels and draft head, so that only the scheme differs.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kestrel_engine.drafter import Drafter, FirstHit
from kestrel_engine.model import Model
from kestrel_engine.options import SamplingOptions
from kestrel_engine.rollback import Rollback
from kestrel_engine.sampling import Sampler
from kestrel_engine.speculate import run_round
from kestrel_engine.state import State

Rewrite = Callable[[State, Sequence[int]], list[int]]
"""Scripted acceptance: (state, the head's drafts for the positions behind it) -> drafts in their place."""


@dataclass(frozen=True, slots=True)
class SchemeRound:
    """One round. Times in milliseconds; `copied` are bytes of saved and restored states."""

    tokens: tuple[int, ...]
    drafted: int
    accepted: int
    rejected: bool
    times: tuple[float, float, float]
    """Draft, verify, replay (whatever undoing takes: copies, log, passes)."""
    copied: int


class Scheme(ABC):
    """`begin` reads a prompt; `round` emits at least one and at most `limit` tokens of the greedy answer.

    The state is kept from answer to answer: what the backend prepares once for a state is not counted."""

    name: str
    draft_length: int

    def __init__(self, name: str, model: Model, draft_length: int):
        self.name, self.model, self.draft_length = name, model, draft_length
        self.state = model.new_state()
        self._empty = self.state.snapshot()
        self.sampler = Sampler(SamplingOptions(), model.backend)

    def empty(self) -> None:
        """Forget the last answer."""
        self.state.restore(self._empty)

    @abstractmethod
    def begin(self, prompt: Sequence[int]) -> None: ...

    @abstractmethod
    def round(self, limit: int) -> SchemeRound: ...

    @property
    @abstractmethod
    def state_bytes(self) -> int:
        """Recurrent states and all that is kept to undo drafts. KV caches, alike for all, are left out."""


class RoundScheme(Scheme):
    """The engine's own round with one of its rollbacks: the certain token and k drafts, k+1 rows."""

    def __init__(self, name: str, model: Model, draft_length: int, drafter: Drafter, rollback: Rollback):
        super().__init__(name, model, draft_length)
        self.rollback, self.drafter = rollback, FirstHit([drafter])

    def begin(self, prompt: Sequence[int]) -> None:
        self.drafter.reset()
        self.empty()
        if len(prompt) > 1:
            self.model.forward(self.state, list(prompt[:-1]), len(prompt) - 1)
        self.next_token = prompt[-1]

    def round(self, limit: int) -> SchemeRound:
        length = min(self.draft_length, limit - 1)
        result = run_round(
            self.model, self.state, self.next_token, length, self.drafter, self.rollback, self.sampler, _never
        )
        self.next_token = result.tokens[-1].id
        return SchemeRound(
            tokens=tuple(token.id for token in result.tokens),
            drafted=len(result.drafts),
            accepted=result.accepted,
            rejected=bool(result.rejected),
            times=(result.draft_ms, result.verify_ms, result.replay_ms),
            copied=self.copied(len(result.drafts), bool(result.rejected)),
        )

    @abstractmethod
    def copied(self, drafted: int, rejected: bool) -> int:
        """Bytes of states saved and restored in a round."""

    @property
    def recurrent_bytes(self) -> int:
        """All recurrent states once: what one snapshot copies."""
        return sum(layer.state.nbytes for layer in self.state.delta_layers)

    @property
    def ring_bytes(self) -> int:
        return sum(layer.ring.nbytes for layer in self.state.delta_layers)


def _never(token: int) -> bool:
    return False


class Stopwatch:
    """Milliseconds since it was last read."""

    def __init__(self) -> None:
        self._last = time.perf_counter()

    def lap(self) -> float:
        now = time.perf_counter()
        self._last, passed = now, now - self._last
        return 1e3 * passed
