"""The baseline every model must beat: interpolated modified Kneser-Ney over tokens, order 5.

After Chen and Goodman (1998). The n-grams are packed into 64-bit integers, the newest token in the low
bits, so counting is sorting: 12 bits a token at the 4,096 entries of the vocabulary, 60 bits for order 5.
Documents are padded in front with <|endoftext|>, so no n-gram crosses from one document into the next.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

ORDER = 5


@dataclass(frozen=True)
class Level:
    """The n-grams of one order.

    grams: uint64 [G], sorted. numerators: float64 [G], discounted counts.
    contexts: uint64 [C], sorted, the first n-1 tokens. totals: float64 [C], counts of each context.
    backoffs: float64 [C], the share of each context that goes to the order below.
    """

    grams: np.ndarray
    numerators: np.ndarray
    contexts: np.ndarray
    totals: np.ndarray
    backoffs: np.ndarray


class KneserNey:
    """An n-gram model. `vocabulary` is the number of tokens, `start` the id that pads documents in front."""

    def __init__(self, vocabulary: int, start: int, order: int = ORDER) -> None:
        self.vocabulary, self.start, self.order = vocabulary, start, order
        self.bits = int(vocabulary - 1).bit_length()
        assert self.bits * order <= 64, "an n-gram must fit 64 bits"
        self.levels: list[Level] = []

    def fit(self, ids: np.ndarray, starts: np.ndarray) -> "KneserNey":
        """Count the documents of `ids` (integers [N]) that begin at `starts` (integers [D])."""
        grams, counts = np.unique(self._pack(ids, starts)[self.order - 1], return_counts=True)
        levels = [self._level(grams, counts)]
        for length in range(self.order - 1, 0, -1):
            # Below the top a count is the number of different tokens seen in front.
            grams, counts = np.unique(grams & self._mask(length), return_counts=True)
            levels.append(self._level(grams, counts))
        self.levels = levels[::-1]
        return self

    def probabilities(self, ids: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """p(token | up to order-1 tokens before it in its document) of every token, float64 [N]."""
        packed = self._pack(ids, starts)
        result = np.full(len(ids), 1.0 / self.vocabulary)
        for level, keys in zip(self.levels, packed, strict=True):
            result = self._interpolate(level, keys, result)
        return result

    def distribution(self, context: np.ndarray) -> np.ndarray:
        """p(every token | `context`), float64 [vocabulary]; `context` is the document so far."""
        tail = np.asarray(context)[-(self.order - 1) :]
        rows = np.empty((self.vocabulary, len(tail) + 1), np.int64)
        rows[:, :-1] = tail
        rows[:, -1] = np.arange(self.vocabulary)
        starts = np.arange(self.vocabulary) * rows.shape[1]
        return self.probabilities(rows.ravel(), starts)[rows.shape[1] - 1 :: rows.shape[1]]

    def _mask(self, length: int) -> np.uint64:
        return np.uint64((1 << self.bits * length) - 1)

    def _pack(self, ids: np.ndarray, starts: np.ndarray) -> list[np.ndarray]:
        """For each length 1 … order, uint64 [N]: the n-gram that ends at each token."""
        ids = np.asarray(ids).astype(np.uint64)
        index = np.arange(len(ids))
        starts = np.asarray(starts, np.int64)
        own_start = starts[np.searchsorted(starts, index, side="right") - 1]
        packed = [ids]
        for distance in range(1, self.order):
            inside = index - distance >= own_start
            before = np.where(inside, np.roll(ids, distance), np.uint64(self.start))
            packed.append(packed[-1] | before << np.uint64(self.bits * distance))
        return packed

    def _level(self, grams: np.ndarray, counts: np.ndarray) -> Level:
        discounts = discounts_of(counts)
        numerators = counts - discounts[np.minimum(counts, 3)]
        contexts, first = np.unique(grams >> np.uint64(self.bits), return_index=True)
        totals = np.add.reduceat(counts, first).astype(np.float64)
        backoffs = np.add.reduceat(discounts[np.minimum(counts, 3)], first) / totals
        return Level(grams, numerators, contexts, totals, backoffs)

    def _interpolate(self, level: Level, keys: np.ndarray, below: np.ndarray) -> np.ndarray:
        place, known = _find(level.contexts, keys >> np.uint64(self.bits))
        gram, seen = _find(level.grams, keys)
        own = np.where(seen, level.numerators[gram], 0.0) / level.totals[place]
        return np.where(known, own + level.backoffs[place] * below, below)


def discounts_of(counts: np.ndarray) -> np.ndarray:
    """The discounts of n-grams seen 0, once, twice, and three times or more, float64 [4].

    Where a text is too small for the estimate, the discount falls back to one half.
    """
    of_counts = [int((counts == count).sum()) for count in range(1, 5)]
    discounts = np.full(4, 0.5)
    discounts[0] = 0.0
    if of_counts[0] and of_counts[1]:
        share = of_counts[0] / (of_counts[0] + 2 * of_counts[1])
        for count, (here, above) in enumerate(pairwise(of_counts), 1):
            if here:
                estimate = count - (count + 1) * share * above / here
                discounts[count] = estimate if 0 < estimate < count else 0.5
    return discounts


def _find(table: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each key stands in the sorted table, and whether it is there."""
    place = np.minimum(np.searchsorted(table, keys), len(table) - 1)
    return place, table[place] == keys
