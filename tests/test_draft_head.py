"""The reduced draft head: which tokens it can draft, with which bits, and that it never changes the text."""

from __future__ import annotations

import models
import numpy as np
import pytest
import rounds
from hypothesis import given
from hypothesis import strategies as st

from kestrel_engine import draft_head
from kestrel_engine.draft_head import BLOCK_ROWS, DraftHead, make_draft_head
from kestrel_engine.drafter import MtpDrafter
from kestrel_engine.session import Turn
from kestrel_engine.tokenizer import Tokenizer


@pytest.fixture(scope="module")
def model(tiny_model):
    return models.load(tiny_model, "q8")


def hidden_row(model) -> np.ndarray:
    return np.random.default_rng(3).normal(0, 1, (1, model.config.hidden_size)).astype(np.float32)


def whole_logits(model, hidden: np.ndarray, format: str) -> np.ndarray:
    """Of every token of the vocabulary, by one matrix in `format`."""
    return model.backend.matmul(hidden, model.backend.pack(model.weights.output_bits, format))[0]


def test_all_is_the_models_own_matrix(model):
    head = make_draft_head(model, "all", [5])
    head.add([7])
    hidden = hidden_row(model)
    assert head.ids is None
    assert np.array_equal(head.logits(hidden), model.logits(hidden)[0])


def test_a_small_vocabulary_is_taken_whole(model):
    assert len(model.weights.output_bits) < draft_head.DRAFT_VOCABULARY
    head = make_draft_head(model, None, [5])
    assert head.ids is None
    assert np.array_equal(head.logits(hidden_row(model)), whole_logits(model, hidden_row(model), "q4"))


@given(
    added=st.lists(st.lists(st.integers(0, 383), max_size=40), max_size=6),
    control=st.sets(st.integers(0, 383), max_size=5),
)
def test_rows_grow_with_the_chat(model, added, control):
    """However they come, the logits are those of the whole matrix, in ascending order of the tokens."""
    head = make_draft_head(model, 50, control)
    for tokens in added:
        head.add(tokens)
    expected = sorted({*range(50), *control, *(t for tokens in added for t in tokens)})
    assert head.ids.tolist() == expected
    hidden = hidden_row(model)
    assert np.array_equal(head.logits(hidden), whole_logits(model, hidden, "q4")[expected])


def test_many_rows_are_packed_in_blocks_and_none_twice(model):
    packed = []

    class Backend:
        def pack(self, bits, format):
            packed.append(len(bits))
            return model.backend.pack(bits, format)

        matmul = staticmethod(model.backend.matmul)

    bits = np.tile(model.weights.output_bits, (4, 1))
    head = DraftHead(Backend(), model.backend.pack(bits[:16], "q8"), np.arange(16), bits, "q8")
    head.add(range(16, 16 + BLOCK_ROWS + 10))
    assert packed == [], "only when they are asked for"
    head.logits(hidden_row(model))
    assert packed == [BLOCK_ROWS, 10]
    head.add([900, 900, 3, 901])
    head.logits(hidden_row(model))
    assert packed == [BLOCK_ROWS, 10, 12], "only the newest block again, and known tokens not at all"
    head.add([900, 20])
    head.logits(hidden_row(model))
    assert len(packed) == 3
    whole = model.backend.matmul(hidden_row(model), model.backend.pack(bits, "q8"))[0]
    assert np.array_equal(head.logits(hidden_row(model)), whole[head.ids])


def test_tokens_outside_the_vocabulary_are_left_out(model):
    head = make_draft_head(model, 50, [10**6, -1])
    assert head.ids.tolist() == list(range(50))


@pytest.mark.parametrize("sampling", rounds.SAMPLINGS.values(), ids=rounds.SAMPLINGS)
def test_drafts_cover_what_the_chat_has_held_and_never_change_the_text(echo_model, sampling):
    """With 20 rows and the tokens seen, drafts are right again and again; the text is that of plain decoding."""
    model = models.load(echo_model, context=512)
    session = rounds.make_session(model, Tokenizer(echo_model))
    head = make_draft_head(model, 20, ())
    session.drafters["mtp"] = MtpDrafter(model, head)
    prompt = models.random_tokens(model, 30)
    expected = rounds.plain_ids(model, prompt, sampling, 60)
    _, ids, _ = rounds.answer(session, Turn(prompt, sampling, 60, drafter="mtp"))
    assert ids == expected[: len(ids)]
    seen = {*prompt, *ids[:-1]}
    assert set(head.ids.tolist()) <= {*range(20), *seen, ids[-1]}
    assert set(prompt) <= set(head.ids.tolist())


def test_the_next_answer_drafts_what_its_prompt_brings(tiny_model):
    model = models.load(tiny_model)
    session = rounds.make_session(model, Tokenizer(tiny_model))
    head = make_draft_head(model, 20, ())
    session.drafters["mtp"] = MtpDrafter(model, head)
    for seed in range(2):
        prompt = models.random_tokens(model, 12, seed)
        rounds.answer(session, Turn(prompt, rounds.GREEDY, 4, drafter="mtp"))
        assert set(prompt) <= set(head.ids.tolist())
