"""The emitted stream of one answer: its text, where it stops, and what may be shown already.

Stops are decided on the emitted stream one token at a time, whatever round the tokens came from. A token
whose text may be the beginning of a stop string is held back until that is settled.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kestrel_engine.detokenizer import Detokenizer
from kestrel_engine.events import FinishReason, Kind, Token
from kestrel_engine.tokenizer import Tokenizer

Facts = tuple[int, Kind, int, int, int | None, float]
"""A `Token` without its text: id, kind, position, round, draft_index, logprob."""


class Answer:
    def __init__(self, tokenizer: Tokenizer, end_ids: Sequence[int], stop: Sequence[str], max_tokens: int):
        self._detokenizer = Detokenizer(tokenizer)
        self._end_ids, self._stop, self._max_tokens = (
            frozenset(end_ids),
            tuple(s for s in stop if s),
            max_tokens,
        )
        self._held: list[str] = []  # texts of tokens not released
        self._facts: list[Facts] = []  # of the same tokens, as far as they are known
        self.count = 0
        self.text = ""
        """Text of the released tokens."""
        self.finish_reason: FinishReason | None = None

    @property
    def remaining(self) -> int:
        """Tokens that may still be emitted."""
        return self._max_tokens - self.count

    def stops_at(self, token: int) -> bool:
        """Take the next emitted token; True when the answer ends with it."""
        self.count += 1
        self._held.append(self._detokenizer.push(token))
        if token in self._end_ids:
            self.finish_reason = "stop"
        elif self._cut_at_stop_string():
            self.finish_reason = "stop"
            return True
        elif self.remaining <= 0:
            self.finish_reason = "length"
        if self.finish_reason:
            self._held[-1] += self._detokenizer.flush()
        return self.finish_reason is not None

    def describe(self, facts: Iterable[Facts]) -> None:
        """Tell more about tokens that `stops_at` was given, in the same order."""
        self._facts.extend(facts)

    def release(self) -> tuple[Token, ...]:
        """Tokens that can be shown: all when the answer has ended, else those that no stop string can reach."""
        assert len(self._facts) == len(self._held)
        keep = 0 if self.finish_reason else self._possible_stop_length()
        count, tail = len(self._held), 0
        while count and keep > tail:
            count -= 1
            tail += len(self._held[count])
        texts = self._held[:count]
        released = [
            Token(id, text, *facts) for (id, *facts), text in zip(self._facts[:count], texts, strict=True)
        ]
        del self._facts[:count], self._held[:count]
        self.text += "".join(texts)
        return tuple(released)

    def end(self, reason: FinishReason) -> tuple[Token, ...]:
        """End the answer for a reason outside the stream; returns the tokens that were held back."""
        self.finish_reason = reason
        rest = self._detokenizer.flush()
        if self._held:
            self._held[-1] += rest
        return self.release()

    def _cut_at_stop_string(self) -> bool:
        """Whether the held text contains a stop string; if so, it and what follows are cut off."""
        if not self._stop:
            return False
        text = "".join(self._held)
        places = [place for place in (text.find(stop) for stop in self._stop) if place >= 0]
        if not places:
            return False
        left = min(places)
        for index, piece in enumerate(self._held):
            self._held[index] = piece[:left]
            left -= len(self._held[index])
        return True

    def _possible_stop_length(self) -> int:
        """Length of the longest end of the held text that begins a stop string."""
        if not self._stop:
            return 0
        text = "".join(self._held)
        longest = max((len(stop) for stop in self._stop), default=0)
        for length in range(min(longest - 1, len(text)), 0, -1):
            if any(stop.startswith(text[-length:]) for stop in self._stop):
                return length
        return 0
