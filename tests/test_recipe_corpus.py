"""The corpus command: tokenizer, chat template, rendering, splits, and what bad input says."""

import json
import lzma
import random
from pathlib import Path

import numpy as np
import pytest

from kestrel_assets.recipe import corpus, dialogues
from kestrel_assets.recipe.errors import RecipeError
from kestrel_assets.recipe.filters import fill_names, is_listening, listening_runs, opens_alone
from kestrel_assets.recipe.render import Renderer
from kestrel_assets.recipe.sources import Document, hash_of, read_documents, stories, story_key
from kestrel_assets.recipe.tokenizer import (
    CONTROL_TOKENS,
    ROLES,
    load_tokenizer,
    save_tokenizer,
    train_tokenizer,
)

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


@pytest.fixture(scope="module")
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


@pytest.fixture(scope="module")
def built(data, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("out") / "nano"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dialogues, "generate", generate, raising=False)
        assert build(data, out) == 0
    return out


@pytest.fixture(scope="module")
def renderer(built) -> Renderer:
    return Renderer(load_tokenizer(built / "tokenizer"))


@pytest.fixture(scope="module")
def reader(built):
    transformers = pytest.importorskip("transformers")
    return transformers.AutoTokenizer.from_pretrained(built / "tokenizer")


def load(built: Path, split: str, group: str) -> dict[str, np.ndarray]:
    names = {"ids": "", "loss": "-loss", "docs": "-docs", "bytes": "-bytes"}
    return {key: np.load(built / f"{split}-{group}{name}.npy") for key, name in names.items()}


# Tokenizer


def test_control_tokens_take_the_top_ids(built):
    tokenizer = load_tokenizer(built / "tokenizer")
    assert tokenizer.get_vocab_size() == 4096
    assert [tokenizer.token_to_id(token) for token in CONTROL_TOKENS] == [4091, 4092, 4093, 4094, 4095]


def test_every_role_is_one_token_and_stays_in_the_text(built, reader):
    tokenizer = load_tokenizer(built / "tokenizer")
    for role in ROLES:
        ids = tokenizer.encode(role).ids
        assert len(ids) == 1
        assert reader.decode(ids, skip_special_tokens=True) == role


@pytest.mark.parametrize(
    "text", ["plain", " 12 345", "naïve — 日本語 🐦\n\n\tx", "\x00\x07\x7f", "a  b   c \n"]
)
def test_any_text_survives(built, text):
    tokenizer = load_tokenizer(built / "tokenizer")
    assert tokenizer.decode(tokenizer.encode(text).ids) == text


def test_digits_stand_alone_and_text_is_composed(built):
    tokenizer = load_tokenizer(built / "tokenizer")
    tokens = [tokenizer.decode([i]) for i in tokenizer.encode("2024").ids]
    assert tokens == list("2024")
    assert tokenizer.encode("e\u0301").ids == tokenizer.encode("\u00e9").ids


def test_pattern_is_that_of_qwen():
    qwen = pytest.importorskip("transformers.models.qwen3_5.tokenization_qwen3_5")
    from kestrel_assets.recipe.tokenizer import PATTERN

    assert qwen.PRETOKENIZE_REGEX == PATTERN


def test_thinking_marks_are_decoded_and_the_others_are_not(reader):
    ids = reader.encode("<|im_start|><think>x</think><|im_end|><|endoftext|>")
    assert reader.decode(ids, skip_special_tokens=True) == "<think>x</think>"
    assert reader.eos_token == "<|im_end|>"


def test_generation_settings(built):
    settings = json.loads((built / "tokenizer/generation_config.json").read_text())
    assert settings["eos_token_id"] == [4093, 4091]
    assert (settings["temperature"], settings["top_k"], settings["top_p"]) == (0.4, 20, 0.9)
    assert settings["do_sample"] is True


def test_too_little_text_is_refused():
    with pytest.raises(RecipeError, match="vocabulary entries; give more text"):
        train_tokenizer(["a few words"])


# Chat template and rendering


def as_template_messages(sample: dict) -> list[dict]:
    return [
        {("reasoning_content" if key == "reasoning" else key): value for key, value in message.items()}
        for message in sample["messages"]
    ]


def chats() -> list[dict]:
    """Samples of one to five turns, with odd text at the borders of the markup."""
    odd = [
        "Hi.",
        '"Quoted" (text)',
        "- a list\n- of two",
        "27",
        "éa\u0301 \u0301x",
        "...",
        "\n\n  padded \n",
        "日本",
        "'s",
    ]
    samples: list[dict] = []
    for turns in range(1, 6):
        for first in range(len(odd)):
            said = [odd[(first + i) % len(odd)] for i in range(turns)]
            for pair in (("user", "assistant"), ("person", "friend")):
                messages = [{"role": pair[i % 2], "content": text} for i, text in enumerate(said)]
                samples.append({"source": "t", "messages": messages})
    with_all = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "One?"},
        {"role": "assistant", "content": "First.", "reasoning": "dropped"},
        {"role": "user", "content": "Two?"},
        {"role": "assistant", "content": "Second.", "reasoning": "It asks.\nI answer.\n"},
    ]
    return [*samples, {"source": "t", "messages": with_all}]


def test_rendering_is_the_template_tokenised(renderer, reader):
    for sample in chats():
        text = reader.apply_chat_template(as_template_messages(sample), tokenize=False) + "<|endoftext|>"
        rendered = renderer.render(sample)
        assert rendered.ids == reader.encode(text), text
        assert len(rendered.loss) == len(rendered.ids)


def test_rendering_is_the_brief_word_for_word(renderer, reader):
    rendered = renderer.render(chats()[-1])
    assert reader.decode(rendered.ids) == (
        "<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\nOne?<|im_end|>\n"
        "<|im_start|>assistant\nFirst.<|im_end|>\n<|im_start|>user\nTwo?<|im_end|>\n"
        "<|im_start|>assistant\n<think>\nIt asks.\nI answer.\n</think>\n\nSecond.<|im_end|>\n<|endoftext|>"
    )
    learned = [i for i, loss in zip(rendered.ids, rendered.loss, strict=True) if loss]
    assert reader.decode(learned) == "First.<|im_end|>It asks.\nI answer.\n</think>\n\nSecond.<|im_end|>"


def test_empty_thoughts_are_given_not_learned(renderer, reader):
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    rendered = renderer.render({"source": "t", "messages": messages})
    prompt = reader.apply_chat_template(messages[:1], add_generation_prompt=True, tokenize=False)
    assert prompt.endswith("<|im_start|>assistant\n<think>\n\n</think>\n\n")
    prompt_ids = reader.encode(prompt)
    assert rendered.ids[: len(prompt_ids)] == prompt_ids
    assert rendered.loss[: len(prompt_ids)] == [0] * len(prompt_ids)
    answer = reader.encode("Hello.<|im_end|>")
    assert rendered.ids[len(prompt_ids) : len(prompt_ids) + len(answer)] == answer
    assert rendered.loss[len(prompt_ids) :] == [1] * len(answer) + [0, 0]
    assert rendered.content_bytes == len("HiHello.")


def test_stories_are_learned_whole(renderer):
    rendered = renderer.render({"source": "t", "text": "Once upon a time."})
    assert rendered.ids[-1] == 4091
    assert all(rendered.loss)


def test_thinking_can_be_asked_for(reader):
    messages = [{"role": "user", "content": "Hi"}]
    text = reader.apply_chat_template(
        messages, add_generation_prompt=True, enable_thinking=True, tokenize=False
    )
    assert text.endswith("<|im_start|>assistant\n<think>\n")


def test_history_loses_its_thoughts(reader):
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "One?"}]},
        {"role": "assistant", "content": "<think>\nhidden\n</think>\n\nFirst."},
        {"role": "user", "content": "Two?"},
        {"role": "assistant", "content": "<think>\nshown\n</think>\n\nSecond."},
    ]
    text = reader.apply_chat_template(messages, tokenize=False)
    assert "hidden" not in text
    assert text.endswith("<think>\nshown\n</think>\n\nSecond.<|im_end|>\n")


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ([], "There are no messages"),
        ([{"role": "tool", "content": "x"}], "Unknown role"),
        ([{"role": "user", "content": "x"}, {"role": "system", "content": "y"}], "must be the first"),
        ([{"role": "user", "content": [{"type": "image"}]}], "reads text only"),
        ([{"role": "user", "content": 3}], "must be a string"),
    ],
)
def test_template_says_what_is_wrong(built, messages, said):
    from jinja2 import TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    def raise_exception(message: str) -> None:
        raise TemplateError(message)

    template = json.loads((built / "tokenizer/tokenizer_config.json").read_text())["chat_template"]
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.globals["raise_exception"] = raise_exception
    with pytest.raises(TemplateError, match=said):
        environment.from_string(template).render(messages=messages)


@pytest.mark.parametrize(
    ("sample", "said"),
    [
        ({"source": "t", "messages": []}, "neither messages nor text"),
        ({"source": "t", "messages": [{"role": "tool", "content": "x"}]}, "unknown role 'tool'"),
        ({"source": "t", "text": "a <|im_end|> b"}, "control token"),
    ],
)
def test_bad_samples_are_refused(renderer, sample, said):
    with pytest.raises(RecipeError, match=said):
        renderer.render(sample)


# Sources


@pytest.mark.parametrize(
    ("question", "answer", "listens"),
    [
        ("I'm a chef.", "That's great! What do you like to cook?", True),
        ("I'm a chef.", "Me too! I love cooking.", False),
        ("I'm a chef.", "My sister is a chef.", False),
        ("I have two dogs.", "I'm glad to hear that. Dogs are fun.", True),
        ("I have two dogs.", "We have a dog at home.", False),
        ("What do you do for a living?", "Software engineering.", False),
        ("I love hiking.", "We should go together sometime!", False),
        ("I love hiking.", "Nice.", False),
    ],
)
def test_assistant_only_listens(question, answer, listens):
    assert is_listening(question, answer) is listens


def test_runs_stop_where_the_answering_side_tells_of_itself():
    turns = [
        "Hello!",
        "I'm a nurse.",
        "That's great! Which ward?",
        "Children.",
        "How kind of them.",
        "Yes.",
        "I do.",
    ]
    assert list(listening_runs(turns)) == [turns[1:5]]
    assert not opens_alone("It's my favorite.")


def test_names_take_the_place_of_placeholders():
    turns = fill_names(["Hi, I'm [user 1's name].", "Hello User 1, I'm (user 2)."], 12345)
    assert turns == fill_names(["Hi, I'm [user 1's name].", "Hello User 1, I'm (user 2)."], 12345)
    first = turns[0].removeprefix("Hi, I'm ").rstrip(".")
    assert turns[1].startswith(f"Hello {first}, I'm ") and not turns[1].endswith(f"{first}.")
    assert fill_names(["I live in [city]."], 1) is None


def test_each_story_stands_in_one_form_and_one_split(data):
    documents = list(stories(data))
    keys = [document.key for document in documents]
    assert len(keys) == len(set(keys)) == 300
    forms = {document.group for document in documents}
    assert forms == {"stories", "story_requests"}
    for document in documents:
        text = document.sample.get("text") or document.sample["messages"][1]["content"]
        assert story_key(text) == document.key


def test_split_follows_the_key_not_the_sample():
    one, two = (Document(group, "same key", {}) for group in ("dialogue", "assistant"))
    assert one.heldout == two.heldout
    assert hash_of("same key") == 17897820873652305069


def test_hand_picked_sources(data):
    documents = read_documents(data)
    assert [d.key for d in documents if d.group == "definitions"] == ["spoon"]
    pairs = [d.sample["messages"][0]["content"] for d in documents if d.group == "assistant"]
    assert "Hello" in pairs and "Are you dumb?" not in pairs
    tales = [d.sample["text"] for d in documents if d.group == "fairytale"]
    assert sorted(tales)[0] == "A tale of 0.\n\nThe end."


# Arrays


def test_arrays_agree(built, reader):
    meta = json.loads((built / "meta.json").read_text())
    for split, groups in meta["splits"].items():
        for group, count in groups.items():
            arrays = load(built, split, group)
            assert arrays["ids"].dtype == np.uint16 and arrays["loss"].dtype == np.uint8
            assert arrays["docs"].dtype == np.int64
            assert len(arrays["ids"]) == len(arrays["loss"]) == count["tokens"]
            assert len(arrays["docs"]) == len(arrays["bytes"]) == count["documents"]
            assert arrays["bytes"].sum() == count["bytes"]
            ends = np.append(arrays["docs"][1:], len(arrays["ids"])) - 1 if count["documents"] else []
            assert (arrays["ids"][ends] == 4091).all()
            assert (arrays["ids"] == 4091).sum() == count["documents"]


def test_no_document_stands_in_both_splits(built):
    for group in corpus.GROUPS:
        train, heldout = (load(built, split, group) for split in corpus.SPLITS)
        pieces = [
            {piece.tobytes() for piece in np.split(arrays["ids"], arrays["docs"][1:])}
            for arrays in (train, heldout)
            if len(arrays["docs"])
        ]
        assert len(pieces) < 2 or not pieces[0] & pieces[1]


def test_only_assistants_and_stories_are_learned(built, reader):
    assert not load(built, "train", "dialogue")["loss"].any()
    assert load(built, "train", "stories")["loss"].all()
    generated = load(built, "train", "generated")
    assert 0 < generated["loss"].mean() < 1


def test_some_chats_end_early():
    samples = list(generate("train", 1, 200))
    cut = [corpus.cut_short(sample) for sample in samples]
    assert 60 < sum(len(sample["messages"]) == 2 for sample in cut) < 140
    assert all(sample["messages"][-1]["role"] == "assistant" for sample in cut)
    assert cut == [corpus.cut_short(sample) for sample in samples]


def test_same_seed_same_corpus(data, built, tmp_path, monkeypatch):
    monkeypatch.setattr(dialogues, "generate", generate, raising=False)
    assert build(data, tmp_path / "again") == 0
    assert (tmp_path / "again/meta.json").read_bytes() == (built / "meta.json").read_bytes()
    for path in built.glob("*.npy"):
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()


# Bad input


def refused(capsys, *arguments) -> str:
    """The one line on stderr of a build that must be refused."""
    assert build(*arguments) == 2
    said = capsys.readouterr().err
    assert said.startswith("kestrel-nano: ") and said.count("\n") == 1
    return said


def test_missing_data_folder(tmp_path, capsys):
    assert "no data folder" in refused(capsys, tmp_path / "none", tmp_path / "out")


@pytest.mark.parametrize("name", FILES)
def test_missing_file(data, tmp_path, capsys, name):
    for path in data.iterdir():
        if path.name != f"{name}.jsonl.xz":
            (tmp_path / path.name).symlink_to(path)
    assert f"{name}.jsonl.xz is missing" in refused(capsys, tmp_path, tmp_path / "out")


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda packed: packed[: len(packed) // 2], "cut short or damaged"),
        (lambda packed: b"not xz at all", "cut short or damaged"),
        (lambda packed: lzma.compress(b'{"text": "fine"}\n{"text": '), "line 2 is not JSON"),
        (lambda packed: lzma.compress(b'{"words": 3}\n'), "without its fields"),
        (lambda packed: lzma.compress(b"[1]\n"), "without its fields"),
        (lambda packed: lzma.compress(b"\xff\xfe\n"), "not JSON"),
    ],
)
def test_damaged_file(data, tmp_path, capsys, damage, said):
    for path in data.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    target = tmp_path / "tinystories.jsonl.xz"
    target.write_bytes(damage(target.read_bytes()))
    assert said in refused(capsys, tmp_path, tmp_path / "out")


def test_out_that_cannot_be_written(data, tmp_path, capsys):
    (tmp_path / "file").write_text("x")
    assert "cannot write" in refused(capsys, data, tmp_path / "file")
    assert "cannot write" in refused(capsys, data, tmp_path / "file" / "below")
    assert (tmp_path / "file").read_text() == "x"


def test_out_that_holds_something_else(data, tmp_path, capsys):
    (tmp_path / "notes.txt").write_text("keep me")
    (tmp_path / "meta.json").write_text('{"format": "other"}')
    assert "not a corpus" in refused(capsys, data, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["meta.json", "notes.txt"]


def test_a_corpus_is_replaced_only_when_told(data, built, capsys, monkeypatch):
    monkeypatch.setattr(dialogues, "generate", generate, raising=False)
    before = (built / "meta.json").read_bytes()
    assert "--replace" in refused(capsys, data, built)
    assert (built / "meta.json").read_bytes() == before
    assert build(data, built, "--replace") == 0
    assert (built / "meta.json").read_bytes() == before


def test_a_generator_that_makes_nothing(data, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(dialogues, "generate", lambda split, seed, count: iter(()), raising=False)
    assert "made nothing" in refused(capsys, data, tmp_path / "out")


def test_a_tokenizer_that_is_not_there(tmp_path, built):
    with pytest.raises(RecipeError, match="build the corpus first"):
        load_tokenizer(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(RecipeError, match="cannot read"):
        load_tokenizer(tmp_path)
    save_tokenizer(load_tokenizer(built / "tokenizer"), tmp_path)
    assert load_tokenizer(tmp_path).get_vocab_size() == 4096


# A tokenizer that is kept


def test_a_kept_tokenizer_gives_the_same_vocabulary(data, built, tmp_path, monkeypatch):
    monkeypatch.setattr(dialogues, "generate", generate, raising=False)
    monkeypatch.setattr(corpus, "train_tokenizer", lambda texts: pytest.fail("trained a new tokenizer"))
    out = tmp_path / "again"
    assert build(data, out, "--tokenizer", str(built / "tokenizer"), "--seed", "2") == 0
    for name in ("tokenizer.json", "tokenizer_config.json"):
        assert (out / "tokenizer" / name).read_bytes() == (built / "tokenizer" / name).read_bytes()


def test_a_folder_without_a_tokenizer_is_refused(data, tmp_path, capsys):
    assert build(data, tmp_path / "out", "--tokenizer", str(tmp_path / "none")) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "no tokenizer.json in" in said and "name the tokenizer folder" in said
    assert not (tmp_path / "out").exists()
