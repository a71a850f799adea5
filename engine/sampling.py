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
        scaled = logits / F(self.options.temperature)
        kept = self._filter(scaled)
        tokens = kept if ids is None else ids[kept]
        noisy = scaled[kept] + self.backend.gumbel(self.options.seed, position, tokens)
        return int(tokens[noisy == noisy.max()].min())

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

    def _filter(self, scaled: np.ndarray) -> np.ndarray:
        """Indices kept by top-k, then top-p, then min-p, most likely first when anything is filtered."""
        options = self.options
        if options.top_k == 0 and options.top_p == 1 and options.min_p == 0:
            return np.arange(len(scaled))
        count = min(options.top_k or len(scaled), len(scaled))
        kept = numerics.top_k(scaled, count) if count > 1024 else self.backend.top_k(scaled, count)
        weights = numerics.exp(scaled[kept] - scaled[kept[0]])
        if options.top_p < 1:
            threshold = F(options.top_p) * numerics.lane_sum(weights)
            enough = np.cumsum(weights, dtype=F) >= threshold
            last = int(enough.argmax()) if enough.any() else len(kept) - 1
            kept, weights = kept[: last + 1], weights[: last + 1]
        return kept[weights >= F(options.min_p)]


def _places(tokens: set[int], ids: np.ndarray | None, size: int) -> np.ndarray:
    """Where `tokens` stand in the logits: themselves, or their places among the ascending `ids`."""
    wanted = np.fromiter(sorted(tokens), np.int64, len(tokens))
    if ids is None:
        return wanted[wanted < size]
    places = np.searchsorted(ids, wanted)
    places = np.minimum(places, len(ids) - 1)
    return places[ids[places] == wanted]
