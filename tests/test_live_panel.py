"""The side panel and the lines below: what stays on a low screen, and the words that go with numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from live import Driver, Puppet, drive, round_of
from textual.content import Content

from kestrel_engine.events import Prefill, TurnEnded, TurnStarted
from kestrel_tui.live.fit import fit, part
from kestrel_tui.live.legend import Legend
from kestrel_tui.live.panel import Panel
from kestrel_tui.live.status_line import StatusLine
from kestrel_tui.stats import TurnStats

REASON = "8 drafts: 5.2 tokens a round for 3.1 steps, as the last hundred rounds had it"


def shown(panel: Panel) -> str:
    """The rows that there is room for."""
    return "\n".join(panel.render_line(y).text.rstrip() for y in range(panel.size.height))


@pytest.mark.parametrize("height", [14, 24, 30, 40])
def test_the_figures_stay_visible_on_a_low_screen(height: int) -> None:
    async def scenario(chat: Driver) -> None:
        engine = await chat.asked()
        for number in range(40):
            texts = [f"w{place} " for place in range(number % 9 + 1)]
            wrong = ("no ",) * (9 - len(texts))
            engine.emit(replace(round_of(number, texts, rejected=wrong), reason=REASON))
        await chat.taken()
        chat.screen.show()
        panel = chat.screen.query_one(Panel)
        essential = ["kestrel-test", "bf16 · cpu", "context ", "speculation: ", "ms/token ", "tokens/round "]
        for words in (*essential, "accepted ", "ms/round"):
            assert words in shown(panel), (words, shown(panel))
        assert ("right at n" in shown(panel)) == ("  1 " in shown(panel)), "no rows without their title"
        if height >= 30:
            assert "right at n" in shown(panel) and "F2" in shown(panel)
        if height >= 40:
            assert "replay" in shown(panel) and "  8 " in shown(panel)
        await chat.pilot.press("x", *["ctrl+j"] * 9)
        await chat.until(lambda: chat.screen.prompt.size.height > 6)
        if height >= 24:
            assert "accepted " in shown(panel), "a prompt that grows takes rows from it"
        engine.end()

    drive(scenario, engine=Puppet, size=(100, height))


def test_what_matters_least_goes_first_and_may_be_shortened() -> None:
    def line(text: str, **how: object):
        return part(Content(text), **how)

    parts = [
        line("head"), line("gap", rank=3), line("long long words", rank=2, short=line("long", rank=1)),
        line("gap too", rank=3), part(Content("two"), Content("lines"), rank=1),
    ]  # fmt: skip
    seen = {height: [str(each) for each in fit(parts, 9, height)] for height in range(8)}
    assert seen[7] == ["head", "gap", "long long", "words", "gap too", "two", "lines"]
    assert seen[6] == ["head", "gap", "long long", "words", "two", "lines"]
    assert seen[5] == ["head", "long long", "words", "two", "lines"]
    assert seen[4] == ["head", "long", "two", "lines"]
    assert seen[3] == ["head", "long long", "words"], "what went last left room for what went before"
    assert seen[2] == ["head", "long"]
    assert seen[1] == seen[0] == ["head"], "what has to stay stays"


def test_one_of_something_is_not_called_many() -> None:
    async def scenario(chat: Driver) -> None:
        engine = await chat.asked()
        engine.emit(round_of(0, ["one"]))
        engine.emit(Prefill(4, 4, 4))
        await chat.taken()
        chat.screen.show()
        status = chat.screen.query_one(StatusLine)
        assert "reading 1 token " in str(status.render())
        engine.emit(round_of(1, ["two"]))
        await chat.taken()
        chat.screen.show()
        assert "this answer: 2 tokens" in str(status.render())
        chat.conversation.set_length(1)
        chat.screen.show()
        assert "speculation: 1 draft, fixed" in shown(chat.screen.query_one(Panel))
        engine.end()

    drive(scenario, engine=Puppet)
    stats = TurnStats()
    stats.add(round_of(0, ["a", "b"]))
    assert "1 of 1 tested draft accepted" in stats.line()


def test_the_figures_of_an_answer_are_the_same_wherever_they_stand() -> None:
    async def scenario(chat: Driver) -> None:
        await chat.ask("question", wait=False)
        engine = chat.engine
        engine.emit(TurnStarted(15, 3, 1))
        engine.emit(Prefill(3, 14, 3))
        await chat.taken()
        chat.screen.show()
        status, panel = chat.screen.query_one(StatusLine), chat.screen.query_one(Panel)
        assert "reading 12 tokens " in str(status.render())
        for number in range(3):
            engine.emit(round_of(number, ["some ", "words "]))
        await chat.taken()
        chat.screen.show()
        assert "ms/token 1.8 now, 1.8 median" in shown(panel)
        await chat.pilot.resize_terminal(80, 36)
        await chat.until(lambda: "1.8 ms/token now" in str(status.render()))
        engine.emit(TurnEnded("stop", "", 6, 15, 4.0, 15.0, 1))  # the rounds and all between them
        await chat.until(lambda: not chat.conversation.is_answering)
        assert " 2.5 ms/token · " in str(status.render())
        assert "6 tokens, 2.5 ms each" in chat.all_text
        assert "prompt 15 tokens (12 of them read) in 4 ms" in " ".join(chat.all_text.split())
        await chat.pilot.resize_terminal(120, 36)
        await chat.until(lambda: "ms/token 2.5 last, 1.8 median" in shown(panel))

    drive(scenario, engine=Puppet, size=(120, 36))


def test_a_view_that_shows_all_after_a_resize_follows_again() -> None:
    async def scenario(chat: Driver) -> None:
        engine = await chat.asked_for_lines(60)
        legend = chat.screen.query_one(Legend)
        await chat.pilot.press("pageup")
        assert "↓ more (ctrl+end)" in str(legend.render())
        await chat.pilot.resize_terminal(110, 30)
        await chat.pilot.pause()
        assert "↓ more (ctrl+end)" in str(legend.render()) and not chat.view.following
        await chat.pilot.resize_terminal(110, 90)
        await chat.until(lambda: chat.view.following)
        assert "↓" not in str(legend.render())
        await chat.pilot.resize_terminal(110, 20)
        await chat.pilot.pause()
        assert "line 59" in chat.all_text and "↓" not in str(legend.render())
        engine.end()

    drive(scenario, engine=Puppet, size=(110, 24))


def test_the_inspector_leaves_room_on_a_low_screen() -> None:
    async def scenario(chat: Driver) -> None:
        engine = await chat.asked()
        engine.emit(round_of(0, ["He", "llo"]))
        await chat.taken()
        await chat.pilot.press("f6")
        await chat.until(lambda: chat.screen.inspector.display)
        await chat.pilot.pause()
        screen = chat.screen
        assert "piece" in str(screen.inspector.render()) and screen.inspector.content_region.height >= 2
        assert screen.view.size.height >= 1 and screen.max_scroll_y == 0
        engine.end()

    drive(scenario, engine=Puppet, size=(40, 10))


@pytest.mark.parametrize("size", [(80, 24), (60, 20), (40, 12), (40, 10)])
def test_the_inspector_leaves_out_whole_facts(size: tuple[int, int]) -> None:
    """What is shown fits, to the last word."""

    async def scenario(chat: Driver) -> None:
        engine = await chat.asked()
        engine.emit(replace(round_of(0, ["He", "llo"], rejected=("wo", "rld")), reason="why " * 20))
        await chat.taken()
        await chat.pilot.press("f6")
        await chat.until(lambda: chat.screen.inspector.display)
        await chat.pilot.pause()
        inspector = chat.screen.inspector
        lines, room = str(inspector.render()).split("\n"), inspector.content_size
        assert "piece “llo”" in lines[0] and len(lines) <= room.height
        assert all(len(line) <= room.width for line in lines)
        facts = ["piece", "the head guessed", "own", "round 0", "replay 0."]
        known = [fact in " ".join(lines) for fact in facts]
        assert all(known) if size[1] >= 24 else known[1] or not any(known[2:4]), "the guess stays longest"
        title = str(inspector.border_title)
        assert "esc closes" in title and len(title) <= room.width
        assert all(known) is not title.endswith("too few rows for all")
        engine.end()

    drive(scenario, engine=Puppet, size=size)


def test_fewer_drafts_than_auto_are_some_and_then_nothing_is_said_of_auto() -> None:
    async def scenario(chat: Driver) -> None:
        engine = await chat.asked()
        engine.emit(replace(round_of(0, ["plain "]), reason=REASON))
        await chat.taken()
        panel = chat.screen.query_one(Panel)
        chat.screen.show()
        assert REASON[:20] in shown(panel)
        await chat.pilot.press("f3")
        chat.screen.show()
        assert "speculation: 2 drafts, fixed" in shown(panel) and REASON[:20] not in shown(panel)
        engine.end()

    drive(scenario, engine=Puppet, size=(100, 40))


def test_what_was_accepted_fits_in_a_line_of_a_long_chat() -> None:
    async def scenario(chat: Driver) -> None:
        engine = await chat.asked()
        for number in range(1200):
            engine.emit(round_of(number, ["a ", "b ", "c "]))
        await chat.taken()
        chat.screen.show()
        assert "accepted 100% (2400/2400 tested)" in shown(chat.screen.query_one(Panel))
        engine.end()

    drive(scenario, engine=Puppet, size=(110, 40))
