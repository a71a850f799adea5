"""Saved chats: written as they happen, read back whatever happened to them."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fake_engine import FakeEngine, isolate
from saved_chats import a_chat, ask, chat_files
from terminal import Terminal, run_chat, start_chat

from kestrel_engine.events import Released, Round, Token
from kestrel_tui import journal as journal_module
from kestrel_tui.answer import Answer
from kestrel_tui.chats import as_markdown, local_time, read_chat
from kestrel_tui.cli import _open_chat, main
from kestrel_tui.journal import Journal
from kestrel_tui.settings import Settings


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name, value in isolate({}, tmp_path).items():
        monkeypatch.setenv(name, value)
    return tmp_path


def a_token(text: str, kind: str = "own") -> Token:
    return Token(5, text, kind, 0, 0, None, -1.0)


def test_a_journal_reads_back_as_the_chat_it_was(home: Path) -> None:
    notices: list[str] = []
    journal = Journal(notices.append, home)
    journal.begin(model="folder", system="Be brief.")
    journal.user("first\nline 日本")
    journal.answer(seed=3, prompt_tokens=9, reasoning=True)
    tokens = a_token("hm"), a_token("</think>", "accepted"), a_token("\n\nYes", "replayed")
    event = Round(0, tokens[:2], 3, 1, "mtp", (7, 8), 0.5, 2.0, 0.25, "fixed", ("a", "\n"), -2.5)
    journal.tokens(event)
    journal.tokens(Released(tokens[2:]))
    journal.end("stop", stats={"rounds": 2})
    journal.user("withdrawn")
    journal.end("error", "no room")
    journal.undo()
    journal.system("Be long.")
    journal.user("second")
    journal.close()
    [path] = home.glob("*.jsonl")
    chat = read_chat(path)
    assert (chat.id, chat.model, chat.system, chat.notices) == (path.stem, "folder", "Be long.", [])
    assert [turn.question for turn in chat.turns] == ["first\nline 日本", "second"]
    first, second = chat.turns
    assert (first.tokens, first.rounds) == ([*tokens], {0: event})
    assert (first.finish_reason, first.parts) == ("stop", ("hm", "Yes"))
    assert second.finish_reason is None
    # A question without an answer is kept, but the model does not see it.
    assert chat.messages() == [
        {"role": "system", "content": "Be long."},
        {"role": "user", "content": "first\nline 日本"},
        {"role": "assistant", "content": "Yes", "reasoning_content": "hm"},
    ]
    assert notices == []


def test_files_are_private(home: Path) -> None:
    path = a_chat(home, "hello")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_nothing_appears_before_the_first_question(home: Path) -> None:
    done = run_chat(home, "--plain", stdin=b"/help\n/new\n/quit\n")
    assert done.returncode == 0 and chat_files(home) == []


def test_continue_passes_over_answers_of_p_but_for_p_itself(
    home: Path, capsys: pytest.CaptureFixture
) -> None:
    def talk(question: str) -> None:
        with Terminal(home, "--plain", "--continue") as terminal:
            terminal.send(f"{question}\n/quit\n")
            assert terminal.wait() == 0

    def pipe(*lines: str) -> None:
        assert run_chat(home, "--plain", stdin="\n".join(lines).encode()).returncode == 0

    def questions(path: Path) -> list[str]:
        return [turn.question for turn in read_chat(path).turns]

    first = a_chat(home, "by a script")
    talk("by a person")
    assert questions(first) == ["by a script", "by a person"], "when there is nothing else"
    other = a_chat(home, "another script", "and more of it")
    talk("by a person again")
    assert questions(first)[2:] == ["by a person again"]
    pipe("a pipe")
    talk("by a person once more")
    assert questions(first)[3:] == ["by a person once more"]
    os.utime(other)
    ask("--continue", "-p", "the script goes on")
    assert questions(other) == ["another script", "and more of it", "the script goes on"]
    assert main(["--list"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if " turn" in line]
    assert [line.partition("turn")[2].lstrip("s ") for line in lines] == [
        "another script (by a script)",
        "by a script",
        "a pipe (by a script)",
    ]


def test_no_save_writes_nothing(home: Path) -> None:
    path = a_chat(home, "hello")
    before = path.read_bytes()
    ask("--no-save", "-p", "x")
    ask("--no-save", "--continue", "-p", "more")
    assert FakeEngine.made.submits[0].messages[0]["content"] == "hello"
    assert chat_files(home) == [path] and path.read_bytes() == before


def test_kill_9_in_mid_answer_loses_nothing_shown(home: Path) -> None:
    process = start_chat(home, "-p", "slow question")
    shown = b""
    while b"word9" not in shown:
        shown += os.read(process.stdout.fileno(), 1000)
    process.send_signal(signal.SIGKILL)
    shown += process.stdout.read()
    process.communicate()
    [path] = chat_files(home)
    turn = read_chat(path).turns[0]
    assert (turn.question, turn.finish_reason) == ("slow question", None)
    assert turn.text.startswith(shown.decode()) and "word9" in turn.text
    ask("--continue", "-p", "go on")
    assert FakeEngine.made.submits[0].messages[1] == {"role": "assistant", "content": turn.text}


def test_the_question_is_saved_before_the_answer_begins(home: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        interrupted = Journal(print, home)
        interrupted.begin(None, None)
        interrupted.user("asked")
        raise KeyboardInterrupt
    [path] = home.glob("*.jsonl")
    assert [turn.question for turn in read_chat(path).turns] == ["asked"]


@pytest.mark.parametrize("cut", [1, 5, 30])
def test_a_last_line_cut_short_is_skipped_with_a_notice_and_repaired(
    home: Path, cut: int, capsys: pytest.CaptureFixture
) -> None:
    path = a_chat(home, "first", "second")
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut] if cut > 1 else whole + b'{"type":"us')
    ask("--continue", "-p", "third")
    assert "the last line was cut short and is skipped" in capsys.readouterr().err
    chat = read_chat(path)
    assert chat.notices == []
    assert [turn.question for turn in chat.turns] == ["first", "second", "third"]


def test_a_last_line_without_its_line_end_is_kept(home: Path) -> None:
    path = a_chat(home, "first")
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    ask("--continue", "-p", "second")
    chat = read_chat(path)
    assert (len(chat.turns), chat.turns[0].finish_reason, chat.notices) == (2, "stop", [])


DAMAGE = [
    b"not json",
    b"[]",
    b"{}",
    b"3",
    b"\xff\xfe",
    b'{"type":"tokens","tokens":[[1]]}',
    b'{"type":"chat","version":99,"created":"","model":null,"system":null}',
    b'{"type":"chat","version":1,"created":"","model":7,"system":null}',
    b'{"type":"user"}',
    b'{"type":"user","text":5}',
    b'{"type":"tokens","tokens":{}}',
    b'{"type":"tokens","tokens":[[1,7,"own",0,0,null,-1.0]]}',
    *(
        b'{"type":"tokens","tokens":[],"round":{"index":0,"drafted":%d,"accepted":%d,"drafter":"mtp","rejected":[],'
        b'"draft_ms":1,"verify_ms":1,"replay_ms":0,"reason":"","rejected_texts":[]}}' % counts
        for counts in ((20_000_000, 0), (20_000_000, 20_000_000), (9, 9), (-7, -7), (3, -1), (2, 3))
    ),
    b'{"type":5}',
    b"[" * 100000,
    b'{"type":"answer","seed":1e999,"prompt_tokens":1,"reasoning":false}',
]


@pytest.mark.parametrize("line", DAMAGE)
def test_a_damaged_line_is_skipped_with_a_notice(home: Path, line: bytes) -> None:
    path = a_chat(home, "first", "second")
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([*lines[:2], line, *lines[2:]]))
    chat = read_chat(path)
    assert chat.notices == [f"chat {chat.id}: line 3 is damaged and is skipped"]
    assert [turn.text for turn in chat.turns] == ["You said: first", "You said: second"]


def test_many_damaged_lines_are_one_notice(home: Path) -> None:
    path = a_chat(home, "first")
    path.write_bytes(b"?\n" * 3 + path.read_bytes() + b"?\n" * 900 + b"?")
    many, cut = read_chat(path).notices
    assert many.endswith(": lines 1, 2, 3, 9 and 899 more are damaged and are skipped") and "cut short" in cut


def test_a_chat_of_a_newer_version_is_left_as_it_is(home: Path, capsys: pytest.CaptureFixture) -> None:
    path = a_chat(home, "first")
    newer = path.read_bytes().replace(b'"version":1', b'"version":2', 1)
    path.write_bytes(newer)
    capsys.readouterr()
    for arguments in (["--show", path.stem], ["--resume", path.stem, "-p", "x"], ["--continue", "-p", "x"]):
        assert main(arguments) == 2
        said = f"kestrel-chat: chat {path.stem} is of a newer kestrel-chat, and is left as it is: update this one"
        assert capsys.readouterr() == ("", said + "\n")
    assert path.read_bytes() == newer


def test_lines_of_an_unknown_type_are_left_alone(home: Path) -> None:
    path = a_chat(home, "first")
    path.write_bytes(path.read_bytes() + b'{"type":"title","text":"On birds"}\n')
    assert read_chat(path).notices == []


def test_a_new_chat_is_known_by_id_and_date_from_its_first_question_on(home: Path) -> None:
    """What the screen prints at its end and what F9 saves begin with both."""
    journal = Journal(print, home)
    chat, _ = _open_chat({}, Settings(), journal)
    with Answer("Hello", chat, journal, 0.0):
        pass
    assert chat.id == journal.id != ""
    assert as_markdown(chat).startswith(f"# Chat {chat.id}\n\n{time.strftime('%Y-')}")
    journal.close()


def test_a_chat_goes_on_with_its_model_unless_another_is_named(home: Path) -> None:
    (home / "model").mkdir()
    ask(str(home / "model"), "-p", "x")
    ask("--continue", "-p", "y")
    assert FakeEngine.made.options.model == str(home / "model")
    ask("other", "--continue", "-p", "z")
    assert FakeEngine.made.options.model == "other"


def test_a_chat_whose_model_is_gone_says_how_it_can_go_on(home: Path) -> None:
    path = a_chat(home, "hello")
    path.write_text(path.read_text().replace('"model":null', '"model":"missing"', 1))
    before = path.read_bytes()
    for arguments in (["--plain"], ["-p", "more"]):
        done = run_chat(home, "--continue", *arguments, stdin=b"")
        [line] = done.stderr.decode().splitlines()
        assert done.returncode == 2 and line.startswith(
            "kestrel-chat: missing: no such model: name a folder; "
        )
        assert f"kestrel-chat MODEL --resume {path.stem} goes on with another model" in line
    assert path.read_bytes() == before
    done = run_chat(home, "other", "--resume", path.stem, "-p", "more", "-q")
    assert done.returncode == 0 and done.stdout == b"You said: more\n"


def test_a_folder_is_remembered_by_its_whole_path(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "model").mkdir()
    monkeypatch.chdir(home)
    ask("model", "-p", "x")
    assert read_chat(chat_files(home)[0]).model == str(home / "model")


def test_a_read_only_disk_is_one_notice(home: Path, capsys: pytest.CaptureFixture) -> None:
    (home / "data").write_text("in the way of the folder")
    assert main(["-q", "-p", "hello"], FakeEngine) == 0
    captured = capsys.readouterr()
    assert captured.out == "You said: hello\n"
    assert captured.err.count("\n") == 1 and "is not saved" in captured.err


def test_a_disk_that_fills_up_is_one_notice_and_the_chat_goes_on(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    written = 0
    real_write = os.write

    def write(file: int, data: bytes) -> int:
        nonlocal written
        written += 1
        if written > 3:
            raise OSError(28, "No space left on device")
        return real_write(file, data)

    monkeypatch.setattr(journal_module.os, "write", write)
    assert main(["-q", "-p", "hello you there and everywhere"], FakeEngine) == 0
    captured = capsys.readouterr()
    assert captured.out == "You said: hello you there and everywhere\n"
    assert captured.err.count("\n") == 1 and "No space left on device" in captured.err
    monkeypatch.undo()


def test_a_really_full_disk(home: Path) -> None:
    """With a limit of one KiB a file, as the system enforces it."""
    program = Path(__file__).with_name("fake_engine.py")
    command = f"ulimit -f 1; {sys.executable} {program} -q -p '{'many words ' * 200}'"
    done = subprocess.run(command, shell=True, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("You said: many words")
    assert done.stderr.count("\n") == 1 and "is not saved" in done.stderr
    assert chat_files(home) == [] or read_chat(chat_files(home)[0])


def test_a_chat_that_is_open_elsewhere_is_refused(home: Path, capsys: pytest.CaptureFixture) -> None:
    path = a_chat(home, "hello")
    other = Journal(print, path.parent)
    other.resume(path)
    assert main(["--continue", "-p", "x"], FakeEngine) == 1
    assert "open in another kestrel-chat" in capsys.readouterr().err
    other.close()
    assert main(["--continue", "-p", "x"], FakeEngine) == 0


def test_tokens_are_saved_with_their_kinds(home: Path) -> None:
    path = a_chat(home, "a b c d e f")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["type"] for line in lines][:4] == ["chat", "user", "answer", "tokens"]
    kinds = [kind for line in lines if line["type"] == "tokens" for _, _, kind, *_ in line["tokens"]]
    assert {"own", "accepted", "replayed"} <= set(kinds)
    assert lines[-1]["type"] == "end" and lines[-1]["stats"]["rounds"] == 4


@pytest.mark.parametrize("created", ["9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+12:00", "yesterday"])
def test_a_time_beyond_the_calendar_is_shown_as_it_is(created: str) -> None:
    assert local_time(created) == created[:16]
