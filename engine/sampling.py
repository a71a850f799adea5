"""Choosing a token: a pure function of the emitted prefix, the seed and the options (docs/design.md §4).

token at absolute position i = argmax over the kept ids of (penalised logits / temperature + Gumbel noise of
(seed, i, id)). That is a draw from the softmax of the kept logits (Gumbel-max; Maddison et al., 2014), and
because the noise depends on nothing else, speculation cannot change it. A drafter that adds the same noise
to its own logits mostly draws the same token.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from kestrel_engine import numerics
from kestrel_engine.backend import Backend
from kestrel_engine.errors import KestrelError
from kestrel_engine.options import SamplingOptions

F = np.float32

SMALL_TOP_K = 1024
"""Up to here the largest entries are picked one by one; beyond, everything is sorted."""
LARGEST_NOISE = 16.7
"""Above the largest value of `numerics.gumbel`: -log(-log(1 - 2**-24)) = 16.64."""
MARGIN, RELATIVE_MARGIN = 0.05, 1e-5
"""More than rounding can do to a logit or to e**x."""
LEAST_WEIGHT = 1e-30
SUM_ERROR = 2e-3
"""Bound on the relative distance of two float32 sums of a vocabulary in 32 lanes: 2 * n/32 * 2**-24 is 0.001 for
248,320 entries."""
DEPTHS = (4.0, 8.0, 16.0, 40.0)
"""How far below the largest logit the search for what top-p keeps goes, step by step."""


class Sampler:
    """Samples for one answer. `emit` tells it every token that has been emitted."""

    def __init__(self, options: SamplingOptions, backend: Backend, prompt: Iterable[int] = ()):
        self.options, self.backend = options, backend
        self.emitted: set[int] = set()
        self.prompt = set(prompt) if options.repetition_penalty != 1 else set()

    def emit(self, token: int) -> None:
        self.emitted.add(token)

    def sample(self, logits: np.ndarray, position: int, drafts: Sequence[int] = ()) -> int:
        """The token at absolute `position` from logits [V] float32; `drafts` are emitted tokens of this round
        that `emit` has not been told of. Raises KestrelError when the logits are not finite."""
        if not np.isfinite(logits.max()):
            raise KestrelError("the model's output is not finite, its weights are damaged: download it again")
        return self._choose(logits, None, position, drafts)

    def sample_draft(
        self, logits: np.ndarray, ids: np.ndarray | None, position: int, drafts: Sequence[int]
    ) -> int:
        """The drafter's guess from logits [n] over the token ids `ids` [n] int64, ascending (None: all).
        Raises KestrelError when the logits are not finite."""
        if not np.isfinite(logits.max()):
            raise KestrelError(
                "the MTP head's output is not finite, its weights are damaged:"
                " download the model again, or use --drafter lookup"
            )
        return self._choose(logits, ids, position, drafts)

    def logprobs(self, logits: np.ndarray, tokens: Sequence[int]) -> list[float]:
        """Natural logs of the model's own probabilities of `tokens` (temperature 1, nothing filtered)."""
        whole = self.backend.log_sum_exp(logits)
        return [float(logits[token] - whole) for token in tokens]

    def _choose(
        self, logits: np.ndarray, ids: np.ndarray | None, position: int, drafts: Sequence[int]
    ) -> int:
        logits = self._penalise(logits, ids, drafts)
        if self.options.is_greedy:
            best = numerics.argmax(logits)
            return best if ids is None else int(ids[best])
        draw = _Draw(logits / F(self.options.temperature), ids, position, self.options, self.backend)
        return draw.token()

    def _penalise(self, logits: np.ndarray, ids: np.ndarray | None, drafts: Sequence[int]) -> np.ndarray:
        """Repetition (Keskar et al., 2019) over prompt and answer, presence over the answer."""
        options = self.options
        if options.repetition_penalty == 1 and options.presence_penalty == 0:
            return logits
        logits = logits.copy()
        answer = self.emitted.union(drafts)
        if options.repetition_penalty != 1:
            places = _places(self.prompt | answer, ids, len(logits))
            penalty, seen = F(options.repetition_penalty), logits[places]
            logits[places] = np.where(seen > 0, seen / penalty, seen * penalty)
        if options.presence_penalty != 0:
            logits[_places(answer, ids, len(logits))] -= F(options.presence_penalty)
        return logits


class _Draw:
    """One token from logits over the temperature. The definition is `_kept` and the largest noisy logit among
    what it keeps; without top-k that would sort and draw noise for the whole vocabulary, so `token` looks only
    at what can still matter, and comes to the same choice."""

    def __init__(self, scaled, ids, position: int, options: SamplingOptions, backend: Backend):
        self.scaled, self.ids, self.position = scaled, ids, position
        self.options, self.backend = options, backend
        self.top_p = F(options.top_p)  # which is 1, and off, for a share just below it, too

    def token(self) -> int:
        options = self.options
        if 0 < options.top_k <= SMALL_TOP_K:
            return self._winner(self._kept(self.backend.top_k(self.scaled, options.top_k)))[0]
        if options.top_k or self.top_p < 1:
            found = None if options.top_k else self._from_the_top()
            return self._winner(self._kept(self._sorted(None)))[0] if found is None else found
        return self._winner(self._at_least_min_p(np.arange(len(self.scaled))))[0]

    def _sorted(self, places: np.ndarray | None) -> np.ndarray:
        """Ascending `places` (None: all, or the top-k of them), largest first, ties to the lower index."""
        if places is None:
            return np.argsort(-self.scaled, kind="stable")[: self.options.top_k or None]
        return places[np.argsort(-self.scaled[places], kind="stable")]

    def _weights(self, places: np.ndarray) -> np.ndarray:
        return numerics.exp(self.scaled[places] - self.scaled.max())

    def _kept(self, places: np.ndarray) -> np.ndarray:
        """What top-p and then min-p keep of `places`, most likely first."""
        weights = self._weights(places)
        if self.top_p < 1:
            threshold = self.top_p * numerics.lane_sum(weights)
            places = places[: _first_at_least(weights, threshold) + 1]
        return self._at_least_min_p(places)

    def _at_least_min_p(self, places: np.ndarray) -> np.ndarray:
        least = self.options.min_p
        if least == 0:
            return places
        if least > LEAST_WEIGHT:  # far below it, e**x need not be known exactly
            near = self.scaled[places] >= self.scaled.max() + F(np.log(least) - MARGIN)
            places = places[near]
        return places[self._weights(places) >= F(least)]

    def _winner(self, places: np.ndarray) -> tuple[int, np.float32]:
        """The token of the largest noisy logit among `places`, ties to the lowest id, and that logit."""
        scaled = self.scaled[places]
        top = int(scaled.argmax())
        best = scaled[top] + self._noise(places[top : top + 1])[0]
        margin = MARGIN * (1 + abs(best) * RELATIVE_MARGIN)
        places = places[scaled >= best - F(LARGEST_NOISE + margin)]  # others cannot come up to it
        noisy = self.scaled[places] + self._noise(places)
        tokens = self._tokens(places)
        return int(tokens[noisy == noisy.max()].min()), noisy.max()

    def _noise(self, places: np.ndarray) -> np.ndarray:
        return self.backend.gumbel(self.options.seed, self.position, self._tokens(places))

    def _tokens(self, places: np.ndarray) -> np.ndarray:
        return places if self.ids is None else self.ids[places]

    def _from_the_top(self) -> int | None:
        """The token under top-p without top-k; None when it takes the whole vocabulary to tell.

        The threshold is a share of a sum in sorted order. A sum in any other order bounds it; what is kept
        under the lower bound is kept for certain, and what only the upper bound keeps can mostly not win.
        """
        shifted = self.scaled - self.scaled.max()
        total = np.exp(np.float64(self.backend.log_sum_exp(shifted)))
        low, high = (self.options.top_p * total * (1 + side * SUM_ERROR) for side in (-1, 1))
        for depth in DEPTHS:
            places = self._sorted(np.flatnonzero(shifted >= -depth))
            weights = self._weights(places)
            if np.cumsum(weights, dtype=F)[-1] >= F(high):
                break
        else:
            return None
        certain, possible = (_first_at_least(weights, F(bound)) + 1 for bound in (low, high))
        kept = self._at_least_min_p(places[:certain])
        others = self._at_least_min_p(places[certain:possible])
        token, noisy = self._winner(kept)
        if len(others) and self._winner(others)[1] >= noisy:
            return None
        return token


def _first_at_least(weights: np.ndarray, threshold: np.float32) -> int:
    """Index at which the running sum reaches `threshold`, else the last."""
    enough = np.cumsum(weights, dtype=F) >= threshold
    return int(enough.argmax()) if enough.any() else len(weights) - 1


def _places(tokens: set[int], ids: np.ndarray | None, size: int) -> np.ndarray:
    """Where `tokens` stand in the logits: themselves, or their places among the ascending `ids`."""
    wanted = np.fromiter(sorted(tokens), np.int64, len(tokens))
    if ids is None:
        return wanted[wanted < size]
    places = np.searchsorted(ids, wanted)
    places = np.minimum(places, len(ids) - 1)
    return places[ids[places] == wanted]
