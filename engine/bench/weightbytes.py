"""How many bytes of weights one decode step reads."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from kestrel_engine.weights import Weights


def bytes_of(part: Any) -> int:
    """Bytes of all matrices and arrays within a dataclass of weights, a tuple of them, or one of them."""
    if isinstance(part, np.ndarray):
        return part.nbytes
    if hasattr(part, "bytes"):
        return int(part.bytes)
    if isinstance(part, tuple):
        return sum(map(bytes_of, part))
    if dataclasses.is_dataclass(part):
        return sum(bytes_of(getattr(part, field.name)) for field in dataclasses.fields(part))
    return 0


def step_bytes(weights: Weights) -> int:
    """The layers, the last norm and the output matrix. An embedding is one row, and the MTP head drafts."""
    return bytes_of(weights.layers) + bytes_of(weights.norm) + bytes_of(weights.output)
