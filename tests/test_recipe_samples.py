"""Answers and chats of a checkpoint: what is asked, and that a checkpoint of the recipe can speak at all."""

import json
import random
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from kestrel_assets.recipe import samples  # noqa: E402
from kestrel_assets.recipe.export import export  # noqa: E402
from kestrel_assets.recipe.model import Model, ModelConfig  # noqa: E402
from kestrel_assets.recipe.tokenizer import save_tokenizer, train_tokenizer  # noqa: E402

VOCABULARY = 320


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory) -> Path:
    """An exported model of random weights, as small as the layout allows."""
    folder = tmp_path_factory.mktemp("model")
    generator = random.Random(0)
    text = ["".join(generator.choices("aeiou bcdfg", k=50)) for _ in range(200)]
    save_tokenizer(train_tokenizer(text, VOCABULARY), folder / "tokenizer")
    torch.manual_seed(0)
    shape = {"hidden_size": 32, "num_hidden_layers": 4, "intermediate_size": 32, "head_dim": 32}
    linear = {"linear_key_head_dim": 16, "linear_value_head_dim": 16}
    export(Model(ModelConfig(vocab_size=VOCABULARY, **shape, **linear)), folder, folder / "tokenizer")
    return folder


def test_questions_are_spread_over_the_families():
    from kestrel_assets.recipe.dialogues import questions

    asked = [messages[0]["content"] for messages in samples.conversations(50, 0)]
    families = {question: family for family, question in questions()}
    assert len(asked) == 50
    assert len({families[question] for question in asked}) > 15
    assert sum(1 for _ in samples.conversations(10_000, 0)) == len(questions())


def test_scripts_have_ten_chats_and_two_of_ten_turns():
    scripts = list(samples.conversations(0, 10))
    assert len(scripts) == 10
    assert sum(len(messages) == 10 for messages in scripts) >= 2


@pytest.mark.parametrize("greedy", [False, True])
def test_answers_depend_on_the_seed_only(checkpoint, monkeypatch, greedy):
    monkeypatch.setattr(samples, "ANSWER_TOKENS", 5)
    speaker = samples.Speaker(checkpoint, greedy)
    chats = []
    for seed in (1, 1, 2):
        messages = [{"role": "user", "content": "a cab"}, {"role": "user", "content": "a bad idea"}]
        speaker.play(messages, seed)
        assert [message["role"] for message in messages] == ["user", "assistant"] * 2
        chats.append(messages)
    assert chats[0] == chats[1]
    assert (chats[0] == chats[2]) is greedy


def test_command_prints_json(checkpoint, monkeypatch, capsys):
    monkeypatch.setattr(samples, "ANSWER_TOKENS", 2)
    arguments = ["--checkpoint", str(checkpoint), "--questions", "2", "--chats", "0", "--output", "json"]
    assert samples.main(arguments) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [[message["role"] for message in messages] for messages in lines] == [["user", "assistant"]] * 2


def test_missing_and_truncated_checkpoints(checkpoint, tmp_path, capsys):
    assert samples.main(["--checkpoint", str(tmp_path)]) == 2
    assert "config.json" in capsys.readouterr().err
    for path in checkpoint.iterdir():
        if path.is_file():
            (tmp_path / path.name).write_bytes(path.read_bytes())
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:500])
    assert samples.main(["--checkpoint", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "cannot load" in said and said.count("\n") == 1
