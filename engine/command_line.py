"""What the command lines of all commands have in common."""

from __future__ import annotations

import argparse
import sys
from typing import Any, NoReturn

from kestrel_engine.errors import UsageError
from kestrel_engine.output import write_out


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, without the usage. Options are written out."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, allow_abbrev=False, **keywords)

    def error(self, message: str) -> NoReturn:
        hint = f"see {self.prog} --help"
        if message.endswith("expected one argument"):
            hint = "a value that begins with a dash is written --option=VALUE"
        raise UsageError(f"{message}: {hint}")

    def print_help(self, file: object = None) -> None:
        write_out(self.format_help())  # argparse's own keeps silent about what was not written


class Version(argparse.Action):
    """Prints the version. It is looked up only then: importlib.metadata takes its time."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from importlib.metadata import PackageNotFoundError, version

        try:
            number = version("kestrel-chat")
        except PackageNotFoundError:
            number = "(not installed)"
        write_out(f"{parser.prog} {number}\n")
        sys.exit(0)


def add_version(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--version", action=Version, nargs=0, help="print the version")
