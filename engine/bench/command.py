"""What the commands share: options, loading with progress, the frame of a report."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable

from kestrel_engine.bench.machine import MUCH, OtherWork, machine_facts
from kestrel_engine.command_line import Parser
from kestrel_engine.events import Loading
from kestrel_engine.loader import LoadedModel, load
from kestrel_engine.mapped_file import wait_until_moved
from kestrel_engine.options import MAX_DRAFT, DraftLength, EngineOptions
from kestrel_engine.output import write_out
from kestrel_engine.words import counted

SCHEMA = 1
CONTEXT = 1024
FORMATS = ("bf16", "q8", "q4")
TIMED = ("decode", "speculate", "schemes", "compare")
"""Commands that measure time; the others count, which other work does not disturb."""


def add_command(
    commands, name: str, summary: str, description: str, run: Callable[[argparse.Namespace], int]
) -> Parser:
    """A subcommand with the options that every command has."""
    parser = commands.add_parser(name, help=summary, description=description)
    parser.add_argument("model", nargs="?", help="folder or hub id (the bundled kestrel-nano)")
    parser.add_argument(
        "--output", choices=("text", "json"), default="text", help="tables, or one object (text)"
    )
    parser.add_argument("--threads", type=positive, metavar="N", help="threads (one for each physical core)")
    parser.add_argument(
        "--device", choices=("auto", "cpu", "cuda"), default="auto", help="where the model runs (auto)"
    )
    parser.set_defaults(run=run)
    return parser


def add_one_format(parser: Parser) -> None:
    parser.add_argument("--quant", choices=("auto", *FORMATS), default="auto", help="weight format (auto)")


def add_repeat(parser: Parser, repeat: int) -> None:
    parser.add_argument(
        "--repeat",
        type=positive,
        default=repeat,
        metavar="N",
        help=f"repeats; figures are medians ({repeat})",
    )


def add_all_formats(parser: Parser) -> None:
    parser.add_argument("--quant", choices=("all", *FORMATS), default="all", help="weight formats (all)")


def add_plot(parser: Parser) -> None:
    parser.add_argument(
        "--plot", metavar="FILE", help="also draw it: FILE.png or FILE.svg (needs matplotlib)"
    )


# --- values of options ------------------------------------------------------------------------------------


def whole(text: str, which: str = "") -> int:
    """which: what else the number must be, which others check."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text}: use a whole number{which}") from None


def positive(text: str) -> int:
    value = whole(text, ", 1 or more")
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text}: use 1 or more")
    return value


def up_to(most: int) -> Callable[[str], int]:
    """The parser of a whole number from 1 to `most`."""

    def parse(text: str) -> int:
        value = whole(text, f" from 1 to {most}")
        if not 1 <= value <= most:
            raise argparse.ArgumentTypeError(f"{text}: use 1 to {most}")
        return value

    return parse


def number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text}: use a number") from None


def counts(text: str) -> list[int]:
    """ "1024,8192" -> [1024, 8192]; each once."""
    return list(dict.fromkeys(positive(part) for part in text.split(",")))


def draft_lengths(text: str) -> list[DraftLength]:
    """ "1,3,auto" or "1..8,auto" -> the lengths in that order."""
    found: list[DraftLength] = []
    for part in text.split(","):
        first, dots, last = part.strip().partition("..")
        if part.strip() == "auto":
            found.append("auto")
        elif first.isdecimal() and (last.isdecimal() or not dots):
            found += range(int(first), min(int(last or first), MAX_DRAFT + 1) + 1)  # more is refused below
        else:
            raise argparse.ArgumentTypeError(f"{text}: use lengths such as 1,3,auto or 1..8")
    if not all(length == "auto" or 1 <= length <= MAX_DRAFT for length in found) or not found:
        raise argparse.ArgumentTypeError(f"{text}: use auto and 1 to {MAX_DRAFT}")
    return list(dict.fromkeys(found))


def hit_rates(text: str) -> list[float]:
    """ "0.71,0.36" -> conditional hit rates per draft position."""
    try:
        rates = [float(part) for part in text.split(",")]
    except ValueError:
        rates = [math.nan]
    if not all(0 <= rate <= 1 for rate in rates):
        raise argparse.ArgumentTypeError(f"{text}: use rates from 0 to 1 such as 0.71,0.36,0.5")
    if len(rates) > MAX_DRAFT:
        raise argparse.ArgumentTypeError(
            f"{text}: use at most {MAX_DRAFT} rates, one for each draft of a round"
        )
    return rates


# --- loading ----------------------------------------------------------------------------------------------


class Progress:
    """One line on stderr that is written over; nothing where stderr is no terminal."""

    def __init__(self) -> None:
        self._active = sys.stderr.isatty()

    def __call__(self, text: str) -> None:
        if self._active:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    def done(self) -> None:
        self("")


def load_model(
    arguments: argparse.Namespace, progress: Progress, quant: str | None = None, context: int = CONTEXT
) -> LoadedModel:
    """quant: a format in place of the option's."""

    def emit(event: object) -> None:
        if isinstance(event, Loading):
            percent = "" if event.fraction is None else f" {100 * event.fraction:.0f} %"
            progress(f"{event.stage}{percent}")

    options = EngineOptions(
        model=arguments.model,
        quant=quant or arguments.quant,
        device=arguments.device,
        threads=arguments.threads,
        context=context,
    )
    loaded = load(options, emit)
    wait_until_moved()
    progress.done()
    return loaded


def load_formats(arguments: argparse.Namespace, progress: Progress):
    """The model in the wanted format, or in all three one after another."""
    for quant in FORMATS if arguments.quant == "all" else (arguments.quant,):
        yield load_model(arguments, progress, quant)


# --- reports ----------------------------------------------------------------------------------------------


def frame(loaded: LoadedModel, command: str, format: str | None = None) -> dict:
    """What every report begins with."""
    return {
        "schema": SCHEMA,
        "command": command,
        "machine": machine_facts(loaded.threads),
        "model": loaded.config.name,
        "format": format or loaded.format,
        "device": loaded.device,
    }


def header(report: dict) -> str:
    machine = report["machine"]
    cores, threads = counted(machine["cores"], "core"), counted(machine["threads"], "thread")
    facts = [
        f"kestrel-bench {report['command']}",
        report["model"],
        report["format"],
        f"{machine['cpu']}, {cores}, {threads}",
        f"Python {machine['python']}, {machine['system']}",
    ]
    is_timed = report["command"] in TIMED
    return " · ".join(facts) + (_other_work_text(machine.get("other_work")) if is_timed else "")


def _other_work_text(cores: OtherWork | float | None) -> str:
    """A line about other work, once it is known to have been much."""
    if not isinstance(cores, float) or cores <= MUCH:
        return ""
    much = f"{cores:.2f} of a core" if cores < 1 else f"{cores:.2f} cores"
    return (
        f"\nthe machine did other work meanwhile, {much}: the times are disturbed; end it and measure again"
    )


def show(report: dict, output: str, text: Callable[[dict], str]) -> None:
    """Print the report of what was measured until now as JSON, or its header and `text`."""
    machine = report["machine"]
    machine["other_work"] = machine["other_work"].cores()
    write_out((json.dumps(report) if output == "json" else f"{header(report)}\n\n{text(report)}") + "\n")
