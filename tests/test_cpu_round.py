"""A round in two native calls on the CPU: the drafts, tokens and log-probabilities of the one step by step."""

from __future__ import annotations

import checkpoints
import models
import numpy as np
import pytest
import rounds
from bits import assert_same
from hypothesis import given
from hypothesis import strategies as st

from kestrel_engine.cpu import choice, program
from kestrel_engine.cpu.backend import CpuBackend
from kestrel_engine.draft_head import BLOCK_ROWS, make_draft_head
from kestrel_engine.drafter import FirstHit, MtpDrafter
from kestrel_engine.errors import KestrelError
from kestrel_engine.options import MAX_DRAFT, SamplingOptions
from kestrel_engine.reference import ReferenceBackend
from kestrel_engine.rollback import CursorRollback
from kestrel_engine.sampling import Sampler
from kestrel_engine.speculate import _step_by_step

CHOSEN_NATIVELY = {
    "greedy": SamplingOptions(),
    "greedy with all of too many": SamplingOptions(top_k=10**30),
    "temperature": SamplingOptions(temperature=1.0, seed=7),
    "cold": SamplingOptions(temperature=0.01, seed=2**62 + 5),
    "min-p": SamplingOptions(temperature=1.5, min_p=0.3, seed=8),
    "top-k": SamplingOptions(temperature=3.0, top_k=20, seed=9),
    "all filters": SamplingOptions(temperature=0.8, top_k=40, top_p=0.9, min_p=0.02, seed=3),
    "one by top-p": SamplingOptions(temperature=1.0, top_k=1024, top_p=1e-6, seed=4),
}
CHOSEN_STEP_BY_STEP = {
    "penalties": rounds.SAMPLINGS["penalties"],
    "top-p alone": SamplingOptions(temperature=1.0, top_p=0.9),
    "very many": SamplingOptions(temperature=1.0, top_k=1025),
}


@pytest.mark.parametrize("options", CHOSEN_NATIVELY.values(), ids=CHOSEN_NATIVELY)
@given(
    size=st.sampled_from([1, 2, 19, 63, 64, 65, 130, 700]),
    levels=st.sampled_from([1, 3, 40, 10**6]),
    scale=st.sampled_from([0.1, 3.0, 40.0]),
    position=st.integers(0, 2**31),
    some_ids=st.booleans(),
    seed=st.integers(0, 10**6),
)
def test_a_token_is_that_of_the_sampler(options, size, levels, scale, position, some_ids, seed):
    """Few levels give many ties: they go to the lowest id, also where only the division made them equal."""
    random = np.random.default_rng(seed)
    logits = (random.integers(-levels, levels + 1, size) * (scale / levels)).astype(np.float32)
    logits += random.choice([0, 1e-7], size).astype(np.float32)
    ids = np.sort(random.choice(10 * size, size, replace=False)).astype(np.int64) if some_ids else None
    settings = choice.Settings()
    assert settings.take(options)
    ours = choice.choose(
        logits, np.empty(0, np.int64) if ids is None else ids, position, settings.numbers, settings.integers
    )
    assert ours == Sampler(options, ReferenceBackend()).sample_draft(logits, ids, position, ())


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 70, 129])
def test_logits_that_are_not_finite_are_found(value, place):
    settings, none = choice.Settings(), np.empty(0, np.int64)
    for options in CHOSEN_NATIVELY.values():
        settings.take(options)
        logits = np.zeros(130, np.float32)
        assert choice.choose(logits, none, 5, settings.numbers, settings.integers) >= 0
        logits[place] = value
        found = choice.choose(logits, none, 5, settings.numbers, settings.integers)
        assert (found == choice.DAMAGED) == (not np.isfinite(logits.max()))


def test_what_cannot_be_chosen_natively_is_refused():
    settings = choice.Settings()
    assert all(settings.take(options) for options in CHOSEN_NATIVELY.values())
    assert not any(settings.take(options) for options in CHOSEN_STEP_BY_STEP.values())


@pytest.fixture(scope="module", params=[1, 2], ids=["1 thread", "2 threads"])
def model(request, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(program, "PARALLEL_BYTES", 0)
        folder = checkpoints.write_checkpoint(tmp_path_factory.mktemp("round"), tokenizer=False)
        yield models.load(folder, backend=CpuBackend(request.param), context=512)


ALL = CHOSEN_NATIVELY | CHOSEN_STEP_BY_STEP


@pytest.mark.parametrize("sampling", ALL.values(), ids=ALL)
def test_drafts_are_those_of_the_chain_step_by_step(model, sampling):
    """With any number of pairs to take first, and a head that grows by more than a block."""
    whole = models.stepwise(model)
    tokens = models.random_tokens(model, 64)
    heads = [make_draft_head(each, 40, [380]) for each in (model, whole)]
    states = [each.new_state() for each in (model, whole)]
    start = 0
    for missed, count in ((1, 3), (2, 1), (9, MAX_DRAFT), (10, 2), (30, MAX_DRAFT), (4, 4)):
        found = []
        for each, head, state in zip((model, whole), heads, states, strict=True):
            each.forward(state, tokens[start : start + missed], missed)
            head.add(models.random_tokens(model, 60 if start else BLOCK_ROWS, seed=start))
            drafts = each.draft(state, tokens[start + missed], count, head, Sampler(sampling, each.backend))
            found.append((drafts, state.mtp.length, state.mtp.key_rows(state.length)))
        assert found[0][:2] == found[1][:2] and len(found[0][0]) == count
        assert_same(found[0][2], found[1][2])
        start += missed


@pytest.mark.parametrize("sampling", CHOSEN_NATIVELY.values(), ids=CHOSEN_NATIVELY)
def test_a_round_is_that_of_the_steps(model, sampling):
    """Drafts right in part: made of the true continuation, one of them spoilt."""
    prompt = models.random_tokens(model, 12)
    truth = rounds.plain_ids(model, prompt, sampling, 60)
    stream, whole = [*prompt, *truth], models.stepwise(model)
    states = [models.consume(each, prompt[:-1])[0] for each in (model, whole)]
    for count, right in ((0, 0), (1, 0), (1, 1), (3, 2), (MAX_DRAFT, 4), (MAX_DRAFT, MAX_DRAFT), (2, 0)):
        found = []
        for each, state in zip((model, whole), states, strict=True):
            drafter = FirstHit(
                [rounds.KnowingDrafter(stream, model.config.vocab_size, lambda n, right=right: right)]
            )
            sampler, rollback = Sampler(sampling, each.backend), CursorRollback()
            arguments = (state, stream[state.length], count, drafter)
            if each is model:
                result = model.whole_round(*arguments, sampler)
            else:
                result = _step_by_step(whole, *arguments, rollback, sampler)
            rollback.settle(each, state, len(result.chosen) - 1)
            found.append(
                (result.drafts, result.chosen, result.logprobs, result.rejected_logprob, state.tokens)
            )
        assert found[0] == found[1] and len(found[0][0]) == count and len(found[0][1]) == right + 1
        assert (found[0][3] is None) == (right == count)
        assert_same(states[0].hidden_tail, states[1].hidden_tail)


def test_a_damaged_model_is_refused_in_both_calls(tmp_path):
    folder = checkpoints.write_checkpoint(tmp_path, tokenizer=False)
    for damage, message in (("output", "the model's output"), ("mtp", "the MTP head's output")):
        model = models.load(folder)
        head = make_draft_head(model, None, ())
        state, _ = models.consume(model, models.random_tokens(model, 5))
        weights = model.weights.norm if damage == "output" else model.weights.mtp.norm
        weights[:] = np.nan
        drafter = FirstHit([MtpDrafter(model, head)])
        with pytest.raises(KestrelError, match=message):
            model.whole_round(state, 3, 2, drafter, Sampler(SamplingOptions(), model.backend))


def test_only_the_newest_head_is_kept(model):
    head = make_draft_head(model, 20, ())
    state, _ = models.consume(model, models.random_tokens(model, 5))
    sampler = Sampler(SamplingOptions(), model.backend)
    for token in range(30, 40):
        head.add([token])
        model.draft(state, token, 2, head, sampler)
        state.mtp.length = state.length - 1
    assert sum(key[0] == "draft head" for key in state.prepared) == 1
    firsts = [each for key, each in state.prepared.items() if key[0] == "mtp first"]
    assert firsts and all(len(first.chains) == 1 for first in firsts)


def test_rounds_that_were_prepared_record_nothing(model, monkeypatch):
    head, sampler = make_draft_head(model, 40, [380]), Sampler(SamplingOptions(), model.backend)
    tokens = models.random_tokens(model, 200)
    found = []
    for prepared in (False, True):
        state, _ = models.consume(model, tokens[:5])
        for _ in model.preparing(state, head) if prepared else ():
            pass
        drafter = FirstHit([MtpDrafter(model, head)])
        head.add(tokens)  # or it would grow
        with monkeypatch.context() as patch:
            if prepared:
                patch.setattr(CpuBackend, "recording", None)
                patch.setattr(program.Program, "chain", None)
            for count, right in (
                (0, 0),
                (1, 0),
                (3, 0),
                (MAX_DRAFT, 0),
                *((n, 0) for n in range(1, MAX_DRAFT)),
            ):
                result = model.whole_round(state, tokens[state.length], count, drafter, sampler)
                CursorRollback().settle(model, state, right)
                found.append((prepared, result.drafts, result.chosen))
    half = len(found) // 2
    assert [each[1:] for each in found[:half]] == [each[1:] for each in found[half:]]
