"""Rotations that are computed when they are needed."""

from __future__ import annotations

import checkpoints
import models
import numpy as np
import pytest
from bits import assert_same, poison_numpy_empty

from kestrel_engine import numerics, rope
from kestrel_engine.options import MAX_DRAFT


@pytest.mark.parametrize("counts", [(1, 2, 3), (700, 650, 2049), (5000,)])
def test_the_bits_are_those_of_one_go(counts):
    tables = rope.RopeTables(2500, 64, 1e7)
    for count in counts:
        tables.fill(count)
        assert min(count, 2500) <= tables.filled < count + rope.CHUNK
    whole = numerics.rope_tables(2500, 64, 1e7)
    for table, expected in zip(tables.tables, whole, strict=True):
        assert_same(table[: tables.filled], expected[: tables.filled])


def test_a_longer_start_moves_no_bits():
    for part, whole in zip(
        numerics.rope_tables(70_000, 64, 1e7, 69_990), numerics.rope_tables(70_000, 64, 1e7), strict=True
    ):
        assert_same(part, whole[69_990:])


def test_arrays_stay_where_they_are():
    tables = rope.RopeTables(3000, 8, 1e4)
    places = [table.ctypes.data for table in tables.tables]
    tables.fill(3000)
    assert [table.ctypes.data for table in tables.tables] == places


def test_a_model_begins_without_and_gives_all(tmp_path):
    model = models.load(checkpoints.write_checkpoint(tmp_path, tokenizer=False), context=3 * rope.CHUNK)
    assert model._rope.filled == 0
    models.consume(model, [1, 2, 3])
    assert model._rope.filled == rope.CHUNK
    cos, sin = model.tables
    assert np.array_equal(cos**2 + sin**2 > 0.99, np.ones(cos.shape, bool))


@pytest.mark.parametrize("load", [models.load, models.reference], ids=["cpu", "reference"])
def test_every_pass_finds_its_rotations(tmp_path, monkeypatch, load):
    """Rows not yet computed are NaN here, and as few as possible are."""
    monkeypatch.setattr(rope, "CHUNK", 1)
    poison_numpy_empty(monkeypatch, rope)
    folder = checkpoints.write_checkpoint(tmp_path, tokenizer=False)
    whole, grown = load(folder), load(folder)
    assert len(whole.tables[0]) == whole._rope.filled > MAX_DRAFT
    seen = {}
    for model in (whole, grown):
        state, rows = models.consume(model, models.random_tokens(model, 9), chunk=4)
        seen[model] = [rows, model.mtp_row(state, 5)]
        for step in range(1, MAX_DRAFT):
            seen[model].append(model.mtp_chain(state, step, seen[model][-1], step))
        seen[model].append(model.forward(state, [5, 6, 7], 1))
    assert 9 < grown._rope.filled < len(grown.tables[0])
    for one, other in zip(*seen.values(), strict=True):
        assert_same(one, other)
