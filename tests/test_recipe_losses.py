"""kestrel-nano's losses beside torch's own cross-entropy: values, gradients, and which tokens weigh what."""

import pytest
from small_corpus import TINY

torch = pytest.importorskip("torch")

from torch.nn import functional  # noqa: E402

from kestrel_assets.recipe.cross_entropy import BLOCK, cross_entropy  # noqa: E402
from kestrel_assets.recipe.losses import LossPlan, TensorBatch, losses  # noqa: E402
from kestrel_assets.recipe.model import Model  # noqa: E402


def oracle(hidden, weight, target, row_weights):
    """Weighted mean by torch's cross_entropy; a teacher's rows become its distribution."""
    if target.is_floating_point():
        target = (target @ weight.detach().T).softmax(-1)
    rows = functional.cross_entropy(hidden @ weight.T, target, reduction="none")
    return (rows * row_weights).sum() / row_weights.sum()


@pytest.mark.parametrize("rows", [1, 7, BLOCK + 3])
@pytest.mark.parametrize("from_teacher", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_cross_entropy_is_torchs(rows, from_teacher, weighted):
    generator = torch.Generator().manual_seed(rows)
    hidden, teacher = torch.randn(2, rows, 16, generator=generator)
    weight = torch.randn(50, 16, generator=generator)
    target = teacher if from_teacher else torch.randint(0, 50, (rows,), generator=generator)
    row_weights = torch.rand(rows, generator=generator) if weighted else torch.ones(rows)
    found = []
    for function in (cross_entropy, oracle):
        leaves = hidden.clone().requires_grad_(), weight.clone().requires_grad_()
        loss = function(*leaves, target, *([row_weights] if weighted or function is oracle else []))
        loss.backward()
        found.append((loss.detach(), leaves[0].grad, leaves[1].grad))
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-6)
    with torch.no_grad():
        torch.testing.assert_close(cross_entropy(hidden, weight, target), oracle(
            hidden, weight, target, torch.ones(rows)), rtol=1e-4, atol=1e-6)  # fmt: skip


def a_batch() -> TensorBatch:
    """Two rows of two documents each, padding at the end of the second."""
    ids = torch.randint(0, TINY.vocab_size, (2, 20), generator=torch.Generator().manual_seed(0))
    segments = torch.tensor([[0] * 9 + [1] * 11, [0] * 12 + [1] * 4 + [-1] * 4])
    answers = torch.rand(2, 20, generator=torch.Generator().manual_seed(1)) < 0.5
    return TensorBatch(ids, segments, answers)


@torch.no_grad()
@pytest.mark.parametrize("others_weight", [0.0, 0.25, 1.0])
def test_others_weigh_as_the_plan_says(others_weight):
    torch.manual_seed(0)
    model, batch = Model(TINY).eval(), a_batch()
    trunk, drafts = losses(model, batch, LossPlan(2, (0.5, 0.4), others_weight, distill=False))

    hidden = model.hidden(batch.ids, batch.segments)
    total = weight = 0.0
    for row, place in [(row, place) for row in range(2) for place in range(1, 20)]:
        segment = batch.segments[row, place]
        if segment < 0 or segment != batch.segments[row, place - 1]:
            continue  # the first token of a document is nobody's guess
        logits = hidden[row, place - 1] @ model.embedding.T
        share = 1.0 if batch.answers[row, place] else others_weight
        total += share * functional.cross_entropy(logits, batch.ids[row, place])
        weight += share
    torch.testing.assert_close(trunk, total / weight, rtol=1e-4, atol=1e-6)
    assert len(drafts) == 2


@torch.no_grad()
def test_drafts_learn_answers_only_once_the_others_weigh_less():
    torch.manual_seed(0)
    model, batch = Model(TINY).eval(), a_batch()
    _, few = losses(model, batch, LossPlan(1, (0.5,), 0.25, distill=False))
    _, fewer = losses(model, batch, LossPlan(1, (0.5,), 0.0, distill=False))
    _, every = losses(model, batch, LossPlan(1, (0.5,), 1.0, distill=False))
    assert few == fewer
    assert few[0] != every[0]
