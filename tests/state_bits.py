"""Whole states compared bit for bit, as they are and by what follows from them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np
import pytest
from bits import poison_numpy_empty, same

from kestrel_engine import rope
from kestrel_engine import state as state_module
from kestrel_engine.cpu import backend as cpu_backend
from kestrel_engine.cpu import linear, program
from kestrel_engine.model import Model
from kestrel_engine.options import MAX_DRAFT
from kestrel_engine.state import RING_ROWS, DeltaLayer, State


@contextlib.contextmanager
def poisoned_buffers() -> Iterator[None]:
    """Cache rows beyond the cursors, buffers not yet written and rotations not yet computed are NaN."""
    with pytest.MonkeyPatch.context() as patch:
        poison_numpy_empty(patch, state_module, cpu_backend, program, linear, rope)
        patch.setattr(rope, "CHUNK", 1)
        yield


def contents(state: State) -> dict[str, np.ndarray]:
    """All that a later pass can read: recurrent states, logs, ring rows and cache rows before the cursors."""
    parts = {"tokens": np.array(state.tokens)}
    layers = [*state.layers, *([state.mtp] if state.mtp is not None else [])]
    for n, layer in enumerate(layers):
        if isinstance(layer, DeltaLayer):
            kept = range(max(0, layer.conv_length - (RING_ROWS - MAX_DRAFT)), layer.conv_length)
            log = slice(layer.log_length)
            arrays = {
                "state": layer.state,
                "ring": layer.ring[[p % RING_ROWS for p in kept]],
                "log decay": layer.log_decay[log],
                "log key": layer.log_key[log],
                "log correction": layer.log_correction[log],
                "cursors": np.array([layer.committed, layer.log_length, layer.conv_length]),
            }
        else:
            arrays = {
                "keys": layer.key_rows(layer.length),
                "values": layer.values[:, : layer.length],
                "cursors": np.array([layer.length]),
            }
        parts |= {f"layer {n} {name}": array for name, array in arrays.items()}
    return parts


def differences(one: State, other: State) -> list[str]:
    ours, theirs = contents(one), contents(other)
    assert ours.keys() == theirs.keys()
    return [name for name in ours if not same(ours[name], theirs[name])]


NEXT, AFTER_NEXT = 7, 8
"""The tokens that follow whatever a test has consumed."""


def differences_after_a_step(model: Model, state: State, plain: State) -> list[str]:
    """What differs once both have taken one more token (which applies the log) and an MTP row."""
    rows = [model.forward(s, [NEXT], 1) for s in (state, plain)]
    mtp_rows = [model.mtp_row(s, AFTER_NEXT) for s in (state, plain)]
    names = [name for name, pair in (("hidden", rows), ("mtp", mtp_rows)) if not same(*pair)]
    return names + differences(state, plain)


def draft(model: Model, state: State, next_token: int, count: int) -> None:
    """`count` rows of the MTP head, the later ones fed with tokens of no meaning."""
    row = model.mtp_row(state, next_token)
    for step in range(1, count):
        row = model.mtp_chain(state, 3 * step, row, step)
