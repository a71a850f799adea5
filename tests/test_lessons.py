"""A test for each row of the table of issues that other engines had with speculation on hybrid models.

The numbers are those of the table. A row that cannot happen here has its reason in CANNOT_OCCUR. Rows about
chats and answers are in test_lessons_chat.py.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
import time

import checkpoints
import machines
import models
import numpy as np
import pytest
import rounds
import test_acceptance
import test_lessons_chat
import test_rounds
import test_sampling
from hypothesis import given, settings
from hypothesis import strategies as st
from rounds import FORMATS, GREEDY, ROLLBACKS, SAMPLED

from kestrel_engine.checkpoint import open_checkpoint
from kestrel_engine.config import load_config
from kestrel_engine.draft_head import make_draft_head
from kestrel_engine.drafter import MtpDrafter
from kestrel_engine.errors import KestrelError
from kestrel_engine.events import Round
from kestrel_engine.options import MAX_DRAFT, SamplingOptions
from kestrel_engine.sampling import Sampler
from kestrel_engine.session import Turn
from kestrel_engine.tokenizer import Tokenizer

CANNOT_OCCUR = {
    4: "Rounds without drafts run as those with drafts do (on a GPU both as graphs, lesson 3), so there is no "
    "slower baseline to be compared with by mistake; the governor's own is measured in the same answer.",
}

LESSONS = range(1, 39)


def test_every_lesson_is_covered_once():
    names = [*globals(), *vars(test_lessons_chat)]
    tested = [int(match[1]) for name in names if (match := re.match(r"test_lesson_(\d\d)_", name))]
    assert sorted([*tested, *CANNOT_OCCUR]) == [*LESSONS]


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = rounds.write_small(tmp_path_factory.mktemp("small") / "model", vocab_size=448)
    model = models.load(folder, context=1024)
    model.config = dataclasses.replace(model.config, eos_token_ids=())
    return model


@pytest.fixture(scope="module")
def echo(echo_model):
    return models.load(echo_model, context=1024)


@pytest.fixture(scope="module")
def cycle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cycle")
    return {
        reads: models.load(test_acceptance.write_cycle(folder / reads, reads), context=1024)
        for reads in ("token", "hidden row")
    }


@pytest.fixture(scope="module")
def tokenizer(tiny_model):
    return Tokenizer(tiny_model)


def follow(model, lengths, right, prompt_length=12, sampling=SAMPLED, rollback="cursor", check=None):
    """Rounds of given draft lengths, of whose drafts `right(round)` are right; `check(state, tokens)` after
    each. Ids and states must be plain decoding's. Returns the results."""
    prompt = models.random_tokens(model, prompt_length)
    ids = rounds.plain_ids(model, prompt, sampling, sum(lengths) + len(lengths))
    twin, state, emitted, results = rounds.Twin(model), rounds.fresh_state(model), [], []
    rounds.prefill(model, state, prompt[:-1], 16)
    drafter = rounds.KnowingDrafter([*prompt, *ids], model.config.vocab_size, right)
    for result in rounds.rounds(model, state, prompt, sampling, iter(lengths), drafter, rollback):
        emitted += [token.id for token in result.tokens]
        results.append(result)
        assert emitted == ids[: len(emitted)]
        rounds.assert_same_state(model, state, twin.at([*prompt, *emitted[:-1]]))
        if check:
            check(state, [*prompt, *emitted[:-1]])
    return results


def drafted_state(model, prompt, chunk, next_token, count=4):
    """A state that has consumed `prompt`, and its first drafts behind `next_token`."""
    state = rounds.fresh_state(model)
    rounds.prefill(model, state, prompt, chunk)
    drafter = MtpDrafter(model, make_draft_head(model, "all", ()))
    return state, drafter.draft(state, next_token, count, Sampler(GREEDY, model.backend))


def answers(model, tokenizer, prompt, length, count=12, **options):
    session = rounds.make_session(model, tokenizer, **options)
    session.draft_length = length
    return rounds.answer(session, Turn(prompt, SAMPLED, count))


# --- speed: it is measured, and drafting stops where it does not pay --------------------------------------


def test_lesson_01_speculation_that_loses_is_left():
    """342 tokens/s plain, 128 with drafts although 96.6 % of them hit."""
    simulation = machines.Simulation(lambda n: 0.966, lambda k: 2.92 if k == 0 else 13.4 + 1.95 * k)
    simulation.run(200)
    lengths, rate = simulation.run(1000)
    assert machines.usual(lengths) == 0 and rate < 1.05 * 2.92


def test_lesson_02_every_phase_of_a_round_is_timed(small, monkeypatch):
    """With a clock that ticks at every look: the phases add up to the round."""
    ticks = itertools.count()
    monkeypatch.setattr(time, "perf_counter", lambda: next(ticks) / 1000)
    for result in follow(small, [3, 3, 0, 3], lambda n: 2):
        assert result.draft_ms > 0 and result.verify_ms > 0 and result.replay_ms >= 0
    before = next(ticks)
    (result,) = follow(small, [2], lambda n: 1, rollback="rerun", check=None)
    assert 0 < result.draft_ms + result.verify_ms + result.replay_ms <= next(ticks) - before
    assert result.replay_ms > 0


@pytest.mark.slow
def test_lesson_03_a_round_with_drafts_is_as_much_a_graph_as_one_without(simulated_turns):
    """On the GPU, where there are graphs: launched the first time, and never again."""
    graphs = set()
    for case in simulated_turns.values():
        known = []
        for what, how in case["ran"]:
            assert how == ("graph" if what in known else "launched"), what
            known.append(what)
            if how == "graph" and what[1] == "round":
                graphs.add(what[3])
    assert graphs == {"head", "another"}


def test_lesson_05_another_backend_gives_the_same_drafts(tmp_path):
    folder = rounds.write_small(tmp_path / "model")
    prompt = models.random_tokens(models.load(folder), 12)
    cpu, reference = (drafted_state(m, prompt, 5, 9) for m in (models.load(folder), models.reference(folder)))
    assert cpu[1] == reference[1] and len(cpu[1]) == 4


def test_lesson_06_drafting_ends_when_the_context_makes_it_dear():
    simulation = machines.Simulation(lambda n: 0.9, lambda k: 10 + k)
    assert machines.usual(simulation.run(200)[0]) > 0
    for slope in range(2, 14):
        simulation.cost = lambda k, slope=slope: 10 + slope * k
        simulation.run(150)
    assert machines.usual(simulation.run(300)[0]) == 0


# --- the draft head's own cache ---------------------------------------------------------------------------


@pytest.mark.parametrize("reads", ["token", "hidden row"])
def test_lesson_07_acceptance_by_position_in_a_long_context(cycle, reads):
    prompt = [n % test_acceptance.TOKENS for n in range(700)]
    assert test_acceptance.acceptance(cycle[reads], length=5, prompt=prompt) == [1] * 5


def test_lesson_08_the_first_draft_attends_to_the_prompt(small):
    """Change what the head's cache holds of the prompt, and the head's output changes."""
    prompt = models.random_tokens(small, 40)
    state, _ = drafted_state(small, prompt, 16, 9)
    expected = small.mtp_row(state, 9)
    state.mtp.values[:, 3] += 1
    assert not np.array_equal(small.mtp_row(state, 9), expected)


@pytest.mark.parametrize("chunk", [1, 7, 64])
def test_lesson_09_the_draft_cache_is_as_long_as_the_prompt(small, chunk):
    """Every pair but the newest after prefill, the newest with the first draft."""
    prompt = models.random_tokens(small, 40)
    state = small.new_state()
    rounds.prefill(small, state, prompt, chunk)
    small.fill_mtp(state)
    assert state.mtp.length == len(prompt) - 1
    state, drafts = drafted_state(small, prompt, chunk, 9)
    assert state.mtp.length == len(prompt)
    assert drafts == drafted_state(small, prompt, len(prompt), 9)[1]


@settings(max_examples=20)
@given(pattern=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=8))
def test_lesson_10_the_draft_cache_over_any_accept_pattern(small, pattern):
    """`follow` compares the head's keys and values too, whichever way a round began."""
    right = [n for _, n in pattern]
    follow(small, [k for k, _ in pattern], lambda n: right[n % len(right)])


# --- rounds -----------------------------------------------------------------------------------------------


def test_lesson_11_lookup_on_repeating_text_is_exact(small, tokenizer):
    prompt = models.random_tokens(small, 10) * 3
    ids = rounds.plain_ids(small, prompt, GREEDY, 40)
    session = rounds.make_session(small, tokenizer)
    _, emitted, events = rounds.answer(session, Turn(prompt, GREEDY, 40, drafter="lookup"))
    assert emitted == ids
    assert sum(event.drafted for event in events if isinstance(event, Round)) > 0


@pytest.mark.parametrize("rollback", ROLLBACKS)
@pytest.mark.parametrize("pattern", [[3, 0, 3], [2, 0, 0, 4], [8, 1, 0, 8], [0, 5, 0]])
def test_lesson_12_a_round_without_drafts_after_accepted_ones(small, pattern, rollback):
    follow(small, pattern, lambda n: 9, rollback=rollback)
    follow(small, pattern, lambda n: 2, rollback=rollback)


@pytest.mark.parametrize("accepted", range(5))
def test_lesson_13_none_some_and_all_accepted(small, accepted):
    results = follow(small, [4, 4, 4], lambda n: accepted)
    assert [result.accepted for result in results] == [accepted] * 3


def test_lesson_18_no_number_is_an_error_not_a_token(small, monkeypatch):
    original = small.logits
    monkeypatch.setattr(small, "logits", lambda hidden: original(hidden) * np.float32(np.nan))
    with pytest.raises(KestrelError, match="not finite"):
        follow(small, [3], lambda n: 0)


def test_lesson_19_an_episode_without_hits_is_left_and_survived():
    simulation = machines.Simulation(lambda n: 0.9, machines.CHEAP)
    for acceptance, expected in ((0.9, True), (0.0, False), (0.9, True)):
        simulation.acceptance = lambda n, acceptance=acceptance: acceptance
        simulation.run(800)
        assert (machines.usual(simulation.run(100)[0]) > 0) is expected


@pytest.mark.parametrize("prompt_seed", range(4))
def test_lesson_21_greedy_text_is_the_same_with_every_length(small, tokenizer, prompt_seed):
    prompt = models.random_tokens(small, 9, prompt_seed)
    plain, *others = (
        answers(small, tokenizer, prompt, length)[0].text for length in ("auto", *range(MAX_DRAFT + 1))
    )
    assert set(others) == {plain}


@pytest.mark.parametrize("format", FORMATS)
def test_lesson_22_a_row_has_the_same_bits_among_others_and_ties_go_low(tmp_path, format):
    model = models.load(rounds.write_small(tmp_path / "model"), format)
    x = np.random.default_rng(1).standard_normal((9, 32)).astype(np.float32)
    together = model.logits(x)
    for row in range(9):
        assert np.array_equal(model.logits(x[row : row + 1])[0], together[row])
    tie = np.array([1, 5, 2, 5], np.float32)
    sampler = Sampler(GREEDY, model.backend)
    assert sampler.sample(tie, 0) == sampler.sample_draft(tie, None, 0, []) == 1


@pytest.mark.parametrize("format", FORMATS)
def test_lesson_23_a_verify_pass_computes_what_single_steps_compute(tmp_path, format):
    model = models.load(rounds.write_small(tmp_path / "model"), format)
    tokens = models.random_tokens(model, 21)
    _, single = models.consume(model, tokens)
    for size in range(2, MAX_DRAFT + 2):
        state, _ = models.consume(model, tokens[:12], 5)
        hidden = model.forward(state, tokens[12 : 12 + size], commit=1)
        assert np.array_equal(hidden, single[12 : 12 + size])


def test_lesson_24_after_each_round_the_state_is_that_of_a_new_prefill(small):
    def check(state, tokens):
        fresh, _ = models.consume(small, tokens, len(tokens))
        rounds.assert_same_state(small, state, rounds.settled(small, fresh))

    follow(small, [3, 2, 0, 4], lambda n: n, check=check)


@pytest.mark.parametrize("accepted", range(4))
def test_lesson_25_an_accept_count_off_by_one_is_noticed(small, monkeypatch, accepted):
    follow(small, [3, 2], lambda n: accepted)
    if accepted:
        test_rounds.log_one_too_few(monkeypatch)
        with pytest.raises(AssertionError, match="recurrent state"):
            follow(small, [3, 2], lambda n: accepted)


def test_lesson_26_the_convolution_window_is_part_of_the_state(small):
    state, _ = models.consume(small, models.random_tokens(small, 9))
    expected = rounds.settled(small, state)
    state.delta_layers[0].ring[7, 0] += 1
    with pytest.raises(AssertionError, match="convolution window"):
        rounds.assert_same_state(small, state, expected)


def test_a_restored_state_has_its_convolution_window(small):
    """Of lesson 26, too: also where so many rows came in between that none of it was left."""
    tokens = models.random_tokens(small, 60)
    state, _ = models.consume(small, tokens[:20])
    snapshot = state.snapshot()
    small.forward(state, tokens[20:], 40)
    state.restore(snapshot)
    fresh, _ = models.consume(small, tokens[:20])
    rounds.assert_same_state(small, state, rounds.settled(small, fresh))


# --- what the draft head is given -------------------------------------------------------------------------


def test_lesson_27_the_head_gets_rows_behind_the_final_norm(cycle, monkeypatch):
    assert test_acceptance.acceptance(cycle["hidden row"])[0] == 1
    test_acceptance.feed_rows_before_the_norm(monkeypatch)
    assert test_acceptance.acceptance(models.stepwise(cycle["hidden row"]))[0] == 0


def test_lesson_28_acceptance_does_not_collapse_with_depth(cycle, monkeypatch):
    assert test_acceptance.acceptance(cycle["hidden row"], length=8) == [1] * 8
    test_acceptance.recycle_rows_before_the_norm(monkeypatch)
    assert test_acceptance.acceptance(models.stepwise(cycle["hidden row"]), length=2) == [1, 0]


def test_lesson_29_each_of_the_15_tensors_of_the_head_is_required(tmp_path):
    seen = []
    rounds.write_small(tmp_path / "whole", edit_tensors=lambda tensors: seen.extend(tensors))
    names = [name for name in seen if name.startswith("mtp.")]
    assert len(names) == 15
    for name in names:
        folder = tmp_path / name
        rounds.write_small(folder, edit_tensors=lambda tensors, name=name: tensors.pop(name))
        with pytest.raises(KestrelError, match=re.escape(name)):
            open_checkpoint(folder, load_config(folder))


def test_lesson_30_norm_weights_are_shifted_once(tmp_path):
    stored = {}
    folder = rounds.write_small(tmp_path / "model", edit_tensors=stored.update)
    weights = models.load(folder).weights

    def scale(name):
        values = stored[name if name.startswith("mtp.") else "model.language_model." + name]
        return checkpoints.from_bfloat16(values) if values.dtype == np.uint16 else values

    delta, attention = weights.layers
    shifted = {
        "norm": weights.norm,
        "mtp.norm": weights.mtp.norm,
        "mtp.pre_fc_norm_embedding": weights.mtp.embedding_norm,
        "mtp.pre_fc_norm_hidden": weights.mtp.hidden_norm,
    }
    for prefix, layer in (("layers.0", delta), ("layers.1", attention), ("mtp.layers.0", weights.mtp.layer)):
        shifted[prefix + ".input_layernorm"] = layer.norm
        shifted[prefix + ".post_attention_layernorm"] = layer.feed_forward.norm
        if layer is not delta:
            shifted[prefix + ".self_attn.q_norm"] = layer.query_norm
            shifted[prefix + ".self_attn.k_norm"] = layer.key_norm
    assert len(shifted) == sum("norm" in name for name in stored) - 1
    for name, values in shifted.items():
        assert np.array_equal(values, np.float32(1) + scale(name + ".weight")), name
    assert np.array_equal(delta.output_norm, scale("layers.0.linear_attn.norm.weight"))


# --- sampling ---------------------------------------------------------------------------------------------


def test_lesson_31_drafts_hit_at_any_temperature(tmp_path):
    model = models.load(checkpoints.write_checkpoint(tmp_path / "model", echo=True, embedding_std=0.06))
    for temperature in (0.6, 1.0):
        assert test_acceptance.sampled_acceptance(model, MtpDrafter, temperature) > 0.8


def test_lesson_32_speculated_pairs_follow_the_models_distribution(small):
    """Chi-square of two tokens drawn in rounds of greedy drafts, against the product of their probabilities."""
    prompt, draws = [7, 7, 9, 7, 7], 500
    options = SamplingOptions(temperature=1.0, top_k=3)
    state, _ = models.consume(small, prompt[:-1])
    begin = state.snapshot()
    expected = {}
    for first, p in next_token(small, prompt, options).items():
        for second, q in next_token(small, [*prompt, first], options).items():
            expected[first, second] = p * q
    counts = {}
    drafter = test_acceptance.Greedy(small, make_draft_head(small, "all", ()))
    for seed in range(draws):
        state.restore(begin)
        sampling = dataclasses.replace(options, seed=seed)
        results = rounds.rounds(small, state, prompt, sampling, itertools.repeat(2), drafter)
        pair = []
        while len(pair) < 2:
            pair += [token.id for token in next(results).tokens]
        counts[tuple(pair[:2])] = counts.get(tuple(pair[:2]), 0) + 1
    assert test_sampling.chi_square(counts, expected, draws) < test_sampling.CHI_SQUARE_999[len(expected) - 2]


def next_token(model, tokens, options) -> dict[int, float]:
    logits = model.logits(models.consume(model, tokens)[1][-1:])[0]
    return test_sampling.distribution(logits, (), (), options)[0]
