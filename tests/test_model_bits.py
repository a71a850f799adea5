"""The whole model, bit for bit: backends, threads, chunks, accept counts, snapshots, and what would break it."""

from __future__ import annotations

import copy

import checkpoints
import models
import numpy as np
import pytest
from bits import assert_same, poison_numpy_empty, same
from hypothesis import given, settings
from hypothesis import strategies as st

from kestrel_engine import rope
from kestrel_engine import state as state_module
from kestrel_engine.cpu import backend as cpu_backend
from kestrel_engine.cpu import linear, program
from kestrel_engine.cpu.backend import CpuBackend
from kestrel_engine.model import Model
from kestrel_engine.options import MAX_DRAFT
from kestrel_engine.state import RING_ROWS, DeltaLayer, State

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
}


@pytest.fixture(autouse=True, scope="module")
def poisoned_buffers():
    """Cache rows beyond the cursors, buffers not yet written and rotations not yet computed are NaN."""
    with pytest.MonkeyPatch.context() as patch:
        poison_numpy_empty(patch, state_module, cpu_backend, program, linear, rope)
        patch.setattr(rope, "CHUNK", 1)
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


# --- comparing --------------------------------------------------------------------------------------------


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


def draft(model: Model, state: State, next_token: int, count: int) -> None:
    """`count` rows of the MTP head, the later ones fed with tokens of no meaning."""
    row = model.mtp_row(state, next_token)
    for step in range(1, count):
        row = model.mtp_chain(state, 3 * step, row, step)


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


# --- what would break it ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stepwise_model(small_model) -> Model:
    """Operation by operation, each looking at its own layer's cursor and at the log when it is run."""
    return models.stepwise(small_model)


def differences_after_a_round(model: Model, tamper=lambda state: None) -> list[str]:
    """Draft, verify 5 drafts, accept 2, `tamper`, and take one more token: what differs from the plain run."""
    tokens = models.random_tokens(model, 16)
    state, _ = models.consume(model, tokens[:10], 10)
    draft(model, state, tokens[10], 3)
    model.forward(state, tokens[10:16], 1)
    state.accept(2)
    tamper(state)
    plain, _ = models.consume(model, tokens[:13], 1)
    return differences_after_a_step(model, state, plain)


def break_replay(monkeypatch, model: Model, broken) -> None:
    """`broken(layer, replay)` in place of the backend's replay; the cursors still move."""
    replay = model.backend.delta_replay
    monkeypatch.setattr(model.backend, "delta_replay", lambda layer: broken(layer, replay))


def without_decay(layer, replay) -> None:
    layer.log_decay[: layer.log_length] = 1
    replay(layer)


def in_reverse(layer, replay) -> None:
    for log in (layer.log_decay, layer.log_key, layer.log_correction):
        log[: layer.log_length] = log[: layer.log_length][::-1].copy()
    replay(layer)


BROKEN_REPLAYS = {
    "removed": lambda layer, replay: None,
    "applied twice": lambda layer, replay: (replay(layer), replay(layer)),
    "without the decay": without_decay,
    "in reverse": in_reverse,
}


def test_a_round_done_right(small_model, stepwise_model):
    assert differences_after_a_round(small_model) == []
    assert differences_after_a_round(stepwise_model) == []


@pytest.mark.parametrize("broken", BROKEN_REPLAYS.values(), ids=BROKEN_REPLAYS.keys())
def test_a_broken_replay_is_noticed(stepwise_model, monkeypatch, broken):
    break_replay(monkeypatch, stepwise_model, broken)
    found = differences_after_a_round(stepwise_model)
    assert "hidden" in found and "layer 0 state" in found


def conv_cursor_left(state: State) -> None:
    for layer in state.delta_layers:
        layer.conv_length += 3


def kv_cursor_left(state: State) -> None:
    for cache in state.caches:
        cache.length += 3


def rejected_records_kept(state: State) -> None:
    for layer in state.delta_layers:
        layer.log_length += 3


CURSORS_LEFT = [(conv_cursor_left, "layer 0 state"), (kv_cursor_left, "hidden")]
CURSORS_LEFT += [(rejected_records_kept, "layer 0 state")]


@pytest.mark.parametrize("tamper, noticed", CURSORS_LEFT)
def test_a_cursor_not_rolled_back_is_noticed(stepwise_model, monkeypatch, tamper, noticed):
    """By the invariants, and by the bits where those are silenced."""
    with pytest.raises(AssertionError):
        differences_after_a_round(stepwise_model, tamper)
    monkeypatch.setattr(State, "check", lambda state: None)
    found = differences_after_a_round(stepwise_model, tamper)
    assert noticed in found and "hidden" in found and "mtp" in found


def test_keys_of_the_draft_chain_kept_are_noticed(stepwise_model):
    """The head's cursor left behind the keys that its own outputs made, instead of the trunk's rows."""

    def tamper(state: State) -> None:
        state.mtp.length += 2

    assert differences_after_a_round(stepwise_model, tamper)[0] == "mtp"
