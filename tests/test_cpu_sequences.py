"""Operations that follow each other without a wait, and parts that are taken from both ends."""

from __future__ import annotations

import checkpoints
import models
import numpy as np
import pytest
from bits import assert_same

from kestrel_engine.cpu import program
from kestrel_engine.cpu.backend import CpuBackend
from kestrel_engine.cpu.operation import share
from kestrel_engine.cpu.program import Program
from kestrel_engine.cpu.simd import TILE

DELTA = ("conv_silu", "delta_inputs", "delta_replay", "delta_rows", "gated_norm")


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("grain", [1, 4, 100])
def test_parts_hold_every_item_once_and_are_large_at_the_ends(threads, grain):
    for items in (1, 2, 7, 16, 448, 15520):
        sizes = np.diff(share(items, threads, grain))
        assert sizes.sum() == items and (sizes > 0).all()
        assert (sizes < grain).sum() <= 1
        assert sizes[0] == sizes.max()
        assert threads == 1 or len(sizes) < threads or sizes[0] < 1.1 * sizes[-1] or sizes[0] <= 2 * grain


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Head widths that are whole blocks, so that a head may quantise what it made."""
    shape = {"linear_num_key_heads": 4, "linear_value_head_dim": 32, "intermediate_size": 128}
    return checkpoints.write_checkpoint(tmp_path_factory.mktemp("sequences"), tokenizer=False, **shape)


@pytest.mark.parametrize("format", ["bf16", "q8", "q4"])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_pass_in_sequences_has_the_bits_of_its_operations_one_by_one(format, threads, folder, monkeypatch):
    monkeypatch.setattr(program, "PARALLEL_BYTES", 0)
    model = models.load(folder, context=128, format=format, backend=CpuBackend(threads))
    plain = models.stepwise(model)
    tokens = models.random_tokens(model, 40)
    states = [models.consume(each, tokens[:30], chunk=11)[0] for each in (model, plain)]
    for start, rows, accepted in ((30, 4, 2), (33, 1, 0), (34, 5, 4)):
        hidden = [
            each.forward(state, tokens[start : start + rows], 1)
            for each, state in zip((model, plain), states, strict=True)
        ]
        assert_same(*hidden, (start, rows))
        for state in states:
            state.accept(accepted)
    for ours, theirs in zip(*(state.delta_layers for state in states), strict=True):
        assert_same(ours.state, theirs.state)
        assert_same(ours.ring, theirs.ring)


def test_what_follows_without_a_wait(folder):
    """Heads only where there are enough of them for the threads; with its product, a head stays where it was made."""
    for threads, head in ((1, ("q8_matmul", *DELTA, "quantize")), (8, (*DELTA, "quantize"))):
        model = models.load(folder, context=128, format="q8", backend=CpuBackend(threads))
        state = models.consume(model, models.random_tokens(model, 5))[0]
        model.forward(state, [3], 1)
        (recorded,) = (each for key, each in state.prepared.items() if key[:2] == ("trunk", 1))
        assert recorded.names.count(head) == len(state.delta_layers)
        norms = recorded.names.count(("add", "rms_norm", "quantize")) + recorded.names.count(
            ("add", "rms_norm")
        )
        assert norms == 2 * len(state.layers)
        assert "delta_rows" in recorded.shares()
        assert sum(recorded.shares().values()) == pytest.approx(1)


@pytest.mark.parametrize("format", ["bf16", "q8"])
def test_rows_do_not_follow_tiles_though_they_are_as_many(folder, format):
    """A row is whole when all tiles are; found on the MTP head, whose projection is 4 tiles wide, with 4 rows."""
    model = models.load(folder, context=128, format=format, backend=CpuBackend(2))
    hidden_size = model.config.hidden_size
    rows = hidden_size // TILE
    state = model.new_state()
    model._mtp_input(state, list(range(rows)), np.ones((rows, hidden_size), np.float32))
    (recorded,) = (each for key, each in state.prepared.items() if key[:2] == ("mtp input", rows))
    products = [names for names in recorded.names if names[0].endswith("matmul")]
    assert products and all(len(names) == 1 for names in products)
    assert any("rms_norm" in names for names in recorded.names)


def test_what_a_sequence_reads_is_not_written_again_by_it():
    recorded = Program(1, 1)
    read = [recorded.empty((1, 64)) for _ in range(2)]
    places = {array.ctypes.data for array in read}
    kernel = type("kernel", (), {"address": 0})
    kernel.__name__ = "kernel"
    recorded.add(kernel, 2, 1, (read.pop(),), makes="first")
    recorded.add(kernel, 2, 1, (read.pop(),), after="first", makes="second")
    assert recorded.empty((1, 64)).ctypes.data not in places
    recorded.add(kernel, 2, 1, ())
    recorded.add(kernel, 2, 1, ())
    recorded.add(kernel, 2, 1, ())
    assert recorded.empty((1, 64)).ctypes.data in places
