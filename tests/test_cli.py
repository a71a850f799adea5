"""The command: what it imports, how it fails, and what it never does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fake_engine import FakeEngine, isolate
from terminal import run_chat, start_chat

from kestrel_tui import log
from kestrel_tui.cli import main

HEAVY = ("textual", "numba", "torch", "numpy", "jinja2", "tokenizers", "huggingface_hub", "rich")


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    environment = isolate(dict(os.environ), tmp_path)
    for name in set(os.environ) - set(environment):
        monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return tmp_path


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["--list"]])
def test_what_needs_no_engine_imports_none(home: Path, arguments: list[str]) -> None:
    script = (
        "import sys, atexit\n"
        "from kestrel_tui.cli import main\n"
        f"heavy = lambda: [name for name in {HEAVY} if name in sys.modules]\n"
        "atexit.register(lambda: sys.stderr.write(repr(heavy())))\n"
        f"sys.exit(main({arguments}))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stderr.endswith("[]")


def test_version_is_one_line() -> None:
    done = subprocess.run([sys.executable, "-m", "kestrel_tui", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("kestrel-chat ") and done.stdout.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["--bogus"],
        ["one", "two"],
        ["-p"],
        ["--temperature", "hot", "-p", "x"],
        ["--speculate", "9", "-p", "x"],
        ["--output", "xml", "-p", "x"],
        ["--output", "json"],
        ["--raw"],
        ["--raw", "-p", "x", "--system", "y"],
        ["--raw", "-p", "x", "--continue"],
        ["--list", "-p", "x"],
        ["--continue", "--resume", "a"],
        ["--continue"],
        ["--resume", "none"],
        ["--show", "none"],
        ["-p", " \n "],
        ["--stop=--", "-p", "x"],
        ["http://localhost:8000/v1", "-p", "x"],
        ["missing/model", "-p", "x"],
    ],
)
def test_wrong_use_is_one_line_and_status_2(arguments: list[str], capsys: pytest.CaptureFixture) -> None:
    assert main(arguments, FakeEngine) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("kestrel-chat: ") and captured.err.count("\n") == 1
    assert "usage" not in captured.err


def test_a_broken_config_is_status_2(home: Path, capsys: pytest.CaptureFixture) -> None:
    config = home / "config" / "kestrel" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("top-k =\n")
    assert main(["-p", "x"], FakeEngine) == 2
    assert str(config) in capsys.readouterr().err


def test_an_unknown_key_warns_and_the_answer_comes(home: Path, capsys: pytest.CaptureFixture) -> None:
    config = home / "config" / "kestrel" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("colour = 'red'\nmax-tokens = 2\n")
    assert main(["-p", "hello", "-q"], FakeEngine) == 0
    captured = capsys.readouterr()
    assert captured.out == "You said: \n"
    assert captured.err.count("\n") == 1 and "unknown key 'colour'" in captured.err


def test_options_reach_the_engine() -> None:
    flags = [
        "--quant",
        "q4",
        "--device",
        "cuda",
        "--threads",
        "3",
        "--context",
        "100",
        "--prefill-chunk",
        "5",
    ]
    flags += ["--rollback", "rerun", "--draft-vocab", "all", "--speculate", "off", "--drafter", "lookup"]
    flags += ["--stop", "a", "--stop", "b", "--max-tokens", "9", "--no-think", "--system", "Be brief."]
    flags += ["--temperature", "0", "--top-p", "0.5", "--seed", "7"]
    assert main(["folder", "-p", "hi", *flags], FakeEngine) == 0
    engine = FakeEngine.made
    options, submit = engine.options, engine.submits[0]
    assert (options.model, options.quant, options.device, options.threads) == ("folder", "q4", "cuda", 3)
    assert (options.context, options.prefill_chunk, options.rollback) == (100, 5, "rerun")
    assert options.draft_vocab == "all"
    assert (submit.speculation.length, submit.speculation.drafter) == (0, "lookup")
    assert (submit.stop, submit.max_tokens, submit.think) == (("a", "b"), 9, False)
    assert submit.messages == (
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "hi"},
    )
    # Not given: the model's own top-k; given: the rest.
    sampling = submit.sampling
    assert (sampling.temperature, sampling.top_k, sampling.top_p, sampling.seed) == (0.0, 20, 0.5, 7)


def test_the_unexpected_is_one_line_and_a_log(home: Path, capsys: pytest.CaptureFixture) -> None:
    class Broken(FakeEngine):
        @property
        def defaults(self) -> object:
            raise ZeroDivisionError("nobody expects\nthis")

        @defaults.setter
        def defaults(self, value: object) -> None:
            pass

    assert main(["-p", "x", "--output", "jsonl"], Broken) == 1
    captured = capsys.readouterr()
    log_file = home / "state" / "kestrel" / "kestrel.log"
    assert captured.err.count("\n") == 1
    assert "ZeroDivisionError: nobody expects this" in captured.err and str(log_file) in captured.err
    assert json.loads(captured.out.splitlines()[-1])["event"] == "error"
    assert "Traceback" in log_file.read_text()
    assert log_file.stat().st_mode & 0o777 == 0o600


def test_with_no_save_not_even_a_log_is_written(home: Path, capsys: pytest.CaptureFixture) -> None:
    def broken(*_: object, **__: object) -> FakeEngine:
        raise ZeroDivisionError

    assert main(["-p", "x", "--no-save"], broken) == 1
    assert "--no-save" in capsys.readouterr().err
    assert main(["-p", "x", "--no-save"], FakeEngine) == 0
    assert list(home.iterdir()) == []


def test_a_log_that_cannot_be_written_is_said(home: Path, capsys: pytest.CaptureFixture) -> None:
    (home / "state").write_text("in the way")

    def broken(*_: object, **__: object) -> FakeEngine:
        raise ZeroDivisionError

    assert main(["-p", "x"], broken) == 1
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1 and "could not be logged" in captured.err


def test_warnings_of_libraries_stay_off_the_screen(home: Path, capsys: pytest.CaptureFixture) -> None:
    import logging
    import warnings

    with log.logging_to_file(save=True):
        warnings.warn("compiled code is slow", stacklevel=1)
        logging.getLogger("some.library").warning("try another way")
    assert capsys.readouterr().err == ""
    text = (home / "state" / "kestrel" / "kestrel.log").read_text()
    assert "compiled code is slow" in text and "try another way" in text


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_keeps_what_is_there(home: Path, number: int) -> None:
    process = start_chat(home, "-p", "slow")
    begin = process.stdout.read(6)
    process.send_signal(number)
    rest, errors = process.communicate(timeout=20)
    text = (begin + rest).decode()
    assert process.returncode == 130
    assert text.startswith("word0 word1 ") and text.endswith("\n") and "word39" not in text
    assert b"Traceback" not in errors


def test_a_signal_while_loading_ends_at_once(home: Path) -> None:
    process = start_chat(home, "slow-load", "-p", "x", "--output", "jsonl")
    process.stdout.readline()
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate(timeout=20)
    assert process.returncode == 130 and errors == b""
    assert json.loads(rest) == {"event": "error", "message": "interrupted"}
    assert time.monotonic() - began < 15  # the load takes thirty seconds


@pytest.mark.parametrize(
    ("entry", "during", "status"),
    [
        ("kestrel_tui", "kestrel_tui.cli", -signal.SIGINT),
        ("kestrel_tui", "kestrel_tui.settings", 130),
        ("kestrel_tui", "the end", -signal.SIGINT),
        ("kestrel_engine.bench", "kestrel_engine.bench.cli", -signal.SIGINT),
        ("kestrel_engine.bench", "numpy", -signal.SIGINT),
    ],
)
def test_ctrl_c_while_python_imports_or_ends_is_quiet(entry: str, during: str, status: int) -> None:
    script = (
        "import atexit, os, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it\n"
        "interrupt = lambda: os.kill(os.getpid(), signal.SIGINT)\n"
        "class Finder:\n"
        "    def find_spec(name, *_):\n"
        f"        name == {during!r} and interrupt()\n"
        "sys.meta_path.insert(0, Finder)\n"
        f"{during!r} == 'the end' and atexit.register(interrupt)\n"
        "sys.argv = ['command', '--list']\n"
        f"from {entry}.__main__ import main\n"
        "sys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr.removeprefix("No chat is saved yet.\n")) == (status, "")


def test_ctrl_c_stays_ignored_where_the_shell_has_it_so(home: Path) -> None:
    script = (
        "import os, signal, sys\n"
        "sys.meta_path.insert(0, type('Finder', (), {'find_spec': lambda *_: os.kill(os.getpid(), signal.SIGINT)}))\n"
        "from kestrel_tui.__main__ import main\n"
        "sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "--list"],
        capture_output=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    assert (done.returncode, done.stderr) == (0, b"No chat is saved yet.\n")


def test_a_closed_pipe_ends_quietly(home: Path) -> None:
    process = start_chat(home, "-p", "slow")
    process.stdout.read(4)
    process.stdout.close()
    assert process.wait(20) == 141
    assert process.stderr.read() == b""


@pytest.mark.parametrize("arguments", [["-p", "hi"], ["--help"], ["--version"]])
def test_a_full_disk_behind_standard_output(home: Path, arguments: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, str(Path(__file__).with_name("fake_engine.py")), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 1
    assert done.stderr == "kestrel-chat: standard output cannot be written: No space left on device\n"


def test_closed_standard_streams(home: Path) -> None:
    program = f"{sys.executable} {Path(__file__).with_name('fake_engine.py')} -p hi"
    done = subprocess.run(f"{program} <&- 2>&-", shell=True, capture_output=True)
    assert (done.returncode, done.stdout) == (0, b"You said: hi\n")
    done = subprocess.run(
        f"{program} --plain -q".replace(" -p hi", "") + " <&-", shell=True, capture_output=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    done = subprocess.run(f"{program} >&-", shell=True, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith("kestrel-chat: standard output is closed")


def test_run_as_a_module_is_the_same_command() -> None:
    done = subprocess.run([sys.executable, "-m", "kestrel_tui", "--bogus"], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.startswith("kestrel-chat: unrecognized arguments: --bogus")


def test_a_message_with_control_characters_is_still_one_line(home: Path) -> None:
    done = run_chat(home, "missing\x1b[31m\nmodel", "-p", "x")
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1 and b"\x1b" not in done.stderr
