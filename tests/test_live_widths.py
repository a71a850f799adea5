"""What stands in one line on screens of any width: whole words, and what matters most; and a list that fits."""

from __future__ import annotations

import pytest
from live import Driver, Puppet, drive, round_of
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets._footer import FooterKey

from kestrel_engine.events import Prefill, TurnEnded, TurnStarted
from kestrel_tui.live import key_list
from kestrel_tui.live.dialogs import ChatsDialog
from kestrel_tui.live.fit_line import Piece, fit_line
from kestrel_tui.live.key_bar import KeyBar
from kestrel_tui.live.legend import Legend
from kestrel_tui.live.panel import Panel
from kestrel_tui.live.status_line import StatusLine


def status(chat: Driver) -> str:
    chat.screen.show()
    return chat.screen.query_one(StatusLine).render_line(0).text.rstrip()


def legend(chat: Driver) -> str:
    return chat.screen.query_one(Legend).render_line(0).text.rstrip()


def keys(chat: Driver) -> list[str]:
    """What can be seen of the keys at the bottom."""
    bar = chat.screen.query_one(KeyBar)
    right = bar.region.right
    return [str(key.render()) for key in bar.query(FooterKey) if key.display and key.region.right <= right]


def test_what_matters_least_goes_first() -> None:
    ranks = {"state": 0, "rate": 3, "speed": 1, "+": 2, "-": 2}
    pieces = [Piece(Content(text), rank, " ") for text, rank in ranks.items()]
    seen = {width: str(fit_line(pieces, width)) for width in range(22)}
    assert seen[21] == seen[20] == "state rate speed + -"
    assert seen[19] == seen[15] == "state speed + -"
    assert seen[14] == seen[11] == "state speed", "those of a rank go together"
    assert seen[10] == seen[5] == seen[0] == "state", "what has to stay stays"


async def compared(chat: Driver) -> None:
    """An answer with rounds of both kinds, so that there is a speed-up, and then speculation off."""
    engine = await chat.asked()
    for number in range(90):
        engine.emit(round_of(number, ["and ", "so "] if number < 60 else ["on "], start=5))
    await chat.taken()
    engine.emit(TurnEnded("stop", "", 150, 5, 4.0, 300.0, 1))
    await chat.until(lambda: not chat.conversation.is_answering)
    await chat.pilot.press("f2")


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (90, "speculation is OFF · 2.0 ms/token · 2.0× · 1.7/round · 100% accepted · context 1%"),
        (80, "speculation is OFF · 2.0 ms/token · 2.0× · 100% accepted · context 1%"),
        (60, "speculation is OFF · 2.0 ms/token · 2.0× · context 1%"),
        (50, "speculation is OFF · 2.0 ms/token · context 1%"),
        (40, "speculation is OFF · 2.0 ms/token"),
        (24, "speculation is OFF"),
    ],
)
def test_the_status_line_keeps_what_matters_most(width: int, expected: str) -> None:
    async def scenario(chat: Driver) -> None:
        await compared(chat)
        for columns in (120, width):
            await chat.pilot.resize_terminal(columns, 24)
            await chat.pilot.pause()
        assert status(chat).strip() == expected

    drive(scenario, engine=Puppet, size=(100, 24))


def test_nothing_in_the_lines_is_cut_while_a_prompt_is_read() -> None:
    seen = {}

    async def scenario(chat: Driver) -> None:
        await chat.ask("a long text", wait=False)
        assert " ".join(status(chat).split()) == "reading … (esc stops)"
        chat.engine.emit(TurnStarted(12000, 0, 1))
        chat.engine.emit(Prefill(6000, 11999, 0))
        await chat.taken()
        for width in (80, 50, 40, 30, 24):
            await chat.pilot.resize_terminal(width, 24)
            await chat.pilot.pause()
            seen[width] = " ".join(status(chat).split())
        await chat.pilot.press("escape")
        assert status(chat).strip() == "stopping …"
        chat.engine.end(reason="cancelled")
        await chat.until(lambda: not chat.conversation.is_answering)
        assert "stopping" not in status(chat)

    drive(scenario, engine=Puppet, size=(80, 24))
    assert seen[80].startswith("reading 12000 tokens ▕█") and seen[80].endswith("50% (esc stops)")
    assert seen[50] == seen[40] == "reading 12000 tokens 50% (esc stops)"
    assert (seen[30], seen[24]) == ("reading 12000 tokens", "reading 12000 tokens")


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (80, "f1 Menu f2 Spec f3 − f4 + f5 Auto f6 Token f7 Chats f8 New f9 Save f10 Quit"),
        (76, "f1 Menu f2 Spec f3 − f4 + f5 Auto f6 Token f7 Chats f8 New f9 Save f10 Quit"),
        (70, "f1 Menu f2 Spec f5 Auto f6 Token f7 Chats f8 New f9 Save f10 Quit"),
        (40, "f1 Menu f2 Spec f7 Chats f8 New f10 Quit"),
        (20, "f1 Menu f10 Quit"),
        (7, "f1 Menu"),
    ],
)
def test_the_key_bar_shows_whole_keys(width: int, expected: str) -> None:
    async def scenario(chat: Driver) -> None:
        await chat.ready()
        for columns in (100, width):
            await chat.pilot.resize_terminal(columns, 24)
            await chat.until(lambda: keys(chat))
            await chat.pilot.pause()
        assert " ".join(keys(chat)) == expected
        await chat.pilot.resize_terminal(100, 24)
        await chat.until(lambda: len(keys(chat)) == 10)

    drive(scenario, engine=Puppet, size=(width, 24))


@pytest.mark.parametrize(
    ("width", "shown"),
    [(150, "panel, chat, keys"), (120, "chat, keys"), (100, "chat, keys"), (70, "chat, keys"), (40, "keys")],
)
def test_the_list_of_keys_takes_room_from_what_matters_less(width: int, shown: str) -> None:
    async def scenario(chat: Driver) -> None:
        await compared(chat)
        before = chat.shown, legend(chat), status(chat)
        key_list.toggle(chat.screen)
        await chat.until(
            lambda: chat.screen.query("KeyList") and chat.screen.query_one("KeyList").size.width > 30
        )
        await chat.pilot.pause()
        assert chat.screen.query_one(Panel).display == ("panel" in shown)
        assert chat.view.display == ("chat" in shown)
        if "chat" in shown:
            assert legend(chat).split(" · ")[-2:] == ["replayed", "rejected"] or width == 70
            assert "…" not in status(chat) + legend(chat) and status(chat)
        key_list.toggle(chat.screen)
        await chat.until(lambda: chat.view.size.width == width - 36 * (width >= 100))
        assert (chat.shown, legend(chat), status(chat)) == before

    drive(scenario, engine=Puppet, size=(width, 24))


@pytest.mark.parametrize("width", [40, 90])
def test_escape_closes_a_list_of_keys_that_covers_the_chat_before_it_stops_the_answer(width: int) -> None:
    async def scenario(chat: Driver) -> None:
        await chat.asked()
        key_list.toggle(chat.screen)
        await chat.until(lambda: chat.screen.query("KeyList") and chat.screen.query_one("KeyList").size.width)
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.conversation.is_stopping == (width == 90))
        assert bool(chat.screen.query("KeyList")) == chat.conversation.is_stopping
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.conversation.is_stopping)
        chat.engine.end(reason="cancelled")

    drive(scenario, engine=Puppet, size=(width, 24))


def test_a_legend_beside_news_is_whole_words() -> None:
    async def scenario(chat: Driver) -> None:
        engine = await chat.asked_for_lines(60)
        await chat.pilot.press("pageup")
        await chat.until(lambda: "more (ctrl+end)" in legend(chat))
        seen = {}
        for width in (60, 50, 45, 30, 20):
            await chat.pilot.resize_terminal(width, 24)
            await chat.pilot.pause()
            seen[width] = " ".join(legend(chat).split())
        assert seen[60] == "own · accepted · replayed · rejected ↓ more (ctrl+end)"
        assert seen[50] == "accepted · replayed · rejected ↓ more (ctrl+end)"
        assert seen[45] == "accepted · replayed ↓ more (ctrl+end)"
        assert seen[30] == "accepted ↓ more (ctrl+end)"
        assert seen[20] == "↓ more (ctrl+end)"
        engine.end()

    drive(scenario, engine=Puppet, size=(60, 24))


@pytest.mark.parametrize("size", [(120, 36), (80, 24), (40, 12), (40, 8)])
def test_a_long_list_of_chats_scrolls_within_its_frame(size: tuple[int, int]) -> None:
    async def scenario(chat: Driver) -> None:
        lines = [f"{number:08x}  2026-12-01 00:53     1 turn  words of it" for number in range(40)]
        chat.app.push_screen(ChatsDialog(lines))
        await chat.until(lambda: isinstance(chat.app.screen, ChatsDialog))
        await chat.pilot.pause()
        [box], [choices] = chat.app.screen.query("Vertical"), chat.app.screen.query(OptionList)
        assert chat.app.screen.region.contains_region(box.region)
        assert box.content_region.contains_region(choices.region) and choices.max_scroll_y > 0
        assert choices.size.height >= min(6, size[1] - 2)
        await chat.pilot.press("end")
        await chat.until(lambda: choices.scroll_y == choices.max_scroll_y)
        assert "enter chooses" in str(box.border_subtitle)

    drive(scenario, size=size)
