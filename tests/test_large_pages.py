"""Memory for weights and states: aligned, never given twice, given back, and to be had on every system."""

from __future__ import annotations

import copy
import errno
import gc
import itertools
import mmap
from pathlib import Path

import numpy as np
import pytest

from kestrel_cuda.cost import SHAPES
from kestrel_engine import large_pages
from kestrel_engine.state import DeltaLayer, State, new_state

HALF = large_pages.SHARED_BYTES // 2
STATM = Path("/proc/self/statm")


@pytest.mark.parametrize("available", [True, False])
def test_memory_is_aligned_and_given_once(monkeypatch, available):
    """Small pieces that share a mapping, pieces that begin a new one, and one with a mapping of its own."""
    if available and not large_pages.available():
        pytest.skip("this system has no large pages")
    monkeypatch.setattr(large_pages, "available", lambda: available)
    monkeypatch.setattr(large_pages, "_shared", np.empty(0, np.uint8))
    sizes = [
        1,
        0,
        64,
        65,
        1000,
        large_pages.SHARED_BYTES // 2 - 1,
        7,
        large_pages.SHARED_BYTES // 2 - 1,
        1 << 25,
    ]
    pieces = [large_pages.empty(size) for size in sizes]
    for number, piece in enumerate(pieces):
        piece[:] = number
    for number, (piece, size) in enumerate(zip(pieces, sizes, strict=True)):
        assert len(piece) == size and (not size or piece.ctypes.data % large_pages.ALIGNMENT == 0)
        assert (piece == number).all()


@pytest.mark.parametrize("available", [True, False])
@pytest.mark.parametrize("size", [0, 1, 1000, HALF - 1, HALF, HALF + 1])
def test_zeros_are_zero_aligned_and_nobody_elses(monkeypatch, available, size):
    if available and not large_pages.available():
        pytest.skip("this system has no large pages")
    monkeypatch.setattr(large_pages, "available", lambda: available)
    for _ in range(2):  # memory that was given back comes clean again
        piece, other = large_pages.zeros(size), large_pages.zeros(size)
        assert len(piece) == size and not piece.any()
        assert not size or piece.ctypes.data % large_pages.ALIGNMENT == 0
        piece[:] = 255
        assert not other.any()
        del piece, other


def test_memory_that_is_not_to_be_had(monkeypatch):
    """Says so, as numpy does: whoever loads a model tells the user what to do."""

    def refuse(*arguments, **options):
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    monkeypatch.setattr(large_pages, "available", lambda: True)
    monkeypatch.setattr(large_pages.mmap, "mmap", refuse)
    for give in (large_pages.empty, large_pages.zeros):
        with pytest.raises(MemoryError):
            give(large_pages.SHARED_BYTES)


def test_a_setting_that_cannot_be_read_means_none(monkeypatch, tmp_path):
    monkeypatch.setattr(large_pages, "SETTING", tmp_path / "missing")
    assert not large_pages.available()
    monkeypatch.setattr(large_pages, "SETTING", tmp_path / "enabled")
    (tmp_path / "enabled").write_text("always madvise [never]\n")
    assert not large_pages.available()


def arrays(layer: DeltaLayer) -> list[np.ndarray]:
    return [layer.state, layer.ring, layer.log_decay, layer.log_key, layer.log_correction]


def delta_arrays(state: State) -> list[np.ndarray]:
    return [array for layer in state.delta_layers for array in arrays(layer)]


@pytest.mark.parametrize("available", [True, False])
def test_recurrent_states_begin_at_zero_and_lie_apart(monkeypatch, available):
    """Of a shape that is large enough for a mapping of its own."""
    monkeypatch.setattr(large_pages, "available", lambda: available and hasattr(mmap, "MADV_HUGEPAGE"))
    states = [new_state(SHAPES["0.8B"], 8) for _ in range(2)]
    every = [array for state in states for array in delta_arrays(state)]
    assert sum(array.nbytes for array in every) > 2 * HALF
    assert all(array.flags.c_contiguous and array.ctypes.data % 64 == 0 for array in every)
    places = sorted((array.ctypes.data, array.ctypes.data + array.nbytes) for array in every)
    assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(places))
    for number, array in enumerate(every):
        assert not array.any()
        array.fill(number + 1)
    assert all((array == number + 1).all() for number, array in enumerate(every))


def test_copies_of_a_state_share_nothing_with_it():
    state = new_state(SHAPES["0.8B"], 8)
    for number, array in enumerate(delta_arrays(state)):
        array.fill(number)
    snapshot, fork = state.snapshot(), copy.deepcopy(state)
    for array in delta_arrays(state):
        array.fill(-1)
    copied = [array for layer in snapshot.delta for array in layer]
    for kept in (copied, delta_arrays(fork)):
        assert all((array == number).all() for number, array in enumerate(kept))
    live = delta_arrays(state)
    state.restore(snapshot)
    assert all(now is before for now, before in zip(delta_arrays(state), live, strict=True))
    assert all((array == number).all() for number, array in enumerate(live))


@pytest.mark.skipif(not STATM.exists(), reason="needs /proc")
def test_the_memory_of_states_is_given_back():
    """With the last of its arrays, not before."""

    def mapped() -> int:
        gc.collect()
        return int(STATM.read_text().split()[0]) * mmap.PAGESIZE

    new_state(SHAPES["0.8B"], 8)
    before = mapped()
    states = [new_state(SHAPES["0.8B"], 8) for _ in range(8)]
    assert mapped() - before > 8 * HALF
    last = [state.delta_layers[-1].log_decay for state in states]
    states.clear()
    assert mapped() - before > 8 * HALF
    assert not any(array.any() for array in last)
    last.clear()
    assert mapped() - before < 2 * HALF
