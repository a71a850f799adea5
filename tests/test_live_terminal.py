"""The live screen in a real terminal: tmux, with keys as a person presses them and the screen as it is seen."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_engine import isolate
from terminal import PROGRAM

from kestrel_tui.chats import read_chat

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")

PATIENCE = 30
"""Seconds until a test that waits for the screen fails."""


class Tmux:
    """A terminal of a given size with a shell in it."""

    def __init__(self, folder: Path, width: int, height: int, environ: dict[str, str]) -> None:
        self.folder, self._socket = folder, str(folder / "tmux")
        kept = isolate(
            {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}, folder
        )
        kept |= {"PS1": "$ ", "LC_ALL": "C.UTF-8"} | environ
        assignments = [f"{name}={value}" for name, value in kept.items()]
        shell = shlex.join(
            ["env", "-i", *assignments, "TERM=" + environ.get("TERM", "tmux-256color"), "bash", "--norc"]
        )
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(height), shell)

    def _tmux(self, *arguments: str, **keywords: object) -> str:
        command = ["tmux", "-S", self._socket, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True, **keywords).stdout

    def start(self, *arguments: str) -> None:
        self.type(shlex.join([*PROGRAM, *arguments]), "Enter")

    def type(self, text: str, *keys: str) -> None:
        """Type `text`, then press `keys` (tmux's names)."""
        if text:
            self._tmux("send-keys", "-l", text)
        if keys:
            self._tmux("send-keys", *keys)

    def paste(self, text: str | bytes) -> None:
        source = self.folder / "pasted"
        source.write_bytes(text if isinstance(text, bytes) else text.encode())
        self._tmux("load-buffer", str(source))
        self._tmux("paste-buffer", "-p")

    def screen(self, styled: bool = False) -> str:
        return self._tmux("capture-pane", "-p", *(["-e"] if styled else []))

    def expect(self, pattern: str) -> str:
        """Wait until the screen shows `pattern` (a regular expression); the screen."""
        deadline = time.monotonic() + PATIENCE
        while not re.search(pattern, screen := self.screen()):
            assert time.monotonic() < deadline, f"{pattern!r} is not on the screen:\n{screen}"
            time.sleep(0.05)
        return screen

    def close(self) -> None:
        subprocess.run(["tmux", "-S", self._socket, "kill-server"], capture_output=True)


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator:
    opened: list[Tmux] = []

    def make(width: int = 80, height: int = 24, **environ: str) -> Tmux:
        opened.append(Tmux(tmp_path, width, height, environ))
        return opened[-1]

    yield make
    for terminal in opened:
        terminal.close()


@pytest.mark.parametrize(("width", "height"), [(80, 24), (140, 44)])
def test_a_whole_session(tmux, width: int, height: int) -> None:
    terminal = tmux(width, height)
    terminal.start("--seed", "7")
    terminal.expect("f10 Quit")
    terminal.expect("context")
    terminal.type("hello there", "Enter")
    terminal.expect("  You said: hello there")
    terminal.expect("seed 7")
    if width >= 100:
        assert "kestrel-fake" in terminal.screen() and "right at n" in terminal.screen()
    terminal.paste("one\ntwo\nthree")
    screen = terminal.expect("three")
    assert "❯ one" not in screen
    terminal.type("", "C-j")
    terminal.type("four", "Enter")
    terminal.expect("❯ one *(│.*)?\n +two")
    terminal.expect("said: one")
    terminal.type("slow answer", "Enter")
    terminal.expect("word3")
    terminal.type("", "F2")
    terminal.expect("speculation is OFF")
    terminal.type("", "Escape")
    terminal.expect(r"\(stopped\)")
    terminal.type("", "F2")
    if height < 30:
        terminal.type("", "PPage")
        terminal.expect(r"more \(ctrl\+end\)")
        terminal.type("", "End")
    terminal.type("noise", "Enter")
    terminal.expect("said: noise")
    assert "NOISE" not in terminal.screen()
    terminal.type("", "F9")
    terminal.expect("with provenance")
    terminal.type("", "C-u")
    terminal.expect("▊ +▎")
    terminal.type(str(terminal.folder / "saved.md"), "Enter")
    terminal.expect("saved:")
    terminal.type("draft")
    terminal.expect("│ draft")
    terminal.type("", "C-c")
    terminal.expect("cleared")
    terminal.type("", "C-c")
    terminal.expect("again to quit")
    terminal.type("", "C-c")
    screen = terminal.expect(r"\(saved: kestrel-chat --resume [0-9a-f]{8} goes on")
    assert "## Assistant" in screen and "f10 Quit" not in screen
    assert "## Provenance" in (terminal.folder / "saved.md").read_text()
    [path] = (terminal.folder / "data" / "kestrel" / "chats").glob("*.jsonl")
    turns = read_chat(path).turns
    assert [turn.question for turn in turns] == [
        "hello there",
        "one\ntwo\nthree\nfour",
        "slow answer",
        "noise",
    ]
    assert "NOISE" in (terminal.folder / "state" / "kestrel" / "kestrel.log").read_text()
    terminal.type("clear", "Enter")
    terminal.start("--continue")
    terminal.expect("❯ noise")
    terminal.type("", "F10")
    terminal.expect("goes on")


def test_no_color_keeps_the_screen_and_the_attributes(tmux) -> None:
    terminal = tmux(100, 30, NO_COLOR="1")
    terminal.start()
    terminal.expect("context")
    terminal.type("a b c d e f", "Enter")
    terminal.expect("said: a b c d e f")
    styled = terminal.screen(styled=True)
    colours = {colour for colour in re.findall(r"[34]8;2;(\d+;\d+;\d+)", styled)}
    assert all(len(set(colour.split(";"))) == 1 for colour in colours), "only shades of grey"
    answer = next(line for line in styled.splitlines() if "said" in line and "❯" not in line)
    assert re.search(r"\x1b\[[0-9;]*4[;m]", answer), "accepted tokens are underlined"


def test_a_dumb_terminal_gets_the_plain_chat(tmux) -> None:
    terminal = tmux(80, 24, TERM="dumb")
    terminal.start()
    terminal.expect("User:")
    terminal.type("hello", "Enter")
    terminal.expect("Assistant: You said: hello")


def test_a_model_that_is_not_there_is_explained_on_the_screen_and_after_it(tmux) -> None:
    terminal = tmux(80, 24)
    terminal.start("missing")
    terminal.expect("missing: no such model: name a folder")
    terminal.type("", "F10")
    terminal.expect("kestrel-chat: .*missing: no such model")
    terminal.type("echo status $?", "Enter")
    terminal.expect("status 2")


def test_a_signal_leaves_the_terminal_as_it_was(tmux) -> None:
    terminal = tmux(80, 24)
    terminal.start()
    terminal.expect("context")
    terminal.type("endless", "Enter")  # it must not end before the signal comes
    terminal.expect("word2")
    listing = subprocess.run(["pgrep", "-f", "fake_engine.py"], capture_output=True, text=True).stdout.split()
    environ = f"XDG_DATA_HOME={terminal.folder}"
    for number in listing:
        if environ in Path(f"/proc/{number}/environ").read_text(errors="replace"):
            os.kill(int(number), 15)
    terminal.expect(r"\*\(stopped\)\*")
    terminal.type("echo status $?", "Enter")
    terminal.expect("status 130")


def test_bytes_that_are_no_text_do_not_end_the_chat(tmux) -> None:
    terminal = tmux(80, 24)
    terminal.start()
    terminal.expect("context")
    terminal.paste(b"caf\xe9 \xff and more")
    terminal.expect("caf. . and more")
    terminal.type("", "Enter")
    terminal.expect("You said: caf. . and more")


def test_the_transcript_that_is_left_is_broken_between_words(tmux) -> None:
    terminal = tmux(50, 40)
    terminal.start()
    terminal.expect("context")
    words = "hovering kestrels watch the meadow below them and wait for mice"
    terminal.type(words, "Enter")
    terminal.expect("seed")
    terminal.type("", "F10")
    screen = terminal.expect(r"## Assistant[\s\S]*\(saved:")
    assert "\nhovering kestrels watch the meadow below them and\nwait for mice\n" in screen
    assert "\nYou said: hovering kestrels watch the meadow below\nthem and wait for mice\n" in screen
