"""A byte-level BPE whose merges lie in a table that is mapped, not parsed.

The library needs half a second to build the 250,000 tokens of a large tokenizer, and lets no other Python run
meanwhile. But only the merges need them. So the library keeps all that comes before (normalisation, added tokens,
words, bytes) in a copy of the tokenizer that knows the 256 bytes alone, and each word is merged here: of all
neighbours the pair that was learnt first becomes one token, the leftmost such pair first, until none is left
(Sennrich et al., 2016, arXiv:1508.07909). Words come again and again, so their ids are remembered. A long text is worth
the half second after all: it is left to the library, which is many times as fast where words are long or new.
"""

from __future__ import annotations

import functools
import hashlib
import heapq
import json
import os
import weakref
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tokenizers

from kestrel_engine import vocabulary
from kestrel_engine.errors import KestrelError
from kestrel_engine.packed_cache import Note, open_kept
from kestrel_engine.vocabulary import LibraryVocabulary, byte_alphabet, ids_of, spelling_out

Load = Callable[[], tokenizers.Tokenizer | None]
PLAIN_MODEL = {
    "type": "BPE",
    "dropout": None,
    "unk_token": None,
    "byte_fallback": False,
    "ignore_merges": False,
}
"""What the merges of this module are those of; an affix on words or parts of them is none either."""
WORDS, PAIRS = 1 << 15, 1 << 16
"""Most words and pairs that are remembered."""
SMALLEST_TOKENIZER = 4 << 20
"""Bytes of a file below which the library is quick."""
LONG = 1 << 16
"""Characters from which on a text is the library's: the words of a shorter one are merged before it would be built."""
CHECKED = 64
"""One token in so many is encoded by the library, too, before a table is used."""


@dataclass(frozen=True, slots=True)
class MergeTable:
    """All that encoding and decoding need, as arrays; not `usable`: this tokenizer is the library's alone."""

    usable: bool
    size: int
    bytes_only: np.ndarray  # JSON of the tokenizer without merges, uint8
    ids: np.ndarray  # [n] int32: id of each token of that tokenizer
    pairs: np.ndarray  # [merges] uint64, ascending: left id << 32 | right id
    ranks: np.ndarray  # [merges] int32: place among the merges as they were learnt
    merged: np.ndarray  # [merges] int32: id of the pair as one token
    ends: np.ndarray  # [size] int64: where the bytes of each token end
    token_bytes: np.ndarray  # uint8: the bytes of all tokens, in the order of ids


class TableVocabulary:
    """A `Vocabulary` on a usable table. `load` builds the library for long texts; None: it cannot any more."""

    def __init__(self, table: MergeTable, load: Load = lambda: None):
        self._bytes_only = tokenizers.Tokenizer.from_str(table.bytes_only.tobytes().decode())
        self._ids, self.size = table.ids.tolist(), table.size
        self.added = {
            self._ids[id]: token for id, token in self._bytes_only.get_added_tokens_decoder().items()
        }
        # Views whose items are Python's integers.
        self._pairs, self._ranks, self._merged = map(memoryview, (table.pairs, table.ranks, table.merged))
        self._ends, self._token_bytes = memoryview(table.ends), memoryview(table.token_bytes)
        self._find, self._word = _cached(PAIRS, self._find_pair), _cached(WORDS, self._merge)
        self._load = load

    def encode(self, text: str) -> list[int]:
        library = self._library if len(text) >= LONG else None
        return ids_of(library, text) if library else self._encode(self._bytes_only, text)

    def encode_text(self, text: str) -> list[int]:
        library = self._library_spelling_out if len(text) >= LONG else None
        return ids_of(library, text) if library else self._encode(self._bytes_spelling_out, text)

    def token_bytes(self, id: int) -> bytes:
        if not 0 <= id < len(self._ends):
            return b""
        begin = self._ends[id - 1] if id else 0
        return bytes(self._token_bytes[begin : self._ends[id]])

    @functools.cached_property
    def _bytes_spelling_out(self) -> tokenizers.Tokenizer:
        return spelling_out(self._bytes_only)

    @functools.cached_property
    def _library(self) -> tokenizers.Tokenizer | None:
        return self._load()

    @functools.cached_property
    def _library_spelling_out(self) -> tokenizers.Tokenizer | None:
        library = self._load()
        if library is not None:
            library.encode_special_tokens = True
        return library

    def _encode(self, library: tokenizers.Tokenizer, text: str) -> list[int]:
        encoding = library.encode_batch([text], add_special_tokens=False)[0]
        parts, words = encoding.ids, encoding.word_ids
        ids: list[int] = []
        begin = 0
        for end in range(1, len(parts) + 1):
            if end == len(parts) or words[end] != words[begin]:
                ids += self._word(tuple(parts[begin:end]))
                begin = end
        return ids

    def _find_pair(self, left: int, right: int) -> tuple[int, int] | None:
        """Rank and id of two tokens as one; None when they stay two."""
        pair = left << 32 | right
        place = bisect_left(self._pairs, pair)
        if place == len(self._pairs) or self._pairs[place] != pair:
            return None
        return self._ranks[place], self._merged[place]

    def _merge(self, word: tuple[int, ...]) -> list[int]:
        """Ids of a word of bytes (or of one added token), given in the ids of the tokenizer of bytes."""
        ids: list[int | None] = [self._ids[part] for part in word]
        count = len(ids)
        before, after = list(range(-1, count - 1)), list(range(1, count + 1))
        waiting: list[tuple[int, int, int]] = []

        def found_at(place: int) -> tuple[int, int] | None:
            """The pair that begins there; None also where a token was merged into the one before."""
            if place < 0 or ids[place] is None or after[place] == count:
                return None
            return self._find(ids[place], ids[after[place]])

        def offer(place: int) -> None:
            pair = found_at(place)
            if pair is not None:
                heapq.heappush(waiting, (pair[0], place, pair[1]))

        for place in range(count):
            offer(place)
        while waiting:
            rank, place, merged = heapq.heappop(waiting)
            if found_at(place) != (rank, merged):  # one of the two has changed since
                continue
            gone = after[place]
            ids[place], ids[gone] = merged, None
            after[place] = after[gone]
            if after[gone] < count:
                before[after[gone]] = place
            offer(before[place])
            offer(place)
        return [id for id in ids if id is not None]


def _cached(size: int, method: Callable) -> Callable:
    """A method with its `size` newest results. It does not hold the object, which holds it."""
    owner, function = weakref.ref(method.__self__), method.__func__
    return functools.lru_cache(size)(lambda *arguments: function(owner(), *arguments))


def open_table(
    path: Path, note: Note, load: Callable[[], tokenizers.Tokenizer], making: Callable[[], None]
) -> TableVocabulary | None:
    """The tokenizer of the file `path`, from a table made now (`making` is called before) or in an earlier start of
    what `load` reads; None when the library is to do it alone. `note` is told what the user should know. Raises what
    `load` does."""

    def make() -> MergeTable:
        making()
        return make_table(load())

    def load_again() -> tokenizers.Tokenizer | None:
        try:
            return load() if _version(path) == version else None
        except (OSError, KestrelError):
            return None

    try:
        version = _version(path)
        if os.stat(path).st_size < SMALLEST_TOKENIZER:
            return None
        sources = (Path(__file__), Path(vocabulary.__file__))  # what makes a table
        source = hashlib.sha256(b"".join(each.read_bytes() for each in sources)).hexdigest()
        cache = open_kept(
            [path], ["merges", tokenizers.__version__, source], "merges", MergeTable, 1 << 26, note
        )
    except OSError:
        return None
    table = cache.keep("merges", make) if cache.filled or cache.writable else None
    return TableVocabulary(table, load_again) if table is not None and table.usable else None


def _version(path: Path) -> tuple[int, ...]:
    """Changes with every write to the file."""
    status = os.stat(path)
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def make_table(library: tokenizers.Tokenizer) -> MergeTable:
    """The table of a tokenizer, checked against it, which nobody else may use meanwhile. Takes seconds."""
    vocabulary = LibraryVocabulary(library)
    table = _tabulate(vocabulary)
    if table is None or not _agree(TableVocabulary(table), vocabulary):
        nothing = (np.empty(0, np.uint8) for _ in range(7))
        return MergeTable(False, 0, *nothing)
    return table


def _tabulate(vocabulary: LibraryVocabulary) -> MergeTable | None:
    state = json.loads(vocabulary.library.to_str())
    model, alphabet = state["model"], byte_alphabet()
    tokens = model.get("vocab")
    plain = all(model.get(name) == value for name, value in PLAIN_MODEL.items())
    affixes = model.get("continuing_subword_prefix") or model.get("end_of_word_suffix")
    if (
        not plain
        or affixes
        or not _ends_in_bytes(state["pre_tokenizer"])
        or not tokens.keys() >= set(alphabet)
    ):
        return None
    bytes_only, ids = _without_merges(vocabulary, state, {byte: tokens[byte] for byte in alphabet})
    merges = model["merges"]  # in the order learnt; of equal ones the library has kept the last
    pairs = np.array([tokens[left] << 32 | tokens[right] for left, right in merges], np.uint64)
    merged = np.array([tokens[left + right] for left, right in merges], np.int32)
    ranks = np.argsort(pairs)
    contents = [vocabulary.token_bytes(id) for id in range(vocabulary.size)]
    return MergeTable(
        usable=True,
        size=vocabulary.size,
        bytes_only=np.frombuffer(bytes_only.encode(), np.uint8),
        ids=np.array(ids, np.int32),
        pairs=pairs[ranks],
        ranks=ranks.astype(np.int32),
        merged=merged[ranks],
        ends=np.cumsum([len(content) for content in contents], dtype=np.int64),
        token_bytes=np.frombuffer(b"".join(contents), np.uint8),
    )


def _ends_in_bytes(pre_tokenizer: dict | None) -> bool:
    while pre_tokenizer and pre_tokenizer["type"] == "Sequence":
        pre_tokenizer = (pre_tokenizer["pretokenizers"] or [None])[-1]
    return bool(pre_tokenizer) and pre_tokenizer["type"] == "ByteLevel"


def _without_merges(
    vocabulary: LibraryVocabulary, state: dict, byte_ids: dict[str, int]
) -> tuple[str, list[int]]:
    """JSON of the tokenizer with single bytes and the added tokens alone, and the true ids of its tokens."""
    places = {byte: place for place, byte in enumerate(byte_ids)}
    added = []
    for token in state["added_tokens"]:
        place = places.setdefault(token["content"], len(places))
        added.append(token | {"id": place})
    model = state["model"] | {"vocab": {byte: places[byte] for byte in byte_ids}, "merges": []}
    text = json.dumps(state | {"model": model, "added_tokens": added})
    known = tokenizers.Tokenizer.from_str(text)
    ids = [0] * len(places)
    for content in places:
        ids[known.token_to_id(content)] = vocabulary.library.token_to_id(content)
    return text, ids


def _agree(one: TableVocabulary, other: LibraryVocabulary) -> bool:
    """Whether texts made of many tokens have the same ids, and added tokens are the same."""
    tokens = (other.token_bytes(id).decode("utf-8", "ignore") for id in range(0, other.size, CHECKED))
    parts = [*tokens, *(token.content for token in other.added.values())]
    texts = [separator.join(parts) for separator in ("", " ", "\n")]
    if {id: str(token) for id, token in one.added.items()} != {
        id: str(token) for id, token in other.added.items()
    }:
        return False
    library = other.library
    try:
        # Switched, because a copy takes as long as all the rest.
        for library.encode_special_tokens, encode in ((True, one.encode_text), (False, one.encode)):
            if any(encode(text) != ids_of(library, text) for text in texts):
                return False
        return True
    finally:
        library.encode_special_tokens = False
