"""The draft head's loss beside a loop over every chain: value, gradient, and which drafts count."""

import pytest

torch = pytest.importorskip("torch")

from torch.nn import functional  # noqa: E402

from kestrel_assets.recipe import draft_loss as subject  # noqa: E402
from kestrel_assets.recipe.draft_loss import DraftPlan, draft_loss  # noqa: E402
from kestrel_assets.recipe.losses import TensorBatch  # noqa: E402

WIDTH, VOCABULARY, DEPTH = 16, 40, 3


def a_batch() -> TensorBatch:
    """A row of one document, one of two, and one with padding; prompts and answers in all, the second begins with
    an answer."""
    ids = torch.randint(0, VOCABULARY, (3, 24), generator=torch.Generator().manual_seed(0))
    segments = torch.tensor([[0] * 24, [0] * 11 + [1] * 13, [0] * 20 + [-1] * 4])
    answers = torch.zeros(3, 24, dtype=torch.bool)
    answers[0, 14:] = answers[1, 1:7] = answers[1, 15:] = answers[2, 4:8] = answers[2, 12:20] = True
    return TensorBatch(ids, segments, answers)


def a_chain(batch: TensorBatch, embedding: torch.Tensor) -> list[torch.Tensor]:
    """Drafts of which about two thirds are the text's tokens, so that chains go on and end at every depth."""
    torch.manual_seed(1)
    chain = []
    for depth in range(1, DEPTH + 1):
        wanted = functional.pad(
            batch.ids[:, depth + 1 :], (0, 1)
        )  # the last one foretells a token behind the row
        right = torch.rand(wanted.shape) < 0.7
        noise = torch.randint(0, VOCABULARY, wanted.shape)
        chain.append(embedding[torch.where(right, wanted, noise)] + 0.1 * torch.randn(*wanted.shape, WIDTH))
    return chain


def oracle(chain, hidden, embedding, batch, plan):
    """The same by a loop: every chain is followed until a draft is not the text's."""
    loss, judged, right = 0.0, [0] * DEPTH, [0] * DEPTH
    for row in range(3):
        for place in range(24):
            for depth in range(1, DEPTH + 1):
                token = place + depth + 1
                if token >= 24 or not batch.answers[row, token]:
                    break
                if batch.segments[row, place] != batch.segments[row, token]:
                    break
                logits = chain[depth - 1][row, place] @ embedding.T
                trunk = hidden[row, place + depth] @ embedding.T
                entropy = functional.cross_entropy(logits, trunk.softmax(-1))
                p, q = ((x / plan.temperature).softmax(-1) for x in (trunk, logits))
                each = (1 - plan.variation) * entropy + plan.variation * (p - q).abs().sum() / 2
                loss = loss + plan.depth_weights[depth - 1] * each
                judged[depth - 1] += 1
                right[depth - 1] += int(logits.argmax() == trunk.argmax())
                if logits.argmax() != batch.ids[row, token]:
                    break
    return loss / judged[0], tuple(judged), tuple(right)


@pytest.mark.parametrize("block", [4, 256])
@pytest.mark.parametrize("variation", [0.0, 0.5, 1.0])
def test_it_is_the_loop_over_chains(block, variation, monkeypatch):
    monkeypatch.setattr(subject, "BLOCK", block)
    batch = a_batch()
    embedding = torch.randn(VOCABULARY, WIDTH, generator=torch.Generator().manual_seed(2))
    hidden = torch.randn(3, 24, WIDTH, generator=torch.Generator().manual_seed(3))
    hidden[:, :-1] += embedding[batch.ids[:, 1:]]  # often likes the text
    plan = DraftPlan((1.0, 0.6, 0.3), variation, temperature=0.7)
    drafts = a_chain(batch, embedding)
    ours, theirs = ([x.clone().requires_grad_() for x in drafts] for _ in range(2))
    found = draft_loss(ours, hidden, embedding, batch, plan)
    loss, judged, right = oracle(theirs, hidden, embedding, batch, plan)
    assert (found.judged, found.right) == (judged, right)
    assert judged[0] > judged[1] > judged[2] > 3  # chains end everywhere
    assert all(0 < r < j for r, j in zip(right, judged, strict=True))
    found.loss.backward()
    loss.backward()
    torch.testing.assert_close(found.loss, loss, rtol=1e-4, atol=1e-6)
    for mine, wanted in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine.grad, wanted.grad, rtol=1e-3, atol=1e-6)


def test_a_batch_without_answers_has_no_loss():
    batch = a_batch()
    silent = TensorBatch(batch.ids, batch.segments, torch.zeros_like(batch.answers))
    embedding = torch.randn(VOCABULARY, WIDTH)
    chain = [x.requires_grad_() for x in a_chain(batch, embedding)]
    found = draft_loss(chain, torch.randn(3, 24, WIDTH), embedding, silent, DraftPlan((1.0, 0.6, 0.3)))
    found.loss.backward()
    assert found.loss == 0 and found.judged == (0, 0, 0)
    assert all(not x.grad.any() for x in chain)
