"""Byte-pair merges from a table: the ids of the library, on every text, and the library alone where in doubt."""

from __future__ import annotations

import gc
import json
import os
import random
import sys
import threading
import weakref
from pathlib import Path

import checkpoints
import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

from kestrel_engine import loader, merge_table, packed_cache
from kestrel_engine import tokenizer as tokenizer_module
from kestrel_engine.errors import UsageError
from kestrel_engine.events import Loading
from kestrel_engine.merge_table import TableVocabulary, make_table
from kestrel_engine.options import EngineOptions
from kestrel_engine.tokenizer import Tokenizer
from kestrel_engine.vocabulary import LibraryVocabulary

TEXTS = [
    "",
    "a",
    "Tell me a story about a small bird that could not sing.\r\n\n  It was late.\t",
    "I'll we've 12345 3.14159 ½ ① don't DON'T",
    "你好，世界。 こんにちは नमस्ते दुनिया العربية ภาษาไทย Ελληνικά",
    "🚀👨‍👩‍👧 e\u0301 ñ \u1100\u1161 \x00\x7f\ufeff\u200b\U0010ffff",
    "<|im_start|>user\n<think>a</think><|im_end|><|im_e",
    "ab" * 3000,
    "the the the " * 300,
]

SCRIPTS = [
    (0x20, 0x7E),
    (0xA0, 0x24F),
    (0x300, 0x36F),
    (0x370, 0x52F),
    (0x590, 0x6FF),
    (0x900, 0x97F),
    (0xE00, 0xE7F),
]
SCRIPTS += [(0x1100, 0x11FF), (0x2000, 0x206F), (0x3040, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3)]
SCRIPTS += [(0xFE00, 0xFE0F), (0x1F1E6, 0x1F1FF), (0x1F300, 0x1FAFF)]
"""First and last character: Latin, accents, Greek and Cyrillic, Hebrew and Arabic, Devanagari, Thai, Hangul and its
parts, invisible ones, kana, Chinese, variants, flags, emoji."""


def pieces_of_text() -> st.SearchStrategy[str]:
    in_one_script = st.sampled_from(SCRIPTS).flatmap(
        lambda script: st.text(st.characters(min_codepoint=script[0], max_codepoint=script[1]), max_size=12)
    )
    bytes_as_text = st.binary(max_size=40).flatmap(
        lambda soup: st.sampled_from([soup.decode("latin-1"), soup.decode("utf-8", "replace")])
    )
    words = st.lists(st.sampled_from([*"aeinst ehr<|>\n\t\r\u200d'", "the ", "12", "\r\n"])).map("".join)
    control_tokens = st.sampled_from([*checkpoints.CONTROL_TOKENS, *checkpoints.PLAIN_ADDED_TOKENS])
    broken_tokens = st.tuples(control_tokens, st.integers(0, 12)).map(lambda part: part[0][part[1] :])
    return in_one_script | bytes_as_text | words | control_tokens | broken_tokens | st.text(max_size=20)


def mixed_texts() -> st.SearchStrategy[str]:
    """Scripts, emoji, bytes, control tokens and their remains side by side, some of them many times over."""
    often = st.sampled_from([1, 1, 1, 2, 3, 40, 300])
    parts = st.tuples(pieces_of_text(), often).map(lambda part: part[0] * part[1])
    return st.lists(parts, max_size=8).map("".join)


def library_of(state: dict) -> tokenizers.Tokenizer:
    return tokenizers.Tokenizer.from_str(json.dumps(state))


def state_with(**model) -> dict:
    state = json.loads(checkpoints.trained_tokenizer())
    state["model"] |= model
    return state


def shuffled() -> dict:
    """The same merges learnt in another order, and two of them twice."""
    state = state_with()
    merges = state["model"]["merges"]
    random.Random(3).shuffle(merges)
    merges += [merges[1], merges[0]]
    return state


@pytest.fixture(scope="module", params=[state_with, shuffled])
def both(request):
    library = library_of(request.param())
    table = make_table(library)
    assert table.usable and len(table.pairs) > 100
    return TableVocabulary(table), LibraryVocabulary(library)


def assert_same_ids(both, text: str) -> None:
    table, library = both
    assert table.encode(text) == library.encode(text)
    assert table.encode_text(text) == library.encode_text(text)


@pytest.mark.parametrize("text", TEXTS)
def test_the_ids_of_texts(both, text):
    assert_same_ids(both, text)


@given(text=mixed_texts())
def test_the_ids_of_any_text(both, text):
    assert_same_ids(both, text)


def test_every_token(both):
    table, library = both
    assert table.size == library.size
    assert {id: str(token) for id, token in table.added.items()} == {
        id: str(token) for id, token in library.added.items()
    }
    for id in range(library.size + 3):
        assert table.token_bytes(id) == library.token_bytes(id)
        assert_same_ids(both, library.token_bytes(id).decode("utf-8", "ignore"))
    assert table.token_bytes(-1) == b""


def test_what_was_remembered_changes_nothing(both):
    for _ in range(2):
        for text in TEXTS:
            assert_same_ids(both, text)


def test_a_table_goes_with_its_last_user():
    """What it remembers does not hold it."""
    vocabulary = TableVocabulary(make_table(library_of(state_with())))
    vocabulary.encode("the table")
    gone = weakref.ref(vocabulary)
    gc.disable()
    try:
        del vocabulary
        assert gone() is None
    finally:
        gc.enable()


def test_the_last_of_equal_merges_counts():
    state = state_with()
    model = state["model"]
    for token in ("ab", "bc"):
        model["vocab"].setdefault(token, max(model["vocab"].values()) + 1)
    model["merges"] = [["a", "b"], ["b", "c"], ["a", "b"]]
    state["added_tokens"] = []
    library = library_of(state)
    table = make_table(library)
    assert table.usable and len(table.pairs) == 2
    ids = [model["vocab"][token] for token in ("a", "bc")]
    assert TableVocabulary(table).encode("abc") == library.encode("abc").ids == ids


def without_a_byte() -> dict:
    state = state_with()
    vocab = state["model"]["vocab"]
    vocab["not a byte"] = vocab.pop("Ā")
    return state


def without_bytes() -> dict:
    state = state_with()
    state["pre_tokenizer"] = state["pre_tokenizer"]["pretokenizers"][0]
    return state


def test_other_threads_run_while_a_text_is_encoded(both):
    for vocabulary in both:
        go, ran = threading.Lock(), threading.Event()
        go.acquire()
        other = threading.Thread(target=lambda go=go, ran=ran: (go.acquire(), ran.set()))
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1000)  # it runs only where this thread lets it
        try:
            other.start()
            go.release()
            vocabulary.encode(" the bird sang" * 30_000)
            ran_meanwhile = ran.is_set()
        finally:
            sys.setswitchinterval(interval)
        other.join()
        assert ran_meanwhile


REFUSED = {
    "whole words first": lambda: state_with(ignore_merges=True),
    "dropout": lambda: state_with(dropout=0.5),
    "bytes as tokens": lambda: state_with(byte_fallback=True),
    "a word's end": lambda: state_with(end_of_word_suffix="</w>", merges=[]),
    "a byte without a token": without_a_byte,
    "words of characters": without_bytes,
    "no words": lambda: state_with() | {"pre_tokenizer": None},
}


@pytest.mark.parametrize("state", REFUSED.values(), ids=REFUSED.keys())
def test_other_tokenizers_are_left_to_the_library(state):
    assert not make_table(library_of(state())).usable


@pytest.mark.parametrize("name", ["encode", "encode_text"])
def test_a_table_that_disagrees_is_not_used(monkeypatch, name):
    library = library_of(state_with())
    real = getattr(TableVocabulary, name)
    monkeypatch.setattr(TableVocabulary, name, lambda self, text: real(self, text)[:-1])
    assert not make_table(library).usable
    assert not library.encode_special_tokens, "switched back"


# Kept in the cache folder


class Place:
    def __init__(self, folder: Path, cache: Path):
        self.folder, self.cache = folder, cache
        self.notes: list[str] = []
        self.made = 0

    def open(self) -> Tokenizer:
        self.notes.clear()
        return Tokenizer(self.folder, self.notes.append, self.making)

    def making(self) -> None:
        self.made += 1

    @property
    def tables(self) -> list[Path]:
        return sorted(self.cache.glob("merges-*"))


@pytest.fixture
def place(tmp_path, monkeypatch) -> Place:
    monkeypatch.setattr(merge_table, "SMALLEST_TOKENIZER", 0)
    monkeypatch.setattr(packed_cache, "cache_folder", lambda: tmp_path / "cache" / "packed")
    return Place(checkpoints.write_tokenizer(tmp_path / "model"), tmp_path / "cache" / "packed")


def uses_a_table(tokenizer: Tokenizer) -> bool:
    return isinstance(tokenizer._vocabulary, TableVocabulary)


def assert_same_tokenizers(one: Tokenizer, other: Tokenizer) -> None:
    assert (one.special_ids, one.vocab_size) == (other.special_ids, other.vocab_size)
    for text in [*TEXTS, "\ud800"]:
        ids = one.encode(text)
        assert ids == other.encode(text) and one.decode(ids) == other.decode(ids)
        assert one.encode_text(text) == other.encode_text(text)
        chat = [{"role": "user", "content": text}]
        assert one.encode_chat(chat, True) == other.encode_chat(chat, True)


def test_later_starts_do_without_the_file(place, monkeypatch):
    first = place.open()
    assert len(place.tables) == 1 and uses_a_table(first)
    monkeypatch.setattr(tokenizer_module, "_load", None)
    later = place.open()
    monkeypatch.undo()
    assert uses_a_table(later) and not place.notes
    for one in (first, later):
        assert_same_tokenizers(one, Tokenizer(place.folder))


def test_making_a_table_is_announced_once(place):
    for _ in range(2):
        place.open()
        assert place.made == 1


def test_the_first_start_says_what_takes_its_time(place, tmp_path):
    folder = checkpoints.write_checkpoint(tmp_path / "whole")
    for made in (True, False):
        events = []
        loader.load(EngineOptions(model=str(folder), device="cpu", threads=1), events.append)
        stages = [event.stage for event in events if isinstance(event, Loading)]
        assert ("preparing the tokenizer (first start only)" in stages) == made


@pytest.fixture
def builds(monkeypatch) -> list[Path]:
    """Files that the library was built of, each time."""
    built = []
    real = tokenizer_module._load
    monkeypatch.setattr(tokenizer_module, "_load", lambda path: built.append(path) or real(path))
    return built


LONG = 40
LONG_TEXTS = [text for text in TEXTS if len(text) >= LONG]
SHORT_TEXTS = [text for text in TEXTS if len(text) < LONG]


def test_long_texts_are_left_to_the_library_which_is_built_once(place, monkeypatch, builds):
    place.open()
    monkeypatch.setattr(merge_table, "LONG", LONG)
    whole, later = Tokenizer(place.folder), place.open()
    builds.clear()
    for encode, other in ((later.encode, whole.encode), (later.encode_text, whole.encode_text)):
        for text in SHORT_TEXTS:
            assert encode(text) == other(text)
        assert not builds
        with monkeypatch.context() as patches:
            patches.setattr(TableVocabulary, "_encode", None)
            for text in LONG_TEXTS:
                assert encode(text) == other(text)
        assert len(builds) == 1
        builds.clear()


@pytest.mark.parametrize("change", ["other merges", "no tokenizer", "gone"])
def test_long_texts_when_the_file_has_changed_since_the_start(place, monkeypatch, change):
    monkeypatch.setattr(merge_table, "LONG", LONG)
    opened, before = place.open(), Tokenizer(place.folder)
    assert uses_a_table(opened)
    file = place.folder / "tokenizer.json"
    if change == "gone":
        file.unlink()
    else:
        file.write_text(json.dumps(shuffled()) if change == "other merges" else "{}")
    for text in LONG_TEXTS:
        assert opened.encode(text) == before.encode(text)
        assert opened.encode_text(text) == before.encode_text(text)


def test_another_file_has_another_table(place):
    place.open()
    (place.folder / "tokenizer.json").write_text(json.dumps(shuffled()))
    changed = place.open()
    assert len(place.tables) == 2
    assert_same_tokenizers(changed, Tokenizer(place.folder))


def test_another_library_makes_its_own_table(place, monkeypatch):
    place.open()
    monkeypatch.setattr(tokenizers, "__version__", "0.0.0")
    place.open()
    assert len(place.tables) == 2


def test_a_damaged_table_is_made_again_with_a_notice(place):
    place.open()
    (table,) = place.tables
    data = bytearray(table.read_bytes())
    data[len(data) // 2] ^= 1
    table.write_bytes(data)
    again = place.open()
    assert len(place.notes) == 1 and "damaged" in place.notes[0]
    assert_same_tokenizers(again, Tokenizer(place.folder))
    place.open()
    assert not place.notes


def test_a_refusal_is_remembered(place, monkeypatch):
    state = REFUSED["whole words first"]()
    (place.folder / "tokenizer.json").write_text(json.dumps(state))
    assert not uses_a_table(place.open()) and len(place.tables) == 1
    monkeypatch.setattr(merge_table, "make_table", None)
    later = place.open()
    assert not uses_a_table(later)
    assert later.encode(TEXTS[2]) == library_of(state).encode(TEXTS[2]).ids


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written(place):
    place.cache.mkdir(parents=True)
    place.cache.chmod(0o500)
    assert not uses_a_table(place.open())
    place.cache.chmod(0o700)


def test_a_place_that_is_no_folder(place):
    place.cache.parent.mkdir(parents=True)
    place.cache.write_text("")
    tokenizer = place.open()
    assert not uses_a_table(tokenizer)
    assert len(place.notes) == 1 and "\n" not in place.notes[0] and ": " in place.notes[0]
    assert_same_tokenizers(tokenizer, Tokenizer(place.folder))


@pytest.mark.parametrize("content", [b"", b"{}", b'{"model": {"type": "BPE"}}'])
def test_a_wrong_file_is_refused_and_leaves_nothing(place, content):
    (place.folder / "tokenizer.json").write_bytes(content)
    with pytest.raises(UsageError, match="is not a valid tokenizer"):
        place.open()
    assert not list(place.cache.glob("*.tmp")) and not place.tables


def test_small_files_and_callers_without_notices_keep_nothing(place, monkeypatch):
    Tokenizer(place.folder)
    monkeypatch.setattr(merge_table, "SMALLEST_TOKENIZER", 1 << 30)
    assert not uses_a_table(place.open())
    assert not place.tables


@pytest.mark.slow
def test_the_real_tokens(real_tokenizer_folder):
    library = tokenizers.Tokenizer.from_file(str(real_tokenizer_folder / "tokenizer.json"))
    both = TableVocabulary(make_table(library)), LibraryVocabulary(library)
    table, whole = both
    contents = [whole.token_bytes(id) for id in range(whole.size)]
    assert [table.token_bytes(id) for id in range(whole.size)] == contents
    texts = [content.decode("utf-8", "ignore") for content in contents]
    random.Random(1).shuffle(texts)
    for separator in ("", " "):
        for start in range(0, len(texts), 5000):
            assert_same_ids(both, separator.join(texts[start : start + 5000]))
    for text in TEXTS:
        assert_same_ids(both, text)

    @settings(max_examples=500)
    @given(text=mixed_texts())
    def any_text(text):
        assert_same_ids(both, text)

    any_text()
