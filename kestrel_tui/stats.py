"""What an answer's rounds add up to: the `stats` object of the contract, and one line for people."""

from __future__ import annotations

from collections.abc import Iterator

from kestrel_engine.events import Released, Round, TurnEnded, TurnStarted
from kestrel_engine.tally import Tally
from kestrel_engine.words import counted


class TurnStats:
    """Adds up the rounds of one answer."""

    def __init__(self, load_ms: float = 0.0) -> None:
        self._load_ms = load_ms
        self.tally = Tally()
        self._reused = 0
        self._ended: TurnEnded | None = None
        self.tokens = 0

    def begin(self, event: TurnStarted) -> None:
        self._reused = event.reused_tokens

    def add(self, event: Round | Released) -> None:
        self.tokens += len(event.tokens)
        if isinstance(event, Round):
            self.tally.add(len(event.tokens), event.drafted, event.accepted, bool(event.rejected))

    def finish(self, event: TurnEnded) -> None:
        self._ended = event

    def as_dict(self) -> dict[str, object]:
        """The contract's `stats` object; `acceptance_rate` is accepted / tested, times are milliseconds."""
        tally, decode_ms = self.tally, self._ended.decode_ms if self._ended else 0.0
        return {
            "load_ms": self._load_ms,
            "prefill_ms": self._ended.prefill_ms if self._ended else 0.0,
            "decode_ms": decode_ms,
            "ms_per_token": _ratio(decode_ms, self.tokens),
            "rounds": tally.rounds,
            "drafted": tally.drafted,
            "accepted": tally.accepted,
            "acceptance_rate": _ratio(tally.accepted, tally.tested),
            "tokens_per_round": _ratio(self.tokens, tally.rounds),
            "acceptance_by_position": tally.acceptance_by_position,
            "accepted_histogram": tally.accepted_histogram,
        }

    def line(self) -> str:
        """The answer in one line: size, speed, speculation, prompt, seed."""
        stats, tally = self.as_dict(), self.tally
        parts = [counted(self.tokens, "token")]
        if self.tokens:
            parts.append(f"{milliseconds(stats['ms_per_token'])} ms each")
        if tally.rounds:
            parts.append(f"{stats['tokens_per_round']:.2f} a round")
        if tally.drafted:
            places = " ".join(f"{rate:.2f}" for rate in tally.acceptance_by_position)
            parts.append(
                f"{tally.accepted} of {counted(tally.tested, 'tested draft')} accepted (by position {places})"
            )
        if self._ended:
            parts.append(f"prompt {self._prompt(self._ended)}")
            parts.append(f"seed {self._ended.seed}")
        return "[" + ", ".join(parts) + "]"

    def lines(self) -> Iterator[str]:
        """All figures, for people: a line for each subject."""
        stats, tally = self.as_dict(), self.tally
        each = milliseconds(stats["ms_per_token"])
        speed = f" in {stats['decode_ms']:.0f} ms, {each} ms each" if self._ended else ""
        yield f"answer: {counted(self.tokens, 'token')}{speed}"
        if self._ended:
            yield f"prompt: {self._prompt(self._ended)}"
            yield f"seed: {self._ended.seed}"
        yield f"model: loaded in {self._load_ms:.0f} ms"
        yield f"rounds: {tally.rounds}, {stats['tokens_per_round']:.2f} tokens in each"
        if not tally.drafted:
            yield "drafts: none"
            return
        wrong, untested = tally.tested - tally.accepted, tally.drafted - tally.tested
        yield (
            f"drafts: {tally.drafted}, of which {tally.accepted} accepted, {wrong} wrong, and {untested} not tested"
            " (behind a wrong one, or behind the end)"
        )
        yield f"accepted: {stats['acceptance_rate']:.0%} ({tally.accepted} of {tally.tested} tested)"
        rates = enumerate(tally.acceptance_by_position, start=1)
        yield "right at position " + ", ".join(f"{place}: {rate:.0%}" for place, rate in rates)
        histogram = enumerate(tally.accepted_histogram)
        yield ", ".join(
            f"{counted(rounds, 'round')} accepted {count}" for count, rounds in histogram if rounds
        )

    def _prompt(self, ended: TurnEnded) -> str:
        if not self.tokens:  # stopped before all of it was read
            return counted(ended.prompt_tokens, "token")
        read = f" ({ended.prompt_tokens - self._reused} of them read)" if self._reused else ""
        return f"{counted(ended.prompt_tokens, 'token')}{read} in {ended.prefill_ms:.0f} ms"


def milliseconds(value: float) -> str:
    """To digits that say something: "0.26", "3.4", "120"."""
    return f"{value:.2f}" if value < 1 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
