"""Three ways to undo rejected drafts behind one interface; the bits of the text are the same with each.

cursor    Kestrel's own: the recurrent state lags behind and accepted drafts wait in a log (docs/design.md §2).
snapshot  A copy of the recurrent state after every row; the accepted one is copied back (vLLM, SGLang).
rerun     A copy before the pass; on a rejection it is restored and the accepted rows run through the whole
          model again (llama.cpp's checkpoints, the Kestrel field report).
"""

from __future__ import annotations

import time
from typing import Protocol

import numpy as np

from kestrel_engine.errors import UsageError
from kestrel_engine.model import Model
from kestrel_engine.state import State


class Rollback(Protocol):
    seconds: float
    """Time spent on undoing since it was last set to zero."""

    def verify(self, model: Model, state: State, tokens: list[int]) -> np.ndarray:
        """Run the certain tokens[0] and the drafts behind it -> trunk rows [M, H]."""

    def settle(self, model: Model, state: State, accepted: int) -> None:
        """Leave `state` having consumed tokens[0] and the first `accepted` drafts."""


class CursorRollback:
    def __init__(self) -> None:
        self.seconds = 0.0

    def verify(self, model: Model, state: State, tokens: list[int]) -> np.ndarray:
        model.replay_seconds = 0.0
        hidden = model.forward(state, tokens, commit=1)
        self.seconds += model.replay_seconds
        return hidden

    def settle(self, model: Model, state: State, accepted: int) -> None:
        state.accept(accepted)


class SnapshotRollback:
    def __init__(self) -> None:
        self.seconds = 0.0
        self._slots: list[np.ndarray] = []
        self._rows = 0

    def verify(self, model: Model, state: State, tokens: list[int]) -> np.ndarray:
        self._rows = len(tokens)
        layers = state.delta_layers
        if not self._slots or len(self._slots[0]) < self._rows:
            self._slots = [np.empty((self._rows, *layer.state.shape), np.float32) for layer in layers]
        return model.forward(state, tokens, commit=self._rows, slots=self._slots)

    def settle(self, model: Model, state: State, accepted: int) -> None:
        start = time.perf_counter()
        rejected = self._rows - 1 - accepted
        if rejected:
            for layer, slot in zip(state.delta_layers, self._slots, strict=True):
                layer.state[...] = slot[accepted]
            state.rewind(rejected)
        self.seconds += time.perf_counter() - start


class RerunRollback:
    def __init__(self) -> None:
        self.seconds = 0.0
        self._saved: list[np.ndarray] = []
        self._tokens: list[int] = []

    def verify(self, model: Model, state: State, tokens: list[int]) -> np.ndarray:
        start = time.perf_counter()
        self._saved = [layer.state.copy() for layer in state.delta_layers] if len(tokens) > 1 else []
        self._tokens = list(tokens)
        self.seconds += time.perf_counter() - start
        return model.forward(state, tokens, commit=len(tokens))

    def settle(self, model: Model, state: State, accepted: int) -> None:
        start = time.perf_counter()
        kept = self._tokens[: accepted + 1]
        if len(kept) < len(self._tokens):
            for layer, saved in zip(state.delta_layers, self._saved, strict=True):
                layer.state[...] = saved
            state.rewind(len(self._tokens))
            model.forward(state, kept, commit=len(kept))
        self.seconds += time.perf_counter() - start


ROLLBACKS = {"cursor": CursorRollback, "snapshot": SnapshotRollback, "rerun": RerunRollback}


def make_rollback(name: str) -> Rollback:
    if name not in ROLLBACKS:
        raise UsageError(f"rollback {name}: use cursor, snapshot or rerun")
    return ROLLBACKS[name]()
