"""Faults in undoing drafts are noticed: by the state's invariants, or by bits that differ from plain decoding's."""

from __future__ import annotations

import checkpoints
import models
import pytest
from state_bits import differences_after_a_step, draft, poisoned_buffers

from kestrel_engine.model import Model
from kestrel_engine.state import State

FORMATS = ("bf16", "q8", "q4")


@pytest.fixture(autouse=True, scope="module")
def poisoned():
    with poisoned_buffers():
        yield


@pytest.fixture(scope="module", params=FORMATS)
def small_model(request, tmp_path_factory) -> Model:
    folder = checkpoints.write_checkpoint(tmp_path_factory.mktemp("bits"), tokenizer=False)
    return models.load(folder, request.param)


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
