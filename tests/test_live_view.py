"""The transcript on the screen: scrolling, resizing, selecting, folding, pointing; and the keys."""

from __future__ import annotations

import pytest
from live import Driver, Puppet, drive, round_of
from textual import events
from textual.geometry import Offset
from textual.selection import SELECT_ALL, Selection

WORDS = [f"word{number} " for number in range(600)]


async def stream(chat: Driver, count: int = 600) -> Puppet:
    """Begin an answer of `count` words."""
    engine = await chat.asked()
    for start in range(0, count, 3):
        engine.emit(round_of(start, WORDS[start : start + 3]))
    await chat.taken()
    return engine


def first_token(chat: Driver) -> str:
    """The word at the top of the screen."""
    return chat.shown[0].split()[0]


def test_scrolling_up_stays_there_and_the_end_is_followed_again() -> None:
    async def scenario(chat: Driver) -> None:
        engine = await stream(chat)
        assert chat.view.following and chat.view.scroll_offset.y == chat.view.max_scroll_y
        await chat.pilot.press("pageup")
        place, first = chat.view.scroll_offset.y, first_token(chat)
        assert place < chat.view.max_scroll_y
        for number in range(600, 700):
            engine.emit(round_of(number, ["more ", "and "]))
        await chat.taken()
        assert (chat.view.scroll_offset.y, first_token(chat)) == (place, first)
        assert "↓ 200 new (ctrl+end)" in str(chat.screen.query_one("Legend").render())
        await chat.pilot.press("end")
        assert chat.view.following and "▌" in chat.all_text
        engine.emit(round_of(700, ["last "]))
        await chat.taken()
        assert "last ▌" in chat.all_text and "new" not in str(chat.screen.query_one("Legend").render())

    drive(scenario, engine=Puppet)


def test_keys_of_the_prompt_scroll_the_transcript() -> None:
    async def scenario(chat: Driver) -> None:
        await stream(chat)
        assert chat.screen.prompt.has_focus
        await chat.pilot.press("home")
        assert chat.view.scroll_offset.y == 0
        await chat.pilot.press("pagedown")
        assert chat.view.scroll_offset.y == chat.view.size.height - 2
        await chat.pilot.press("x", "home", "ctrl+home")
        assert chat.view.scroll_offset.y == 0 and chat.screen.prompt.cursor_location == (0, 0)
        await chat.pilot.press("ctrl+end")
        assert chat.view.following

    drive(scenario, engine=Puppet)


def test_resizing_while_streaming_keeps_the_text_and_the_first_token() -> None:
    async def scenario(chat: Driver) -> None:
        engine = await stream(chat)
        await chat.pilot.press("pageup")
        first = first_token(chat)
        number = 600
        for width in (20, 1, 120, 33, 120):
            await chat.pilot.resize_terminal(width, 24)
            for _ in range(20):
                engine.emit(round_of(number, ["more "]))
                number += 1
            await chat.taken()
            if width >= 20:
                assert first in chat.shown[0]
        assert first_token(chat) == first
        assert chat.answer_text() == "".join(WORDS) + "more " * 100

    drive(scenario, engine=Puppet, size=(120, 24))


@pytest.mark.parametrize("size", [(1, 1), (2, 2), (10, 3), (80, 24), (300, 5)])
def test_any_size_of_terminal_is_survived(size: tuple[int, int]) -> None:
    async def scenario(chat: Driver) -> None:
        await chat.ask("wide")
        await chat.pilot.press("f6", "left", "f6", "pageup", "end")
        await chat.pilot.resize_terminal(80, 24)
        await chat.pilot.pause()
        assert "日本" in chat.all_text

    from fake_engine import FakeEngine

    drive(scenario, engine=FakeEngine, size=size)


def test_copied_text_is_the_source_text() -> None:
    async def scenario(chat: Driver) -> None:
        engine = await chat.asked()
        text = "one two three four five six seven\n\tand 日本 \x1b[0m eight\n"
        for number, piece in enumerate(text.split(" ")):
            engine.emit(round_of(number, [piece + " "], rejected=("no",)))
        await chat.taken()
        source = text + " "
        assert chat.view.get_selection(SELECT_ALL)[0] == f"question\n\n{source}"
        first = chat.conversation.transcript.blocks[1].top
        rows = chat.shown
        assert rows[first].startswith("  one two three")
        some = Selection(Offset(2 + 4, first), Offset(2 + 3, first + 1))
        selected = chat.view.get_selection(some)[0]
        assert source.startswith("one " + selected) and "\n" not in selected
        chat.screen.selections = {chat.view: some}
        await chat.pilot.pause()
        strip = chat.view.render_line(first)
        assert strip.text == rows[first].ljust(chat.view.columns)

    drive(scenario, engine=Puppet, size=(24, 30))


def test_the_heading_of_reasoning_is_painted_as_it_counts() -> None:
    painted: set[int] = set()

    async def scenario(chat: Driver) -> None:
        await chat.ask("question", wait=False)
        engine, view = chat.engine, chat.view
        engine.begin(reasoning=True)
        original = view.refresh_lines

        def refresh_lines(first: int, count: int = 1) -> None:
            painted.update(range(first, first + count))
            original(first, count)

        view.refresh_lines = refresh_lines
        for index in range(60):
            painted.clear()
            engine.emit(round_of(index, ["thought "], start=index))
            await chat.taken()
            count = f"{index + 1} token" + ("s" if index else "")
            heading = chat.shown.index(f"▾ reasoning, {count}")
            assert heading in painted
        assert len(painted) < sum(line.startswith("┊") for line in chat.shown), "and not all that is below it"

    drive(scenario, engine=Puppet)


def test_reasoning_stands_apart_and_folds() -> None:
    async def scenario(chat: Driver) -> None:
        await chat.ask("question", wait=False)
        chat.engine.begin(reasoning=True)
        for number, text in enumerate(["I ", "wonder", "\n", "</think>", "\n\n", "Yes"]):
            chat.engine.emit(round_of(number, [text]))
        await chat.taken()
        assert chat.shown[:7] == ["❯ question", "", "▾ reasoning, 2 tokens", "┊ I wonder", "", "  Yes▌", ""]
        await chat.pilot.press("f12")
        assert chat.shown[:5] == ["❯ question", "", "▸ reasoning, 2 tokens", "", "  Yes▌"]
        await chat.pilot.click(chat.view, offset=(4, 2))
        assert "┊ I wonder" in chat.shown

    drive(scenario, engine=Puppet)


def test_the_mouse_and_the_cursor_point_at_tokens() -> None:
    async def scenario(chat: Driver) -> None:
        engine = await chat.asked()
        engine.emit(round_of(0, ["He", "llo"], rejected=("wo", "rld")))
        await chat.taken()
        await chat.pilot.press("f6")
        await chat.pilot.pause()
        said = lambda: str(chat.screen.inspector.render())
        assert "piece “llo” id 7" in said() and "probability 78 %" in said()
        assert "the head guessed “wo” (model: 3.1 %), the model chose “llo” (78 %)" in said()
        assert "drafted behind the wrong guess: “rld”" in said()
        await chat.pilot.press("left")
        await chat.pilot.pause()
        assert "piece “He”" in said() and "replayed" in said() and "draft 1 of 3" in said()
        assert "the head guessed it, and the model chose it: “He” (61 %)" in said()
        await chat.pilot.hover(chat.view, offset=(5, 2))
        await chat.pilot.pause()
        assert "piece “llo”" in said()
        await chat.pilot.press("escape")
        assert not chat.screen.inspector.display and chat.screen.prompt.has_focus

    drive(scenario, engine=Puppet)


def test_what_is_typed_reaches_the_prompt_from_the_inspector_too() -> None:
    async def scenario(chat: Driver) -> None:
        engine = await chat.asked()
        engine.emit(round_of(0, ["He", "llo", " you"]))
        await chat.taken()
        engine.end()
        await chat.until(lambda: not chat.conversation.is_answering)
        prompt, inspector = chat.screen.prompt, chat.screen.inspector
        await chat.pilot.press("f6", "left", "x", "y", "left", "z")
        assert prompt.text == "xzy" and prompt.has_focus, "with a text there, the arrows are the text's"
        assert inspector.display and chat.view.cursor == 1
        await chat.pilot.press("ctrl+u", "delete", "left")
        assert prompt.text == "" and chat.view.cursor == 0, "and the tokens' once it is gone"
        await chat.pilot.press("f6", "f6", "b")
        for each, text in ((events.Paste("cd"), "bcd"), (events.Key("backspace", None), "bc")):
            chat.view.focus()
            await chat.until(lambda: chat.view.has_focus)
            chat.app.post_message(each)
            await chat.until(lambda text=text: prompt.text == text)
            assert prompt.has_focus
        chat.view.focus()
        await chat.pilot.press("enter")
        assert chat.submits() == ["question", "bc"]
        assert "esc" in str(inspector.border_title)
        await chat.pilot.press("escape")
        assert not inspector.display, "esc closes it"

    drive(scenario, engine=Puppet)


def test_tokens_are_marked_while_they_are_inspected_only() -> None:
    async def scenario(chat: Driver) -> None:
        engine = await chat.asked()
        engine.emit(round_of(0, ["He", "llo"]))
        await chat.taken()
        await chat.pilot.click(chat.view, offset=(5, 2))
        await chat.pilot.press("left")
        assert chat.view.cursor is None
        await chat.pilot.press("f6", "left")
        assert chat.view.cursor == 0
        await chat.pilot.press("f6")
        assert chat.view.cursor is None

    drive(scenario, engine=Puppet)
