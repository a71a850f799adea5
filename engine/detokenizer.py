"""Token ids → text while it is being generated, never half a character."""

from __future__ import annotations

import codecs

from kestrel_engine.tokenizer import Tokenizer


class Detokenizer:
    """Decodes one stream of tokens.

    Everything that `push` and `flush` return, joined, is the tokens' bytes decoded at once with U+FFFD for
    what is no UTF-8. Special tokens have no text, unless `skip_special` is False.
    """

    def __init__(self, tokenizer: Tokenizer, skip_special: bool = True):
        self._tokenizer = tokenizer
        self._skipped = tokenizer.special_ids if skip_special else frozenset()
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def push(self, id: int) -> str:
        """The text that this token completes: "" while the bytes of a character are incomplete."""
        return "" if id in self._skipped else self._decoder.decode(self._tokenizer.token_bytes(id))

    def flush(self) -> str:
        """What is left at the end: U+FFFD for an incomplete character. Then a new stream begins."""
        return self._decoder.decode(b"", final=True)
