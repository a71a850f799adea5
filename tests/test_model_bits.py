"""The whole model, bit for bit: backends, threads, chunks, accept counts and snapshots."""

from __future__ import annotations

import copy

import checkpoints
import models
import numpy as np
import pytest
from bits import assert_same
from hypothesis import given, settings
from hypothesis import strategies as st
from state_bits import NEXT, contents, differences, differences_after_a_step, draft, poisoned_buffers

from kestrel_engine.cpu import program
from kestrel_engine.cpu.backend import CpuBackend
from kestrel_engine.model import Model
from kestrel_engine.options import MAX_DRAFT
from kestrel_engine.state import State

FORMATS = ("bf16", "q8", "q4")
SHAPES = {
    "value heads = 2 x key heads": dict(),
    "value heads = key heads, two attention layers, untied": dict(
        num_hidden_layers=8, linear_num_value_heads=2, linear_value_head_dim=48, tie=False, seed=1
    ),
    "ragged": dict(
        hidden_size=96,
        intermediate_size=288,
        vocab_size=517,
        num_hidden_layers=6,
        full_attention_interval=2,
        num_attention_heads=6,
        num_key_value_heads=3,
        head_dim=48,
        linear_num_key_heads=1,
        linear_num_value_heads=3,
        linear_key_head_dim=64,
        linear_value_head_dim=32,
        seed=2,
    ),
    "attention alone": dict(num_hidden_layers=2, full_attention_interval=1, seed=3),
    "recurrence alone": dict(num_hidden_layers=2, full_attention_interval=3, seed=4),
}


@pytest.fixture(autouse=True, scope="module")
def poisoned():
    with poisoned_buffers():
        yield


@pytest.fixture(scope="module", params=SHAPES.values(), ids=SHAPES.keys())
def folder(request, tmp_path_factory):
    return checkpoints.write_checkpoint(tmp_path_factory.mktemp("bits"), tokenizer=False, **request.param)


@pytest.fixture(scope="module", params=FORMATS)
def model(request, folder) -> Model:
    return models.load(folder, request.param, context=400)


@pytest.fixture(scope="module", params=FORMATS)
def small_model(request, tmp_path_factory) -> Model:
    folder = checkpoints.write_checkpoint(tmp_path_factory.mktemp("bits"), tokenizer=False)
    return models.load(folder, request.param)


# --- the reference and the CPU ----------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS)
def test_cpu_has_the_bits_of_the_reference(folder, format, monkeypatch):
    """Prefill, a verify pass with a partial accept, the replay, the MTP row and its chain; 1 and 2 threads."""
    monkeypatch.setattr(program, "PARALLEL_BYTES", 0)
    loaded = [models.reference(folder, format)]
    loaded += [models.load(folder, format, CpuBackend(threads)) for threads in (1, 2)]
    traces = [list(trace(model)) for model in loaded]
    for other in traces[1:]:
        for (name, expected), (_, ours) in zip(traces[0], other, strict=True):
            assert_same(ours, expected, name)


def trace(model: Model):
    """(name, array) of everything a session computes, in order."""
    tokens = models.random_tokens(model, 40)
    state = model.new_state()
    steps = [(tokens[:23], 23, 0), (tokens[23:28], 1, 2), (tokens[28:29], 1, 0), (tokens[29:38], 1, 8)]
    for step, (part, commit, accepted) in enumerate(steps):
        hidden = model.forward(state, part, commit)
        yield f"hidden {step}", hidden
        yield f"logits {step}", model.logits(hidden)
        state.accept(accepted)
        row = model.mtp_row(state, tokens[-1])
        yield f"mtp {step}", row
        for link in (1, 2):
            row = model.mtp_chain(state, tokens[-1 - link], row, link)
            yield f"mtp {step} chain {link}", row
        yield from contents(state).items()
        yield f"hidden tail {step}", state.hidden_tail


# --- chunks -----------------------------------------------------------------------------------------------


def consume_in(model: Model, tokens: list[int], sizes) -> tuple[State, np.ndarray]:
    state, rows, start = model.new_state(), [], 0
    for size in sizes:
        part = tokens[start : start + size]
        rows.append(model.forward(state, part, len(part)))
        start += size
    assert start >= len(tokens)
    return state, np.concatenate(rows)


def test_prefill_in_any_chunks(model):
    """Beyond 256 positions, so that the sums of the attention have a second segment."""
    tokens = models.random_tokens(model, 290)
    plain, expected = models.consume(model, tokens, 1)
    for chunk in (3, 16, len(tokens)):
        state, rows = models.consume(model, tokens, chunk)
        assert_same(rows, expected, chunk)
        assert differences_after_a_step(model, state, copy.deepcopy(plain)) == [], chunk


@settings(max_examples=15)
@given(data=st.data())
def test_prefill_in_random_chunks(small_model, data):
    tokens = models.random_tokens(small_model, data.draw(st.integers(1, 60)))
    sizes = []
    while sum(sizes) < len(tokens):
        sizes.append(data.draw(st.integers(1, len(tokens) - sum(sizes))))
    plain, expected = models.consume(small_model, tokens, 1)
    state, rows = consume_in(small_model, tokens, sizes)
    assert_same(rows, expected)
    assert differences_after_a_step(small_model, state, plain) == []


# --- verify passes ----------------------------------------------------------------------------------------


def test_every_accept_count(model):
    """After accepting n of k drafts the state is that of a plain run, once the next pass applied the log."""
    tokens = models.random_tokens(model, 20 + MAX_DRAFT + 1)
    prefix, run = tokens[:20], tokens[20:]
    start, _ = models.consume(model, prefix, 20)
    plains, expected, plain = [], [], copy.deepcopy(start)
    for token in run:
        expected.append(model.forward(plain, [token], 1))
        plains.append(copy.deepcopy(plain))
    expected = np.concatenate(expected)
    for drafts in range(MAX_DRAFT + 1):
        verified = copy.deepcopy(start)
        rows = model.forward(verified, run[: drafts + 1], 1)
        assert_same(rows, expected[: drafts + 1], drafts)
        for accepted in range(drafts + 1):
            state = copy.deepcopy(verified)
            state.accept(accepted)
            assert state.tokens == [*prefix, *run[: accepted + 1]]
            found = differences_after_a_step(model, state, copy.deepcopy(plains[accepted]))
            assert found == [], (drafts, accepted)


ROUND = st.tuples(st.integers(1, 3), st.integers(0, MAX_DRAFT), st.integers(0, MAX_DRAFT), st.integers(0, 3))
"""Certain tokens, drafts, accepted of them, and MTP rows asked for before the pass."""


@settings(max_examples=25)
@given(st.lists(ROUND, min_size=1, max_size=6), st.integers(0, 2**20))
def test_random_rounds(small_model, rounds, seed):
    model, random = small_model, np.random.default_rng(seed)
    state, consumed, rows = model.new_state(), [], []
    for certain, drafts, accepted, mtp_rows in rounds:
        tokens = [int(t) for t in random.integers(0, model.config.vocab_size, certain + drafts)]
        if consumed and mtp_rows:
            draft(model, state, tokens[0], mtp_rows)
        kept = certain + min(accepted, drafts)
        rows.append(model.forward(state, tokens, certain)[:kept])
        state.accept(kept - certain)
        consumed += tokens[:kept]
    plain, expected = models.consume(model, consumed, 1)
    assert_same(np.concatenate(rows), expected)
    assert differences_after_a_step(model, state, plain) == []


def test_mtp_row_for_another_next_token(small_model):
    """The head's newest pair is made again, not kept with the token that did not come."""
    state, _ = models.consume(small_model, models.random_tokens(small_model, 9), 9)
    fresh = copy.deepcopy(state)
    draft(small_model, state, 5, 3)
    assert_same(small_model.mtp_row(state, NEXT), small_model.mtp_row(fresh, NEXT))
    assert differences(state, fresh) == []


def test_slots_hold_the_state_after_every_row(small_model):
    model = small_model
    tokens = models.random_tokens(model, 16)
    state, _ = models.consume(model, tokens[:7], 7)
    slots = [np.full((9, *layer.state.shape), np.nan, np.float32) for layer in state.delta_layers]
    rows = model.forward(state, tokens[7:], 9, slots)
    plain, expected = models.consume(model, tokens[:7], 7)[0], []
    for m, token in enumerate(tokens[7:]):
        expected.append(model.forward(plain, [token], 1))
        for slot, layer in zip(slots, plain.delta_layers, strict=True):
            assert_same(slot[m], layer.state, m)
    assert_same(rows, np.concatenate(expected))
    assert differences(state, plain) == []

    back, _ = models.consume(model, tokens[:11], 1)
    for slot, layer in zip(slots, state.delta_layers, strict=True):
        layer.state[...] = slot[3]
    state.rewind(5)
    assert differences_after_a_step(model, state, back) == []


# --- snapshots --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("accepted", [0, 3])
@pytest.mark.parametrize("length", [1, 2, 21])
def test_snapshot_and_restore(small_model, length, accepted):
    """Also with records in the log; then as if the tokens in between had never been. Twice."""
    model = small_model
    tokens = models.random_tokens(model, 60)
    state, _ = models.consume(model, tokens[:length], 5)
    draft(model, state, tokens[length], 2)
    model.forward(state, tokens[length : length + 6], 1)
    state.accept(accepted)
    kept = copy.deepcopy(state)
    draft(model, state, NEXT, 3)
    snapshot = state.snapshot()
    for other in (tokens[30:], tokens[40:47]):
        model.forward(state, other, len(other) - 4)
        state.accept(2)
        model.mtp_row(state, 3)
        state.restore(snapshot)
        assert differences_after_a_step(model, copy.deepcopy(state), copy.deepcopy(kept)) == []


def test_snapshot_of_an_empty_state(small_model):
    state = small_model.new_state()
    snapshot = state.snapshot()
    small_model.forward(state, models.random_tokens(small_model, 9), 9)
    small_model.mtp_row(state, 3)
    state.restore(snapshot)
    assert state.tokens == []
    assert differences_after_a_step(small_model, state, small_model.new_state()) == []
