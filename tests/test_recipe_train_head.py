"""Training the draft head alone: it gets better, the trunk stays bit for bit, and a stop costs nothing."""

import itertools

import numpy as np
import pytest
from small_corpus import TINY, write_counting_corpus

torch = pytest.importorskip("torch")

from safetensors.torch import load_file  # noqa: E402

from kestrel_assets.recipe import own_text, train_head  # noqa: E402
from kestrel_assets.recipe.data import Corpus, Group  # noqa: E402
from kestrel_assets.recipe.errors import RecipeError  # noqa: E402
from kestrel_assets.recipe.export import export  # noqa: E402
from kestrel_assets.recipe.held_out import GroupScore  # noqa: E402
from kestrel_assets.recipe.model import Model  # noqa: E402
from kestrel_assets.recipe.train import train  # noqa: E402
from kestrel_assets.recipe.train_head import HeadTrainer  # noqa: E402
from kestrel_engine.loader import bundled_model, load  # noqa: E402
from kestrel_engine.options import EngineOptions, SamplingOptions  # noqa: E402


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """A model of random weights, whose distributions are sharp enough to have something to foretell."""
    torch.manual_seed(0)
    model = Model(TINY)
    model.model["language_model"].embed_tokens.weight.data.mul_(30)
    folder = tmp_path_factory.mktemp("checkpoint")
    export(model, folder)
    return folder


def options(corpus, checkpoint, out, *more, steps=40):
    arguments = [
        "--corpus",
        corpus,
        "--checkpoint",
        checkpoint,
        "--out",
        out,
        "--steps",
        steps,
        "--warmup",
        2,
    ]
    arguments += [
        "--rows",
        2,
        "--row-length",
        64,
        "--eval-every",
        20,
        "--eval-documents",
        2,
        "--lr",
        0.02,
        *more,
    ]
    return train_head.parse_options([str(x) for x in arguments])


def test_the_head_learns_and_the_trunk_stays(corpus, checkpoint, tmp_path, capsys):
    torch.set_num_threads(1)
    train(options(corpus, checkpoint, tmp_path / "run", "--log-every", 1), HeadTrainer)
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("step ")]
    losses = [float(words[3]) for words in lines]
    assert np.mean(losses[-5:]) < 0.8 * np.mean(losses[:5])

    before, after = (load_file(x / "model.safetensors") for x in (checkpoint, tmp_path / "run" / "model"))
    assert list(before) == list(after)
    for name, weight in before.items():
        assert weight.dtype == after[name].dtype
        assert torch.equal(weight, after[name]) != name.startswith("mtp."), name
    configs = [(x / "config.json").read_text() for x in (checkpoint, tmp_path / "run" / "model")]
    assert configs[0] == configs[1]


def test_resume_is_bit_exact(corpus, checkpoint, tmp_path):
    torch.set_num_threads(1)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    train(options(corpus, checkpoint, whole, steps=8), HeadTrainer)
    for stop in (3, 8):
        trainer = HeadTrainer(options(corpus, checkpoint, parts, steps=8))
        trainer.resume()
        trainer.run(stop_after=stop)
    expected, resumed = (
        torch.load(x / "checkpoint.pt", weights_only=True)["weights"] for x in (whole, parts)
    )
    assert all(torch.equal(expected[name], resumed[name]) for name in expected)


def test_another_trunk_is_refused(corpus, checkpoint, tmp_path):
    train(options(corpus, checkpoint, tmp_path / "run", steps=2), HeadTrainer)
    torch.manual_seed(1)
    export(Model(TINY), tmp_path / "other")
    with pytest.raises(RecipeError, match="another checkpoint"):
        train(options(corpus, tmp_path / "other", tmp_path / "run", steps=4), HeadTrainer)


def test_the_rate_rises_and_falls_to_zero(corpus, checkpoint, tmp_path):
    trainer = HeadTrainer(options(corpus, checkpoint, tmp_path / "run", steps=100))
    rates = []
    for trainer.step in range(101):
        rates.append(trainer.rate())
    assert rates[0] == 0.5 and rates[1] == rates[30] == 1.0 and rates[-1] == 0.0
    assert all(a > b for a, b in itertools.pairwise(rates[30:]))


def test_the_best_head_has_the_longest_rounds_on_own_text(corpus, checkpoint, tmp_path):
    trainer = HeadTrainer(options(corpus, checkpoint, tmp_path / "run"))
    short, long = GroupScore(1.0, 10, (0.5, 0.2, 0.1)), GroupScore(1.0, 10, (0.9, 0.8, 0.7))
    scores = {"stories": long, "own_stories": short}
    assert trainer.choosing(scores) == pytest.approx(-1.8)
    assert trainer.choosing({"stories": long}) == pytest.approx(-3.4)


def test_tokens_that_the_model_lacks_are_one_line(corpus, checkpoint, tmp_path):
    larger = tmp_path / "larger"
    write_counting_corpus(larger)
    ids = np.load(larger / "train-stories.npy")
    ids[0] = 96
    np.save(larger / "train-stories.npy", ids)
    with pytest.raises(RecipeError, match=r"tokens that .* lacks"):
        HeadTrainer(options(larger, checkpoint, tmp_path / "run"))


def test_prompts_end_where_the_last_answer_begins():
    ids = np.arange(30)
    answers = np.zeros(30, np.uint8)
    answers[5:8] = answers[12:15] = answers[24:28] = 1
    chats = Group(ids, answers, np.array([0, 20, 30]))
    assert sorted(own_text.prompts(chats, seed=1)) == [list(range(12)), list(range(20, 24))]
    text = Group(ids, np.ones(30, np.uint8), np.array([0, 30]))
    (opening,) = own_text.prompts(text, seed=1)
    assert opening == list(range(len(opening))) and 2 <= len(opening) <= 16


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """A corpus in kestrel-nano's tokens: three questions, whose answers in the corpus are a single token."""
    folder = tmp_path_factory.mktemp("asked")
    tokenizer = load(EngineOptions(), emit=lambda event: None).tokenizer
    prompts = [
        tokenizer.encode_chat([{"role": "user", "content": text}], think=None)
        for text in ("Tell me a story.", "Tell me a story about a cat.", "Tell me about a dog.")
    ]
    ids = [token for prompt in prompts for token in (*prompt, 100)]
    learned = [bit for prompt in prompts for bit in (*[0] * len(prompt), 1)]
    for split in ("train", "heldout"):
        np.save(folder / f"{split}-generated.npy", np.array(ids, np.uint16))
        np.save(folder / f"{split}-generated-loss.npy", np.array(learned, np.uint8))
        np.save(folder / f"{split}-generated-docs.npy", np.cumsum([0] + [len(x) + 1 for x in prompts[:-1]]))
    (folder / "meta.json").write_text("{}")
    return folder


def test_own_text_is_what_the_engine_says(asked, tmp_path):
    arguments = ["--corpus", asked, "--checkpoint", bundled_model(), "--out", tmp_path, "--nice", 0]
    assert own_text.main([str(x) for x in (*arguments, "--tokens", 10**6, "--longest", 30)]) == 0
    session = load(EngineOptions(threads=1), emit=lambda event: None).session
    asked_group, own = Corpus(asked).train["generated"], Corpus(tmp_path).train["own_generated"]
    assert len(own.bounds) == len(asked_group.bounds)
    spans = [slice(a, b) for a, b in zip(own.bounds[:-1], own.bounds[1:], strict=True)]
    for number, (prompt, span) in enumerate(zip(own_text.prompts(asked_group, seed=1), spans, strict=True)):
        ids, learned = own.ids[span].tolist(), own.answers[span].tolist()
        sampling = SamplingOptions(temperature=own_text.TEMPERATURES[number], seed=1 + number)
        session.draft_length = 0
        assert ids == prompt + own_text.answer(session, prompt, sampling, 30)
        assert learned == [0] * len(prompt) + [1] * (len(ids) - len(prompt))
        assert len(ids) > len(prompt) + 1
