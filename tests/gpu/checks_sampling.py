"""The kernels that choose tokens, with the engine's own sampler as the truth (see checks.py)."""

from __future__ import annotations

import numpy as np
from compare import F, assert_same, cursor_of, draw

from kestrel_cuda import sampling
from kestrel_cuda.arrays import Settings, Vocabulary
from kestrel_cuda.choice import Choice
from kestrel_cuda.operations import Operations
from kestrel_cuda.settings import sampling_mode, setting_arrays
from kestrel_cuda.target import SIMULATOR
from kestrel_engine.options import SamplingOptions
from kestrel_engine.reference import ReferenceBackend
from kestrel_engine.sampling import Sampler

REFERENCE = ReferenceBackend()
UNUSED = 5
"""Entries without a token."""


def _ties(rows: int, size: int) -> np.ndarray:
    logits = draw((31, rows), rows, size, scale=3)
    logits[:, 1 : size // 2 : 7] = logits[:, 0:1]
    return logits


def _masked(rows: int, size: int) -> np.ndarray:
    """Most are minus infinity."""
    logits = _ties(rows, size)
    logits[:, np.arange(size) % 5 != 3] = -np.inf
    return logits


LOGITS = {
    "ties": _ties,
    "masked": _masked,
    "equal": lambda rows, size: np.tile(np.where(np.arange(size) % 3, F(0), F(-0.0)), (rows, 1)),
    "flat": lambda rows, size: draw((32, rows), rows, size, scale=0.01).clip(-0.1, 0.1),
    "large": lambda rows, size: np.full((rows, size), 300, F),
    "steep": lambda rows, size: np.sort(draw((33, rows), rows, size, scale=30))[:, ::-1].copy(),
}
"""Kinds of rows of logits [rows, size]."""


def choose(
    kernels: Operations,
    rows: int,
    size: int,
    options: dict,
    first_step: int = 0,
    ids: bool = False,
    kind: str = "ties",
    warps: int = 1,
) -> None:
    """Tokens, their logits, and log-sum-exps of rows of logits, with the engine's own sampler as the truth; in the
    simulator by blocks of `warps`."""
    memory, options = kernels.memory, SamplingOptions(**dict(seed=0x5EED_1234_5678) | options)
    choice = Choice(memory, warps) if SIMULATOR else kernels.choice
    random = np.random.default_rng(rows)
    logits = LOGITS[kind](rows, size)
    names = np.sort(random.choice(3 * size, size, replace=False)) if ids else None
    vocabulary = 3 * size if ids else size
    prompt, emitted = (random.choice(vocabulary, 9).tolist() for _ in range(2))
    drafts = random.choice(vocabulary if names is None else names, first_step + rows).tolist()
    if options.presence_penalty:  # the newest draft wins until its penalty takes it back
        tokens = range(size) if names is None else names.tolist()
        unseen = [place for place, token in enumerate(tokens) if token not in {*prompt, *emitted}]
        best = max(unseen, default=0)
        logits[:, best] = logits.max(axis=1) + F(0.5)
        drafts[max(first_step - 1, 0)] = tokens[best]
    sampler = Sampler(options, REFERENCE, prompt)
    for token in emitted:
        sampler.emit(token)

    flags = np.zeros(vocabulary, np.uint8)
    flags[prompt] |= sampling.IN_PROMPT if options.repetition_penalty != 1 else 0
    flags[emitted] |= sampling.IN_ANSWER
    integers, reals = setting_arrays(options)
    position = 1000
    settings = Settings(
        cursor_of(kernels, position=position),
        memory.upload(integers),
        memory.upload(reals),
        memory.upload(np.array([7, *drafts], np.int32)),
        memory.upload(flags),
        memory.zeros((2,), np.int32),
    )
    there, known = memory.upload(logits), choice.every_id()
    if names is not None:  # as in a draft head: in no order, and room for more
        width = size + UNUSED
        places = random.permutation(width).astype(np.int32)
        shuffled = np.full((rows, width), np.nan, F)
        shuffled[:, places[:size]] = logits
        tokens = np.full(width, -1, np.int32)
        tokens[:size] = names
        there, known = memory.upload(shuffled), Vocabulary(memory.upload(tokens), memory.upload(places))
    damaged = memory.zeros((16,), np.int32)
    chosen, values, judged = memory.empty((16,), np.int32), memory.empty((16,), F), memory.empty((16,), F)
    outcome, candidates = (chosen, values, judged, damaged), choice.candidates(rows, there.shape[1])
    for array in (getattr(candidates, name) for name in candidates.__slots__):
        array[...] = np.full(array.shape, np.nan if array.dtype == F else -7, array.dtype)
    choice.choose(there, known, rows, first_step, ids, sampling_mode(options), settings, candidates, outcome)
    sums = memory.empty((rows,), F)
    if names is None:
        choice.log_sum_exp(there, rows, sums)
    for m in range(rows):
        step = first_step + m
        call = sampler.sample if names is None else sampler.sample_draft
        extra = () if names is None else (names,)
        token = call(logits[m], *extra, position + 1 + step, drafts[:step])
        place = token if names is None else int(np.searchsorted(names, token))
        assert chosen.host()[step] == token, ("token", m, chosen.host()[step], token)
        assert_same(values.host()[step], logits[m, place], "its logit")
        if names is None:
            assert_same(judged.host()[step], logits[m, drafts[step]], "the judged draft's logit")
            assert_same(sums.host()[m], REFERENCE.log_sum_exp(logits[m]), "log-sum-exp")
    assert not damaged.host().any()


def sort(kernels: Operations, rows: int, size: int, bits: int, warps: int = 1) -> None:
    """Rows of entries whose keys differ in up to `bits` bits, spread over the word."""
    choice = Choice(kernels.memory, warps) if SIMULATOR else kernels.choice
    random = np.random.default_rng(bits)
    mask = sum(1 << (n * 31 // max(bits - 1, 1)) for n in range(bits))
    keys = random.integers(0, 1 << 32, (rows, size)) & mask
    entries = (keys.astype(np.uint64) << np.uint64(32)) | np.arange(size, dtype=np.uint64)
    candidates = choice.candidates(rows, size)
    candidates.entries[...] = entries.view(np.int64)
    candidates.counts[...] = np.full(candidates.counts.shape, -7, np.int32)
    choice.sort(candidates, rows)
    assert_same(candidates.entries.host(), np.sort(entries, axis=1).view(np.int64), "sorted entries")


def any_options(kernels: Operations, seed: int) -> None:
    """`choose` with options, rows and logits that the seed draws."""
    random = np.random.default_rng(seed)

    def one_of(*values):
        return values[random.integers(len(values))]

    options = dict(
        temperature=one_of(0.0, 1e-6, 0.3, 0.7, 1.0, 1.7, 40.0),
        top_k=one_of(0, 0, 1, 5, 64, 65, 90, 10**12),
        top_p=one_of(1.0, 1e-6, 0.2, 0.5, 0.9, 0.999, 1 - 1e-8),
        min_p=one_of(0.0, 0.0, 1e-50, 1e-38, 0.01, 0.1, 0.5, 1.0),
        presence_penalty=one_of(0.0, 0.0, 0.5, -1.0),
        repetition_penalty=one_of(1.0, 1.0, 1.3, 0.8),
        seed=int(random.integers(2**63)),
    )
    ids = one_of(False, True)
    shape = dict(rows=1 if ids else one_of(1, 2), size=one_of(5, 33, 97, 130), first_step=one_of(0, 2))
    choose(kernels, options=options, ids=ids, kind=one_of(*LOGITS), warps=one_of(1, 2), **shape)


def damage(kernels: Operations, options: dict) -> None:
    """A NaN, an infinity, or no number at all among the logits is noticed, in its row alone; numbers beside minus
    infinity are enough."""
    memory, choice, options = kernels.memory, kernels.choice, SamplingOptions(**options)
    mode = sampling_mode(options)
    logits = draw(41, 5, 40)
    logits[1, 17], logits[2, 39], logits[3, :], logits[4, 1:] = np.nan, np.inf, -np.inf, -np.inf
    unseen = np.zeros(9, np.int32), np.zeros(40, np.uint8)
    settings = Settings(
        cursor_of(kernels, position=4),
        *(memory.upload(array) for array in (*setting_arrays(options), *unseen)),
        memory.zeros((2,), np.int32),
    )
    outcome = tuple(memory.empty((9,), kind) for kind in (np.int32, F, F, np.int32))
    outcome[3][...] = np.zeros(9, np.int32)
    there, candidates = memory.upload(logits), choice.candidates(5, 40)
    choice.choose(there, choice.every_id(), 5, 0, False, mode, settings, candidates, outcome)
    assert outcome[3].host().tolist() == [0, 1, 1, 1, 0, 0, 0, 0, 0]
    assert outcome[0].host()[4] == 0


FILTERED = dict(temperature=0.8, top_k=5, top_p=0.9, min_p=0.02)
COLD = dict(temperature=1e-6)  # noise is far below the rounding of such logits
MIN_P = dict(temperature=1.2, min_p=0.05)
TOP_P = dict(temperature=1.1, top_p=0.95)
PENALTIES = dict(presence_penalty=1.5, repetition_penalty=1.2)
SMALL = {
    "greedy, with ties": (choose, dict(rows=3, size=97, options={})),
    "greedy with penalties": (choose, dict(rows=2, size=64, options=PENALTIES)),
    "temperature": (choose, dict(rows=2, size=133, options=dict(temperature=1.3))),
    "filters": (choose, dict(rows=3, size=150, options=FILTERED)),
    "filters and penalties": (choose, dict(rows=2, size=96, options=FILTERED | PENALTIES)),
    "top k above the vocabulary": (choose, dict(rows=1, size=5, options=dict(temperature=1, top_k=9))),
    **{
        f"draft rows with ids{name}": (
            choose,
            dict(rows=1, size=70, options=PENALTIES | options, first_step=2, ids=True),
        )
        for name, options in {"": FILTERED, ", min p": MIN_P, ", top p": TOP_P}.items()
    },
    "sort, different keys": (sort, dict(rows=2, size=150, bits=32, warps=2)),
    "sort, few keys": (sort, dict(rows=1, size=133, bits=3)),
    "min p": (choose, dict(rows=3, size=150, options=MIN_P, warps=2)),
    "min p and penalties": (choose, dict(rows=2, size=96, options=MIN_P | PENALTIES)),
    "min p keeps ties of the best": (
        choose,
        dict(rows=3, size=50, options=MIN_P | dict(min_p=1.0), kind="equal"),
    ),
    "min p keeps the best alone": (
        choose,
        dict(rows=4, size=97, options=dict(temperature=100, min_p=1.0), kind="steep"),
    ),
    "min p among few": (choose, dict(rows=1, size=97, options=MIN_P, kind="masked")),
    "top k of many": (choose, dict(rows=2, size=150, options=FILTERED | dict(top_k=100), warps=2)),
    "top k without end": (choose, dict(rows=1, size=70, options=FILTERED | dict(top_k=10**12))),
    **{
        f"top p, {kind}": (choose, dict(rows=1, size=150, options=TOP_P, kind=kind, warps=1 + n % 2))
        for n, kind in enumerate(LOGITS)
    },
    "top p keeps a few of many": (
        choose,
        dict(rows=8, size=40, options=TOP_P | dict(top_p=0.06), kind="equal"),
    ),
    "top p and penalties": (choose, dict(rows=2, size=96, options=TOP_P | MIN_P | PENALTIES, warps=2)),
    **{
        f"noisy ties{name}": (choose, dict(rows=1, size=40, options=COLD | options, kind="large"))
        for name, options in {"": dict(top_p=0.9), " of few": dict(top_k=30), " of all": {}}.items()
    },
    **{f"options drawn from {seed}": (any_options, dict(seed=seed)) for seed in range(12)},
    **{
        f"damaged logits, {name}": (damage, dict(options=options))
        for name, options in {
            "greedy": {},
            "temperature": dict(temperature=1),
            "min p": dict(temperature=1, min_p=0.1),
            "top k": dict(temperature=1, top_k=50, top_p=0.9),
            "top p": dict(temperature=1, top_p=0.9),
        }.items()
    },
}
"""As checks.SMALL."""
