"""The `kestrel-bench` command; each subcommand is a module of its own."""

from __future__ import annotations

import os
import sys

from kestrel_engine.bench import accept, compare, decode, exact, perplexity, speculate
from kestrel_engine.bench.command import Parser
from kestrel_engine.bench.schemes import command as schemes
from kestrel_engine.errors import KestrelError

OUTPUT_CLOSED = 141
"""What a shell reports for a program that SIGPIPE ended; so does kestrel-chat."""
COMMANDS = (exact, decode, speculate, accept, schemes, compare, perplexity)


def _parser() -> Parser:
    parser = Parser(prog="kestrel-bench", description="Measurements of the Kestrel engine.")
    commands = parser.add_subparsers(dest="command", required=True, parser_class=Parser, metavar="COMMAND")
    for command in COMMANDS:
        command.add_options(commands)
    return parser


def main(argv: list[str] | None = None) -> int:
    try:
        arguments = _parser().parse_args(argv)
        if sys.stdout is None:
            raise KestrelError("standard output is closed: redirect it to a file, or to /dev/null")
        return arguments.run(arguments)
    except KestrelError as error:
        print(f"kestrel-bench: {error}", file=sys.stderr)
        return error.exit_status
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # What is left to be written goes nowhere, or the end of the process would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OUTPUT_CLOSED


if __name__ == "__main__":
    sys.exit(main())
