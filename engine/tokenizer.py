"""Text ↔ token ids, and chats → token ids, with the checkpoint's own tokenizer and chat template."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import tokenizers

from kestrel_engine.chat_template import ChatTemplate
from kestrel_engine.errors import UsageError
from kestrel_engine.merge_table import open_table
from kestrel_engine.packed_cache import Note
from kestrel_engine.vocabulary import LibraryVocabulary, Vocabulary

TOKENIZER_FILE = "tokenizer.json"
LONE_SURROGATES = re.compile("[\ud800-\udfff]")
REPLACEMENT = "\ufffd"


class Tokenizer:
    """The byte-level BPE of `folder/tokenizer.json` and the chat template beside it.

    Added tokens come in two kinds: *special* ones are control tokens (`<|im_end|>`) and no text; the others
    (`<think>`) are text that has an id of its own. With `note`, what a large one needs is kept in the cache folder,
    and `note` is told when that cannot be; `making` is called before it is made, which takes seconds. Raises
    UsageError, one line, for a missing or wrong file.
    """

    def __init__(self, folder: Path, note: Note | None = None, making: Callable[[], None] = lambda: None):
        self.folder = Path(folder)
        self._vocabulary = _open_vocabulary(self.folder / TOKENIZER_FILE, note, making)
        self._template = ChatTemplate.from_folder(self.folder)
        added = self._vocabulary.added
        self._added = {id: token.content for id, token in added.items()}
        self._bytes: dict[int, bytes] = {}
        """Of the tokens that were asked for: it takes a while to find out."""
        self.special_ids = frozenset(id for id, token in added.items() if token.special)
        """Ids of the control tokens."""
        self.vocab_size = self._vocabulary.size
        """Ids of the tokenizer are below this. A model may have more: its vocabulary is padded."""
        control = [self._added[id] for id in self.special_ids]
        # Longest first, so that a control token wins over one that it contains.
        self._control_tokens = sorted(control, key=len, reverse=True)

    def encode(self, text: str) -> list[int]:
        """Ids of `text`, in which added tokens of both kinds are recognised. Lone surrogates are U+FFFD."""
        return self._vocabulary.encode(_valid(text))

    def encode_text(self, text: str) -> list[int]:
        """Ids of `text` from outside: control tokens in it are spelled out as ordinary text."""
        return self._vocabulary.encode_text(_valid(text))

    def encode_chat(
        self, messages: list[dict], think: bool | None, add_generation_prompt: bool = True
    ) -> list[int]:
        """Ids of the rendered chat, with control tokens only where the template itself writes them.

        The same as `encode(render(...))` unless a message contains the text of a control token.
        """
        mark = _unused_character(messages)
        broken_tokens = {token: token[:1] + mark + token[1:] for token in self._control_tokens}
        broken = self.render(_replace_in_strings(messages, broken_tokens), think, add_generation_prompt)
        # [text, broken token, text, …]; None is a lone mark, left of a token that the template tore apart:
        # the text is split there too, so that nothing around it can join into a control token.
        pattern = "|".join(map(re.escape, broken_tokens.values())) or "(?!)"
        pieces = re.split(f"({pattern})|{mark}", broken)
        ids: list[int] = []
        for index, piece in enumerate(pieces):
            if piece:
                ids += self.encode_text(piece.replace(mark, "")) if index % 2 else self.encode(piece)
        return ids

    def decode(self, ids: Iterable[int], skip_special: bool = False) -> str:
        """Text of `ids`; bytes that are no UTF-8 become U+FFFD."""
        kept = (id for id in ids if not (skip_special and id in self.special_ids))
        return b"".join(map(self.token_bytes, kept)).decode("utf-8", errors="replace")

    def token_bytes(self, id: int) -> bytes:
        """Bytes that a token stands for; an added token's are its content, an id without a token has none."""
        found = self._bytes.get(id)
        if found is None:
            found = self._bytes[id] = self._find_bytes(id)
        return found

    def _find_bytes(self, id: int) -> bytes:
        if id in self._added:
            return self._added[id].encode()
        return self._vocabulary.token_bytes(id)

    def render(self, messages: list[dict], think: bool | None, add_generation_prompt: bool = True) -> str:
        """The chat as the checkpoint's template writes it. `think` None: what the template does by itself.

        Raises UsageError when the model has no template, KestrelError when the template fails.
        """
        if self._template is None:
            raise UsageError(f"{self.folder} has no chat template: use --raw to continue plain text")
        return self._template.render(messages, think, add_generation_prompt)


def _open_vocabulary(path: Path, note: Note | None, making: Callable[[], None]) -> Vocabulary:
    if not os.path.isfile(path):
        raise UsageError(
            f"{path.parent} has no {TOKENIZER_FILE}: download the model again, with its tokenizer"
        )
    found = None if note is None else open_table(path, note, lambda: _load(path), making)
    return found or LibraryVocabulary(_load(path))


def _load(path: Path) -> tokenizers.Tokenizer:
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:
        # The library raises bare Exceptions with the parser's message.
        reason = " ".join(str(error).split())[:120]
        raise UsageError(f"{path} is not a valid tokenizer ({reason}): download the model again") from None
    if not isinstance(tokenizer.decoder, tokenizers.decoders.ByteLevel):
        raise UsageError(
            f"{path} is no byte-level BPE: Kestrel reads Qwen3.5's tokenizer; download the model again"
        )
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _valid(text: str) -> str:
    return LONE_SURROGATES.sub(REPLACEMENT, text)


def _unused_character(messages: list[dict]) -> str:
    """A character that occurs nowhere in the messages, from the end of Unicode (noncharacters first)."""
    used = set(json.dumps(messages, ensure_ascii=False))
    return next(chr(code) for code in range(0x10FFFF, 0, -1) if chr(code) not in used)


def _replace_in_strings(value: Any, replacements: dict[str, str]) -> Any:
    """A copy of a JSON value with the keys of `replacements` replaced in its strings, earlier keys first."""
    if isinstance(value, str):
        pattern = "|".join(map(re.escape, replacements)) or "(?!)"
        return re.sub(pattern, lambda match: replacements[match[0]], value)
    if isinstance(value, dict):
        return {key: _replace_in_strings(item, replacements) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_in_strings(item, replacements) for item in value]
    return value
