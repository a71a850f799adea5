"""Loading helpers for tests: a model on the reference or the CPU backend."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kestrel_engine.checkpoint import open_checkpoint
from kestrel_engine.config import load_config
from kestrel_engine.cpu.backend import CpuBackend
from kestrel_engine.model import Model
from kestrel_engine.reference import ReferenceBackend
from kestrel_engine.weights import load_weights


def load(folder: Path, format: str = "bf16", backend=None, context: int = 256) -> Model:
    """The checkpoint of `folder` on `backend` (the CPU with one thread when None)."""
    backend = backend or CpuBackend(1)
    config = load_config(folder)
    weights = load_weights(open_checkpoint(folder, config), config, format, backend.pack)
    return backend.make_model(config, weights, context)


def reference(folder: Path, format: str = "bf16", context: int = 256) -> Model:
    return load(folder, format, ReferenceBackend(), context)


def stepwise(model: Model) -> Model:
    """The same model with its passes run operation by operation, so that a fault can be planted between them."""
    return Model(model.config, model.weights, model.backend, model.context)


def random_tokens(model: Model, count: int, seed: int = 0) -> list[int]:
    return [int(t) for t in np.random.default_rng(seed).integers(0, model.config.vocab_size, count)]


def consume(model: Model, tokens: list[int], chunk: int = 1):
    """A fresh state that has consumed `tokens`, and all hidden rows [n, H]."""
    state, rows = model.new_state(), []
    for start in range(0, len(tokens), chunk):
        part = tokens[start : start + chunk]
        rows.append(model.forward(state, part, len(part)))
    return state, np.concatenate(rows)
