"""The corpus command: sources, splits, and what bad input says."""

import json
import lzma

import numpy as np
import pytest
from small_corpus import FILES, build, generate, load

from kestrel_assets.recipe import corpus, dialogues
from kestrel_assets.recipe.errors import RecipeError
from kestrel_assets.recipe.filters import fill_names, is_listening, listening_runs, opens_alone
from kestrel_assets.recipe.sources import Document, hash_of, read_documents, stories, story_key
from kestrel_assets.recipe.tokenizer import (
    load_tokenizer,
    save_tokenizer,
)

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
