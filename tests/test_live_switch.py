"""Where speculation was switched off or on again can be seen, even when the engine was ahead of the screen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from live import Driver, Puppet, drive, round_of

from kestrel_engine.events import SPECULATION_OFF, Round
from kestrel_tui.chats import read_chat
from kestrel_tui.live.panel import Panel


def off(index: int, text: str) -> Round:
    return replace(round_of(index, [text]), reason=SPECULATION_OFF)


def on(index: int, texts: Iterable[str]) -> Round:
    return replace(round_of(index, texts), reason="2 drafts: 2.7 tokens a round for 1.9 steps")


def marked(chat: Driver) -> list[str]:
    return [row[2:] for row in chat.shown if row.startswith("▲ ")]


def columns(chat: Driver) -> list[bool]:
    """Of each round in the panel's columns, whether the draft length was changed before it."""
    speeds = list(chat.conversation.figures.speeds)
    return [speeds[at - 1] is None for at in range(len(speeds)) if speeds[at] is not None]


def test_the_marks_stand_where_the_engine_switched_and_not_where_the_key_was_pressed(tmp_path: Path) -> None:
    async def scenario(chat: Driver) -> None:
        engine = await chat.asked()
        engine.emit(on(0, ["first ", "line\n"]))
        engine.emit(on(1, ["second ", "line\n"]))
        await chat.taken()
        await chat.pilot.press("f2")
        engine.emit(on(2, ["ahead ", "line\n"]))
        engine.emit(off(3, "plain "))
        engine.emit(off(4, "line\n"))
        await chat.taken()
        chat.screen.show()
        assert marked(chat) == ["plain line"]
        assert columns(chat) == [False, False, True, False]
        assert chat.screen.query_one(Panel).display
        await chat.pilot.press("f2")
        engine.emit(off(5, "plain still\n"))
        engine.emit(on(6, ["drafted ", "again\n"]))
        engine.emit(on(7, ["and ", "again\n"]))
        engine.end()
        await chat.until(lambda: not chat.conversation.is_answering)
        assert marked(chat) == ["plain line", "drafted again"]
        assert columns(chat) == [False, False, True, False, False, True, False]
        assert "▲" not in chat.answer_text()

    async def again(chat: Driver) -> None:
        await chat.ready()
        await chat.until(lambda: marked(chat) == ["plain line", "drafted again"])

    drive(scenario, engine=Puppet, folder=tmp_path)
    [path] = tmp_path.glob("*.jsonl")
    drive(again, engine=Puppet, folder=tmp_path, chat=read_chat(path))


def test_an_answer_that_is_plain_from_its_start_is_marked_once() -> None:
    async def scenario(chat: Driver) -> None:
        engine = await chat.asked()
        engine.emit(off(0, "off from the first token on\n"))
        engine.end()
        await chat.until(lambda: not chat.conversation.is_answering)
        assert marked(chat) == []
        await chat.asked()
        engine.emit(on(0, ["on ", "again\n"]))
        engine.emit(on(1, ["on ", "still\n"]))
        engine.end()
        await chat.until(lambda: not chat.conversation.is_answering)
        assert marked(chat) == ["on again"]

    drive(scenario, engine=Puppet)


def test_a_switch_within_the_tag_that_ends_reasoning_is_marked_at_the_answer() -> None:
    async def scenario(chat: Driver) -> None:
        await chat.ask("question", wait=False)
        chat.engine.begin(reasoning=True)
        chat.engine.emit(on(0, ["thought ", "on\n"]))
        chat.engine.emit(off(1, "</think>"))
        chat.engine.emit(off(2, "\n\n"))
        chat.engine.emit(off(3, "plain "))
        chat.engine.emit(off(4, "line\n"))
        chat.engine.end()
        await chat.until(lambda: not chat.conversation.is_answering)
        assert marked(chat) == ["plain line"]

    drive(scenario, engine=Puppet)
