"""Where drafts come from: the model's own MTP head, and n-gram lookup in the chat.

A draft may be anything at all; a wrong one costs time and never a bit of the text.
"""

from __future__ import annotations

from typing import Protocol

from kestrel_engine.draft_head import DraftHead
from kestrel_engine.model import Model
from kestrel_engine.sampling import Sampler
from kestrel_engine.state import State

NGRAM = 4
"""Tokens that must match before lookup proposes what followed them."""


class Drafter(Protocol):
    name: str

    def reset(self) -> None:
        """A new turn begins; the state may have been cut back."""

    def draft(self, state: State, next_token: int, count: int, sampler: Sampler) -> list[int]:
        """Up to `count` >= 1 guesses for the tokens after `next_token` (certain, not yet consumed)."""


class MtpDrafter:
    """Chains the MTP head: the first step reads the trunk's hidden row, later steps the head's own output."""

    name = "mtp"

    def __init__(self, model: Model, head: DraftHead):
        assert model.weights.mtp is not None
        self.model, self.head = model, head
        self._scanned = 0

    def reset(self) -> None:
        self._scanned = 0

    def draft(self, state: State, next_token: int, count: int, sampler: Sampler) -> list[int]:
        if state.length == 0:
            return []
        self.grow_head(state, next_token)
        return self.model.draft(state, next_token, count, self.head, sampler)

    def grow_head(self, state: State, next_token: int) -> None:
        """Let the head draft what the chat has held since the last call."""
        self.head.add([*state.tokens[self._scanned :], next_token])
        self._scanned = state.length


class LookupDrafter:
    """Prompt lookup (Saxena, 2023): what followed the last NGRAM tokens when they last occurred."""

    name = "lookup"

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._index: dict[tuple[int, ...], int] = {}
        self._indexed = 0

    def finds(self, state: State, next_token: int) -> bool:
        """Whether `draft` would have a guess."""
        return self._start(state.tokens, next_token) is not None

    def draft(self, state: State, next_token: int, count: int, sampler: Sampler) -> list[int]:
        start = self._start(state.tokens, next_token)
        return [] if start is None else state.tokens[start : start + count]

    def _start(self, tokens: list[int], next_token: int) -> int | None:
        # An n-gram is indexed once a token follows it, so the newest one never finds itself.
        for end in range(max(self._indexed, NGRAM), len(tokens)):
            self._index[tuple(tokens[end - NGRAM : end])] = end
        self._indexed = max(self._indexed, len(tokens))
        newest = (*tokens[max(0, len(tokens) - NGRAM + 1) :], next_token)
        return self._index.get(newest)


class FirstHit:
    """Asks drafters in order and takes the first that has a guess: one proposer per round."""

    name = "auto"

    def __init__(self, drafters: list[Drafter]):
        self.drafters = drafters
        self.last = "none"

    def reset(self) -> None:
        for drafter in self.drafters:
            drafter.reset()

    def proposer(self, state: State, next_token: int) -> str | None:
        """Name of the drafter that `draft` would take guesses from; None when none has any."""
        for drafter in self.drafters:
            if not isinstance(drafter, LookupDrafter) or drafter.finds(state, next_token):
                return drafter.name
        return None

    def draft(self, state: State, next_token: int, count: int, sampler: Sampler) -> list[int]:
        for drafter in self.drafters:
            drafts = drafter.draft(state, next_token, count, sampler)
            if drafts:
                self.last = drafter.name
                return drafts
        self.last = "none"
        return []
