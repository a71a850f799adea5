"""Notices that pass: how many are seen, where, and what becomes of the others."""

from __future__ import annotations

from pathlib import Path

import pytest
from live import Driver, Puppet, drive
from textual.widgets._toast import Toast, ToastHolder

NOTICE = "notice {}: chat 0123abcd is open in another kestrel-chat: close it there first, or begin a new one"


def seen(chat: Driver) -> list[str]:
    return [str(toast.render()) for toast in chat.screen.query(Toast) if toast.is_attached]


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize(("size", "most"), [((120, 36), 3), ((80, 24), 3), ((40, 10), 1)])
def test_many_notices_cover_neither_the_prompt_nor_each_other_and_none_is_lost(
    size: tuple[int, int], most: int, at_once: bool
) -> None:
    notices = [NOTICE.format(number) for number in range(10)]

    async def scenario(chat: Driver) -> None:
        await chat.ready()
        for notice in notices:
            chat.screen.tell(notice)
            if not at_once:
                await chat.until(lambda notice=notice: notice in seen(chat))
        await chat.until(lambda: seen(chat) == notices[-most:])
        await chat.pilot.pause()
        assert len(chat.screen.query(ToastHolder)) == most
        below = chat.screen.query_one("StatusLine").region
        for toast in chat.screen.query(Toast):
            assert toast.region.height >= 2 and toast.region.bottom <= below.y
        assert [block.text for block in chat.conversation.transcript.blocks] == notices[:-most]
        assert notices[-most - 1].split(": chat")[0] in chat.all_text

    drive(scenario, engine=Puppet, size=size)


def test_of_equal_notices_one_is_seen() -> None:
    async def scenario(chat: Driver) -> None:
        await chat.ready()
        for notice in ("one", "two", "one", "one", "three", "one"):
            chat.screen.tell(notice)
        await chat.until(lambda: seen(chat) == ["two", "three", "one"])
        assert not chat.conversation.transcript.blocks

    drive(scenario, engine=Puppet)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_notices_reach_to_the_edge_and_let_nothing_through_beside_them(width: int) -> None:
    async def scenario(chat: Driver) -> None:
        await chat.ready()
        for count in (1, 2, 3):
            chat.screen.tell(f"notice {count}")
            await chat.until(lambda count=count: len(chat.screen.query(Toast)) == count)
            await chat.until(lambda: all(toast.region.width for toast in chat.screen.query(Toast)))
            assert {toast.region.right for toast in chat.screen.query(Toast)} == {width}

    drive(scenario, engine=Puppet, size=(width, 40))


def test_chats_that_cannot_be_read_are_told_when_one_is_to_be_chosen(tmp_path: Path) -> None:
    for name in ("folder", "another"):
        (tmp_path / f"{name}.jsonl").mkdir()

    async def scenario(chat: Driver) -> None:
        await chat.ready()
        await chat.pilot.press("f7")
        await chat.until(lambda: chat.app.screen is not chat.screen and chat.app.screen.query(Toast))
        [said] = [str(toast.render()) for toast in chat.app.screen.query(Toast)]
        assert "cannot be read (Is a directory)" in said and said.endswith("(and 1 more)")
        await chat.pilot.press("escape")

    drive(scenario, engine=Puppet, folder=tmp_path)
