"""What a model remembers of a token stream, and the cursors that move over it.

Rejected drafts are undone by moving cursors (docs/design.md §2): the recurrent state lags behind, and the
accepted drafts of the last pass wait in a log of (decay, key, correction) records that the next pass
applies first. The convolution ring and the KV caches are addressed by absolute position.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from kestrel_engine import large_pages
from kestrel_engine.config import FULL, ModelConfig
from kestrel_engine.options import MAX_DRAFT

CONV_HISTORY = 3
RING_ROWS = 16
"""Raw rows kept per layer: more than CONV_HISTORY + 1 + MAX_DRAFT, so that a rejected row never replaces one
that is still needed."""
QUEUE_ROOM = 64
"""Rows that a queue makes room for at least."""
LINE_FLOATS = 16
"""float32 numbers of a cache line."""
KEY_BLOCK = 32
"""Positions in a block of the key cache (a vector lane or a warp lane each)."""


@dataclass(slots=True)
class DeltaLayer:
    """State of one Gated DeltaNet layer. All arrays float32."""

    state: np.ndarray  # [Hv, dk, dv]
    ring: np.ndarray  # [RING_ROWS, conv_dim], raw rows before the convolution
    log_decay: np.ndarray  # [MAX_DRAFT, Hv]
    log_key: np.ndarray  # [MAX_DRAFT, Hk, dk]
    log_correction: np.ndarray  # [MAX_DRAFT, Hv, dv]
    committed: int = 0
    """Tokens whose update is in `state`."""
    log_length: int = 0
    """Accepted records that the next pass applies."""
    conv_length: int = 0

    @property
    def length(self) -> int:
        return self.committed + self.log_length


@dataclass(slots=True)
class KVCache:
    """Keys and values of one full-attention layer, float32. Rows at and beyond `length` are meaningless."""

    keys: np.ndarray  # [Hkv, blocks, d, KEY_BLOCK]
    values: np.ndarray  # [Hkv, positions, d]
    length: int = 0

    def key_rows(self, length: int) -> np.ndarray:
        """The first `length` keys as [Hkv, length, d]."""
        heads, blocks, width, _ = self.keys.shape
        return self.keys.transpose(0, 1, 3, 2).reshape(heads, blocks * KEY_BLOCK, width)[:, :length]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A state to come back to, as long as the KV caches below `length` keep their contents."""

    length: int
    delta: tuple[tuple[np.ndarray, ...], ...]
    committed: int
    log_length: int
    mtp_length: int
    hidden_tail: np.ndarray

    @property
    def bytes(self) -> int:
        return sum(array.nbytes for arrays in self.delta for array in arrays)


class Prepared(dict):
    """What a backend has prepared for the arrays of one state: a copy of the state starts without."""

    def __deepcopy__(self, memo: dict) -> Prepared:
        return Prepared()


class RowQueue:
    """Rows [n, H] float32, added at the end and dropped at the front; neither moves the others as a rule."""

    def __init__(self, rows: np.ndarray):
        self._room, self._first, self._end = rows, 0, len(rows)

    def __len__(self) -> int:
        return self._end - self._first

    def newest(self, count: int) -> np.ndarray:
        """The last `count` rows, without a copy."""
        return self._room[self._end - count : self._end]

    def append(self, rows: np.ndarray) -> None:
        end = self._end + len(rows)
        if end > len(self._room):
            kept = self.newest(len(self))
            end = len(kept) + len(rows)
            self._room = np.empty((2 * end + QUEUE_ROOM, rows.shape[1]), np.float32)
            self._room[: len(kept)] = kept
            self._first, self._end = 0, len(kept)
        self._room[self._end : end] = rows
        self._end = end

    def keep(self, count: int) -> None:
        """Drop all but the last `count` rows."""
        self._first = max(self._first, self._end - count)


NOTHING_PENDING: tuple[Sequence[int], np.ndarray] = ((), np.empty((0, 0), np.float32))


@dataclass(slots=True)
class State:
    """Everything the model remembers. `tokens` are exactly those consumed. Its arrays stay as long as it lives.

    `hidden` holds the trunk's output (after the final norm) for the positions that the MTP head has not taken yet,
    and always for the newest position.
    """

    layers: list[DeltaLayer | KVCache]
    mtp: KVCache | None
    capacity: int
    hidden: RowQueue
    tokens: list[int] = field(default_factory=list)
    pending: tuple[Sequence[int], np.ndarray] = NOTHING_PENDING
    """Tokens and trunk rows of the last pass's speculative rows, until `accept`."""
    usable: bool = True
    """False while a pass runs, and for good when it or its round raised: then the state is rebuilt from the tokens."""
    prepared: Prepared = field(default_factory=Prepared, compare=False, repr=False)
    delta_layers: list[DeltaLayer] = field(init=False, repr=False)
    caches: list[KVCache] = field(init=False, repr=False)
    """Of the trunk."""

    def __post_init__(self) -> None:
        self.delta_layers = [layer for layer in self.layers if isinstance(layer, DeltaLayer)]
        self.caches = [layer for layer in self.layers if isinstance(layer, KVCache)]

    @property
    def length(self) -> int:
        return len(self.tokens)

    @property
    def log_length(self) -> int:
        """Accepted records that wait in every recurrent layer's log."""
        return self.delta_layers[0].log_length if self.delta_layers else 0

    @property
    def hidden_tail(self) -> np.ndarray:
        """The rows of `hidden` [n, hidden_size]."""
        return self.hidden.newest(len(self.hidden))

    @hidden_tail.setter
    def hidden_tail(self, rows: np.ndarray) -> None:
        self.hidden = RowQueue(rows)

    def check(self) -> None:
        """Assert that every cursor stands at the number of consumed tokens."""
        assert self.usable, "state used after a pass that raised"
        assert not self.pending[0], "speculative rows neither accepted nor rejected"
        length = len(self.tokens)
        for layer in self.delta_layers:
            committed, log_length = layer.committed, layer.log_length
            assert committed + log_length == length, ("recurrent", committed, log_length, length)
            assert 0 <= log_length <= MAX_DRAFT
            assert layer.conv_length == length, ("conv", layer.conv_length, length)
        for cache in self.caches:
            assert cache.length == length, ("cache", cache.length, length)
        if self.mtp is not None:
            assert self.mtp.length <= length, ("mtp", self.mtp.length, length)
            assert self.mtp.length >= length - len(self.hidden), "hidden rows missing for the MTP head"

    def advance(self, commit: int) -> None:
        """Move every layer's cursor over the `commit` rows that a pass has just committed, its log applied."""
        for layer in self.delta_layers:
            layer.committed += layer.log_length + commit
            layer.log_length = 0
            layer.conv_length += commit
        for cache in self.caches:
            cache.length += commit

    def consume(self, tokens: list[int], hidden: np.ndarray) -> None:
        """Note tokens whose rows every layer's cursor has passed, and their trunk rows."""
        self.tokens.extend(tokens)
        if self.mtp is not None and tokens:
            self.hidden.append(hidden)

    def accept(self, count: int) -> None:
        """Take the first `count` speculative rows of the last pass; the others never happened."""
        tokens, hidden = self.pending
        assert 0 <= count <= len(tokens)
        for layer in self.delta_layers:
            layer.conv_length += count
            layer.log_length = count
        for cache in self.caches:
            cache.length += count
        self.consume(tokens[:count], hidden[:count])
        self.pending = NOTHING_PENDING
        self.check()

    def rewind(self, count: int) -> None:
        """Move the cursors back over the newest `count` committed tokens. The caller sets the recurrent states."""
        if count == 0:
            return
        del self.tokens[self.length - count :]
        for layer in self.delta_layers:
            layer.committed -= count
            layer.conv_length -= count
        for cache in self.caches:
            cache.length -= count
        if self.mtp is not None:
            self.hidden_tail = self.hidden_tail[:-count]
        self.check()

    def clear(self) -> None:
        """Forget everything, whatever happened before. The arrays stay, and so does what is prepared for them."""
        for layer in self.delta_layers:
            for array in (layer.state, layer.ring, layer.log_decay, layer.log_key, layer.log_correction):
                array.fill(0)
            layer.committed = layer.log_length = layer.conv_length = 0
        for cache in self.caches:
            cache.length = 0
        if self.mtp is not None:
            self.mtp.length = 0
        self.hidden_tail = self.hidden_tail[:0]
        self.pending = NOTHING_PENDING
        self.tokens.clear()
        self.usable = True
        self.check()

    def snapshot(self) -> Snapshot:
        """Copies what a cursor cannot undo: recurrent states, rings and logs."""
        self.check()
        layers = self.delta_layers
        mtp_length = 0 if self.mtp is None else min(self.mtp.length, max(self.length - 1, 0))
        return Snapshot(
            length=self.length,
            delta=tuple(
                tuple(
                    array.copy()
                    for array in (
                        layer.state,
                        layer.ring,
                        layer.log_decay,
                        layer.log_key,
                        layer.log_correction,
                    )
                )
                for layer in layers
            ),
            committed=layers[0].committed if layers else self.length,
            log_length=layers[0].log_length if layers else 0,
            mtp_length=mtp_length,
            hidden_tail=self.hidden.newest(self.length - mtp_length).copy(),
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to `snapshot`, which must be of a prefix of this very stream."""
        for layer, arrays in zip(self.delta_layers, snapshot.delta, strict=True):
            live = (layer.state, layer.ring, layer.log_decay, layer.log_key, layer.log_correction)
            for target, source in zip(live, arrays, strict=True):
                target[...] = source
            layer.committed, layer.log_length = snapshot.committed, snapshot.log_length
            layer.conv_length = snapshot.length
        for cache in self.caches:
            cache.length = snapshot.length
        if self.mtp is not None:
            self.mtp.length = snapshot.mtp_length
        self.hidden_tail = snapshot.hidden_tail.copy()
        self.pending = NOTHING_PENDING
        del self.tokens[snapshot.length :]
        self.usable = True
        self.check()


def _kv_cache(config: ModelConfig, capacity: int) -> KVCache:
    # np.empty maps memory that costs nothing until a position is written.
    blocks = -(-capacity // KEY_BLOCK)
    heads, width = config.num_key_value_heads, config.head_dim
    return KVCache(
        np.empty((heads, blocks, width, KEY_BLOCK), np.float32),
        np.empty((heads, capacity, width), np.float32),
    )


def _delta_layers(config: ModelConfig, count: int) -> list[DeltaLayer]:
    """Empty layers whose arrays lie side by side in memory: every pass goes over all of them."""
    key_heads, value_heads = config.linear_num_key_heads, config.linear_num_value_heads
    dk, dv = config.linear_key_head_dim, config.linear_value_head_dim
    shapes = {
        "state": (value_heads, dk, dv),
        "ring": (RING_ROWS, config.conv_dim),
        "log_decay": (MAX_DRAFT, value_heads),
        "log_key": (MAX_DRAFT, key_heads, dk),
        "log_correction": (MAX_DRAFT, value_heads, dv),
    }
    ends = np.cumsum([-(-math.prod(shape) // LINE_FLOATS) * LINE_FLOATS for shape in shapes.values()])
    memory = large_pages.zeros(4 * count * int(ends[-1])).view(np.float32).reshape(count, int(ends[-1]))
    begins = [0, *ends[:-1].tolist()]
    return [
        DeltaLayer(
            **{
                name: row[begin : begin + math.prod(shape)].reshape(shape)
                for (name, shape), begin in zip(shapes.items(), begins, strict=True)
            }
        )
        for row in memory
    ]


def new_state(config: ModelConfig, capacity: int) -> State:
    """An empty state for up to `capacity` tokens (plus room for one round beyond them)."""
    positions = capacity + MAX_DRAFT + 1
    delta_layers = iter(_delta_layers(config, sum(kind != FULL for kind in config.layer_types)))
    return State(
        layers=[
            _kv_cache(config, positions) if kind == FULL else next(delta_layers)
            for kind in config.layer_types
        ],
        mtp=_kv_cache(config, positions + MAX_DRAFT) if config.has_mtp else None,
        capacity=capacity,
        hidden=RowQueue(np.empty((0, config.hidden_size), np.float32)),
    )
