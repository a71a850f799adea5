"""The `kestrel-bench` command; each subcommand is a module of its own."""

from __future__ import annotations

import sys

from kestrel_engine.bench import accept, compare, decode, exact, perplexity, speculate
from kestrel_engine.bench.schemes import command as schemes
from kestrel_engine.command_line import Parser, add_version
from kestrel_engine.errors import KestrelError
from kestrel_engine.output import OUTPUT_CLOSED, OutputClosed, prepare

COMMANDS = (exact, decode, speculate, accept, schemes, compare, perplexity)


def _parser() -> Parser:
    parser = Parser(
        prog="kestrel-bench",
        description="Measurements of the Kestrel engine. COMMAND --help tells its options, their defaults in brackets.",
        epilog="Exit status: 0 ok, 1 failure or a text that differs, 2 usage, 130 interrupted, "
        "141 when the reader of the output goes away.",
    )
    add_version(parser)
    commands = parser.add_subparsers(
        dest="command", required=True, title="commands", parser_class=Parser, metavar="COMMAND"
    )
    for command in COMMANDS:
        command.add_options(commands)
    return parser


def main(argv: list[str] | None = None) -> int:
    try:
        prepare()
        arguments = _parser().parse_args(argv)
        return arguments.run(arguments)
    except KestrelError as error:
        print(f"kestrel-bench: {error}", file=sys.stderr)
        return error.exit_status
    except KeyboardInterrupt:
        return 130
    except OutputClosed:
        return OUTPUT_CLOSED


if __name__ == "__main__":
    sys.exit(main())
