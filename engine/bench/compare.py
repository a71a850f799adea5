"""`kestrel-bench compare`: Kestrel beside another engine, same checkpoint, same prompts, in one run."""

from __future__ import annotations

import argparse

from kestrel_engine.bench import plot
from kestrel_engine.bench.arithmetic import median, spread
from kestrel_engine.bench.command import (
    CONTEXT,
    Progress,
    add_command,
    add_one_format,
    add_plot,
    add_repeat,
    frame,
    load_model,
    positive,
    show,
    up_to,
)
from kestrel_engine.bench.contestant import Contestant
from kestrel_engine.bench.peers import PEERS, Peer, open_peer
from kestrel_engine.bench.starts import PROMPTS, TOKENS, Start, extent_text, starts
from kestrel_engine.bench.table import table
from kestrel_engine.loader import LoadedModel, find_model
from kestrel_engine.options import SamplingOptions
from kestrel_engine.words import counted


def common_prefix(ours: list[int], theirs: list[int]) -> int:
    """Leading tokens that are the same."""
    pairs = enumerate(zip(ours, theirs, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(ours), len(theirs)))


def measure(
    loaded: LoadedModel, peer: Peer, begun: list[Start], arguments: argparse.Namespace, progress
) -> dict:
    """Greedy answers in turn; the peer decodes as many tokens as plain decoding gave."""
    contestants = {"plain": Contestant(loaded, 0)}
    if loaded.config.has_mtp:
        contestants["speculative"] = Contestant(loaded, "auto", "auto")
    speeds = {name: [] for name in [*contestants, peer.name]}
    same = total = 0
    peer.decode(begun[0].prompt, 2)
    for number in range(arguments.repeat):
        milliseconds = dict.fromkeys(speeds, 0.0)
        tokens = 0
        for start in begun:
            for name, contestant in contestants.items():
                progress(f"repeat {number + 1} of {arguments.repeat}, {start.name}, kestrel {name}")
                answered = contestant.answer(start.prompt, arguments.tokens, SamplingOptions())
                milliseconds[name] += answered.decode_ms
            progress(f"repeat {number + 1} of {arguments.repeat}, {start.name}, {peer.name}")
            ids, peer_ms = peer.decode(start.prompt, len(answered.ids))
            milliseconds[peer.name] += peer_ms
            same, total = same + common_prefix(list(answered.ids), ids), total + len(ids)
            tokens += len(answered.ids)
        for name in speeds:
            speeds[name].append(milliseconds[name] / tokens)
    ratios = {
        name: [theirs / ours for ours, theirs in zip(speeds[name], speeds[peer.name], strict=True)]
        for name in speeds
    }
    return {
        "peer": peer.name,
        "peer_version": peer.version,
        "starts": [start.name for start in begun],
        "tokens": arguments.tokens,
        "repeat": arguments.repeat,
        "same_leading_tokens": same,
        "compared_tokens": total,
        "runs": [
            {
                "engine": name if name == peer.name else f"kestrel, {name}",
                "format": peer.format if name == peer.name else loaded.format,
                "ms_per_token": median(speeds[name]),
                "ms_per_token_spread": spread(speeds[name]),
                "ratio": median(ratios[name]),
                "ratio_spread": spread(ratios[name]),
            }
            for name in speeds
        ],
    }


def add_options(commands) -> None:
    parser = add_command(commands, "compare", "Kestrel beside another engine in the same run", __doc__, run)
    add_one_format(parser)
    add_repeat(parser, 3)
    parser.add_argument(
        "--peer", choices=tuple(PEERS), required=True, help="the other engine, which must be installed"
    )
    parser.add_argument("--gguf", metavar="FILE", help="the same model for llama-cpp-python")
    parser.add_argument(
        "--tokens", type=positive, default=TOKENS, metavar="N", help=f"most tokens from each start ({TOKENS})"
    )
    parser.add_argument(
        "--starts",
        type=up_to(len(PROMPTS)),
        default=2,
        metavar="N",
        help=f"how many of the {len(PROMPTS)} prompts (2)",
    )
    add_plot(parser)


def run(arguments: argparse.Namespace) -> int:
    progress = Progress()
    plot.check(arguments.plot)
    folder = find_model(arguments.model, lambda event: None)
    PEERS[arguments.peer].check(folder, arguments.gguf)
    loaded = load_model(arguments, progress)
    progress(f"loading with {arguments.peer}")
    peer = open_peer(arguments.peer, folder, arguments.gguf, loaded.threads, CONTEXT)
    begun = starts(loaded, arguments.starts, arguments.tokens)
    report = frame(loaded, "compare") | measure(loaded, peer, begun, arguments, progress)
    progress.done()
    show(report, arguments.output, text)
    plot.draw(arguments.plot, report)
    return 0


def text(report: dict) -> str:
    rows = [
        (
            row["engine"],
            row["format"],
            row["ms_per_token"],
            "{:.2f}-{:.2f}".format(*row["ms_per_token_spread"]),
            row["ratio"],
        )
        for row in report["runs"]
    ]
    columns = ("engine", "format", "ms/token", "lowest-highest", f"x {report['peer']}")
    extent = extent_text(report, report["compared_tokens"] // report["repeat"])
    return (
        f"{report['peer']} {report['peer_version']}; greedy, {extent}\n\n{table(columns, rows)}\n\n"
        f"x {report['peer']}: how many times as fast; lowest-highest: of ms/token, over the repeats\n"
        f"the same before the first difference: {report['same_leading_tokens']} of "
        f"{counted(report['compared_tokens'], 'token')} (the peer rounds in another order)"
    )
