"""What the ids of a tokenizer stand for, and text as ids: by the `tokenizers` library."""

from __future__ import annotations

import functools
import os
from typing import Protocol

import tokenizers

# Texts are encoded one at a time, so the library's threads would gain nothing; and where they were used, some of its
# versions write a warning to the screen when the process forks.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


class Vocabulary(Protocol):
    """The part of a tokenizer that knows its tokens."""

    added: dict[int, tokenizers.AddedToken]
    """Tokens beside the BPE, by id."""
    size: int
    """Ids are below this."""

    def encode(self, text: str) -> list[int]:
        """Added tokens in `text` are recognised."""

    def encode_text(self, text: str) -> list[int]:
        """Special added tokens in `text` are spelled out as ordinary text."""

    def token_bytes(self, id: int) -> bytes:
        """Of a token that is not added; an id without a token has none."""


class LibraryVocabulary:
    """The library alone."""

    def __init__(self, library: tokenizers.Tokenizer):
        self.library = library
        self.added = library.get_added_tokens_decoder()
        self.size = max([library.get_vocab_size(with_added_tokens=True), *(id + 1 for id in self.added)])

    def encode(self, text: str) -> list[int]:
        return ids_of(self.library, text)

    def encode_text(self, text: str) -> list[int]:
        return ids_of(self._text_library, text)

    def token_bytes(self, id: int) -> bytes:
        token = self.library.id_to_token(int(id))
        if token is None:
            return b""
        try:
            return token.translate(_alphabet_as_latin_1()).encode("latin-1")
        except UnicodeEncodeError:  # not of the alphabet
            return token.encode()

    @functools.cached_property
    def _text_library(self) -> tokenizers.Tokenizer:
        return spelling_out(self.library)


def ids_of(library: tokenizers.Tokenizer, text: str) -> list[int]:
    """Ids of `text` alone. Of the library's ways the batch lets other Python run meanwhile."""
    return library.encode_batch_fast([text], add_special_tokens=False)[0].ids


def spelling_out(library: tokenizers.Tokenizer) -> tokenizers.Tokenizer:
    """A copy that takes special tokens for text: switching one back and forth is not thread-safe."""
    copy = tokenizers.Tokenizer.from_str(library.to_str())
    copy.encode_special_tokens = True
    return copy


@functools.cache
def byte_alphabet() -> dict[str, int]:
    """Character → byte of the byte-level alphabet: printable Latin-1 bytes stand for themselves, the others
    for the characters from U+0100 on, in order."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(0x100) if byte not in printable]
    alphabet = {chr(byte): byte for byte in printable}
    return alphabet | {chr(0x100 + index): byte for index, byte in enumerate(hidden)}


@functools.cache
def _alphabet_as_latin_1() -> dict[int, str]:
    """For `str.translate`: the alphabet's characters to those that Latin-1 has the bytes of, others to one it lacks."""
    others = dict.fromkeys(range(0x100), "\uffff")
    return others | {ord(character): chr(byte) for character, byte in byte_alphabet().items()}
