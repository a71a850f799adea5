"""A chat that can no longer be saved: nothing on the screen is lost, and nothing is said to be saved that is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_engine import isolate
from live import Driver, drive

from kestrel_tui import streams
from kestrel_tui.answer import Answer
from kestrel_tui.chats import Chat
from kestrel_tui.journal import Journal
from kestrel_tui.live import run


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name, value in isolate({}, tmp_path).items():
        monkeypatch.setenv(name, value)
    return tmp_path


def test_a_disk_that_fills_up_in_mid_answer_loses_nothing_on_the_screen(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kestrel_tui import journal

    async def scenario(chat: Driver) -> None:
        await chat.ask("slow one", wait=False)
        await chat.until(lambda: chat.conversation.transcript.tokens)

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(journal, "_append", full)
        await chat.until(lambda: not chat.conversation.is_answering)
        assert chat.answer_text() == "".join(f"word{number} " for number in range(40))
        assert "the chat is not saved (No space left on device)" in chat.all_text

    drive(scenario, folder=home)


def test_a_chat_whose_file_is_removed_is_not_said_to_be_saved(home: Path) -> None:
    async def scenario(chat: Driver) -> None:
        await chat.ask("first")
        (path,) = home.glob("*.jsonl")
        path.unlink()
        await chat.ask("second")
        assert "the chat is not saved (its file was removed)" in chat.all_text
        assert "You said: second" in chat.all_text

    app = drive(scenario, folder=home)
    assert app.conversation.journal.id is None and not list(home.glob("*.jsonl"))


def test_nor_when_its_last_turn_is_withdrawn(home: Path) -> None:
    async def scenario(chat: Driver) -> None:
        await chat.ask("first")
        next(home.glob("*.jsonl")).unlink()
        await chat.ask("/undo")
        assert "the chat is not saved (its file was removed)" in chat.all_text

    drive(scenario, folder=home)


@pytest.mark.parametrize("lines", [1, 400])
def test_nor_when_it_is_left(home: Path, capsys: pytest.CaptureFixture, lines: int) -> None:
    journal, chat = Journal(streams.complain, home), Chat()
    journal.begin(None, None)
    with Answer("question\n\n" * lines, chat, journal, 0.0):
        pass
    run._leave(chat, journal)
    out, err = capsys.readouterr()
    assert ("question" in out) is (
        lines == 1
    ) and f"(saved: kestrel-chat --resume {journal.id} goes on" in err
    next(home.glob("*.jsonl")).unlink()
    run._leave(chat, journal)
    out, err = capsys.readouterr()
    assert out.count("question") == lines and "saved: kestrel-chat" not in err
    assert "the chat is not saved (its file was removed)" in err
