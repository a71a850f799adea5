"""Draws that look only at what can still win give what the definition gives, which sorts and weighs everything."""

from __future__ import annotations

import numpy as np
import pytest

from kestrel_engine import numerics, sampling
from kestrel_engine.cpu.backend import CpuBackend
from kestrel_engine.options import SamplingOptions
from kestrel_engine.sampling import Sampler


def drawn_by_definition(logits: np.ndarray, options: SamplingOptions, position: int) -> int:
    """Everything sorted, weighed and given noise."""
    scaled = logits / np.float32(options.temperature)
    kept = numerics.top_k(scaled, options.top_k or len(scaled))
    weights = numerics.exp(scaled[kept] - scaled[kept[0]])
    if options.top_p < 1:
        enough = np.cumsum(weights, dtype=np.float32) >= np.float32(options.top_p) * numerics.lane_sum(
            weights
        )
        last = int(enough.argmax()) if enough.any() else len(kept) - 1
        kept, weights = kept[: last + 1], weights[: last + 1]
    kept = kept[weights >= np.float32(options.min_p)]
    noisy = scaled[kept] + numerics.gumbel(options.seed, position, kept)
    return int(kept[noisy == noisy.max()].min())


@pytest.mark.parametrize("spread", [0.0, 0.3, 2.0, 8.0])
@pytest.mark.parametrize("filters", [{}, {"min_p": 0.02}, {"top_p": 0.5}, {"top_p": 0.95}, {"top_k": 1500}])
def test_what_cannot_matter_is_left_out_and_nothing_else(spread, filters):
    """The same draws as by the definition, for flat and for peaked logits, with ties."""
    random = np.random.default_rng(0)
    for seed in range(40):
        logits = np.round(random.standard_normal(3000) * spread, 1).astype(np.float32)
        options = SamplingOptions(
            temperature=0.8, seed=seed, **({"top_p": 0.9} | filters if seed % 2 else filters)
        )
        ours = Sampler(options, CpuBackend(1)).sample(logits, seed)
        assert ours == drawn_by_definition(logits, options, seed)


def test_the_largest_noise_is_known():
    """u one step below 1, as in numerics.gumbel."""
    nearest_one = np.float32((2**23 - 1 + 0.5) * 2.0**-23)
    assert -numerics.log(-numerics.log(nearest_one)) < sampling.LARGEST_NOISE - 0.05


@pytest.mark.parametrize("top_k", [1000, 1024, 1025, 2000, 0])
def test_many_kept_ids_are_sorted_like_few(top_k):
    """Beyond 1024 kept ids another routine sorts."""
    logits = (2 * np.random.default_rng(1).standard_normal(3000)).astype(np.float32)
    options = SamplingOptions(temperature=1.5, top_k=top_k, top_p=0.5, seed=6)
    made = Sampler(options, CpuBackend(1))
    for position in range(50):
        assert made.sample(logits, position) == drawn_by_definition(logits, options, position)
