"""Held-out figures: windows score each token once, and acceptance is what drafting one by one gives."""

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from kestrel_assets.recipe import evaluate as evaluation  # noqa: E402
from kestrel_assets.recipe.data import Group  # noqa: E402
from kestrel_assets.recipe.export import export  # noqa: E402
from kestrel_assets.recipe.model import Model, ModelConfig  # noqa: E402
from kestrel_assets.recipe.ngram import KneserNey  # noqa: E402
from kestrel_assets.recipe.tokenizer import save_tokenizer, train_tokenizer  # noqa: E402

VOCABULARY = 40


@pytest.fixture(scope="module")
def model() -> Model:
    torch.manual_seed(0)
    config = ModelConfig(
        vocab_size=VOCABULARY,
        hidden_size=32,
        num_hidden_layers=4,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=16,
        linear_num_key_heads=2,
        linear_num_value_heads=2,
        linear_key_head_dim=16,
        linear_value_head_dim=16,
        intermediate_size=32,
        partial_rotary_factor=0.5,
    )
    model = Model(config).eval()
    # With large tied embeddings trunk and head both tend to repeat their newest token, and so often agree.
    model.model["language_model"].embed_tokens.weight.data.normal_(std=1.0)
    model.mtp.fc.weight.data += 0.2 * torch.eye(32, 64)
    return model


def group_of(lengths: list[int], seed: int, answers: bool = True) -> Group:
    generator = np.random.default_rng(seed)
    bounds = np.cumsum([0, *lengths])
    ids = generator.integers(0, VOCABULARY, bounds[-1]).astype(np.uint16)
    mask = generator.random(bounds[-1]) < 0.9 if answers else np.zeros(bounds[-1])
    return Group(ids, mask.astype(np.uint8), bounds)


def documents_of(group: Group) -> list[tuple[np.ndarray, np.ndarray]]:
    cuts = group.bounds[1:-1]
    return list(zip(np.split(group.ids.astype(np.int64), cuts), np.split(group.answers, cuts), strict=True))


@pytest.mark.parametrize("lengths", [[1, 2, 9], [10], [11, 16, 17], [64, 3]])
def test_windows_score_each_token_once(lengths):
    group = group_of(lengths, 0)
    scored = [window.ids[window.scored_from :] for window in evaluation.windows_of(group, 10)]
    assert all(len(window.ids) <= 10 for window in evaluation.windows_of(group, 10))
    expected = [ids[1:] for ids, _ in documents_of(group) if len(ids) > 1]
    np.testing.assert_array_equal(np.concatenate(scored), np.concatenate(expected))


@torch.inference_mode()
def test_bits_are_those_of_each_document_alone(model, monkeypatch):
    monkeypatch.setattr(evaluation, "BATCH_TOKENS", 60)
    group = group_of([1, 7, 30, 12], 1)
    (bits, answer_bits), _ = evaluation.score(model, group)
    expected = expected_answers = 0.0
    for ids, answers in documents_of(group):
        chances = model.trunk(torch.from_numpy(ids)[None])[0][0].double().log_softmax(-1)
        losses = [-float(chances[i, ids[i + 1]]) / np.log(2) for i in range(len(ids) - 1)]
        expected += sum(losses)
        expected_answers += sum(loss for loss, counts in zip(losses, answers[1:], strict=True) if counts)
    assert bits == pytest.approx(expected, rel=1e-5)
    assert answer_bits == pytest.approx(expected_answers, rel=1e-5)
    assert 0 < answer_bits < bits


def follow_greedily(model: Model, group: Group) -> Group:
    """Put the trunk's own choice for most tokens, so that rounds of several right drafts occur."""
    ids = group.ids.astype(np.int64)
    generator = np.random.default_rng(5)
    for start, end in zip(group.bounds[:-1], group.bounds[1:], strict=True):
        for i in range(start + 1, end):
            if generator.random() < 0.8:
                logits, _ = model.trunk(torch.from_numpy(ids[start:i])[None])
                ids[i] = int(logits[0, -1].argmax())
    return Group(ids.astype(np.uint16), group.answers, group.bounds)


def drafts_at(model: Model, ids: np.ndarray, hidden: torch.Tensor, p: int) -> list[int]:
    """The three drafts of a round after token p, made one by one from the head's own drafts."""
    said = list(ids[: p + 2])
    for step in range(1, 4):
        known = torch.zeros(1, len(said), hidden.shape[-1])
        known[:, : p + 1] = hidden[:, : p + 1]
        logits = model.mtp_logits(known, torch.tensor([said]), step)[step - 1]
        said.append(int(logits[0, p].argmax()))
    return said[-3:]


@torch.inference_mode()
def test_acceptance_is_that_of_drafting_one_by_one(model):
    group = follow_greedily(model, group_of([2, 3, 24, 30, 18], 2))
    judged, right = np.zeros(3, int), np.zeros(3, int)
    for ids, answers in documents_of(group):
        logits, hidden = model.trunk(torch.from_numpy(ids)[None])
        greedy = logits[0].argmax(-1).tolist()
        for p in range(len(ids) - 2):
            drafts = drafts_at(model, ids, hidden, p)
            for j in range(1, 4):
                if p + j + 1 >= len(ids) or not answers[p + 1 : p + j + 2].all():
                    break
                judged[j - 1] += 1
                if drafts[j - 1] != greedy[p + j]:
                    break
                right[j - 1] += 1
                if drafts[j - 1] != ids[p + j + 1]:
                    break
    _, acceptance = evaluation.score(model, group)
    assert (right > 0).all() and (right < judged)[:2].all()
    np.testing.assert_array_equal(acceptance.judged, judged)
    np.testing.assert_array_equal(acceptance.right, right)


def test_tokens_per_round():
    acceptance = evaluation.Acceptance(np.array([10, 8, 4]), np.array([8, 4, 1]))
    assert acceptance.alphas == [0.8, 0.5, 0.25]
    assert acceptance.tokens_per_round == pytest.approx(1 + 0.8 + 0.4 + 0.1)
    assert evaluation.no_acceptance().tokens_per_round == 1.0


def test_groups_without_answers_count_all_tokens(model):
    _, acceptance = evaluation.score(model, group_of([6], 3, answers=False))
    assert acceptance.judged[0] == 4


@pytest.fixture
def corpus_and_checkpoint(tmp_path):
    """A corpus of one group of plain letters, and an exported model of random weights for it."""
    corpus, checkpoint = tmp_path / "corpus", tmp_path / "model"
    generator = np.random.default_rng(7)
    text = ["".join(generator.choice(list("aeiou bcdfg"), 50)) for _ in range(300)]
    tokenizer = train_tokenizer(text, 320)
    save_tokenizer(tokenizer, corpus / "tokenizer")
    for split, documents in (("train", text[20:]), ("heldout", text[:20])):
        ids = [[*tokenizer.encode(each).ids, tokenizer.token_to_id("<|endoftext|>")] for each in documents]
        lengths = np.array([len(each) for each in ids])
        np.save(corpus / f"{split}-stories.npy", np.concatenate(ids).astype(np.uint16))
        np.save(corpus / f"{split}-stories-loss.npy", np.ones(lengths.sum(), np.uint8))
        np.save(corpus / f"{split}-stories-docs.npy", np.cumsum(lengths) - lengths)
        np.save(corpus / f"{split}-stories-bytes.npy", np.array([len(each.encode()) for each in documents]))
    (corpus / "meta.json").write_text("{}")
    torch.manual_seed(0)
    shape = {"hidden_size": 32, "num_hidden_layers": 4, "intermediate_size": 32, "head_dim": 32}
    linear = {"linear_key_head_dim": 16, "linear_value_head_dim": 16}
    export(Model(ModelConfig(vocab_size=320, **shape, **linear)), checkpoint, corpus / "tokenizer")
    return corpus, checkpoint


def test_command_prints_all_figures(corpus_and_checkpoint, capsys):
    corpus, checkpoint = corpus_and_checkpoint
    arguments = ["--corpus", str(corpus), "--checkpoint", str(checkpoint), "--documents", "15"]
    assert evaluation.main([*arguments, "--output", "json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    stories = figures["groups"]["stories"]
    ids, starts = np.load(corpus / "heldout-stories.npy"), np.load(corpus / "heldout-stories-docs.npy")
    used = ids[: starts[15]].astype(np.int64)
    assert stories["documents"] == 15
    assert stories["tokens"] == len(used) - 15
    first_letters = sum(
        len(evaluation.load_tokenizer(corpus / "tokenizer").decode([i])) for i in used[starts[:15]]
    )
    assert stories["bytes"] == 15 * 50 - first_letters
    ngram = KneserNey(320, 315).fit(
        np.load(corpus / "train-stories.npy"), np.load(corpus / "train-stories-docs.npy")
    )
    bits = -np.log2(ngram.probabilities(used, starts[:15]))
    expected = (bits.sum() - bits[starts[:15]].sum()) / stories["bytes"]
    assert stories["ngram_bits_per_byte"] == pytest.approx(expected)
    assert stories["bits_per_byte"] > stories["ngram_bits_per_byte"]
    assert stories["answer_bits_per_byte"] == pytest.approx(stories["bits_per_byte"])
    assert stories["ngram_answer_bits_per_byte"] == pytest.approx(stories["ngram_bits_per_byte"])
    assert len(figures["assistant_acceptance"]["alphas"]) == 3
    assert evaluation.main(arguments) == 0
    assert "stories" in capsys.readouterr().out


def test_missing_checkpoint(corpus_and_checkpoint, tmp_path, capsys):
    arguments = ["--corpus", str(corpus_and_checkpoint[0]), "--checkpoint", str(tmp_path / "none")]
    assert evaluation.main(arguments) == 2
    assert "cannot read the checkpoint" in capsys.readouterr().err


def test_missing_corpus(tmp_path, capsys):
    arguments = ["--corpus", str(tmp_path / "none"), "--checkpoint", str(tmp_path)]
    assert evaluation.main(arguments) == 2
    assert capsys.readouterr().err.startswith("kestrel-nano: no corpus in ")


def test_a_checkpoint_with_another_tokenizer(tmp_path):
    (tmp_path / "tokenizer").mkdir()
    (tmp_path / "tokenizer/tokenizer.json").write_text("{}")
    (tmp_path / "tokenizer.json").write_text(json.dumps({"other": 1}))
    with pytest.raises(evaluation.RecipeError, match="another tokenizer"):
        evaluation.check_tokenizer(tmp_path, tmp_path)
