"""The Kneser-Ney baseline: a probability distribution, and the textbook's formula."""

from collections import Counter, defaultdict

import numpy as np
import pytest

from kestrel_assets.recipe.ngram import KneserNey, discounts_of

VOCABULARY = 12
END = VOCABULARY - 1


def text(seed: int, documents: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Documents that each end in END, with enough structure that high orders matter."""
    generator = np.random.default_rng(seed)
    pieces = []
    for _ in range(documents):
        length = generator.integers(1, 25)
        steps = generator.choice([1, 1, 1, 2, 5], length).cumsum() % END
        pieces.append(np.append(steps, END))
    starts = np.cumsum([0] + [len(piece) for piece in pieces[:-1]])
    return np.concatenate(pieces).astype(np.uint16), starts


def documents_of(ids: np.ndarray, starts: np.ndarray) -> list[list[int]]:
    return [list(map(int, piece)) for piece in np.split(ids, starts[1:])]


class Naive:
    """The definition in dictionaries, slow."""

    def __init__(self, ids: np.ndarray, starts: np.ndarray, order: int) -> None:
        top: Counter[tuple] = Counter()
        for document in documents_of(ids, starts):
            padded = [END] * (order - 1) + document
            top.update(tuple(padded[i : i + order]) for i in range(len(document)))
        self.counts = {order: top}
        for length in range(order - 1, 0, -1):
            self.counts[length] = Counter(gram[1:] for gram in self.counts[length + 1])
        self.followers = {length: defaultdict(dict) for length in self.counts}
        for length, counts in self.counts.items():
            for gram, count in counts.items():
                self.followers[length][gram[:-1]][gram[-1]] = count
        self.discounts = {n: discounts_of(np.array(list(c.values()))) for n, c in self.counts.items()}

    def probability(self, token: int, context: tuple) -> float:
        length = len(context) + 1
        below = self.probability(token, context[1:]) if context else 1 / VOCABULARY
        seen = self.followers[length].get(context)
        if not seen:
            return below
        discounts = self.discounts[length]
        count = seen.get(token, 0)
        taken = sum(discounts[min(each, 3)] for each in seen.values())
        return (count - discounts[min(count, 3)] + taken * below) / sum(seen.values())


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_equals_the_definition(order):
    ids, starts = text(seed=1)
    unseen, unseen_starts = text(seed=2, documents=10)
    fast = KneserNey(VOCABULARY, END, order).fit(ids, starts).probabilities(unseen, unseen_starts)
    naive = Naive(ids, starts, order)
    expected = []
    for document in documents_of(unseen, unseen_starts):
        padded = [END] * (order - 1) + document
        for i, token in enumerate(document):
            expected.append(naive.probability(token, tuple(padded[i : i + order - 1])))
    np.testing.assert_allclose(fast, expected, rtol=1e-12)


@pytest.mark.parametrize(
    "context", [[], [3], [3, 4, 5], [3, 4, 5, 6, 8, 9], [7, 0, 0, 0, 0], [END, END, 2, 2]]
)
def test_sums_to_one(context):
    model = KneserNey(VOCABULARY, END).fit(*text(seed=3))
    distribution = model.distribution(np.array(context, np.int64))
    assert distribution.shape == (VOCABULARY,)
    assert (distribution > 0).all()
    assert distribution.sum() == pytest.approx(1, abs=1e-12)


def test_sums_to_one_at_the_size_in_use():
    generator = np.random.default_rng(0)
    ids = (generator.zipf(1.3, 30_000) % 4091).astype(np.uint16)
    starts = np.arange(0, len(ids), 300)
    model = KneserNey(4096, 4091).fit(ids, starts)
    for context in ([1, 1, 2, 1], [4090, 17, 1, 1], [5]):
        assert model.distribution(np.array(context)).sum() == pytest.approx(1, abs=1e-9)


def test_documents_do_not_see_each_other():
    ids, starts = text(seed=4)
    model = KneserNey(VOCABULARY, END).fit(ids, starts)
    whole = model.probabilities(ids, starts)
    for start, document in zip(starts, documents_of(ids, starts), strict=True):
        alone = model.probabilities(np.array(document), np.array([0]))
        np.testing.assert_array_equal(whole[start : start + len(document)], alone)


def test_learns_what_it_read():
    ids, starts = text(seed=5)
    five = -np.log2(KneserNey(VOCABULARY, END).fit(ids, starts).probabilities(ids, starts)).mean()
    one = -np.log2(KneserNey(VOCABULARY, END, 1).fit(ids, starts).probabilities(ids, starts)).mean()
    assert five < 0.6 * one


def test_discounts_stay_between_zero_and_the_count():
    for counts in (
        [1],
        [1, 1, 2],
        [5, 5, 5],
        [1] * 3 + [2] * 9 + [3] * 40,
        [1] * 40 + [2] * 20 + [3] * 9 + [4] * 5,
    ):
        discounts = discounts_of(np.array(counts))
        assert discounts[0] == 0
        assert (discounts[1:] > 0).all() and (discounts[1:] < [1, 2, 3]).all()
