"""Text ↔ token ids, and chats → token ids, with the checkpoint's own tokenizer and chat template."""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import tokenizers

from kestrel_engine.chat_template import ChatTemplate
from kestrel_engine.errors import UsageError

TOKENIZER_FILE = "tokenizer.json"
LONE_SURROGATES = re.compile("[\ud800-\udfff]")
REPLACEMENT = "\ufffd"


class Tokenizer:
    """The byte-level BPE of `folder/tokenizer.json` and the chat template beside it.

    Added tokens come in two kinds: *special* ones are control tokens (`<|im_end|>`) and no text; the others
    (`<think>`) are text that has an id of its own. Raises UsageError, one line, for a missing or wrong file.
    """

    def __init__(self, folder: Path):
        self.folder = Path(folder)
        self._tokenizer = _load(self.folder / TOKENIZER_FILE)
        self._template = ChatTemplate.from_folder(self.folder)
        added = self._tokenizer.get_added_tokens_decoder()
        self._added = {id: token.content for id, token in added.items()}
        self.special_ids = frozenset(id for id, token in added.items() if token.special)
        """Ids of the control tokens."""
        self.vocab_size = max(
            [self._tokenizer.get_vocab_size(with_added_tokens=True), *(id + 1 for id in added)]
        )
        """Ids of the tokenizer are below this. A model may have more: its vocabulary is padded."""
        control = [self._added[id] for id in self.special_ids]
        # Longest first, so that a control token wins over one that it contains.
        self._control_tokens = sorted(control, key=len, reverse=True)

    def encode(self, text: str) -> list[int]:
        """Ids of `text`, in which added tokens of both kinds are recognised. Lone surrogates are U+FFFD."""
        return self._tokenizer.encode(_valid(text), add_special_tokens=False).ids

    def encode_text(self, text: str) -> list[int]:
        """Ids of `text` from outside: control tokens in it are spelled out as ordinary text."""
        return self._text_tokenizer.encode(_valid(text), add_special_tokens=False).ids

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
        if id in self._added:
            return self._added[id].encode()
        token = self._tokenizer.id_to_token(int(id))
        if token is None:
            return b""
        alphabet = _byte_alphabet()
        if not alphabet.keys() >= set(token):
            return token.encode()
        return bytes(alphabet[character] for character in token)

    def render(self, messages: list[dict], think: bool | None, add_generation_prompt: bool = True) -> str:
        """The chat as the checkpoint's template writes it. `think` None: what the template does by itself.

        Raises UsageError when the model has no template, KestrelError when the template fails.
        """
        if self._template is None:
            raise UsageError(f"{self.folder} has no chat template: use --raw to continue plain text")
        return self._template.render(messages, think, add_generation_prompt)

    @functools.cached_property
    def _text_tokenizer(self) -> tokenizers.Tokenizer:
        # A second copy, made when first needed: switching the first one back and forth is not thread-safe.
        copy = tokenizers.Tokenizer.from_str(self._tokenizer.to_str())
        copy.encode_special_tokens = True
        return copy


def _load(path: Path) -> tokenizers.Tokenizer:
    if not os.path.isfile(path):
        raise UsageError(
            f"{path.parent} has no {TOKENIZER_FILE}: download the model again, with its tokenizer"
        )
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


@functools.cache
def _byte_alphabet() -> dict[str, int]:
    """Character → byte of the byte-level alphabet: printable Latin-1 bytes stand for themselves, the others
    for the characters from U+0100 on, in order."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(0x100) if byte not in printable]
    alphabet = {chr(byte): byte for byte in printable}
    return alphabet | {chr(0x100 + index): byte for index, byte in enumerate(hidden)}
