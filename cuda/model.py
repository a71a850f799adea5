"""The model on the GPU: whole passes as captured graphs behind the engine's `Model`.

The engine keeps every cursor and every rule. A pass gets the cursors in one small copy to the device, unless they
stand there already, and gives its rows back in one small copy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from kestrel_cuda.buffers import ROWS, make_buffers
from kestrel_cuda.cursor import MTP_POSITION, POSITION
from kestrel_cuda.memory import Memory
from kestrel_cuda.operations import WIDE_SIZES, Operations
from kestrel_cuda.passes import Passes, on_device
from kestrel_cuda.post import Post
from kestrel_cuda.round import Rounds
from kestrel_cuda.wide import WidePasses, make_wide_buffers
from kestrel_engine.backend import Backend, WholeRound
from kestrel_engine.config import ModelConfig
from kestrel_engine.model import Model
from kestrel_engine.options import MAX_DRAFT
from kestrel_engine.state import DeltaLayer, KVCache, State, new_state
from kestrel_engine.weights import Weights

LOADED = object()
"""In place of a graph: its kernels have been launched once. Not what launches them: that would hold the state, which
would hold itself."""


class CudaModel(Model):
    """A `Model` whose states live on the device."""

    def __init__(
        self, config: ModelConfig, weights: Weights, backend: Backend, context: int, operations: Operations
    ):
        super().__init__(config, weights, backend, context)
        self.operations, self.memory = operations, operations.memory
        there = on_device(self.memory, weights)
        tables = tuple(self.memory.upload(table) for table in self.tables)
        positions = context + 2 * MAX_DRAFT + 2
        self.buffers = make_buffers(operations, config, weights.format, positions)
        self.post = Post(self.memory, config.hidden_size)
        self.passes = Passes(operations, config, there, tables, self.buffers, self.post)
        self.wide = WidePasses(self.passes, make_wide_buffers(operations, config, weights.format))
        self.rounds = Rounds(self)
        self._hidden: np.ndarray | None = None

    def new_state(self) -> State:
        return self.make_state(self.context)

    def make_state(self, capacity: int) -> State:
        """An empty state for up to `capacity` tokens."""
        state = new_state(self.config, capacity)
        layers = [_layer_on_device(self.memory, layer) for layer in state.layers]
        mtp = None if state.mtp is None else _layer_on_device(self.memory, state.mtp)
        return replace(state, layers=layers, mtp=mtp)

    # --- graphs --------------------------------------------------------------------------------------------

    def replay(self, state: State, key: tuple, work: Callable[[], None]) -> None:
        """Run `work`, which launches on the arrays of `state`: as it is the first time, which also compiles
        and loads its kernels, and as a captured graph from then on."""
        known = state.prepared.get(key)
        if known is None:
            work()
            state.prepared[key] = LOADED
            self.prepared += 1
            return
        if known is LOADED:
            self.prepared += 1
            known = state.prepared[key] = self.memory.capture(work)
        known()

    # --- passes --------------------------------------------------------------------------------------------

    def whole_round(self, state, next_token: int, draft_length: int, drafter, sampler) -> WholeRound | None:
        return self.rounds.run(state, next_token, draft_length, drafter, sampler)

    def take_hidden(self, hidden: np.ndarray) -> None:
        """The next `forward` is of a pass that has already run, with these rows."""
        self._hidden = hidden

    def _trunk(self, state: State, tokens: list[int], commit: int, slots) -> np.ndarray:
        """In groups of rows, wide ones first; speculative rows are all in the last. With `slots`, row by row."""
        if self._hidden is not None:
            hidden, self._hidden = self._hidden, None
            return hidden
        out = np.empty((len(tokens), self.config.hidden_size), np.float32)
        first = 0
        for count in _wide_groups(len(tokens), commit) if slots is None else ():
            self._send_rows(state, tokens[first : first + count], first, count)
            self.replay(state, ("wide", count), partial(self.wide.trunk, state, count))
            out[first : first + count] = self.memory.rows(self.wide.buffers.hidden, 0, count).host()
            first += count
        for count in _groups(len(tokens) - first, commit - first, 1 if slots is not None else ROWS):
            self._send_rows(state, tokens[first : first + count], first, min(count, commit - first))
            self.replay(state, ("trunk", count), partial(self.passes.trunk, state, count))
            self.post.receive(count)
            out[first : first + count] = self.post.here["hidden"][:count]
            if slots is not None:
                for slot, layer in zip(slots, state.delta_layers, strict=True):
                    slot[first] = layer.state.host()
            first += count
        return out

    def _send_rows(self, state: State, tokens: list[int], first: int, commit: int) -> None:
        log_length = state.log_length if first == 0 else 0
        self.post.put("cursor", [state.length + first, log_length, commit], POSITION)
        self.post.put("tokens", tokens)
        self.post.send()

    def logits(self, hidden: np.ndarray) -> np.ndarray:
        return self.backend.matmul(hidden, self.weights.output)

    def _mtp_input(self, state: State, tokens: list[int], hidden: np.ndarray) -> None:
        for first in range(0, len(tokens), ROWS):
            part = tokens[first : first + ROWS]
            self.set_pairs(state, part, hidden[first : first + ROWS], first)
            self.post.send()
            self.replay(state, ("mtp input", len(part)), partial(self.passes.mtp_input, state, len(part)))
            self.memory.wait()  # the next part goes through the same buffer

    def _mtp_layer(self, state: State, tokens: list[int], hidden: np.ndarray) -> np.ndarray:
        first = max(0, len(tokens) - ROWS)
        self._mtp_input(state, tokens[:first], hidden[:first])
        tokens, hidden = tokens[first:], hidden[first:]
        self.set_pairs(state, tokens, hidden, first)
        self.post.send()
        key = ("mtp newest", len(tokens))
        self.replay(state, key, partial(self.passes.mtp_newest, state, len(tokens)))
        return self.buffers.draft_hidden.host()

    def set_pairs(self, state: State, tokens: list[int], hidden: np.ndarray, first: int = 0) -> None:
        """Pairs for the MTP head at mtp.length + first…"""
        start, newest = state.mtp.length + first, len(tokens) - 1
        self.post.put("cursor", [start, newest, start + newest], MTP_POSITION)
        self.post.put_pairs(tokens, hidden)


def _wide_groups(rows: int, commit: int) -> list[int]:
    """Row counts of the wide passes at the beginning: speculative rows need the last committed one beside them."""
    left, counts = commit if commit == rows else commit - 1, []
    for size in WIDE_SIZES:
        counts += [size] * (left // size)
        left %= size
    return counts


def _groups(rows: int, commit: int, most: int) -> list[int]:
    """Row counts of consecutive passes: the last takes the last committed row and all speculative ones."""
    if rows == 0:
        return []
    last = min(rows - commit + 1, rows)
    before = rows - last
    if last < most and before:  # fill up
        fill = min(before, most - last)
        last, before = last + fill, before - fill
    counts = [most] * (before // most)
    if before % most:
        counts.append(before % most)
    return [*counts, last]


def _layer_on_device(memory: Memory, layer: DeltaLayer | KVCache) -> DeltaLayer | KVCache:
    """An empty layer on the device in place of an empty one on the host."""
    if isinstance(layer, KVCache):
        # Rows beyond the cursor are never read: nothing to copy.
        return KVCache(*(memory.empty(array.shape, array.dtype) for array in (layer.keys, layer.values)))
    arrays = (layer.state, layer.ring, layer.log_decay, layer.log_key, layer.log_correction)
    return DeltaLayer(*(memory.zeros(array.shape, array.dtype) for array in arrays))
