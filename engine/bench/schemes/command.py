"""`kestrel-bench schemes`: the same answers under each way of undoing rejected drafts, in one run.

Recurrent layers cannot be cut like a KV cache. Some schemes run the model again, some copy states, ours moves a
cursor; the tokens are the same under all of them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from kestrel_engine.bench import plot
from kestrel_engine.bench.arithmetic import median, median_index, spread
from kestrel_engine.bench.command import (
    Progress,
    add_command,
    add_one_format,
    add_plot,
    add_repeat,
    draft_lengths,
    frame,
    load_model,
    show,
)
from kestrel_engine.bench.schemes.base import Scheme, SchemeRound
from kestrel_engine.bench.schemes.chapter14 import Chapter14
from kestrel_engine.bench.schemes.cursor import Cursor
from kestrel_engine.bench.schemes.kestrel32 import Kestrel32
from kestrel_engine.bench.schemes.snapshot import SnapshotPerPosition
from kestrel_engine.bench.scripted import Script, ScriptedDrafter
from kestrel_engine.bench.speculate import acceptance_text, add_run_options
from kestrel_engine.bench.starts import Start, extent_text, starts
from kestrel_engine.bench.table import ACCEPTANCE_LEGEND, rates, table
from kestrel_engine.drafter import MtpDrafter
from kestrel_engine.errors import KestrelError, UsageError
from kestrel_engine.loader import LoadedModel
from kestrel_engine.tally import Tally
from kestrel_engine.words import counted

SCHEMES_LEGEND = """\
kestrel-32: the state is copied before drafts are verified; on a miss it comes back, and what was accepted runs again,
  token by token, through the whole model; no token of the model's own follows accepted drafts
ch14: the state is copied and comes back alike, and what was accepted runs again in one pass
snapshot: the state is copied after every row, and the copy behind the accepted ones comes back
cursor: Kestrel's own: accepted drafts wait in a small log until the state takes them in, and nothing comes back
k: drafts a round; x plain: how many times as fast; ms: of a round, on average in the median repeat
every answer has all its tokens: where it would end is ignored"""


@dataclass(slots=True)
class Entry:
    """A scheme in the competition, with its rounds of every repeat."""

    scheme: Scheme
    script: ScriptedDrafter | Kestrel32Script | None
    milliseconds: list[float] = field(default_factory=list)
    rounds: list[list[SchemeRound]] = field(default_factory=list)
    answers: list[list[tuple[int, ...]]] = field(default_factory=list)


class Kestrel32Script:
    """The script for a scheme whose first draft stands at the next position, not behind a certain token."""

    def __init__(self, vocabulary: int, accept: Sequence[float]):
        self.vocabulary, self._accept = vocabulary, accept
        self.stream: Sequence[int] = ()
        self.restart()

    def restart(self) -> None:
        self.script = Script(self._accept)

    def __call__(self, state, drafts: Sequence[int]) -> list[int]:
        truth = self.stream[state.length : state.length + len(drafts)]
        return self.script.drafts(truth, self.vocabulary)


def entries(
    loaded: LoadedModel, lengths: Sequence[int], accept: Sequence[float] | None, force_accept: bool
) -> list[Entry]:
    """Every scheme with every draft length, after plain decoding; ch14 also with its own single draft."""
    model, vocabulary = loaded.session.model, loaded.config.vocab_size
    mtp = loaded.session.drafters.get("mtp")
    if mtp is None:
        raise KestrelError("this model has no MTP head: the schemes need one to draft")
    found = [Entry(Cursor(model, 0, MtpDrafter(model, mtp.head)), None)]
    for kind, ks in (
        (Kestrel32, lengths),
        (Chapter14, sorted({1, *lengths})),
        (SnapshotPerPosition, lengths),
        (Cursor, lengths),
    ):
        for k in ks:
            if kind is Kestrel32:
                script = None if accept is None else Kestrel32Script(vocabulary, accept)
                found.append(Entry(Kestrel32(model, k, mtp.head, script, force_accept), script))
                continue
            drafter = MtpDrafter(model, mtp.head)
            script = None if accept is None else ScriptedDrafter(drafter, vocabulary, accept)
            found.append(Entry(kind(model, k, script or drafter), script))
    return found


def answer(entry: Entry, start: Start, plain_ids: Sequence[int], tokens: int) -> None:
    """One answer of exactly `tokens` tokens, appended to the newest repeat of `entry`."""
    if entry.script is not None:
        entry.script.stream = [*start.prompt, *plain_ids]
    entry.scheme.begin(start.prompt)
    ids: list[int] = []
    begun = time.perf_counter()
    while len(ids) < tokens:
        found = entry.scheme.round(tokens - len(ids))
        ids += found.tokens
        entry.rounds[-1].append(found)
    entry.milliseconds[-1] += 1e3 * (time.perf_counter() - begun)
    entry.answers[-1].append(tuple(ids))


def compete(found: list[Entry], begun: Sequence[Start], tokens: int, repeat: int, progress: Progress) -> None:
    """found[0] is plain decoding: it goes first, and the scripts are made of what it says."""
    for number in range(repeat):
        for entry in found:
            entry.milliseconds.append(0.0)
            entry.rounds.append([])
            entry.answers.append([])
            if entry.script is not None:
                entry.script.restart()
        for start in begun:
            for entry in found:
                progress(f"repeat {number + 1} of {repeat}, {start.name}, {entry.scheme.name}")
                plain_ids = found[0].answers[number][-1] if entry is not found[0] else ()
                answer(entry, start, plain_ids, tokens)


def summarise(entry: Entry, plain: Entry) -> dict:
    """The contract's object for one scheme. Counts and times are those of the median repeat."""
    emitted = sum(map(len, plain.answers[0]))
    typical, tally = median_index(entry.milliseconds), Tally()
    for found in entry.rounds[typical]:
        tally.add(len(found.tokens), found.drafted, found.accepted, found.rejected, found.times)
    speedups = [ours / theirs for ours, theirs in zip(plain.milliseconds, entry.milliseconds, strict=True)]
    row = {
        "scheme": entry.scheme.name,
        "speculate": entry.scheme.draft_length,
        "ms_per_token": median(entry.milliseconds) / emitted,
        "speedup": median(speedups),
        "speedup_spread": spread(speedups),
        "replay_ms_per_round": tally.replay_ms / tally.rounds,
        "draft_ms_per_round": tally.draft_ms / tally.rounds,
        "verify_ms_per_round": tally.verify_ms / tally.rounds,
        "bytes_copied_per_round": sum(found.copied for found in entry.rounds[typical]) / tally.rounds,
        "state_bytes": entry.scheme.state_bytes,
        "identical": entry.answers == plain.answers,
        "rounds": tally.rounds,
        "tokens_per_round": tally.tokens_per_round,
        "acceptance_by_position": tally.acceptance_by_position,
        "accepted_histogram": tally.accepted_histogram,
    }
    if isinstance(entry.scheme, Kestrel32) and entry.scheme.force_accept:
        row["force_accept"] = dict(entry.scheme.forced)
    return row


def measure(loaded: LoadedModel, begun: Sequence[Start], arguments: argparse.Namespace, progress) -> dict:
    found = entries(loaded, arguments.speculate, arguments.accept, arguments.force_accept)
    compete(found, begun[:1], 8, 1, progress)  # warm
    for entry in found:
        entry.milliseconds, entry.rounds, entry.answers = [], [], []
        if isinstance(entry.scheme, Kestrel32):
            entry.scheme.forced.clear()
    compete(found, begun, arguments.tokens, arguments.repeat, progress)
    plain, *rest = found
    return {
        "acceptance": "natural" if arguments.accept is None else "scripted",
        "accept": arguments.accept,
        "draft_cost_paid": True,
        "starts": [start.name for start in begun],
        "tokens": arguments.tokens,
        "repeat": arguments.repeat,
        "plain_ms_per_token": median(plain.milliseconds) / sum(map(len, plain.answers[0])),
        "runs": [summarise(entry, plain) for entry in rest],
    }


def add_options(commands) -> None:
    parser = add_command(commands, "schemes", "ways of undoing rejected drafts, side by side", __doc__, run)
    add_one_format(parser)
    add_repeat(parser, 3)
    parser.add_argument(
        "--speculate", type=draft_lengths, default=[2, 3], metavar="K,K", help="draft lengths (2,3)"
    )
    add_run_options(parser)
    parser.add_argument(
        "--force-accept",
        action="store_true",
        help="kestrel-32: count the rounds that a forced acceptance would have left as they are",
    )
    add_plot(parser)


def run(arguments: argparse.Namespace) -> int:
    """Exit status 1 when a scheme changed the text."""
    if "auto" in arguments.speculate:
        raise UsageError("speculate auto: the schemes take fixed draft lengths such as 2,3")
    progress = Progress()
    plot.check(arguments.plot)
    loaded = load_model(arguments, progress)
    begun = starts(loaded, arguments.starts, arguments.tokens)
    report = frame(loaded, "schemes") | measure(loaded, begun, arguments, progress)
    progress.done()
    show(report, arguments.output, text)
    plot.draw(arguments.plot, report)
    return 0 if all(row["identical"] for row in report["runs"]) else 1


def text(report: dict) -> str:
    rows = [
        (
            row["scheme"],
            str(row["speculate"]),
            row["ms_per_token"],
            row["speedup"],
            row["replay_ms_per_round"],
            row["draft_ms_per_round"],
            row["verify_ms_per_round"],
            row["bytes_copied_per_round"] / 1e6,
            row["state_bytes"] / 1e6,
            row["identical"],
            row["tokens_per_round"],
            rates(row["acceptance_by_position"]),
            " ".join(map(str, row["accepted_histogram"])),
        )
        for row in report["runs"]
    ]
    columns = (
        "scheme", "k", "ms/token", "x plain", "replay ms/round", "draft ms", "verify ms", "MB copied/round",
        "state MB", "identical", "tokens/round", "by position", "histogram",
    )  # fmt: skip
    lines = [
        f"{acceptance_text(report)}; {extent_text(report)}; plain {report['plain_ms_per_token']:.2f} ms/token",
        "",
        table(columns, rows),
        "",
        SCHEMES_LEGEND,
        ACCEPTANCE_LEGEND,
    ]
    for row in report["runs"]:
        if "force_accept" in row:
            kept, declined = (row["force_accept"].get(name, 0) for name in ("kept", "declined"))
            lines.append(
                f"kestrel-32, k {row['speculate']}, force-accept: {counted(kept, 'round')} had every draft right and "
                f"kept the batch, {declined} did not and took the natural path"
            )
    return "\n".join(lines)
