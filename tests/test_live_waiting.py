"""A question that is sent while the model loads waits for it, and stays the question of this chat."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_engine import isolate
from live import Driver, Puppet, drive

from kestrel_tui.chats import read_chat


class Late(Puppet):
    """Is not ready before `Puppet.start`."""

    def start(self) -> None:
        pass


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name, value in isolate({}, tmp_path).items():
        monkeypatch.setenv(name, value)
    return tmp_path


async def asked(chat: Driver) -> None:
    await chat.until(lambda: chat.engine)
    await chat.pilot.press("h", "i", "enter")
    assert "❯ hi" in chat.shown and chat.submits() == []


async def answered(chat: Driver) -> None:
    Puppet.start(chat.engine)
    await chat.until(chat.submits)
    assert chat.submits() == ["hi"] and chat.shown.count("❯ hi") == 1


def test_it_is_asked_once_the_model_is_ready() -> None:
    async def scenario(chat: Driver) -> None:
        await asked(chat)
        await answered(chat)

    drive(scenario, engine=Late)


@pytest.mark.parametrize(
    "keys", [["f7"], ["f8"], [*"/new", "enter"], [*"/undo", "enter"], [*"/retry", "enter"]]
)
def test_it_goes_into_no_other_chat(keys: list[str]) -> None:
    async def scenario(chat: Driver) -> None:
        await asked(chat)
        await chat.pilot.press(*keys)
        assert chat.app.screen is chat.screen and chat.conversation.waiting == "hi"
        told = [notice.message for notice in chat.app._notifications]
        assert told == ["a question waits for the model: esc withdraws it"]
        await answered(chat)

    drive(scenario, engine=Late)


@pytest.mark.parametrize("is_edited", [False, True])
def test_it_can_be_taken_back(is_edited: bool) -> None:
    async def scenario(chat: Driver) -> None:
        await asked(chat)
        if is_edited:
            chat.screen.action_edit()
        else:
            await chat.pilot.press("escape", "up")
        assert chat.screen.prompt.text == "hi" and "❯ hi" not in chat.shown
        Puppet.start(chat.engine)
        await chat.ready()
        assert chat.submits() == []

    drive(scenario, engine=Late)


def test_it_is_kept_when_the_chat_is_left(tmp_path: Path) -> None:
    async def scenario(chat: Driver) -> None:
        await asked(chat)
        await chat.pilot.press("f10")

    app = drive(scenario, engine=Late, folder=tmp_path)
    (path,) = tmp_path.glob("*.jsonl")
    assert [(turn.question, turn.finish_reason) for turn in read_chat(path).turns] == [("hi", "cancelled")]
    assert [turn.question for turn in app.conversation.chat.turns] == ["hi"]
