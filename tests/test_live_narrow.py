"""The screen on terminals that are much too narrow: it shows what it can, and does not end."""

from __future__ import annotations

from pathlib import Path

import pytest
from live import Driver, Puppet, drive
from textual.widgets import OptionList

from kestrel_tui.live import key_list

COVERS = ("app.command_palette", "app.change_theme", "choose_chat", "save")


@pytest.mark.parametrize("width", [1, 3, 4, 6])
@pytest.mark.parametrize("action", COVERS)
def test_what_covers_the_chat_survives_a_terminal_of_few_columns(
    action: str, width: int, tmp_path: Path
) -> None:
    async def scenario(chat: Driver) -> None:
        await chat.ask("one saved chat", wait=False)
        chat.engine.begin()
        chat.engine.end()
        await chat.until(lambda: not chat.conversation.is_answering)
        chat.conversation.enter("/new")
        await chat.screen.run_action(action)
        await chat.until(lambda: chat.app.screen is not chat.screen)
        await chat.until(lambda: all(each.option_count for each in chat.app.screen.query(OptionList)))
        await chat.pilot.press("a", "down", "down", "backspace")
        for size in ((80, 24), (width, 24), (width, 1), (width + 1, 24)):
            await chat.pilot.resize_terminal(*size)
            await chat.pilot.pause()
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.app.screen is chat.screen)

    drive(scenario, folder=tmp_path, engine=Puppet, size=(width, 24))


@pytest.mark.parametrize("width", [1, 4])
def test_the_list_of_keys_does_too(width: int) -> None:
    async def scenario(chat: Driver) -> None:
        await chat.ready()
        key_list.toggle(chat.screen)
        await chat.until(lambda: chat.screen.query("KeyList"))
        for size in ((80, 24), (width, 1), (width, 24)):
            await chat.pilot.resize_terminal(*size)
            await chat.pilot.pause()
        key_list.toggle(chat.screen)
        await chat.until(lambda: not chat.screen.query("KeyList"))

    drive(scenario, engine=Puppet, size=(width, 24))
