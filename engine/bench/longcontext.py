"""States that stand at a given context length without the hour that a long prompt would take to read."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from kestrel_engine.model import Model
from kestrel_engine.state import State


def synthetic_state(model: Model, length: int) -> State:
    """A state as after `length` >= 1 tokens. Keys and values are random numbers: they cost what real ones do
    and mean nothing."""
    state = model.new_state()
    generator = np.random.default_rng(length)
    for cache in [*state.caches, *([state.mtp] if state.mtp else [])]:
        for array in (cache.keys, cache.values):
            _fill(array, length, generator)
        cache.length = length
    for layer in state.delta_layers:
        layer.state[...] = 0.01 * generator.standard_normal(layer.state.shape, dtype=np.float32)
        layer.committed = layer.conv_length = length
    state.tokens = [0] * length
    state.hidden_tail = generator.standard_normal((1, model.config.hidden_size), dtype=np.float32)
    state.check()
    return state


def prefill(model: Model, state: State, length: int, chunk: int) -> None:
    """Let the empty `state` read `length` random tokens."""
    tokens = np.random.default_rng(length).integers(0, model.config.vocab_size, length).tolist()
    for start in range(0, length, chunk):
        part = tokens[start : start + chunk]
        model.forward(state, part, len(part))


def prefilled_state(model: Model, length: int, chunk: int) -> State:
    state = model.new_state()
    prefill(model, state, length, chunk)
    return state


def _fill(array: np.ndarray, length: int, generator: np.random.Generator) -> None:
    """Random numbers at positions below `length`; keys are [heads, blocks, d, block], values [heads, n, d]."""
    positions = length if array.ndim == 3 else -(-length // array.shape[3])
    shape = (array.shape[0], positions, *array.shape[2:])
    array[:, :positions] = generator.standard_normal(shape, dtype=np.float32)


def state_bytes(state: State, length: int) -> dict[str, int]:
    """Memory of `state` at context `length`, computed: the KV caches' rows, and what never grows."""
    caches = [*state.caches, *([state.mtp] if state.mtp else [])]
    per_token = sum(2 * cache.values.shape[0] * cache.values.shape[2] * 4 for cache in caches)
    fixed = sum(
        array.nbytes
        for layer in state.delta_layers
        for array in (layer.state, layer.ring, layer.log_decay, layer.log_key, layer.log_correction)
    )
    return {"kv_bytes": per_token * length, "recurrent_bytes": fixed}


def resident_bytes() -> int:
    """Memory of this process that is really there; 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
