"""The command line of `kestrel-chat`: its options and their help."""

from __future__ import annotations

import argparse
from typing import Any

from kestrel_engine.command_line import Parser, add_version
from kestrel_engine.errors import UsageError

_DESCRIPTION = "Chat with a Qwen3.5 model in the terminal; speculative decoding that never changes a bit."
_MODEL = "folder in Hugging Face layout or hub id; default: the bundled kestrel-nano"
_EPILOGUE = """\
config.toml (in the folder of application "kestrel") and KESTREL_* variables take the same names:
max-tokens = 200, KESTREL_MAX_TOKENS=200. Flags win over variables, variables over the file.
Exit status: 0 ok, 1 failure, 2 usage, 130 interrupted, 141 when the reader of the output goes away."""

_GROUPS: dict[str, list[tuple[tuple[str, ...], dict[str, Any]]]] = {
    "one answer": [
        (
            ("-p", "--prompt"),
            {"metavar": "TEXT", "help": "answer TEXT and exit; - is stdin; piped text goes before"},
        ),
        (
            ("--output",),
            {"metavar": "FORM", "help": "text (default), json (an object) or jsonl (events)"},
        ),
        (
            ("--raw",),
            {"action": "store_true", "help": "the prompt is the token stream: no chat template"},
        ),
    ],
    "the answer": [
        (("--system",), {"metavar": "TEXT", "help": "system message"}),
        (
            ("--think",),
            {"action": argparse.BooleanOptionalAction, "help": "default: as the model's template has it"},
        ),
        (("--max-tokens",), {"metavar": "N", "help": "longest answer; default 1024"}),
        (("--stop",), {"metavar": "TEXT", "action": "append", "help": "end before TEXT; may be repeated"}),
    ],
    "sampling (defaults: the model's generation_config.json)": [
        (("--temperature",), {"metavar": "T", "help": "0 is greedy"}),
        (("--top-k",), {"metavar": "N", "help": "0 is off"}),
        (("--top-p",), {"metavar": "P", "help": "1 is off"}),
        (("--min-p",), {"metavar": "P", "help": "0 is off"}),
        (("--presence-penalty",), {"metavar": "X", "help": "0 is off"}),
        (("--repetition-penalty",), {"metavar": "X", "help": "1 is off"}),
        (("--seed",), {"metavar": "N", "help": "default: random, printed with the stats"}),
    ],
    "speculation (never changes the text)": [
        (("--speculate",), {"metavar": "K", "help": "auto, off or 1 to 8 drafts a round; default auto"}),
        (("--drafter",), {"metavar": "NAME", "help": "auto, mtp or lookup; default auto"}),
        (("--draft-vocab",), {"metavar": "N", "help": "rows of the draft head, or all"}),
        (("--rollback",), {"metavar": "NAME", "help": "cursor, snapshot or rerun; default cursor"}),
    ],
    "the engine": [
        (("--quant",), {"metavar": "FORM", "help": "auto, bf16, q8 or q4; default auto"}),
        (("--device",), {"metavar": "NAME", "help": "auto, cpu or cuda; default auto"}),
        (("--threads",), {"metavar": "N", "help": "default: physical cores"}),
        (("--prefill-chunk",), {"metavar": "N", "help": "rows per prefill pass"}),
        (("--context",), {"metavar": "N", "help": "context limit; default: the model's, capped by memory"}),
    ],
    "the chat": [
        (("--plain",), {"action": "store_true", "help": "append-only chat without the TUI"}),
        (("--no-save",), {"action": "store_true", "help": "write nothing to disk"}),
        (("-q", "--quiet"), {"action": "store_true", "help": "no stats line"}),
    ],
}

_SAVED: list[tuple[tuple[str, ...], dict[str, Any]]] = [
    (
        ("--continue",),
        {"action": "store_true", "help": "go on with the latest chat; with -p also a script's"},
    ),
    (("--resume",), {"metavar": "ID", "help": "go on with a chat; ID is the beginning of its id"}),
    (("--list",), {"action": "store_true", "help": "list the saved chats"}),
    (("--show",), {"metavar": "ID", "help": "print a chat as Markdown"}),
]


def make_parser() -> argparse.ArgumentParser:
    """Options that were not given are absent from the namespace."""
    parser = Parser(
        prog="kestrel-chat",
        description=_DESCRIPTION,
        epilog=_EPILOGUE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        argument_default=argparse.SUPPRESS,
    )
    parser.add_argument("model", nargs="?", metavar="MODEL", help=_MODEL)
    for title, options in _GROUPS.items():
        group = parser.add_argument_group(title)
        for flags, keywords in options:
            group.add_argument(*flags, **keywords)
    saved = parser.add_argument_group("saved chats").add_mutually_exclusive_group()
    for flags, keywords in _SAVED:
        saved.add_argument(*flags, **keywords)
    add_version(parser)
    return parser


def parse(arguments: list[str]) -> dict[str, Any]:
    """What was given on the command line, by option name with underscores. Raises UsageError.

    Options that exclude each other are refused here.
    """
    given = vars(make_parser().parse_args(arguments))
    given.setdefault("output", "text")
    if given["output"] not in ("text", "json", "jsonl"):
        raise UsageError(f"--output {given['output']}: use text, json or jsonl")
    for name in ("list", "show"):
        if name in given and "prompt" in given:
            raise UsageError(f"--{name} prints saved chats: leave out -p")
    if "prompt" not in given:
        for name in ("raw",) if given["output"] == "text" else ("output",):
            if name in given:
                raise UsageError(f"--{name} is for one answer: give the prompt with -p")
    if given.get("raw"):
        for name in ("system", "think", "continue", "resume"):
            if name in given:
                raise UsageError(f"--raw takes the prompt as it is: leave out --{name}")
    return given
