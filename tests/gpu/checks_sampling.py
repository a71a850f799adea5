"""The kernels that choose tokens, with the engine's own sampler as the truth (see checks.py)."""

from __future__ import annotations

import numpy as np
from compare import F, assert_same, cursor_of, draw

from kestrel_cuda import sampling
from kestrel_cuda.arrays import Settings
from kestrel_cuda.operations import Operations
from kestrel_cuda.settings import setting_arrays
from kestrel_engine.options import SamplingOptions
from kestrel_engine.reference import ReferenceBackend
from kestrel_engine.sampling import Sampler

REFERENCE = ReferenceBackend()


def choose(
    kernels: Operations, rows: int, size: int, options: dict, first_step: int = 0, ids: bool = False
) -> None:
    """Tokens, their logits, and log-sum-exps of rows of logits, with the engine's own sampler as the truth."""
    memory, options = kernels.memory, SamplingOptions(seed=0x5EED_1234_5678, **options)
    random = np.random.default_rng(rows)
    logits = draw((31, rows), rows, size, scale=3)
    logits[:, 1 : size // 2 : 7] = logits[:, 0:1]  # ties
    names = np.sort(random.choice(3 * size, size, replace=False)) if ids else None
    vocabulary = 3 * size if ids else size
    prompt, emitted = (random.choice(vocabulary, 9).tolist() for _ in range(2))
    drafts = random.choice(vocabulary if names is None else names, first_step + rows).tolist()
    if options.presence_penalty:  # the newest draft wins until its penalty takes it back
        tokens = range(size) if names is None else names.tolist()
        best = max(place for place, token in enumerate(tokens) if token not in {*prompt, *emitted})
        logits[:, best] = logits.max(axis=1) + F(0.5)
        drafts[max(first_step - 1, 0)] = tokens[best]
    sampler = Sampler(options, REFERENCE, prompt)
    for token in emitted:
        sampler.emit(token)

    flags = np.zeros(vocabulary, np.uint8)
    flags[prompt] |= sampling.IN_PROMPT if options.repetition_penalty != 1 else 0
    flags[emitted[:4]] |= sampling.IN_ANSWER
    integers, reals = setting_arrays(options)
    integers[sampling.MARK_COUNT] = len(emitted) - 4
    position = 1000
    settings = Settings(
        cursor_of(kernels, position=position),
        memory.upload(integers),
        memory.upload(reals),
        memory.upload(np.array([7, *drafts], np.int32)),
        memory.upload(flags),
        memory.zeros((2,), np.int32),
    )
    there = memory.upload(logits)
    damaged = memory.empty((16,), np.int32)
    chosen, values, judged = memory.empty((16,), np.int32), memory.empty((16,), F), memory.empty((16,), F)
    kernels.begin_round(settings, memory.upload(np.array(emitted[4:], np.int32)), damaged)
    tokens = memory.upload(np.zeros(1, np.int32) if names is None else names.astype(np.int32))
    outcome = (chosen, values, judged, damaged)
    kernels.choose(there, tokens, rows, first_step, ids, settings, kernels.candidates(rows), outcome)
    sums = memory.empty((rows,), F)
    kernels.log_sum_exp(there, rows, sums)
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


def damage(kernels: Operations) -> None:
    """A NaN or an infinity among the logits is noticed, in its row alone."""
    memory = kernels.memory
    logits = draw(41, 3, 40)
    logits[1, 17], logits[2, 39] = np.nan, np.inf
    integers, reals = setting_arrays(SamplingOptions())
    settings = Settings(
        cursor_of(kernels, position=4),
        *(memory.upload(x) for x in (integers, reals, np.zeros(9, np.int32), np.zeros(40, np.uint8))),
        memory.zeros((2,), np.int32),
    )
    outcome = tuple(memory.empty((9,), kind) for kind in (np.int32, F, F, np.int32))
    kernels.begin_round(settings, memory.zeros((1,), np.int32), outcome[3])
    ids = memory.zeros((1,), np.int32)
    kernels.choose(memory.upload(logits), ids, 3, 0, False, settings, kernels.candidates(3), outcome)
    assert outcome[3].host().tolist() == [0, 1, 1, 0, 0, 0, 0, 0, 0]


FILTERED = dict(temperature=0.8, top_k=5, top_p=0.9, min_p=0.02)
PENALTIES = dict(presence_penalty=1.5, repetition_penalty=1.2)
SMALL = {
    "greedy, with ties": (choose, dict(rows=3, size=97, options={})),
    "greedy with penalties": (choose, dict(rows=2, size=64, options=PENALTIES)),
    "temperature": (choose, dict(rows=2, size=133, options=dict(temperature=1.3))),
    "filters": (choose, dict(rows=3, size=150, options=FILTERED)),
    "filters and penalties": (choose, dict(rows=2, size=96, options=FILTERED | PENALTIES)),
    "top k above the vocabulary": (choose, dict(rows=1, size=5, options=dict(temperature=1, top_k=9))),
    "draft rows with ids": (
        choose,
        dict(rows=1, size=70, options=FILTERED | PENALTIES, first_step=2, ids=True),
    ),
    "damaged logits": (damage, {}),
}
"""As checks.SMALL."""
