"""The engine's sampling options as the numbers that the kernels read."""

from __future__ import annotations

import numpy as np

from kestrel_cuda import sampling
from kestrel_engine.options import SamplingOptions

LARGEST = np.iinfo(np.int32).max


def sampling_mode(options: SamplingOptions) -> int:
    """The way in which the device chooses with these options: which kernels it takes."""
    if options.is_greedy:
        return sampling.GREEDY
    if options.top_k == 0 and np.float32(options.top_p) == 1:
        return sampling.NOISY if options.min_p == 0 else sampling.ABOVE
    return sampling.FEW if 0 < options.top_k <= sampling.MOST_TOP_K else sampling.ORDERED


def setting_arrays(options: SamplingOptions) -> tuple[np.ndarray, np.ndarray]:
    """-> int32 and float32 [SETTINGS], in the places that sampling.py names."""
    integers = np.zeros(sampling.SETTINGS, np.int32)
    seed = np.array([options.seed], np.uint64).view(np.int32)
    integers[sampling.TOP_K] = min(options.top_k, LARGEST)
    integers[sampling.SEED_LOW], integers[sampling.SEED_HIGH] = seed
    reals = np.zeros(sampling.SETTINGS, np.float32)
    reals[sampling.TEMPERATURE] = 1 if options.is_greedy else options.temperature
    share = np.float32(options.top_p)
    reals[sampling.TOP_P] = share if share < 1 else np.inf  # which no sum reaches: off
    reals[sampling.MIN_P] = options.min_p
    reals[sampling.PRESENCE] = options.presence_penalty
    reals[sampling.REPETITION] = options.repetition_penalty
    return integers, reals
