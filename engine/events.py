"""What goes into the engine thread (commands) and what comes out of it (events): plain frozen data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from kestrel_engine.options import SamplingOptions, SpeculationOptions

Kind = Literal["own", "accepted", "replayed"]
FinishReason = Literal["stop", "length", "cancelled"]

SPECULATION_OFF = "speculation is off"
"""The `reason` of rounds without drafts because the user wants none."""


@dataclass(frozen=True, slots=True)
class Token:
    """One emitted token. `text` is what it adds to the answer ("" while a character is incomplete)."""

    id: int
    text: str
    kind: Kind
    position: int
    """Absolute position in the token stream, prompt included."""
    round: int
    draft_index: int | None
    """0-based place in the round's draft; None for the model's own token."""
    logprob: float
    """Natural log of the model's probability (temperature 1, no penalties)."""


@dataclass(frozen=True, slots=True)
class Loading:
    """Progress of loading, packing or compiling. `fraction` is in 0..1, or None when unknown."""

    stage: str
    fraction: float | None = None


@dataclass(frozen=True, slots=True)
class Ready:
    """The model can be used."""

    model: str
    format: str
    device: str
    threads: int
    context: int
    load_ms: float
    speculation_possible: bool
    """False when the checkpoint has no MTP head and the lookup drafter is not in use."""


@dataclass(frozen=True, slots=True)
class Prefill:
    """`done` of `total` prompt tokens are consumed; `reused` of them came from the kept state."""

    done: int
    total: int
    reused: int


@dataclass(frozen=True, slots=True)
class Round:
    """One round: its drafts, and the tokens it released to the screen.

    Tokens that might begin a stop string are held back and released by a later round, so a token's own
    `round` may be smaller than `index`.
    """

    index: int
    tokens: tuple[Token, ...]
    drafted: int
    accepted: int
    drafter: str
    """"mtp", "lookup" or "none"."""
    rejected: tuple[int, ...]
    """Draft ids from the first wrong one on; none when the answer ended before it. Drafts that are neither
    accepted nor rejected lay behind the end of the answer."""
    draft_ms: float
    verify_ms: float
    replay_ms: float
    """Time spent undoing rejected drafts: log replay (cursor), state copies (snapshot), passes (rerun)."""
    reason: str
    """Why the engine chose this draft length."""
    rejected_texts: tuple[str, ...] = ()
    """What each of `rejected` would have been; a character in several tokens is U+FFFD."""
    rejected_logprob: float | None = None
    """Natural log of the model's probability of the first of `rejected`; None without one."""


@dataclass(frozen=True, slots=True)
class Released:
    """Tokens that were held back, shown because the answer was ended from outside. No round came with them."""

    tokens: tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class TurnStarted:
    prompt_tokens: int
    reused_tokens: int
    seed: int
    reasoning: bool = False
    """The prompt ends inside an open `<think>`: the answer begins with reasoning."""


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """End of an answer, however it came. `text` is the concatenation of the tokens' texts."""

    finish_reason: FinishReason
    text: str
    tokens: int
    prompt_tokens: int
    prefill_ms: float
    decode_ms: float
    seed: int


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the user should know; the turn goes on."""

    message: str


@dataclass(frozen=True, slots=True)
class Failed:
    """A command failed. The engine is usable again unless `fatal` (the model could not be loaded)."""

    message: str
    fatal: bool = False
    exit_status: int = 1


Event = Loading | Ready | Prefill | Round | Released | TurnStarted | TurnEnded | Notice | Failed


@dataclass(frozen=True, slots=True)
class Submit:
    """Answer a chat, or continue a raw token stream.

    messages: dicts with "role", "content" and, for assistant turns, optionally "reasoning_content".
    raw: when given, the prompt text itself; no chat template.
    """

    messages: tuple[dict, ...] = ()
    raw: str | None = None
    sampling: SamplingOptions = field(default_factory=SamplingOptions)
    speculation: SpeculationOptions = field(default_factory=SpeculationOptions)
    max_tokens: int = 1024
    stop: tuple[str, ...] = ()
    think: bool | None = None
    """None: what the model's template does by itself."""


@dataclass(frozen=True, slots=True)
class Cancel:
    """End the running answer within one round; what is emitted stays."""


@dataclass(frozen=True, slots=True)
class SetSpeculation:
    """Change the draft length from the next round on: "auto", 0 (off) or 1..8."""

    length: int | Literal["auto"]


@dataclass(frozen=True, slots=True)
class Quit:
    """Stop the thread."""


Command = Submit | Cancel | SetSpeculation | Quit
