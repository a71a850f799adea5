"""Sampling is a pure function of prefix, seed and options, draws from the filtered softmax, and gives drafts
what it gives tokens."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kestrel_engine import numerics, sampling
from kestrel_engine.cpu.backend import CpuBackend
from kestrel_engine.errors import KestrelError, UsageError
from kestrel_engine.options import COLDEST, SMALLEST_REPETITION, SamplingOptions
from kestrel_engine.reference import ReferenceBackend
from kestrel_engine.sampling import Sampler

BACKEND = CpuBackend(1)
VOCABULARY = 12


def logits_of(seed: int, size: int = VOCABULARY) -> np.ndarray:
    return (2 * np.random.default_rng(seed).standard_normal(size)).astype(np.float32)


def sampler(prompt=(), emitted=(), backend=BACKEND, **options) -> Sampler:
    made = Sampler(SamplingOptions(**options), backend, prompt)
    for token in emitted:
        made.emit(token)
    return made


# --- the distribution, against an implementation of its own ----------------------------------------------


def distribution(logits, prompt, emitted, options: SamplingOptions) -> tuple[dict[int, float], float]:
    """Probability of each id that may be drawn, in the plainest way there is; and how near the filters came to
    deciding otherwise, so that a test can leave out what rounding decides."""
    values = [float(value) for value in logits]
    for id in range(len(values)):
        if id in {*prompt, *emitted}:
            factor = options.repetition_penalty
            values[id] = values[id] / factor if values[id] > 0 else values[id] * factor
        if id in emitted:
            values[id] -= options.presence_penalty
    values = [value / options.temperature for value in values]
    order = sorted(range(len(values)), key=lambda id: (-values[id], id))
    if options.top_k:
        order = order[: options.top_k]
    weights = {id: math.exp(values[id] - values[order[0]]) for id in order}
    margin = math.inf
    if options.top_p < 1:
        total, running, kept = sum(weights.values()), 0.0, []
        for id in order:
            kept.append(id)
            running += weights[id]
            margin = min(margin, abs(running / total - options.top_p))
            if running / total >= options.top_p:
                break
        order = kept
    if options.min_p > 0:
        margin = min([margin, *(abs(weights[id] - options.min_p) for id in order[1:] if weights[id] < 1)])
        order = [id for id in order if weights[id] >= options.min_p]
    total = sum(weights[id] for id in order)
    return {id: weights[id] / total for id in order}, margin


options_strategy = st.builds(
    SamplingOptions,
    temperature=st.sampled_from([0.3, 0.7, 1.0, 1.7]),
    top_k=st.sampled_from([0, 1, 2, 5, 11, 12, 13, 100_000]),
    top_p=st.sampled_from([1e-6, 0.2, 0.5, 0.9, 0.999, 1.0]),
    min_p=st.sampled_from([0.0, 0.01, 0.1, 0.5, 1.0]),
    presence_penalty=st.sampled_from([0.0, 0.5, -1.0]),
    repetition_penalty=st.sampled_from([1.0, 1.3, 0.8]),
    seed=st.integers(0, 2**63 - 1),
)
coarse_logits = st.lists(
    st.sampled_from([-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 4.0]), min_size=12, max_size=12
)
ids = st.lists(st.integers(0, VOCABULARY - 1), max_size=4)


class Favouring(CpuBackend):
    """Gives the id that is the position all the noise, so that it is drawn if it may be."""

    def gumbel(self, seed, position, ids):
        return np.where(ids == position, np.float32(1e6), np.float32(0))


@given(logits=coarse_logits, prompt=ids, emitted=ids, options=options_strategy)
def test_only_what_the_filters_keep_is_drawn_and_all_of_it(logits, prompt, emitted, options):
    """Ties everywhere: the logits are coarse. The kept ids are read off by giving each in turn all the noise."""
    expected, margin = distribution(logits, prompt, emitted, options)
    assume(margin > 1e-5)

    made = Sampler(options, Favouring(1), prompt)
    for token in emitted:
        made.emit(token)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sampling, "LARGEST_NOISE", 2e6)
        drawn = {made.sample(np.array(logits, np.float32), favourite) for favourite in range(VOCABULARY)}
    assert drawn == set(expected)


CASES = {
    "temperature": dict(temperature=1.0),
    "cold": dict(temperature=0.5),
    "top-k": dict(temperature=1.2, top_k=4),
    "top-p": dict(temperature=1.0, top_p=0.8),
    "min-p": dict(temperature=1.5, min_p=0.1),
    "all": dict(
        temperature=1.3, top_k=8, top_p=0.95, min_p=0.02, presence_penalty=1.0, repetition_penalty=1.4
    ),
}
DRAWS = 4000
CHI_SQUARE_999 = [10.83, 13.82, 16.27, 18.47, 20.52, 22.46, 24.32, 26.12, 27.88, 29.59, 31.26]
"""0.999 quantiles for 1, 2, … degrees of freedom."""


def chi_square(counts: dict[int, int], expected: dict[int, float], draws: int) -> float:
    assert set(counts) <= set(expected)
    return sum((counts.get(id, 0) - draws * p) ** 2 / (draws * p) for id, p in expected.items())


def draw(made: Sampler, logits: np.ndarray, draws: int, how) -> dict[int, int]:
    counts: dict[int, int] = {}
    for position in range(draws):
        token = how(made, logits, position)
        counts[token] = counts.get(token, 0) + 1
    return counts


def as_token(made, logits, position):
    return made.sample(logits, position)


def as_draft(made, logits, position):
    return made.sample_draft(logits, None, position, [])


def as_token_behind_a_draft(made, logits, position):
    """The same prefix, but its newest token is a draft of this round."""
    behind = Sampler(made.options, made.backend, made.prompt)
    behind.emitted = made.emitted - {1}
    return behind.sample(logits, position, [1])


@pytest.mark.parametrize("how", [as_token, as_draft, as_token_behind_a_draft])
@pytest.mark.parametrize("case", CASES)
def test_draws_follow_the_filtered_softmax(case, how):
    """Chi-square at 0.999; the seeds are fixed, so this does not fail by chance."""
    options = SamplingOptions(**CASES[case], seed=2024)
    logits, prompt, emitted = logits_of(3) / 2, [0, 5], [1, 7]
    expected, _ = distribution(logits, prompt, emitted, options)
    made = sampler(prompt, emitted, **CASES[case], seed=2024)
    counts = draw(made, logits, DRAWS, how)
    assert chi_square(counts, expected, DRAWS) < CHI_SQUARE_999[len(expected) - 2]


def test_the_chi_square_test_notices_a_biased_draw():
    logits = logits_of(3) / 2
    made = sampler(temperature=0.9, seed=2024)
    expected, _ = distribution(logits, (), (), SamplingOptions(temperature=1.0))
    counts = draw(made, logits, DRAWS, as_token)
    assert chi_square(counts, expected, DRAWS) > CHI_SQUARE_999[10]


@pytest.mark.parametrize("seed", [0, 1, 2**32, 2**32 + 1, 2**63 - 1])
def test_seeds_and_positions_are_independent(seed):
    """Pairs of draws at neighbouring positions, and of neighbouring seeds, fall into all 4 x 4 cells alike."""
    logits = np.zeros(4, np.float32)
    for other, shift in ((seed, 1), (seed ^ 1, 0), (seed ^ (1 << 40), 0)):
        one, two = sampler(temperature=1.0, seed=seed), sampler(temperature=1.0, seed=other)
        counts: dict[int, int] = {}
        for position in range(2000):
            cell = 4 * one.sample(logits, position) + two.sample(logits, position + shift)
            counts[cell] = counts.get(cell, 0) + 1
        expected = {cell: 1 / 16 for cell in range(16)}
        assert chi_square(counts, expected, 2000) < 37.70  # 15 degrees of freedom


# --- a pure function --------------------------------------------------------------------------------------


@given(
    logits_seed=st.integers(0, 99),
    options=options_strategy,
    position=st.integers(0, 2**20),
    prompt=ids,
    emitted=ids,
)
def test_a_pure_function_of_prefix_seed_and_options(logits_seed, options, position, prompt, emitted):
    """Asked again, asked with other questions between, with drafts for emitted tokens, by another backend."""
    logits = logits_of(logits_seed)
    kept = logits.copy()

    def make(backend=BACKEND):
        made = Sampler(options, backend, prompt)
        for token in emitted:
            made.emit(token)
        return made

    one = make()
    token = one.sample(logits, position)
    one.sample(logits_of(5), position + 1, [3])
    assert one.sample(logits, position) == token == make().sample(logits, position)
    assert token == Sampler(options, BACKEND, prompt).sample(logits, position, emitted)
    assert token == make(ReferenceBackend()).sample(logits, position)
    assert token == one.sample_draft(logits, None, position, [])
    assert np.array_equal(logits, kept), "the caller's logits are not changed"


def test_options_that_leave_one_token():
    for seed in range(20):
        logits = logits_of(seed)
        best = int(logits.argmax())
        for options in (dict(top_k=1), dict(top_p=1e-6), dict(min_p=1.0)):
            assert sampler(temperature=50.0, seed=seed, **options).sample(logits, 3) == best
        for temperature in (0.0, 1e-45, 1e-300, 1e-7, 1e-6):
            assert sampler(temperature=temperature, seed=seed).sample(logits, 3) == best


def test_ties_go_to_the_lowest_id():
    logits = np.array([1, 3, 3, 0, 3], np.float32)
    assert sampler().sample(logits, 0) == 1
    assert sampler(presence_penalty=0.5, emitted=[1]).sample(logits, 0) == 2
    assert sampler().sample_draft(logits[1:], np.array([4, 7, 9, 11]), 0, []) == 4
    for options in (dict(top_k=2), dict(top_k=2, top_p=0.9)):
        drawn = {sampler(temperature=1.0, seed=1, **options).sample(logits, p) for p in range(60)}
        assert drawn == {1, 2}
    drawn = {sampler(temperature=1.0, min_p=1.0, seed=1).sample(logits, p) for p in range(60)}
    assert drawn == {1, 2, 4}


def test_top_p_keeps_the_smallest_set_that_reaches_it():
    for top_p, expected in (
        (0.25, {0}),
        (0.26, {0, 1}),
        (0.5, {0, 1}),
        (0.75, {0, 1, 2}),
        (1.0, {0, 1, 2, 3}),
    ):
        made = sampler(temperature=1.0, top_p=top_p, seed=1)
        assert {made.sample(np.zeros(4, np.float32), position) for position in range(80)} == expected


def test_a_share_that_is_one_as_float32_keeps_all(monkeypatch):
    monkeypatch.setattr(sampling, "LARGEST_NOISE", 2e6)
    logits = np.array([0, -30, -60], np.float32)
    for filters in (dict(), dict(top_k=3), dict(top_k=2000)):
        made = sampler(temperature=1.0, top_p=1 - 1e-9, backend=Favouring(1), **filters)
        assert [made.sample(logits, favourite) for favourite in range(3)] == [0, 1, 2]


def test_of_many_ids_only_kept_ones_are_drawn():
    logits = logits_of(1, 3000)
    for top_k in (1000, 1024, 1025, 2000, 0):
        made = sampler(temperature=1.5, top_k=top_k, top_p=0.5, seed=6)
        expected, _ = distribution(logits, (), (), made.options)
        assert {made.sample(logits, position) for position in range(50)} <= set(expected)


# --- penalties and drafts ---------------------------------------------------------------------------------


def test_penalties_see_prompt_answer_and_drafts():
    logits = np.array([2.0, 1.9, 1.8, -1.0], np.float32)
    assert sampler(presence_penalty=0.5).sample(logits, 0, []) == 0
    assert sampler(presence_penalty=0.5).sample(logits, 0, [0]) == 1
    assert sampler(presence_penalty=0.5, emitted=[1]).sample(logits, 0, [0]) == 2
    assert sampler(presence_penalty=0.5, emitted=[0, 0, 0]).sample(logits, 0, [0]) == 1, "present is present"
    assert sampler(presence_penalty=0.5, prompt=[0]).sample(logits, 0, []) == 0, "the prompt is no answer"
    assert sampler(repetition_penalty=1.2, prompt=[0]).sample(logits, 0, []) == 1
    assert sampler(repetition_penalty=1.2, prompt=[0], emitted=[1]).sample(logits, 0, [2]) == 0
    negative = np.array([-1.0, -1.1], np.float32)
    assert sampler(repetition_penalty=1.2, prompt=[0]).sample(negative, 0, []) == 1


def test_emitted_tokens_outside_the_logits_are_ignored():
    """A padded vocabulary: the tokenizer knows fewer ids than the model, or a draft head has fewer rows."""
    made = sampler(repetition_penalty=2.0, presence_penalty=1.0, prompt=[50], emitted=[99])
    assert made.sample(np.array([1.0, 2.0], np.float32), 0, [70]) == 1


@given(
    logits_seed=st.integers(0, 99),
    options=options_strategy,
    chosen=st.sets(st.integers(0, 39), min_size=1),
    emitted=st.lists(st.integers(0, 39), max_size=5),
    position=st.integers(0, 1000),
)
def test_a_reduced_draft_head_agrees_when_the_winner_is_inside(
    logits_seed, options, chosen, emitted, position
):
    """The same noise belongs to an id, whatever its place. Filters see fewer ids, so they are off here."""
    options = SamplingOptions(
        temperature=options.temperature,
        presence_penalty=options.presence_penalty,
        repetition_penalty=options.repetition_penalty,
        seed=options.seed,
    )
    logits, made = logits_of(logits_seed, 40), Sampler(options, BACKEND, [2, 3])
    full = made.sample(logits, position, emitted)
    for inside in (chosen | {full}, chosen):
        rows = np.array(sorted(inside), np.int64)
        draft = made.sample_draft(logits[rows], rows, position, emitted)
        assert draft in inside
        assert draft == full or full not in inside


def test_logprob_is_the_models_own():
    logits = logits_of(9, 100)
    expected = logits.astype(np.float64) - np.log(np.exp(logits.astype(np.float64)).sum())
    made = sampler(temperature=0.5, top_k=1, presence_penalty=2.0, emitted=[3])
    assert made.logprobs(logits, range(100)) == pytest.approx(list(expected), abs=1e-5)


def test_no_number_is_an_error():
    for value in (np.nan, np.inf):
        logits = logits_of(1)
        logits[4] = value
        for temperature in (0.0, 1.0):
            with pytest.raises(KestrelError, match="not finite"):
                sampler(temperature=temperature).sample(logits, 0)
            for filters in (dict(), dict(min_p=0.1), dict(top_k=3, top_p=0.5)):
                with pytest.raises(KestrelError, match="--drafter lookup"):
                    sampler(temperature=temperature, **filters).sample_draft(logits, None, 0, [])


@pytest.mark.parametrize("filters", [dict(min_p=0.1), dict(top_k=3, min_p=1.0), dict(top_p=0.5)], ids=str)
def test_the_smallest_penalty_at_the_lowest_temperature(filters):
    """Overflowing logits would leave no token to choose from."""
    made = sampler(temperature=COLDEST, repetition_penalty=SMALLEST_REPETITION, prompt=range(40), **filters)
    logits = logits_of(1, 40) * np.float32(1e3)
    assert 0 <= made.sample(logits, 0) < 40


@pytest.mark.parametrize(
    "options",
    [
        dict(temperature=-0.1),
        dict(temperature=float("nan")),
        dict(temperature=float("inf")),
        dict(top_k=-1),
        dict(top_p=0.0),
        dict(top_p=1.1),
        dict(top_p=float("nan")),
        dict(min_p=-0.1),
        dict(min_p=1.1),
        dict(presence_penalty=float("inf")),
        dict(repetition_penalty=0.0),
        dict(repetition_penalty=1e-38),
        dict(repetition_penalty=float("nan")),
        dict(seed=-1),
        dict(seed=2**63),
    ],
    ids=str,
)
def test_impossible_options_are_one_line(options):
    with pytest.raises(UsageError) as refused:
        SamplingOptions(**options)
    assert "\n" not in str(refused.value) and ": use " in str(refused.value)


def test_extreme_but_valid_options_give_a_token():
    logits = logits_of(2)
    extremes = dict(
        temperature=[1e-6, 100.0],
        top_p=[1e-30, 1.0],
        min_p=[0.0, 1.0],
        presence_penalty=[-100.0, 100.0],
        repetition_penalty=[0.01, 100.0],
        seed=[0, 2**63 - 1],
    )
    for name, values in extremes.items():
        for value in values:
            options = {"temperature": 1.0} | {name: value}
            assert 0 <= sampler(prompt=[0, 1], emitted=[2], **options).sample(logits, 2**31) < VOCABULARY


def test_noise_belongs_to_the_id_not_to_its_place():
    ids = np.array([3, 100, 248_319], np.int64)
    noise = numerics.gumbel(7, 12, ids)
    for place, id in enumerate(ids):
        assert BACKEND.gumbel(7, 12, np.array([id]))[0] == noise[place]
