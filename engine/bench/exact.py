"""`kestrel-bench exact`: the same prompt in every mode of decoding must give the same tokens and the same state.

For each weight format and way of sampling, a plain run (no speculation, one thread, the prompt in one chunk)
is the standard. Every other mode must reproduce its token ids, and leave the recurrent states, convolution
windows and KV caches equal bit for bit. The modes with lookup have a prompt that was answered before, as lookup
drafts nothing else. "accepted" tells how many of the drafts were.
"""

from __future__ import annotations

import argparse
import hashlib
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from kestrel_engine.bench.command import (
    Progress,
    add_all_formats,
    add_command,
    frame,
    header,
    load_formats,
    positive,
    show,
)
from kestrel_engine.bench.contestant import new_session
from kestrel_engine.bench.starts import encode
from kestrel_engine.events import Event, Round
from kestrel_engine.loader import LoadedModel
from kestrel_engine.options import MAX_DRAFT, DraftLength, SamplingOptions
from kestrel_engine.output import write_out
from kestrel_engine.session import Session, Turn
from kestrel_engine.state import CONV_HISTORY, State

SAMPLINGS = {
    "greedy": SamplingOptions(),
    "sampled": SamplingOptions(
        temperature=0.8, top_k=20, top_p=0.95, presence_penalty=0.5, repetition_penalty=1.1, seed=11
    ),
}
PROMPT = "Tell me a story about a small bird who wanted to see the sea. Then tell me what the bird learned."


@dataclass(frozen=True, slots=True)
class Mode:
    name: str
    draft_length: DraftLength = 0
    drafter: str = "mtp"
    rollback: str = "cursor"
    threads: int = 1
    chunk: int = 1 << 30
    toggle: bool = False

    @property
    def repeats(self) -> bool:
        """Whether the prompt must repeat itself for this mode to draft at all."""
        return self.drafter == "lookup"


@dataclass(frozen=True, slots=True)
class Outcome:
    ids: tuple[int, ...]
    digest: str
    accepted: int
    drafted: int


def modes(has_mtp: bool) -> list[Mode]:
    """Everything that may not change the text, one thing varied at a time, and the hard combinations."""
    drafter = "mtp" if has_mtp else "lookup"
    fixed = Mode("", draft_length=3, drafter=drafter)
    found = [replace(fixed, name=f"speculate {k}", draft_length=k) for k in range(1, MAX_DRAFT + 1)]
    found += [
        replace(fixed, name="speculate auto", draft_length="auto", drafter="auto"),
        replace(fixed, name="toggled at random rounds", toggle=True),
        replace(fixed, name="drafter lookup", drafter="lookup"),
        *(replace(fixed, name=f"rollback {name}", rollback=name) for name in ("snapshot", "rerun")),
        *(
            replace(
                fixed, name=f"rollback {name}, toggled, lookup", rollback=name, toggle=True, drafter="lookup"
            )
            for name in ("cursor", "snapshot", "rerun")
        ),
        replace(fixed, name="threads 2", threads=2),
        replace(fixed, name="threads 2, off", threads=2, draft_length=0),
        *(replace(fixed, name=f"prefill chunk {n}", chunk=n) for n in (1, 3, 16)),
        *(replace(fixed, name=f"drafts {kind}", drafter=kind) for kind in ADVERSARIES),
        *(
            replace(
                fixed, name=f"drafts {kind}, rollback {name}", drafter=kind, rollback=name, draft_length=8
            )
            for kind in ("random", "right until 2")
            for name in ("cursor", "snapshot", "rerun")
        ),
    ]
    return found


# --- drafters that know, or never know --------------------------------------------------------------------


class RecordedDrafter:
    """Drafts from a recorded plain run, spoilt by `spoil(index in the round, right id) -> id`."""

    name = "recorded"

    def __init__(self, stream: list[int], vocabulary: int, spoil: Callable[[int, int], int]):
        self.stream, self.vocabulary, self.spoil = stream, vocabulary, spoil

    def reset(self) -> None:
        pass

    def draft(self, state: State, next_token: int, count: int, sampler) -> list[int]:
        start = state.length + 1
        right = self.stream[start : start + count]
        return [self.spoil(index, token) % self.vocabulary for index, token in enumerate(right)]


def _random_spoiler() -> Callable[[int, int], int]:
    generator = random.Random(5)
    return lambda index, token: token if generator.random() < 0.6 else token + 1


ADVERSARIES: dict[str, Callable[[], Callable[[int, int], int]]] = {
    "always right": lambda: lambda index, token: token,
    "always wrong": lambda: lambda index, token: token + 1,
    "random": _random_spoiler,
    "right until 2": lambda: lambda index, token: token if index < 2 else token + 1,
}


# --- running ----------------------------------------------------------------------------------------------


def state_digest(session: Session) -> str:
    """SHA-256 of everything the state remembers of its tokens, the log applied."""
    state, backend = session.state, session.model.backend
    digest = hashlib.sha256(np.array(state.tokens, np.int64).tobytes())
    for layer in state.delta_layers:
        recurrent = layer.state.copy()
        live, layer.state = layer.state, recurrent
        backend.delta_replay(layer)
        layer.state = live
        newest = range(max(0, state.length - CONV_HISTORY), state.length)
        digest.update(recurrent.tobytes())
        digest.update(layer.ring[[position % len(layer.ring) for position in newest]].tobytes())
    for cache in state.caches:
        digest.update(np.ascontiguousarray(cache.key_rows(state.length)).tobytes())
        digest.update(np.ascontiguousarray(cache.values[:, : state.length]).tobytes())
    return digest.hexdigest()


def run_mode(loaded: LoadedModel, mode: Mode, turn: Turn, standard: Outcome | None) -> Outcome:
    """Answer `turn` from an empty state in `mode`."""
    model = loaded.session.model
    session = new_session(loaded, mode.rollback, mode.chunk)
    if mode.drafter in ADVERSARIES:
        stream = [*turn.prompt, *standard.ids]
        spoil = ADVERSARIES[mode.drafter]()
        session.drafters[mode.drafter] = RecordedDrafter(stream, model.config.vocab_size, spoil)
    generator = random.Random(3)
    rounds: list[Round] = []

    def emit(event: Event) -> None:
        if isinstance(event, Round):
            rounds.append(event)
            if mode.toggle:
                session.draft_length = generator.choice((0, 0, 1, 2, 3, 5, 8))

    session.draft_length = mode.draft_length
    threads, model.backend.threads = model.backend.threads, mode.threads
    try:
        session.answer(replace(turn, drafter=mode.drafter), emit, lambda: False)
        ids = tuple(token.id for event in rounds for token in event.tokens)
        drafted, accepted = sum(r.drafted for r in rounds), sum(r.accepted for r in rounds)
        return Outcome(ids, state_digest(session), accepted, drafted)
    finally:
        model.backend.threads = threads


def run_format(loaded: LoadedModel, tokens: int) -> Iterator[dict]:
    """One dict per mode: {"mode", "sampling", "identical", "tokens", "accepted", "drafted", "difference"}."""
    prompt = encode(loaded, PROMPT)
    for sampling_name, sampling in SAMPLINGS.items():
        turn = Turn(prompt=prompt, sampling=sampling, max_tokens=tokens)
        standard = run_mode(loaded, Mode("plain"), turn, None)
        again = replace(turn, prompt=[*prompt, *standard.ids, *prompt])
        answered = {False: (turn, standard), True: (again, run_mode(loaded, Mode("plain"), again, None))}
        for mode in modes(loaded.config.has_mtp):
            turn, standard = answered[mode.repeats]
            outcome = run_mode(loaded, mode, turn, standard)
            yield {
                "mode": mode.name,
                "sampling": sampling_name,
                "identical": outcome.ids == standard.ids and outcome.digest == standard.digest,
                "tokens": len(outcome.ids),
                "accepted": outcome.accepted,
                "drafted": outcome.drafted,
                "difference": _difference(outcome, standard),
            }


def _difference(outcome: Outcome, standard: Outcome) -> str | None:
    if outcome.ids != standard.ids:
        pairs = zip(outcome.ids, standard.ids, strict=False)
        place = next(
            (n for n, (a, b) in enumerate(pairs) if a != b), min(len(outcome.ids), len(standard.ids))
        )
        return f"token {place} differs from the plain run"
    return None if outcome.digest == standard.digest else "the state differs from the plain run"


# --- the command ------------------------------------------------------------------------------------------

_LINE = "{:6} {:8} {:42} {:>9}  {}"


def add_options(commands) -> None:
    parser = add_command(commands, "exact", "does every mode of decoding give the same bits?", __doc__, run)
    add_all_formats(parser)
    parser.add_argument(
        "--tokens", type=positive, default=48, metavar="N", help="most tokens of each answer (48)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Exit status 1 when any mode differs."""
    as_text, progress = arguments.output == "text", Progress()
    checked, report = [], {}
    for loaded in load_formats(arguments, progress):
        if as_text and not report:
            columns = _LINE.format("format", "sampling", "mode", "accepted", "verdict")
            write_out(f"{header(frame(loaded, 'exact', arguments.quant))}\n\n{columns}\n")
        report = frame(loaded, "exact", arguments.quant)
        for row in run_format(loaded, arguments.tokens):
            checked.append({"format": loaded.format, **row})
            if as_text:
                _print_row(checked[-1])
    identical = sum(row["identical"] for row in checked)
    report |= {
        "modes": len(checked),
        "identical": identical,
        "differences": [row for row in checked if not row["identical"]],
    }
    verdict = f"{identical} of {len(checked)} modes identical to plain decoding, tokens and state"
    if as_text:
        write_out(f"{report['model']}: {verdict}\n")
    else:
        show(report, "json", str)
    return 0 if identical == len(checked) else 1


def _print_row(row: dict) -> None:
    verdict = "identical" if row["identical"] else f"DIFFERENT: {row['difference']}"
    hits = f"{row['accepted']}/{row['drafted']}"
    write_out(_LINE.format(row["format"], row["sampling"], row["mode"], hits, verdict) + "\n")
