"""Options of the engine, validated where they are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kestrel_engine.errors import UsageError

MAX_DRAFT = 8
"""Longest draft: a verify pass has at most MAX_DRAFT + 1 rows."""

MAX_THREADS = 1024
"""More would take seconds to start, and the system may have none left."""

COLDEST = 1e-6
"""Temperatures below this are greedy: the noise could only decide ties, and the scaled logits overflow."""

SMALLEST_REPETITION = 0.01
"""Smallest repetition penalty: logits divided by less overflow at low temperatures."""

DraftLength = int | Literal["auto"]


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise UsageError(message)


@dataclass(frozen=True, slots=True)
class SamplingOptions:
    """How a token is chosen from the logits (DESIGN §4). `temperature` 0 is greedy; `top_k` 0, `top_p` 1
    and `min_p` 0 are off; `seed` keys the Gumbel noise."""

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    presence_penalty: float = 0.0
    repetition_penalty: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        _require(0 <= self.temperature <= 100, f"temperature {self.temperature}: use a number from 0 to 100")
        _require(self.top_k >= 0, f"top-k {self.top_k}: use 0 (off) or a positive whole number")
        _require(0 < self.top_p <= 1, f"top-p {self.top_p}: use a number above 0, up to 1 (off)")
        _require(0 <= self.min_p <= 1, f"min-p {self.min_p}: use a number from 0 (off) to 1")
        _require(
            abs(self.presence_penalty) <= 100, f"presence-penalty {self.presence_penalty}: use -100 to 100"
        )
        _require(
            SMALLEST_REPETITION <= self.repetition_penalty <= 100,
            f"repetition-penalty {self.repetition_penalty}: use {SMALLEST_REPETITION} to 100; 1 is off",
        )
        _require(0 <= self.seed < 2**63, f"seed {self.seed}: use a whole number from 0 to 2^63-1")

    @property
    def is_greedy(self) -> bool:
        return self.temperature < COLDEST


@dataclass(frozen=True, slots=True)
class SpeculationOptions:
    """`length`: "auto" (the governor), 0 (off) or 1..8 drafts a round. `drafter`: "auto" tries the n-gram
    lookup first and the MTP head on a miss."""

    length: DraftLength = "auto"
    drafter: Literal["auto", "mtp", "lookup"] = "auto"

    def __post_init__(self) -> None:
        valid = self.length == "auto" or (isinstance(self.length, int) and 0 <= self.length <= MAX_DRAFT)
        _require(valid, f"speculate {self.length}: use auto, off, or 1 to {MAX_DRAFT}")
        _require(
            self.drafter in ("auto", "mtp", "lookup"), f"drafter {self.drafter}: use auto, mtp or lookup"
        )


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """What is fixed while a model is loaded."""

    model: str | None = None
    """Folder or hub id; None is the bundled kestrel-nano."""
    quant: Literal["auto", "bf16", "q8", "q4"] = "auto"
    device: Literal["auto", "cpu", "cuda"] = "auto"
    threads: int | None = None
    """None: physical cores."""
    context: int | None = None
    """None: the model's limit, capped by memory."""
    prefill_chunk: int = 64
    rollback: Literal["cursor", "snapshot", "rerun"] = "cursor"
    draft_vocab: int | Literal["all"] | None = None
    """Rows of the draft head; None lets the engine choose."""

    def __post_init__(self) -> None:
        _require(self.quant in ("auto", "bf16", "q8", "q4"), f"quant {self.quant}: use auto, bf16, q8 or q4")
        _require(self.device in ("auto", "cpu", "cuda"), f"device {self.device}: use auto, cpu or cuda")
        _require(self.threads is None or self.threads >= 1, f"threads {self.threads}: use 1 or more")
        few = self.threads is None or self.threads <= MAX_THREADS
        _require(few, f"threads {self.threads}: use {MAX_THREADS} or fewer, best as many as there are cores")
        _require(self.context is None or self.context >= 16, f"context {self.context}: use 16 or more")
        _require(self.prefill_chunk >= 1, f"prefill-chunk {self.prefill_chunk}: use 1 or more")
        _require(
            self.rollback in ("cursor", "snapshot", "rerun"),
            f"rollback {self.rollback}: use cursor, snapshot or rerun",
        )
        vocab_valid = self.draft_vocab in (None, "all") or (
            isinstance(self.draft_vocab, int) and self.draft_vocab >= 1
        )
        _require(vocab_valid, f"draft-vocab {self.draft_vocab}: use all or a positive whole number")
