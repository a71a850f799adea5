"""A checkpoint beside a cache folder of its own, for tests of packed weights on disk."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import checkpoints
import numpy as np
import pytest

from kestrel_engine import packed_cache
from kestrel_engine.checkpoint import open_checkpoint
from kestrel_engine.config import load_config
from kestrel_engine.cpu.backend import CpuBackend
from kestrel_engine.packed_cache import open_cache
from kestrel_engine.weights import Weights, load_weights


class Place:
    """A checkpoint, a cache folder, and what was told while loading."""

    def __init__(self, folder: Path, cache: Path):
        self.folder, self.cache = folder, cache
        self.notes: list[str] = []
        self.packed = 0

    def load(self, format: str = "q8", backend=None, mtp_format: str | None = None) -> Weights:
        backend = backend or CpuBackend(1)
        self.notes, self.packed = [], 0
        config = load_config(self.folder)
        checkpoint = open_checkpoint(self.folder, config)
        cache = open_cache(checkpoint.files, backend, format, self.notes.append, also=mtp_format or format)

        def pack(matrix: np.ndarray, format: str):
            self.packed += 1
            return backend.pack(matrix, format)

        return load_weights(checkpoint, config, format, pack, cache=cache, mtp_format=mtp_format)

    @property
    def files(self) -> list[Path]:
        return sorted(self.cache.glob("*.weights"))

    def assert_clean(self) -> None:
        assert not list(self.cache.rglob("*.tmp"))
        assert all("\n" not in note and ": " in note for note in self.notes)


@pytest.fixture
def place(tmp_path, monkeypatch) -> Place:
    monkeypatch.setattr(packed_cache, "SMALLEST_CHECKPOINT", 0)
    monkeypatch.setattr(packed_cache, "cache_folder", lambda: tmp_path / "cache" / "packed")
    # A checkpoint written by the test itself counts as settled, unless the test says otherwise.
    monkeypatch.setattr(packed_cache, "SETTLED_NANOSECONDS", 0)
    folder = checkpoints.write_checkpoint(tmp_path / "model")
    return Place(folder, tmp_path / "cache" / "packed")


def arrays_of(value) -> list[np.ndarray]:
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, tuple):
        return [array for each in value for array in arrays_of(each)]
    if dataclasses.is_dataclass(value):
        return [array for each in dataclasses.fields(value) for array in arrays_of(getattr(value, each.name))]
    return []


def assert_same_weights(left: Weights, right: Weights) -> None:
    for ours, theirs in zip(arrays_of(left), arrays_of(right), strict=True):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        assert ours.tobytes() == theirs.tobytes()


def change_a_weight(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-7] ^= 1
    path.write_bytes(data)
