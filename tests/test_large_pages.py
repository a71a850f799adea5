"""Memory for weights: aligned, never given twice, and to be had on every system."""

from __future__ import annotations

import numpy as np
import pytest

from kestrel_engine import large_pages


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
@pytest.mark.parametrize("size", [0, 1, 1000, large_pages.SHARED_BYTES // 2])
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


def test_a_setting_that_cannot_be_read_means_none(monkeypatch, tmp_path):
    monkeypatch.setattr(large_pages, "SETTING", tmp_path / "missing")
    assert not large_pages.available()
    monkeypatch.setattr(large_pages, "SETTING", tmp_path / "enabled")
    (tmp_path / "enabled").write_text("always madvise [never]\n")
    assert not large_pages.available()
