"""Saved chats listed, printed, and found by the beginning of their ids."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from fake_engine import FakeEngine, isolate
from rich.cells import cell_len
from saved_chats import a_chat, ask, chat_files
from terminal import Terminal, run_chat

from kestrel_engine.errors import UsageError
from kestrel_tui.chats import ChatStore
from kestrel_tui.cli import main


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name, value in isolate({}, tmp_path).items():
        monkeypatch.setenv(name, value)
    return tmp_path


def test_list_is_newest_first_and_the_same_in_a_pipe(home: Path) -> None:
    older = a_chat(home, "one\nline\x1b[31m")
    os.utime(older, (1, 1))
    newer = a_chat(home, "other", "more")
    done = run_chat(home, "--list")
    lines = done.stdout.decode().splitlines()
    assert (done.returncode, done.stderr, len(lines)) == (0, b"", 2)
    assert lines[0].split()[0] == newer.stem and "2 turns  other" in lines[0]
    assert lines[1].split()[0] == older.stem and "1 turn  one line␛[31m" in lines[1]
    assert lines[0].split()[1] == time.strftime("%Y-%m-%d")


def test_list_shows_the_time_that_it_sorts_by(home: Path) -> None:
    path = a_chat(home, "question")
    os.utime(path, (1e9, 1e9))
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(1e9))
    assert run_chat(home, "--list").stdout.decode().split()[1:3] == when.split()


def test_list_keeps_within_a_terminal(home: Path) -> None:
    a_chat(home, "wide 寬 " * 20)
    with Terminal(home, "--list", environ={"COLUMNS": "50"}) as terminal:
        assert terminal.wait() == 0
    [line] = terminal.output.splitlines()
    assert line.endswith("…") and cell_len(line) in (49, 50)
    assert len(run_chat(home, "--list").stdout.decode().strip()) > 60


def test_list_without_chats(capsys: pytest.CaptureFixture) -> None:
    assert main(["--list"]) == 0
    assert capsys.readouterr() == ("", "No chat is saved yet.\n")


def test_list_of_chats_that_cannot_be_read_does_not_deny_them(home: Path) -> None:
    (home / "data/kestrel/chats/folder.jsonl").mkdir(parents=True)
    done = run_chat(home, "--list")
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.count(b"\n") == 1 and b"chat folder cannot be read" in done.stderr


def test_list_leaves_out_what_cannot_be_read(home: Path, capsys: pytest.CaptureFixture) -> None:
    a_chat(home, "fine")
    (home / "data/kestrel/chats/folder.jsonl").mkdir()
    (home / "data/kestrel/chats/empty.jsonl").touch()
    (home / "data/kestrel/chats/gone.jsonl").symlink_to("nowhere")
    capsys.readouterr()
    assert main(["--list"]) == 0
    captured = capsys.readouterr()
    assert "fine" in captured.out and "empty" in captured.out
    assert captured.err.count("\n") == 2 and "folder" in captured.err and "gone" in captured.err


def test_a_pipe_among_the_chats_is_not_waited_for(home: Path) -> None:
    path = a_chat(home, "first")
    os.mkfifo(path.with_name("pipe.jsonl"))
    done = run_chat(home, "--list")
    assert (done.returncode, done.stdout.decode().split()[0]) == (0, path.stem)
    assert done.stderr.count(b"\n") == 1 and b"chat pipe cannot be read (it is a pipe)" in done.stderr
    assert run_chat(home, "--resume", "pipe", "-p", "x").returncode == 2


def test_an_endless_device_among_the_chats_is_not_read(home: Path) -> None:
    path = a_chat(home, "first")
    path.with_name("endless.jsonl").symlink_to("/dev/zero")
    done = run_chat(home, "--list")
    assert (done.returncode, done.stdout.decode().split()[0]) == (0, path.stem)
    assert done.stderr.count(b"\n") == 1 and b"chat endless cannot be read (it is a device)" in done.stderr


def test_continue_passes_over_what_is_no_file(home: Path) -> None:
    path = a_chat(home, "first")
    os.utime(path, (1, 1))
    os.mkfifo(path.with_name("pipe.jsonl"))
    path.with_name("folder.jsonl").mkdir()
    assert run_chat(home, "--continue", "-p", "second").returncode == 0
    assert b'"second"' in path.read_bytes()


def test_show_is_markdown(home: Path, capsys: pytest.CaptureFixture) -> None:
    ask("-p", "think", "--system", "Be kind.")
    ask("--continue", "-p", "escape")
    [path] = chat_files(home)
    capsys.readouterr()
    assert main(["--show", path.stem[:5]]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"# Chat {path.stem}\n\n{time.strftime('%Y-')}")
    assert (
        "\n## System\n\nBe kind.\n\n## User\n\nthink\n\n## Assistant\n\n> I wonder\n\nThe answer\n\n## User\n"
        in out
    )
    assert "\x1b[2J" in out  # a pipe gets the text as it is


def test_show_says_how_an_answer_ended(home: Path, capsys: pytest.CaptureFixture) -> None:
    ask("-p", "one two three", "--max-tokens", "2")
    assert main(["-p", "fail", "--continue"], FakeEngine) == 1
    capsys.readouterr()
    assert main(["--show", chat_files(home)[0].stem]) == 0
    out = capsys.readouterr().out
    assert "*(length limit reached)*" in out and "*(failed: the prompt is longer" in out


def test_an_id_is_a_unique_beginning(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "chats"
    folder.mkdir()
    for name in ("abc1", "abd2", "abc12"):
        (folder / f"{name}.jsonl").touch()
    store = ChatStore(folder)
    assert store.find("abd").stem == "abd2"
    assert store.find("abc1").stem == "abc1"  # exact wins
    with pytest.raises(UsageError, match="beginning of 2 chats"):
        store.find("abc")
    for unknown in ("x", "../chats/abd2", "*"):
        with pytest.raises(UsageError, match="no saved chat begins with"):
            store.find(unknown)


@pytest.mark.parametrize("option", ["--show", "--resume"])
def test_an_empty_id_is_no_chat(home: Path, capsys: pytest.CaptureFixture, option: str) -> None:
    a_chat(home, "first")
    capsys.readouterr()
    assert main([option, ""]) == 2
    assert (
        capsys.readouterr().err == "kestrel-chat: the id of a chat is empty: kestrel-chat --list shows them\n"
    )
