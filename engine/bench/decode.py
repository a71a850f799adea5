"""`kestrel-bench decode`: what a plain step costs against what reading the weights must cost.

A step cannot be faster than its weight bytes divided by the read bandwidth, and k+1 rows need no more bytes
than one. The bandwidth is measured between the steps of the same run.
"""

from __future__ import annotations

import argparse
import time

from kestrel_engine.bench import plot
from kestrel_engine.bench.arithmetic import bandwidth_share, median, quartiles, slope, spread
from kestrel_engine.bench.command import (
    CONTEXT,
    Progress,
    add_command,
    add_one_format,
    add_plot,
    add_repeat,
    counts,
    frame,
    load_model,
    positive,
    show,
)
from kestrel_engine.bench.contestant import Contestant
from kestrel_engine.bench.longcontext import (
    prefill,
    prefilled_state,
    resident_bytes,
    state_bytes,
    synthetic_state,
)
from kestrel_engine.bench.phases import Clock, phases_ms, timed_passes
from kestrel_engine.bench.starts import TOKENS, Start, starts
from kestrel_engine.bench.table import table
from kestrel_engine.bench.weightbytes import step_bytes
from kestrel_engine.drafter import FirstHit
from kestrel_engine.errors import UsageError
from kestrel_engine.loader import LoadedModel
from kestrel_engine.model import Model
from kestrel_engine.options import MAX_DRAFT, SamplingOptions
from kestrel_engine.rollback import make_rollback
from kestrel_engine.sampling import Sampler
from kestrel_engine.speculate import run_round
from kestrel_engine.state import State

ROWS = range(1, MAX_DRAFT + 1)
PASSES = 4
"""Timed passes for every number of rows, in each repeat."""
CONTEXT_ROWS = (1, 4)
CACHE_BYTES = 1 << 28
"""Weights of so many bytes and less may stay in a large processor's cache."""
TOP_K = SamplingOptions(temperature=0.8, top_k=20, seed=1)


def timed_pass(model: Model, state: State, rows: int) -> float:
    """Milliseconds of one verify pass of `rows` rows with all logits; every draft is rejected."""
    tokens = [1 + n % (model.config.vocab_size - 1) for n in range(state.length, state.length + rows)]
    start = time.perf_counter()
    model.logits(model.forward(state, tokens, commit=1))
    milliseconds = 1e3 * (time.perf_counter() - start)
    state.accept(0)
    return milliseconds


def timed_steps(model: Model, start: Start, sampling: SamplingOptions, steps: int) -> dict[str, float]:
    """Milliseconds of a plain step by phase, over `steps` of them."""
    state, clock = prefilled_state(model, len(start.prompt), len(start.prompt)), Clock()
    drafter, rollback = FirstHit([]), make_rollback("cursor")
    sampler = Sampler(sampling, model.backend, start.prompt)

    def step(token: int) -> int:
        result = run_round(model, state, token, 0, drafter, rollback, sampler, lambda token: False)
        return result.tokens[-1].id

    token = step(start.prompt[-1])  # the first one prepares
    with timed_passes(clock):
        for name in ("sample", "logprobs"):
            setattr(sampler, name, clock.timed("sampling", getattr(sampler, name)))
        begun = time.perf_counter()
        for _ in range(steps):
            token = step(token)
        return phases_ms(clock, time.perf_counter() - begun, steps)


def timed_prefill(model: Model, state: State, tokens: int, chunk: int) -> float:
    """Tokens a second, into an empty `state`."""
    begun = time.perf_counter()
    prefill(model, state, tokens, chunk)
    return tokens / (time.perf_counter() - begun)


def measure_contexts(loaded: LoadedModel, lengths: list[int], fill: str, repeat: int, progress) -> list[dict]:
    """Milliseconds of a pass at each context length, one row and four in turn; and the memory its state takes."""
    model, found = loaded.session.model, []
    state = None
    for length in lengths:
        progress(f"context {length}: {fill}")
        del state  # or two would be resident
        before = resident_bytes()
        if fill == "prefill":
            state = prefilled_state(model, length, loaded.session.prefill_chunk)
        else:
            state = synthetic_state(model, length)
        for rows in CONTEXT_ROWS:
            timed_pass(model, state, rows)
        times = {rows: [] for rows in CONTEXT_ROWS}
        phases = []
        for _ in range(repeat * PASSES):
            for rows in CONTEXT_ROWS:
                times[rows].append(timed_pass(model, state, rows))
            clock = Clock()
            with timed_passes(clock):
                phases.append(phases_ms(clock, timed_pass(model, state, 1) / 1e3, 1))
        found.append(
            {
                "context": length,
                "fill": fill,
                "ms": median(times[1]),
                "ms_spread": quartiles(times[1]),
                "four_rows_ms": median(times[4]),
                "phases_ms": _median_phases(phases),
                **state_bytes(state, length),
                "resident_growth_bytes": resident_bytes() - before,
            }
        )
    return found


def measure(loaded: LoadedModel, arguments: argparse.Namespace, progress: Progress) -> dict:
    """The report's figures; see the contract for their names."""
    from kestrel_engine.bench.bandwidth import ReadBandwidth  # it compiles a kernel

    model, chunk = loaded.session.model, loaded.session.prefill_chunk
    start, plain = starts(loaded, 1)[0], Contestant(loaded, 0)
    progress("warming up")
    bandwidth = ReadBandwidth(loaded.threads)
    plain.answer(start.prompt, 4, SamplingOptions())
    prefilled = model.new_state()
    empty = prefilled.snapshot()
    prefill(model, prefilled, arguments.prefill_tokens, chunk)
    bandwidths, steps, shares, prefills, phases, top_k = [], [], [], [], [], []
    weight_bytes = step_bytes(model.weights)
    rows = {count: [] for count in ROWS}
    for repeat in range(arguments.repeat):
        progress(f"repeat {repeat + 1} of {arguments.repeat}")
        near = [bandwidth.measure()]
        gaps = plain.answer(start.prompt, arguments.tokens, SamplingOptions()).gaps_ms
        near.append(bandwidth.measure())
        # Against its neighbours in time: on a virtual machine the bandwidth itself comes and goes.
        shares.append(bandwidth_share(weight_bytes, median(gaps), median(near)))
        bandwidths, steps = [*bandwidths, *near], [*steps, *gaps]
        state = prefilled_state(model, len(start.prompt), chunk)
        for count in ROWS:
            timed_pass(model, state, count)  # the first one prepares
        for _ in range(PASSES):
            for count in ROWS:
                rows[count].append(timed_pass(model, state, count))
        phases.append(timed_steps(model, start, SamplingOptions(), 2 * PASSES))
        top_k.append(timed_steps(model, start, TOP_K, PASSES)["sampling"])
        prefilled.restore(empty)
        prefills.append(timed_prefill(model, prefilled, arguments.prefill_tokens, chunk))
    single = median(rows[1])
    return {
        "read_bandwidth_gbps": median(bandwidths),
        "read_bandwidth_spread": spread(bandwidths),
        "weight_bytes": weight_bytes,
        "ms_per_token": median(steps),
        "ms_per_token_spread": quartiles(steps),
        "floor_ms": weight_bytes / median(bandwidths) / 1e6,
        "bandwidth_share": median(shares),
        "bandwidth_share_spread": spread(shares),
        "rows": [
            {
                "rows": count,
                "ms": median(times),
                "ms_spread": quartiles(times),
                "cost": median(times) / single,
            }
            for count, times in rows.items()
        ],
        "phases_ms": _median_phases(phases),
        "sampling_top_k_20_ms": median(top_k),
        "prefill_tokens_per_second": median(prefills),
        "prefill_chunk": chunk,
    }


def add_options(commands) -> None:
    parser = add_command(
        commands, "decode", "what does a plain step cost, and how near is it to the floor?", __doc__, run
    )
    add_one_format(parser)
    add_repeat(parser, 5)
    parser.add_argument(
        "--tokens", type=positive, default=TOKENS, metavar="N", help=f"plain tokens a repeat ({TOKENS})"
    )
    parser.add_argument(
        "--prefill-tokens", type=positive, default=256, metavar="N", help="tokens of the prefill (256)"
    )
    parser.add_argument(
        "--context-lengths",
        type=counts,
        default=[],
        metavar="N,N",
        help="also the cost at these lengths of context (none)",
    )
    parser.add_argument(
        "--context-fill",
        choices=("synthetic", "prefill"),
        default="synthetic",
        help="how those contexts come about: random keys and values, or tokens read, which is slow (synthetic)",
    )
    add_plot(parser)


def run(arguments: argparse.Namespace) -> int:
    progress = Progress()
    plot.check(arguments.plot)
    if arguments.tokens < 2:
        raise UsageError("--tokens 1: use 2 or more: a step is timed between two tokens")
    room = 64 + arguments.repeat * 2 * PASSES * len(CONTEXT_ROWS) + len(CONTEXT_ROWS)
    needed = max([arguments.tokens, arguments.prefill_tokens, *arguments.context_lengths]) + room
    try:
        loaded = load_model(arguments, progress, context=max(CONTEXT, needed))
    except UsageError as error:
        raise UsageError(
            f"{error} (with {room} for what is timed)" if needed > CONTEXT else str(error)
        ) from None
    if loaded.device != "cpu":
        raise UsageError(f"decode measures the CPU's memory, not {loaded.device}: use --device cpu")
    report = frame(loaded, "decode") | measure(loaded, arguments, progress)
    report["contexts"] = measure_contexts(
        loaded, arguments.context_lengths, arguments.context_fill, arguments.repeat, progress
    )
    points = [(row["context"], row["ms"]) for row in report["contexts"]]
    report["context_slope_us_per_token"] = 1e3 * slope(points)
    progress.done()
    show(report, arguments.output, text)
    plot.draw(arguments.plot, report)
    return 0


def text(report: dict) -> str:
    low, high = report["ms_per_token_spread"]
    lines = [
        f"plain step       {report['ms_per_token']:8.2f} ms (quartiles {low:.2f} to {high:.2f}), "
        f"{1e3 / report['ms_per_token']:.1f} tokens/s",
        f"weights          {report['weight_bytes'] / 1e6:8.1f} MB a step",
        f"read bandwidth   {report['read_bandwidth_gbps']:8.1f} GB/s, measured in this run "
        f"({report['read_bandwidth_spread'][0]:.1f} to {report['read_bandwidth_spread'][1]:.1f})",
        f"floor            {report['floor_ms']:8.2f} ms, the weights at that bandwidth: the step reads at "
        f"{100 * report['bandwidth_share']:.0f} % of the bandwidth{_doubt(report)}",
        f"prefill          {report['prefill_tokens_per_second']:8.1f} tokens/s in chunks of "
        f"{report['prefill_chunk']}",
        "",
        table(
            ("rows in a pass", "ms", "x one row"),
            [(str(row["rows"]), row["ms"], row["cost"]) for row in report["rows"]],
        ),
        "rows: tokens together, all their logits computed; a round of k drafts has k + 1",
        "",
        _phases_text(report),
    ]
    if report["contexts"]:
        lines += ["", _contexts_text(report)]
    return "\n".join(lines)


def _median_phases(parts: list[dict[str, float]]) -> dict[str, float]:
    """Of each phase the median: one disturbed pass would tell wrong shares of all."""
    return {name: median([part.get(name, 0.0) for part in parts]) for name in parts[0]}


def outside_matrices(phases: dict[str, float]) -> float:
    """The share of a step that is not the matrix kernels'."""
    return 1 - phases.get("matrix", 0.0) / sum(phases.values())


def _doubt(report: dict) -> str:
    """What to make of a step that reads faster than the memory."""
    if report["bandwidth_share"] <= 1:
        return ""
    if report["weight_bytes"] <= CACHE_BYTES:
        return " (its weights may stay in the cache)"
    return " (the machine was busy while it was measured: try again)"


def _phases_text(report: dict) -> str:
    phases = report["phases_ms"]
    total = sum(phases.values())
    ordered = sorted(phases.items(), key=lambda item: -item[1])
    rows = [(name, ms, 100 * ms / total) for name, ms in ordered]
    return table(("phase of a plain step", "ms", "%"), [*rows, ("all", total, 100.0)]) + (
        "\ndelta: convolution and recurrence of the linear-attention layers; python: what no kernel accounts for"
        f"\nsampling with top-k 20 instead of greedy: {report['sampling_top_k_20_ms']:.2f} ms"
    )


def _contexts_text(report: dict) -> str:
    rows = [
        (
            str(row["context"]),
            row["ms"],
            row["four_rows_ms"],
            row["four_rows_ms"] / row["ms"],
            row["phases_ms"].get("attention", 0.0),
            f"{100 * outside_matrices(row['phases_ms']):.0f}",
            f"{row['kv_bytes'] / 1e6:.1f}",
            f"{row['recurrent_bytes'] / 1e6:.1f}",
            f"{row['resident_growth_bytes'] / 1e6:.1f}",
        )
        for row in report["contexts"]
    ]
    columns = (
        "context",
        "ms",
        "4 rows ms",
        "x one row",
        "attention ms",
        "outside %",
        "KV MB",
        "recurrent MB",
        "resident MB",
    )
    fill = report["contexts"][0]["fill"]
    lines = [table(columns, rows)]
    if len(rows) > 1:
        lines.append(
            f"slope {report['context_slope_us_per_token']:.3f} microseconds a token of context ({fill} keys)"
        )
    return "\n".join([*lines, "outside: everything but the matrix kernels"])
