"""Rounds give plain decoding's tokens and leave plain decoding's state, whatever is drafted and undone."""

from __future__ import annotations

import functools
import itertools

import models
import numpy as np
import pytest
import rounds
from hypothesis import given, settings
from hypothesis import strategies as st
from rounds import DRAFTERS, FORMATS, GREEDY, ROLLBACKS, SAMPLED, SAMPLINGS

from kestrel_engine.cpu import program
from kestrel_engine.drafter import LookupDrafter
from kestrel_engine.model import Model
from kestrel_engine.options import MAX_DRAFT
from kestrel_engine.state import State

COUNT = 24


@pytest.fixture(scope="module")
def load(tiny_model, echo_model):
    """load("tiny" or "echo", format) → the model, loaded once."""
    folders = {"tiny": tiny_model, "echo": echo_model}
    return functools.cache(lambda name, format="bf16": models.load(folders[name], format))


@pytest.fixture(scope="module")
def plain(load):
    """plain(name, format, prompt, sampling) → the recorded plain run and its twin."""

    @functools.cache
    def run(name, format, prompt, sampling):
        model = load(name, format)
        ids = rounds.plain_ids(model, prompt, sampling, COUNT + MAX_DRAFT + 1)
        return ids, rounds.Twin(model)

    return run


def check_run(model, prompt, sampling, lengths, kind, rollback, chunk, ids, twin) -> int:
    """Run rounds until COUNT tokens are there, comparing everything after each. Returns the accepted drafts."""
    state = rounds.fresh_state(model)
    rounds.prefill(model, state, prompt[:-1], chunk)
    drafter = rounds.make_drafter(kind, model, [*prompt, *ids])
    emitted: list[int] = []
    accepted = 0
    running = rounds.rounds(model, state, prompt, sampling, itertools.cycle(lengths), drafter, rollback)
    for result in running:
        emitted += [token.id for token in result.tokens]
        accepted += result.accepted
        assert emitted == ids[: len(emitted)]
        assert len(result.tokens) == result.accepted + 1
        rounds.assert_same_state(model, state, twin.at([*prompt, *emitted[:-1]]))
        if len(emitted) >= COUNT:
            return accepted
    raise AssertionError("rounds ended")


@settings(max_examples=120)
@given(
    name=st.sampled_from(["tiny", "echo"]),
    format=st.sampled_from(FORMATS),
    sampling=st.sampled_from([*SAMPLINGS.values()]),
    prompt_seed=st.integers(0, 3),
    lengths=st.lists(st.integers(0, MAX_DRAFT), min_size=1, max_size=12),
    kind=st.sampled_from(DRAFTERS),
    rollback=st.sampled_from(ROLLBACKS),
    chunk=st.sampled_from([1, 3, 16, 99]),
)
def test_any_round_is_plain_decoding(
    load, plain, name, format, sampling, prompt_seed, lengths, kind, rollback, chunk
):
    model = load(name, format)
    prompt = tuple(models.random_tokens(model, (1, 2, 17, 40)[prompt_seed], prompt_seed))
    ids, twin = plain(name, format, prompt, sampling)
    check_run(model, prompt, sampling, lengths, kind, rollback, chunk, ids, twin)


@pytest.mark.parametrize("sampling", [GREEDY, SAMPLED], ids=["greedy", "sampled"])
@pytest.mark.parametrize("kind", ["mtp", "lookup", "right"])
@pytest.mark.parametrize("length", range(MAX_DRAFT + 1))
def test_every_draft_length(load, plain, length, kind, sampling):
    model = load("echo")
    prompt = tuple(models.random_tokens(model, 20))
    ids, twin = plain("echo", "bf16", prompt, sampling)
    accepted = check_run(model, prompt, sampling, [length], kind, "cursor", 16, ids, twin)
    if length and (kind == "right" or (kind == "mtp" and sampling == GREEDY)):
        assert accepted >= COUNT * length // (length + 1) - length


@pytest.mark.parametrize("rollback", ROLLBACKS)
@pytest.mark.parametrize(("length", "right"), [(k, n) for k in range(1, MAX_DRAFT + 1) for n in range(k + 1)])
def test_every_accept_count(load, plain, rollback, length, right):
    """After each accept count, rounds of other lengths follow: with drafts, without, with drafts."""
    model = load("tiny")
    prompt = tuple(models.random_tokens(model, 9))
    ids, twin = plain("tiny", "bf16", prompt, SAMPLED)
    state = rounds.fresh_state(model)
    rounds.prefill(model, state, prompt[:-1], 4)
    drafter = rounds.KnowingDrafter(
        [*prompt, *ids], model.config.vocab_size, lambda n: right if n == 0 else 1
    )
    emitted = []
    lengths = (length, 2, 0, 3)
    results = rounds.rounds(model, state, prompt, SAMPLED, iter(lengths), drafter, rollback)
    for expected, result in zip((right, 1, 0, 1), results, strict=True):
        assert result.accepted == expected
        emitted += [token.id for token in result.tokens]
        rounds.assert_same_state(model, state, twin.at([*prompt, *emitted[:-1]]))
    assert emitted == ids[: len(emitted)]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("rollback", ROLLBACKS)
def test_two_threads(load, plain, monkeypatch, format, rollback):
    """However small the work, the helpers take part."""
    monkeypatch.setattr(program, "PARALLEL_BYTES", 0)
    model = load("echo", format)
    prompt = tuple(models.random_tokens(model, 20))
    ids, twin = plain("echo", format, prompt, SAMPLED)
    model.backend.threads = 2
    try:
        for kind in ("mtp", "right until"):
            check_run(model, prompt, SAMPLED, [3, 0, 8], kind, rollback, 7, ids, twin)
    finally:
        model.backend.threads = 1


def test_what_a_round_tells(load):
    model = load("tiny")
    prompt = models.random_tokens(model, 9)
    ids = rounds.plain_ids(model, prompt, GREEDY, 12)
    state = model.new_state()
    rounds.prefill(model, state, prompt[:-1], 9)
    drafter = rounds.KnowingDrafter([*prompt, *ids], model.config.vocab_size, lambda n: (2, 3)[n])
    first, second = rounds.rounds(model, state, prompt, GREEDY, iter((4, 3)), drafter)
    wrong = [(token + 1) % model.config.vocab_size for token in ids]
    assert first.drafts == [*ids[:2], *wrong[2:4]] and first.rejected == tuple(wrong[2:4])
    assert [token.draft_index for token in first.tokens] == [0, 1, None]
    assert second.accepted == 3 and second.rejected == ()
    assert [token.draft_index for token in second.tokens] == [0, 1, 2, None]
    assert (first.drafter, first.stopped) == ("knowing", False)
    row = model.logits(models.consume(model, [*prompt, *ids[:2]])[1][-1:])[0].astype(np.float64)
    expected = row - np.log(np.exp(row - row.max()).sum()) - row.max()
    assert first.tokens[2].logprob == pytest.approx(expected[ids[2]], abs=1e-4)
    assert first.rejected_logprob == pytest.approx(expected[wrong[2]], abs=1e-4)
    assert second.rejected_logprob is None


def test_lookup_finds_what_followed(load):
    state = load("tiny").new_state()
    state.tokens = [1, 2, 3, 4, 5, 6, 1, 2, 3]
    drafter = LookupDrafter()
    assert drafter.draft(state, 4, 2, None) == [5, 6]
    assert drafter.draft(state, 4, 8, None) == [5, 6, 1, 2, 3]
    assert drafter.draft(state, 5, 8, None) == []
    state.tokens = [*state.tokens, 4, 9, 1, 2, 3]
    assert drafter.draft(state, 4, 1, None) == [9], "the newest occurrence counts"
    state.tokens = [7, 7, 7]
    drafter.reset()
    assert drafter.draft(state, 7, 3, None) == []
    state.tokens = [7, 7, 7, 7]
    assert drafter.draft(state, 7, 3, None) == []
    state.tokens = [7, 7, 7, 7, 7]
    assert drafter.draft(state, 7, 3, None) == [7]


# --- negative controls: a broken rollback must not pass ---------------------------------------------------


def forget_the_log(monkeypatch) -> None:
    monkeypatch.setattr(Model, "_replay", lambda self, layer: None)


def leave_the_convolution(monkeypatch) -> None:
    """The ring's cursor stays behind the rejected rows."""

    def accept(self, count):
        rejected = len(self.pending[0]) - count
        original(self, count)
        for layer in self.delta_layers:
            layer.conv_length += rejected

    original = State.accept
    monkeypatch.setattr(State, "accept", accept)


def leave_the_keys(monkeypatch) -> None:
    def accept(self, count):
        rejected = len(self.pending[0]) - count
        original(self, count)
        for cache in self.caches:
            cache.length += rejected

    original = State.accept
    monkeypatch.setattr(State, "accept", accept)


def log_one_too_few(monkeypatch) -> None:
    def accept(self, count):
        original(self, count)
        for layer in self.delta_layers:
            layer.log_length = max(0, layer.log_length - 1)
            layer.committed = self.length - layer.log_length

    original = State.accept
    monkeypatch.setattr(State, "accept", accept)


@pytest.mark.parametrize("damage", [forget_the_log, log_one_too_few, leave_the_convolution, leave_the_keys])
def test_a_broken_rollback_is_noticed(load, monkeypatch, damage):
    """By the comparison of ids and states: the cursors' own assertions are silenced. Operation by operation,
    as the whole passes of a backend need not look at every layer's cursor."""
    model = models.stepwise(load("tiny"))
    prompt = tuple(models.random_tokens(model, 12))
    ids = rounds.plain_ids(model, prompt, SAMPLED, COUNT + 9)
    twin = rounds.Twin(model)
    twin.at([*prompt, *ids])
    arguments = (model, prompt, SAMPLED, [3, 0, 2], "right until", "cursor", 16, ids, twin)
    check_run(*arguments)
    damage(monkeypatch)
    monkeypatch.setattr(State, "check", lambda self: None)
    with pytest.raises(AssertionError):
        check_run(*arguments)


@pytest.mark.parametrize("damage", [leave_the_convolution, leave_the_keys])
def test_cursors_that_part_are_noticed_at_once(load, monkeypatch, damage):
    model = load("tiny")
    prompt = models.random_tokens(model, 12)
    damage(monkeypatch)
    state = model.new_state()
    rounds.prefill(model, state, prompt[:-1], 16)
    running = rounds.rounds(
        model, state, prompt, SAMPLED, itertools.repeat(3), rounds.RandomDrafter(model.config.vocab_size)
    )
    with pytest.raises(AssertionError):
        for _ in range(3):
            next(running)
