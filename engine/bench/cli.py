"""The `kestrel-bench` command."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys

from kestrel_engine.errors import KestrelError, UsageError
from kestrel_engine.events import Loading

SCHEMA = 1
BENCH_CONTEXT = 1024


class _Parser(argparse.ArgumentParser):
    def error(self, message: str):
        raise UsageError(f"{message}: see kestrel-bench --help")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="kestrel-bench", description="Measurements of the Kestrel engine.")
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    exact = commands.add_parser("exact", help="does every mode of decoding give the same bits?")
    exact.add_argument("model", nargs="?", help="folder or hub id; default: the bundled kestrel-nano")
    exact.add_argument(
        "--quant", choices=("all", "bf16", "q8", "q4"), default="all", help="weight formats to check"
    )
    exact.add_argument("--tokens", type=int, default=48, help="tokens of each answer (default 48)")
    exact.add_argument("--output", choices=("text", "json"), default="text")
    exact.set_defaults(run=_exact)

    perplexity = commands.add_parser("perplexity", help="what does a weight format cost in fidelity?")
    perplexity.add_argument("model", nargs="?", help="folder or hub id; default: the bundled kestrel-nano")
    perplexity.add_argument("--text", required=True, help="UTF-8 text file to score")
    perplexity.add_argument("--quant", choices=("all", "bf16", "q8", "q4"), default="all")
    perplexity.add_argument("--tokens", type=int, default=20_000, help="most tokens to score (default 20000)")
    perplexity.add_argument("--output", choices=("text", "json"), default="text")
    perplexity.set_defaults(run=_perplexity)
    return parser


def main(argv: list[str] | None = None) -> int:
    try:
        arguments = _parser().parse_args(argv)
        if arguments.tokens < 1:
            raise UsageError(f"tokens {arguments.tokens}: use 1 or more")
        return arguments.run(arguments)
    except KestrelError as error:
        print(f"kestrel-bench: {error}", file=sys.stderr)
        return error.exit_status
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 1


def _progress(event: object) -> None:
    if isinstance(event, Loading) and sys.stderr.isatty():
        percent = "" if event.fraction is None else f" {100 * event.fraction:.0f} %"
        print(f"\r\x1b[K{event.stage}{percent}", end="", file=sys.stderr, flush=True)


def _load_formats(arguments: argparse.Namespace):
    """The model in the wanted format, or in all three one after another."""
    from kestrel_engine.loader import load
    from kestrel_engine.options import EngineOptions

    for format in ("bf16", "q8", "q4") if arguments.quant == "all" else (arguments.quant,):
        loaded = load(EngineOptions(model=arguments.model, quant=format, context=BENCH_CONTEXT), _progress)
        if sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr)
        yield loaded


def _exact(arguments: argparse.Namespace) -> int:
    from kestrel_engine.bench import exact
    from kestrel_engine.bench.machine import machine_facts

    as_text = arguments.output == "text"
    checked, model_name, threads = [], "", 1
    for loaded in _load_formats(arguments):
        model_name, threads = loaded.config.name, loaded.threads
        for row in exact.run_format(loaded, arguments.tokens):
            row = {"format": loaded.format, **row}
            checked.append(row)
            if as_text:
                verdict = "identical" if row["identical"] else f"DIFFERENT: {row['difference']}"
                hits = f"{row['accepted']}/{row['drafted']}"
                print(
                    f"{row['format']:5} {row['sampling']:8} {row['mode']:42} {hits:>9}  {verdict}", flush=True
                )
    identical = sum(row["identical"] for row in checked)
    report = {
        "schema": SCHEMA,
        "machine": machine_facts(threads),
        "model": model_name,
        "format": arguments.quant,
        "modes": len(checked),
        "identical": identical,
        "differences": [row for row in checked if not row["identical"]],
    }
    if as_text:
        print(
            f"{model_name}: {identical} of {len(checked)} modes identical to plain decoding, tokens and state"
        )
    else:
        print(json.dumps(report))
    return 0 if identical == len(checked) else 1


def _perplexity(arguments: argparse.Namespace) -> int:
    from kestrel_engine.bench.machine import machine_facts
    from kestrel_engine.bench.perplexity import measure, read_text

    text = read_text(arguments.text)
    rows, model_name, threads = [], "", 1
    for loaded in _load_formats(arguments):
        model_name, threads = loaded.config.name, loaded.threads
        rows.append(measure(loaded, text, arguments.tokens))
    if arguments.output == "json":
        results = [dataclasses.asdict(row) for row in rows]
        report = {
            "schema": SCHEMA,
            "machine": machine_facts(threads),
            "model": model_name,
            "results": results,
        }
        print(json.dumps(report))
        return 0
    print(f"{model_name}, {rows[0].tokens} tokens")
    for row in rows:
        cost = 100 * (row.perplexity / rows[0].perplexity - 1)
        print(
            f"{row.format:5} {row.bits_per_byte:.4f} bits per byte   perplexity {row.perplexity:.3f}  ({cost:+.2f} %)"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
