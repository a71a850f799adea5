"""`kestrel-bench speculate`: what speculation gains, plain against every draft length, in one run.

Every start is answered by all contestants in turn before the next, so that noise hits all alike; the speed-up
is the ratio within a repeat.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kestrel_engine.bench import plot
from kestrel_engine.bench.against_best import against_best
from kestrel_engine.bench.arithmetic import expected_length, median, median_index, spread
from kestrel_engine.bench.command import (
    Progress,
    add_command,
    add_one_format,
    add_plot,
    draft_lengths,
    frame,
    hit_rates,
    load_model,
    number,
    positive,
    show,
    up_to,
    whole,
)
from kestrel_engine.bench.contestant import Answered, Contestant
from kestrel_engine.bench.repeats import AT_LEAST, SECONDS, repeats
from kestrel_engine.bench.starts import PROMPTS, TOKENS, Start, extent_text, starts
from kestrel_engine.bench.table import ACCEPTANCE_LEGEND, rates, table
from kestrel_engine.loader import LoadedModel
from kestrel_engine.options import MAX_DRAFT, DraftLength, SamplingOptions
from kestrel_engine.tally import Tally

LEGEND = """\
k: drafts a round; x plain: how many times as fast, lowest-highest over the repeats
draft, verify and replay ms: of a round, on average in the median repeat; round/plain: a round's time in plain steps"""


@dataclass(slots=True)
class Log:
    """All answers of one contestant: answers[repeat][start]."""

    name: str
    answers: list[list[Answered]] = field(default_factory=list)

    def milliseconds(self, repeat: int) -> float:
        return sum(answered.decode_ms for answered in self.answers[repeat])

    def tokens(self, repeat: int) -> int:
        return sum(len(answered.ids) for answered in self.answers[repeat])

    def ms_per_token(self, repeat: int) -> float:
        return self.milliseconds(repeat) / max(1, self.tokens(repeat))

    def all_ms_per_token(self) -> list[float]:
        """Of every repeat."""
        return [self.ms_per_token(repeat) for repeat in range(len(self.answers))]


def compete(
    contestants: dict[str, Contestant],
    begun: Sequence[Start],
    tokens: int,
    repeats: Iterable[str],
    sampling: SamplingOptions,
    progress: Progress,
) -> dict[str, Log]:
    """Answers by every contestant; the one named "plain" goes first and is what scripts are made of. `repeats`: what
    to call each repeat when progress is shown."""
    logs = {name: Log(name) for name in contestants}
    warm = contestants["plain"].answer(begun[0].prompt, 8, sampling)
    for contestant in contestants.values():
        contestant.answer(begun[0].prompt, 8, sampling, warm.ids)
    for called in repeats:
        for name, contestant in contestants.items():
            contestant.restart()
            logs[name].answers.append([])
        for start in begun:
            for name, contestant in contestants.items():
                progress(f"{called}, {start.name}, {name}")
                plain_ids = logs["plain"].answers[-1][-1].ids if name != "plain" else ()
                answered = contestant.answer(start.prompt, tokens, sampling, plain_ids)
                logs[name].answers[-1].append(answered)
    return logs


def summarise(log: Log, plain: Log, begun: Sequence[Start]) -> dict:
    """The contract's object for one contestant. Counts and times are those of the median repeat."""
    speeds = log.all_ms_per_token()
    speedups = [theirs / ours for ours, theirs in zip(speeds, plain.all_ms_per_token(), strict=True)]
    typical, tally = median_index(speeds), Tally()
    for answered in log.answers[typical]:
        answered.count(tally)
    round_ms = log.milliseconds(typical) / max(1, tally.rounds)
    return {
        "speculate": log.name,
        "ms_per_token": median(speeds),
        "ms_per_token_spread": spread(speeds),
        "speedup": median(speedups),
        "speedup_spread": spread(speedups),
        "speedups": speedups,
        "identical": all(
            ours.ids == theirs.ids
            for repeat in zip(log.answers, plain.answers, strict=True)
            for ours, theirs in zip(*repeat, strict=True)
        ),
        "tokens": tally.tokens,
        "rounds": tally.rounds,
        "accepted": tally.accepted,
        "drafted": tally.drafted,
        "accepted_per_round": tally.accepted / max(1, tally.rounds),
        "accepted_histogram": tally.accepted_histogram,
        "acceptance_by_position": tally.acceptance_by_position,
        "expected_length": expected_length(tally.acceptance_by_position),
        "tokens_per_round": tally.tokens_per_round,
        "draft_ms": tally.draft_ms,
        "verify_ms": tally.verify_ms,
        "replay_ms": tally.replay_ms,
        "round_ms": round_ms,
        "round_cost": round_ms / plain.ms_per_token(typical),
        "starts": [_summarise_start(log, plain, n, start) for n, start in enumerate(begun)],
    }


def _summarise_start(log: Log, plain: Log, place: int, start: Start) -> dict:
    pairs = [(log.answers[n][place], plain.answers[n][place]) for n in range(len(log.answers))]
    return {
        "start": start.name,
        "tokens": len(pairs[0][0].ids),
        "ms_per_token": median([ours.decode_ms / max(1, len(ours.ids)) for ours, _ in pairs]),
        "speedup": median([theirs.decode_ms / ours.decode_ms for ours, theirs in pairs]),
    }


def auto_of_best(rows: Sequence[dict]) -> float | None:
    """The median speed-up of the governor by the greatest one of the fixed draft lengths and plain decoding; None
    without `auto`. Too low by what made that the greatest by chance: `against_best` is not."""
    auto = [row["speedup"] for row in rows if row["speculate"] == "auto"]
    return (
        auto[0] / max([1.0, *(row["speedup"] for row in rows if row["speculate"] != "auto")])
        if auto
        else None
    )


def measure(
    loaded: LoadedModel,
    lengths: Sequence[DraftLength],
    begun: Sequence[Start],
    arguments: argparse.Namespace,
    progress: Progress,
) -> dict:
    accept: list[float] | None = arguments.accept
    sampling = SamplingOptions(temperature=arguments.temperature, top_k=arguments.top_k, seed=arguments.seed)
    contestants = {"plain": Contestant(loaded, 0)}
    for length in lengths:
        contestants[str(length)] = Contestant(loaded, length, arguments.drafter, accept)
    logs = compete(contestants, begun, arguments.tokens, repeats(arguments.repeat), sampling, progress)
    times = {name: log.all_ms_per_token() for name, log in logs.items()}
    auto, speeds = times.pop("auto", None), times["plain"]
    plain = logs.pop("plain")
    rows = [summarise(log, plain, begun) for log in logs.values()]
    return {
        "acceptance": "natural" if accept is None else "scripted",
        "accept": accept,
        "drafter": arguments.drafter if accept is None else "scripted",
        "draft_cost_paid": accept is None or loaded.config.has_mtp,
        "starts": [start.name for start in begun],
        "tokens": arguments.tokens,
        "emitted": plain.tokens(0),
        "repeat": len(speeds),
        "plain_ms_per_token": median(speeds),
        "plain_ms_per_token_spread": spread(speeds),
        "auto_of_best": auto_of_best(rows),
        "auto_against_best": None if auto is None else against_best(auto, times),
        "runs": rows,
    }


def add_options(commands) -> None:
    parser = add_command(
        commands, "speculate", "what does speculation gain, for every draft length?", __doc__, run
    )
    add_one_format(parser)
    parser.add_argument(
        "--repeat",
        type=positive,
        metavar="N",
        help=f"repeats; figures are medians (at least {AT_LEAST}, and more until {SECONDS:.0f} s have passed)",
    )
    parser.add_argument(
        "--speculate",
        type=draft_lengths,
        default=[*range(1, MAX_DRAFT + 1), "auto"],
        metavar="K,K..K,auto",
        help="draft lengths (1..8,auto)",
    )
    add_run_options(parser)
    parser.add_argument(
        "--drafter",
        choices=("auto", "mtp", "lookup"),
        default="mtp",
        help="mtp: the model's draft head; lookup: what followed the same tokens before; auto: lookup, then mtp (mtp)",
    )
    parser.add_argument("--temperature", type=number, default=0.0, metavar="T", help="0 is greedy (0)")
    parser.add_argument("--top-k", type=whole, default=0, metavar="N", help="0 is off (0)")
    parser.add_argument("--seed", type=whole, default=1, metavar="N", help="of the sampling (1)")
    add_plot(parser)


def add_run_options(parser) -> None:
    """Options that `speculate` and `schemes` share."""
    parser.add_argument(
        "--accept",
        type=hit_rates,
        metavar="A1,A2",
        help="script the drafts: share right in each place where all before were right, the last for all further "
        "places (the model's own drafts)",
    )
    parser.add_argument(
        "--tokens", type=positive, default=TOKENS, metavar="N", help=f"most tokens from each start ({TOKENS})"
    )
    parser.add_argument(
        "--starts",
        type=up_to(len(PROMPTS)),
        default=len(PROMPTS),
        metavar="N",
        help=f"how many of the {len(PROMPTS)} prompts ({len(PROMPTS)})",
    )


def run(arguments: argparse.Namespace) -> int:
    """Exit status 1 when a draft length changed the text."""
    progress = Progress()
    plot.check(arguments.plot)
    loaded = load_model(arguments, progress)
    begun = starts(loaded, arguments.starts, arguments.tokens)
    report = frame(loaded, "speculate") | measure(loaded, arguments.speculate, begun, arguments, progress)
    progress.done()
    show(report, arguments.output, text)
    plot.draw(arguments.plot, report)
    return 0 if all(row["identical"] for row in report["runs"]) else 1


def acceptance_text(report: dict) -> str:
    """How the drafts came about; scripted ones are always called so."""
    if report["acceptance"] == "natural":
        return "acceptance natural"
    wanted = ", ".join(f"{rate:g}" for rate in report["accept"])
    cost = "at the real draft cost" if report["draft_cost_paid"] else "no MTP head: drafts cost nothing"
    return f"acceptance SCRIPTED: {wanted} ({cost})"


def text(report: dict) -> str:
    low, high = report["plain_ms_per_token_spread"]
    rows = [
        (
            row["speculate"],
            row["ms_per_token"],
            row["speedup"],
            "{:.2f}-{:.2f}".format(*row["speedup_spread"]),
            row["identical"],
            str(row["rounds"]),
            str(row["accepted"]),
            row["tokens_per_round"],
            *(row[name] / max(1, row["rounds"]) for name in ("draft_ms", "verify_ms", "replay_ms")),
            row["round_cost"],
            rates(row["acceptance_by_position"]),
            " ".join(map(str, row["accepted_histogram"])),
        )
        for row in report["runs"]
    ]
    columns = (
        "k", "ms/token", "x plain", "lowest-highest", "identical", "rounds", "accepted", "tokens/round",
        "draft ms", "verify ms", "replay ms", "round/plain", "by position", "histogram",
    )  # fmt: skip
    slowest = [min(row["starts"], key=lambda start: start["speedup"]) for row in report["runs"]]
    worst = ", ".join(
        f"{start['speedup']:.2f} at k = {row['speculate']} ({start['start']})"
        for row, start in zip(report["runs"], slowest, strict=True)
    )
    auto = report["auto_against_best"]
    beside = "" if auto is None else f"\n{auto_text(auto)}"
    return (
        f"{acceptance_text(report)}; {extent_text(report, report['emitted'])}\n"
        f"plain {report['plain_ms_per_token']:.2f} ms/token ({low:.2f} to {high:.2f})\n\n"
        f"{table(columns, rows)}\n\n{LEGEND}\n{ACCEPTANCE_LEGEND}\n\n"
        f"least speed-up of any start: {worst}{beside}"
    )


def auto_text(found: dict) -> str:
    """What `against_best` found."""
    best = " or ".join("plain" if name == "plain" else f"k = {name}" for name in found["best"])
    interval = (
        " ({:.2f} to {:.2f} with 95 % confidence)".format(*found["interval"]) if found["interval"] else ""
    )
    ratio = f"auto has {found['ratio']:.2f} of the speed of the best{interval}: of {best}"
    if sum(found["best"].values()) == 1:
        return f"{ratio} in this one repeat, in which the best is so partly by chance"
    return (
        f"{ratio}, the best in one half of the repeats, measured in the other\n"
        f"in the first repeat, when it had yet to learn, {found['first']:.2f}"
    )
