"""The engine's sampling options as the numbers that the kernels read."""

from __future__ import annotations

import numpy as np

from kestrel_cuda import sampling
from kestrel_engine.options import SamplingOptions


def sampling_mode(options: SamplingOptions) -> int | None:
    """How the device chooses with these options; None: it cannot, too many candidates would have to be
    sorted."""
    if options.is_greedy:
        return sampling.GREEDY
    if options.top_k == 0 and options.top_p == 1 and options.min_p == 0:
        return sampling.NOISY
    return sampling.FILTERED if 0 < options.top_k <= sampling.MOST_TOP_K else None


def setting_arrays(options: SamplingOptions) -> tuple[np.ndarray, np.ndarray]:
    """-> int32 and float32 [SETTINGS], in the places that sampling.py names."""
    integers = np.zeros(sampling.SETTINGS, np.int32)
    seed = np.array([options.seed], np.uint64).view(np.int32)
    integers[sampling.MODE] = sampling_mode(options)
    integers[sampling.TOP_K] = options.top_k
    integers[sampling.SEED_LOW], integers[sampling.SEED_HIGH] = seed
    reals = np.zeros(sampling.SETTINGS, np.float32)
    reals[sampling.TEMPERATURE] = 1 if options.is_greedy else options.temperature
    reals[sampling.TOP_P], reals[sampling.MIN_P] = options.top_p, options.min_p
    reals[sampling.PRESENCE] = options.presence_penalty
    reals[sampling.REPETITION] = options.repetition_penalty
    return integers, reals
