"""What rounds of speculation add up to.

A draft is *tested* when every draft before it in its round was right: the accepted ones and the first rejected
one. Drafts behind the end of an answer are neither accepted nor rejected.
"""

from __future__ import annotations

from collections import Counter


class Tally:
    """Adds up rounds. Times in milliseconds."""

    def __init__(self) -> None:
        self.rounds = self.tokens = self.drafted = self.accepted = 0
        self.draft_ms = self.verify_ms = self.replay_ms = 0.0
        self._accepted_counts: Counter[int] = Counter()
        self._accepted_at: Counter[int] = Counter()
        self._tested_at: Counter[int] = Counter()
        self._longest_draft = 0

    def add(
        self,
        tokens: int,
        drafted: int,
        accepted: int,
        rejected: bool,
        times: tuple[float, float, float] = (0.0, 0.0, 0.0),
    ) -> None:
        """One round: `rejected` says whether a draft was found wrong (not so when the answer ended before);
        `times` are its milliseconds of draft, verify and replay."""
        self.rounds += 1
        self.tokens += tokens
        self.drafted += drafted
        self.accepted += accepted
        self.draft_ms += times[0]
        self.verify_ms += times[1]
        self.replay_ms += times[2]
        self._accepted_counts[accepted] += 1
        self._accepted_at.update(range(accepted))
        self._tested_at.update(range(accepted + rejected))
        self._longest_draft = max(self._longest_draft, drafted)

    @property
    def tested(self) -> int:
        return self._tested_at.total()

    @property
    def acceptance_by_position(self) -> list[float]:
        return [self._accepted_at[place] / self._tested_at[place] for place in range(len(self._tested_at))]

    @property
    def accepted_histogram(self) -> list[int]:
        """Rounds that accepted exactly n drafts, n from 0 to the longest draft."""
        return [self._accepted_counts[n] for n in range(self._longest_draft + 1)] if self.rounds else []

    @property
    def tokens_per_round(self) -> float:
        return self.tokens / self.rounds if self.rounds else 0.0
