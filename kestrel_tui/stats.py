"""What an answer's rounds add up to: the `stats` object of the contract, and one line for people."""

from __future__ import annotations

from collections import Counter

from kestrel_engine.events import Released, Round, TurnEnded


class TurnStats:
    """Adds up the rounds of one answer.

    A draft is *tested* when every draft before it in its round was right: the accepted ones and the first
    rejected one. Drafts behind the end of the answer are neither.
    """

    def __init__(self, load_ms: float = 0.0) -> None:
        self._load_ms = load_ms
        self._tested: Counter[int] = Counter()
        self._accepted: Counter[int] = Counter()
        self._accepted_counts: Counter[int] = Counter()
        self._longest_draft = 0
        self._ended: TurnEnded | None = None
        self.tokens = 0
        self.rounds = 0
        self.drafted = 0
        self.accepted = 0

    def add(self, event: Round | Released) -> None:
        self.tokens += len(event.tokens)
        if isinstance(event, Released):
            return
        self.rounds += 1
        self.drafted += event.drafted
        self.accepted += event.accepted
        self._longest_draft = max(self._longest_draft, event.drafted)
        self._accepted_counts[event.accepted] += 1
        self._accepted.update(range(event.accepted))
        self._tested.update(range(event.accepted + bool(event.rejected)))

    def finish(self, event: TurnEnded) -> None:
        self._ended = event

    @property
    def tested(self) -> int:
        return self._tested.total()

    @property
    def acceptance_by_position(self) -> list[float]:
        return [self._accepted[place] / self._tested[place] for place in range(len(self._tested))]

    def as_dict(self) -> dict[str, object]:
        """The contract's `stats` object; `acceptance_rate` is accepted / tested, times are milliseconds."""
        decode_ms = self._ended.decode_ms if self._ended else 0.0
        return {
            "load_ms": self._load_ms,
            "prefill_ms": self._ended.prefill_ms if self._ended else 0.0,
            "decode_ms": decode_ms,
            "ms_per_token": _ratio(decode_ms, self.tokens),
            "rounds": self.rounds,
            "drafted": self.drafted,
            "accepted": self.accepted,
            "acceptance_rate": _ratio(self.accepted, self.tested),
            "tokens_per_round": _ratio(self.tokens, self.rounds),
            "acceptance_by_position": self.acceptance_by_position,
            "accepted_histogram": [
                self._accepted_counts[count] for count in range(self._longest_draft + 1 if self.rounds else 0)
            ],
        }

    def line(self) -> str:
        """The answer in one line: size, speed, speculation, prompt, seed."""
        stats = self.as_dict()
        parts = [f"{_count(self.tokens)}, {stats['ms_per_token']:.1f} ms each"]
        if self.rounds:
            parts.append(f"{stats['tokens_per_round']:.2f} a round")
        if self.drafted:
            places = " ".join(f"{rate:.2f}" for rate in self.acceptance_by_position)
            parts.append(f"{self.accepted} of {self.drafted} drafts accepted (by position {places})")
        if self._ended:
            parts.append(f"prompt {_count(self._ended.prompt_tokens)} in {self._ended.prefill_ms:.0f} ms")
            parts.append(f"seed {self._ended.seed}")
        return "[" + ", ".join(parts) + "]"


def _count(tokens: int) -> str:
    return "1 token" if tokens == 1 else f"{tokens} tokens"


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
