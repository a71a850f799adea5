"""The `kestrel-chat` command: chooses what to do, and turns every failure into one line and a status."""

from __future__ import annotations

import dataclasses
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kestrel_engine.errors import KestrelError, UsageError
from kestrel_engine.output import OUTPUT_CLOSED, OutputClosed, prepare
from kestrel_tui import arguments, streams
from kestrel_tui.sanitize import clean_input, one_line

if TYPE_CHECKING:
    from kestrel_tui.chats import Chat, ChatStore
    from kestrel_tui.client import EngineFactory
    from kestrel_tui.journal import Journal
    from kestrel_tui.settings import Settings

INTERRUPTED = 130


def main(argv: Sequence[str] | None = None, engine_factory: EngineFactory | None = None) -> int:
    """Run `kestrel-chat` and return its exit status.

    engine_factory: makes the engine, called like `kestrel_engine.thread.Engine`; None is that engine.
    """
    try:
        prepare()
        try:
            given = arguments.parse(list(sys.argv[1:] if argv is None else argv))
            status = _run_reporting(given, engine_factory)
        except SystemExit as done:  # argparse has printed the help or the version
            status = int(done.code or 0)
        streams.write_out("")
        return status
    except KestrelError as error:
        streams.complain(str(error))
        return error.exit_status
    except KeyboardInterrupt:
        return INTERRUPTED
    except OutputClosed:
        return OUTPUT_CLOSED


def _run_reporting(given: dict[str, Any], factory: EngineFactory | None) -> int:
    """`_run`, whose failure is the last event of `--output jsonl`."""
    try:
        return _run(given, factory)
    except (KestrelError, KeyboardInterrupt) as error:
        if given["output"] == "jsonl":
            from kestrel_tui.oneshot import write_error

            write_error(one_line(str(error)) or "interrupted")
        raise


def _run(given: dict[str, Any], factory: EngineFactory | None) -> int:
    from kestrel_tui import log

    settings = _settings(given)
    with log.logging_to_file(save=not settings.no_save):
        try:
            if "list" in given:
                return _list()
            if "show" in given:
                return _show(given["show"])
            return _talk(given, settings, factory)
        except (KestrelError, OutputClosed):
            raise
        except Exception as error:
            where = log.record(error)
            raise KestrelError(f"unexpected {type(error).__name__}: {error}: {where}") from None


def _settings(given: dict[str, Any]) -> Settings:
    from kestrel_tui.paths import config_file
    from kestrel_tui.settings import NAMES, resolve

    flags = {name: value for name, value in given.items() if name.replace("_", "-") in NAMES}
    settings, warnings = resolve(flags, os.environ, config_file())
    for warning in warnings:
        streams.complain(warning)
    return settings


def _list() -> int:
    from kestrel_tui.chats import list_lines

    notices: list[str] = []
    count = 0
    for line in list_lines(_store(), notices):
        streams.write_out(_within_terminal(line) + "\n")
        count += 1
    for notice in notices:
        streams.complain(notice)
    if not count and not notices:
        streams.say("No chat is saved yet.")
    return 0


def _within_terminal(line: str) -> str:
    """The line, cut at the edge of standard output if that is a terminal."""
    if not streams.is_terminal(sys.stdout):
        return line
    from kestrel_tui.printed import cut

    return cut(line, shutil.get_terminal_size().columns)


def _show(prefix: str) -> int:
    from kestrel_tui.chats import as_markdown
    from kestrel_tui.printed import for_stdout

    chat = _read(_store().find(prefix))
    streams.write_out(for_stdout(as_markdown(chat)))
    return 0


def _store() -> ChatStore:
    from kestrel_tui.chats import ChatStore
    from kestrel_tui.paths import chats_folder

    return ChatStore(chats_folder())


def _read(path: Path) -> Chat:
    from kestrel_tui.chats import read_chat

    chat = read_chat(path)
    for notice in chat.notices:
        streams.complain(notice)
    return chat


def _talk(given: dict[str, Any], settings: Settings, factory: EngineFactory | None) -> int:
    """Everything that needs the engine: one answer, or a chat."""
    from kestrel_tui.journal import Journal
    from kestrel_tui.paths import chats_folder

    prompt = _prompt(given["prompt"], bool(given.get("raw"))) if "prompt" in given else None
    is_saved = not settings.no_save and not given.get("raw")
    is_scripted = prompt is not None or not streams.is_terminal(sys.stdin)
    journal = Journal(streams.complain, chats_folder() if is_saved else None, is_oneshot=is_scripted)
    try:
        chat, settings = _open_chat(given, settings, journal)
        if prompt is not None:
            from kestrel_tui.oneshot import Job, make_output, run_oneshot

            output = make_output(given["output"], settings)
            return run_oneshot(Job(prompt, bool(given.get("raw")), settings, chat, journal, output), factory)
        if _is_live(settings):
            from kestrel_tui.live.run import run_live

            return run_live(settings, chat, journal, _store(), factory)
        from kestrel_tui.plain import run_plain

        return run_plain(settings, chat, journal, factory)
    finally:
        journal.close()


def _is_live(settings: Settings) -> bool:
    """Whether the chat has the full screen: a terminal on both ends that can, and a user who can see it."""
    is_terminal = streams.is_terminal(sys.stdin) and streams.is_terminal(sys.stdout)
    return (
        is_terminal
        and not settings.plain
        and os.environ.get("TERM", "") not in ("", "dumb")
        and not os.environ.get("ACCESSIBLE")
    )


def _prompt(text: str, raw: bool) -> str:
    """What is asked: the text of -p, after piped text if there is any; "-" is standard input alone."""
    if text == "-":
        prompt = streams.read_stdin(sys.stdin)
        prompt = prompt if raw else prompt.rstrip("\r\n")
    else:
        before, prompt = streams.piped_text(sys.stdin).rstrip("\r\n"), clean_input(text)
        prompt = "\n\n".join(part for part in (before, prompt) if part)
    if not (prompt if raw else prompt.strip()):
        raise UsageError("the prompt is empty: write it after -p, or pipe it in")
    return prompt


def _open_chat(given: dict[str, Any], settings: Settings, journal: Journal) -> tuple[Chat, Settings]:
    """The chat to go on with, or a new one; and the settings with the model that chat was held with."""
    from kestrel_tui.chats import Chat
    from kestrel_tui.journal import now

    if "continue" in given or "resume" in given:
        store = _store()
        path = store.find(given["resume"]) if "resume" in given else store.latest("prompt" in given)
        chat = _read(path)
        journal.resume(path)
        if "system" in given:
            chat.system = settings.system
            journal.system(chat.system)
        if "model" not in given:
            settings = dataclasses.replace(settings, model=chat.model)
        return chat, settings
    chat = Chat(created=now(), model=_lasting_name(settings.model), system=settings.system)
    journal.begin(chat.model, chat.system)
    return chat, settings


def _lasting_name(model: str | None) -> str | None:
    """`model` so that it means the same from any folder."""
    return os.path.abspath(model) if model and os.path.isdir(model) else model
