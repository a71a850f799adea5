"""A small data folder and the corpus built from it, for the tests of the recipe (a pytest plugin)."""

import json
import lzma
import random
from pathlib import Path

import numpy as np
import pytest

from kestrel_assets.recipe import corpus, dialogues
from kestrel_assets.recipe.model_config import ModelConfig
from kestrel_assets.recipe.render import Renderer
from kestrel_assets.recipe.tokenizer import load_tokenizer

FILES = (
    "synthetic_persona_chat",
    "smalltalk_pairs",
    "wordnet_definitions",
    "tinystories",
    "tinystories_truecased",
    "tinystories_chat",
    "fairytale_stories",
    "topical_chat",
    "self_dialogue",
)
TINY = ModelConfig(
    vocab_size=96,
    hidden_size=32,
    num_hidden_layers=4,
    num_attention_heads=2,
    num_key_value_heads=1,
    head_dim=32,
    linear_num_key_heads=1,
    linear_num_value_heads=1,
    linear_key_head_dim=32,
    linear_value_head_dim=32,
    intermediate_size=32,
)
"""The smallest model of the recipe, for the tokens of the counting corpus."""


def made_up_text(seed: int, words: int) -> str:
    """Pronounceable nonsense with enough different words to fill a vocabulary."""
    generator = random.Random(seed)
    syllables = [a + b for a in "bcdfghklmnprstvwz" for b in ("a", "e", "i", "o", "u", "ay", "ee", "ow")]
    lexicon = ["".join(generator.choices(syllables, k=generator.randint(1, 4))) for _ in range(3000)]
    return " ".join(
        generator.choice(lexicon) + generator.choice(["", "", "", ",", "."]) for _ in range(words)
    )


def write_lines(path: Path, lines: list[dict]) -> None:
    with lzma.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


@pytest.fixture(scope="session")
def data(tmp_path_factory) -> Path:
    """A small data folder with every file, and every story also as a request."""
    folder = tmp_path_factory.mktemp("data")
    texts = [f"Once there was a bear number {i}. " + made_up_text(i, 250) + "." for i in range(300)]
    chats = [["I'm a nurse.", "That's great! Which ward?", made_up_text(1000 + i, 60)] for i in range(60)]
    write_lines(folder / "tinystories.jsonl.xz", [{"source": "t", "text": text} for text in texts[:150]])
    write_lines(
        folder / "tinystories_truecased.jsonl.xz", [{"source": "t", "text": text} for text in texts[150:]]
    )
    requests = [["Tell me a story.", f"Of course!\n\n{text}"] for text in texts]
    write_lines(folder / "tinystories_chat.jsonl.xz", [{"source": "c", "turns": turns} for turns in requests])
    for name in ("synthetic_persona_chat", "topical_chat", "self_dialogue"):
        write_lines(
            folder / f"{name}.jsonl.xz",
            [{"source": name, "turns": [*turns, name.replace("_", " ")]} for turns in chats],
        )
    pairs = [["Hello", "Hello. What can I do for you?"], ["Are you dumb?", "No bot's perfect."]]
    write_lines(folder / "smalltalk_pairs.jsonl.xz", [{"source": "s", "turns": pair} for pair in pairs])
    words = [
        {
            "source": "w",
            "word": "spoon",
            "concrete": True,
            "turns": ["What is a spoon?", "A spoon is cutlery."],
        },
        {"source": "w", "word": "john", "concrete": True, "turns": ["What is a john?", "A john is a room."]},
    ]
    write_lines(folder / "wordnet_definitions.jsonl.xz", words)
    tales = [{"source": "f", "title": "x", "text": f"A tale\rof {i}.\n \nThe end."} for i in range(3)]
    write_lines(folder / "fairytale_stories.jsonl.xz", tales)
    return folder


def generate(split: str, seed: int, count: int):
    """Stands in for the dialogue generator."""
    for i in range(count):
        yield {
            "source": "generated/test",
            "messages": [
                {"role": "user", "content": f"Hello from {split} {seed}"},
                {"role": "assistant", "content": "Hi! I'm Kestrel."},
                {"role": "user", "content": f"What is {i} plus 1?"},
                {"role": "assistant", "content": f"It is {i + 1}.", "reasoning": f"{i} and one more."},
            ],
        }


def build(data: Path, out: Path, *more: str) -> int:
    counts = ["--generated", "40", "--generated-heldout", "5"]
    return corpus.main(["--data", str(data), "--out", str(out), *counts, *more])


@pytest.fixture(scope="session")
def built(data, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("out") / "nano"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dialogues, "generate", generate, raising=False)
        assert build(data, out) == 0
    return out


@pytest.fixture(scope="session")
def renderer(built) -> Renderer:
    return Renderer(load_tokenizer(built / "tokenizer"))


@pytest.fixture(scope="session")
def reader(built):
    transformers = pytest.importorskip("transformers")
    return transformers.AutoTokenizer.from_pretrained(built / "tokenizer")


def load(built: Path, split: str, group: str) -> dict[str, np.ndarray]:
    names = {"ids": "", "loss": "-loss", "docs": "-docs", "bytes": "-bytes"}
    return {key: np.load(built / f"{split}-{group}{name}.npy") for key, name in names.items()}


def write_counting_corpus(folder: Path) -> None:
    """Arrays of a corpus whose documents count from 0 to 89, over and over: 96 tokens, quickly learnt."""
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(0)
    for split, documents in (("train", 60), ("heldout", 6)):
        for group in ("generated", "story_requests", "stories", "dialogue"):
            lengths = rng.integers(5, 50, documents)
            lengths[0] = 300  # longer than a row
            bounds = np.concatenate([[0], np.cumsum(lengths)])
            ids = np.arange(bounds[-1]) % 90
            np.save(folder / f"{split}-{group}.npy", ids.astype(np.uint16))
            np.save(folder / f"{split}-{group}-loss.npy", (rng.random(len(ids)) < 0.6).astype(np.uint8))
            np.save(folder / f"{split}-{group}-docs.npy", bounds[:-1])
    (folder / "meta.json").write_text(json.dumps({"vocab_size": 96}))


@pytest.fixture(scope="session", name="corpus")
def counting_corpus(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    write_counting_corpus(folder)
    return folder
