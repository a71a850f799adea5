"""An answer on its way to the screen: nothing is lost, nothing is torn, nothing is taken for markup."""

from __future__ import annotations

import threading
import time

import pytest
from live import Driver, Puppet, drive, round_of
from textual.selection import SELECT_ALL

from kestrel_engine.events import Failed, Notice, Released, Token
from kestrel_tui.live.chat_screen import ChatScreen
from kestrel_tui.live.line_painter import LinePainter
from kestrel_tui.live.pace import Pace


@pytest.mark.parametrize(
    ("end", "count"), [("stop", 2000), ("length", 200), ("cancelled", 200), ("failed", 200)]
)
def test_a_fast_stream_loses_nothing_however_it_ends(
    end: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushes: list[float] = []
    flush = ChatScreen.flush
    monkeypatch.setattr(ChatScreen, "flush", lambda self: (flushes.append(time.monotonic()), flush(self))[1])
    texts = [f"w{number} " if number % 9 else f"w{number}\n" for number in range(count)]

    async def scenario(chat: Driver) -> None:
        engine = await chat.asked()
        flushes.clear()

        def stream() -> None:
            for number in range(0, count, 4):
                engine.emit(round_of(number, texts[number : number + 4]))
                time.sleep(0.004)
            if end == "failed":
                engine.emit(Failed("a kernel broke: ask again"))
            else:
                engine.end("".join(texts), end)

        thread = threading.Thread(target=stream)
        thread.start()
        await chat.until(lambda: not chat.conversation.is_answering)
        thread.join()
        assert chat.answer_text() == "".join(texts) == chat.conversation.chat.turns[0].text
        assert f"w{count - 1}" in chat.all_text
        assert len(flushes) <= 35 * (flushes[-1] - flushes[0]) + 2
        assert chat.view.following

    drive(scenario, engine=Puppet)


def test_a_frame_that_is_due_at_once_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """A timer of Textual's drops its only tick when its time is over before it looks at the clock."""
    monkeypatch.setattr(Pace, "wait", lambda self: 1e-9)

    async def scenario(chat: Driver) -> None:
        engine = await chat.asked()
        for number in range(5):
            engine.emit(round_of(number, [f"w{number} "]))
            await chat.taken()
        assert "w0 w1 w2 w3 w4" in chat.all_text

    drive(scenario, engine=Puppet)


def test_only_lines_that_changed_are_painted(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(chat: Driver) -> None:
        engine = await chat.asked()
        engine.emit(round_of(0, [f"line {number}\n" for number in range(12)]))
        await chat.taken()
        painted: list[int] = []
        monkeypatch.setattr(LinePainter, "pieces", _recording(LinePainter.pieces, painted))
        engine.emit(round_of(1, ["more "]))
        await chat.taken()
        assert painted and min(painted) == chat.view.transcript.blocks[-1].top + 12

    drive(scenario, engine=Puppet)


def _recording(method, rows: list[int]):
    def record(self, y: int):
        rows.append(y)
        return method(self, y)

    return record


def test_rejected_drafts_stand_behind_the_caret_for_one_round() -> None:
    async def scenario(chat: Driver) -> None:
        engine = await chat.asked()
        engine.emit(round_of(0, ["You "], rejected=("I ", "am")))
        await chat.taken()
        assert "  You ▌I am" in chat.shown
        assert chat.view.get_selection(SELECT_ALL)[0] == "question\n\nYou "
        engine.emit(round_of(1, ["said "]))
        await chat.taken()
        assert "  You said ▌" in chat.shown
        engine.end("You said ")
        await chat.until(lambda: not chat.conversation.is_answering)
        assert "▌" not in chat.all_text

    drive(scenario, engine=Puppet)


def test_held_tokens_that_are_released_are_shown() -> None:
    async def scenario(chat: Driver) -> None:
        engine = await chat.asked()
        engine.emit(Released((Token(5, "kept", "own", 3, 0, None, -0.5),)))
        engine.end("kept", "cancelled")
        await chat.until(lambda: not chat.conversation.is_answering)
        assert "  kept" in chat.shown and "  (stopped)" in chat.shown

    drive(scenario, engine=Puppet)


@pytest.mark.parametrize("text", ["[red]x[/] [@click=app.quit]q[/]", "[/foo] [b"])
def test_markup_from_the_model_is_text(text: str) -> None:
    async def scenario(chat: Driver) -> None:
        engine = await chat.asked()
        engine.emit(round_of(0, [text], rejected=(text,)))
        engine.emit(Notice(text))
        await chat.taken()
        assert f"  {text}" in chat.shown
        await chat.pilot.press("f6")
        await chat.pilot.pause()
        assert f"“{text}”" in str(chat.screen.inspector.render())

    drive(scenario, engine=Puppet)


def test_control_characters_never_reach_the_terminal() -> None:
    async def scenario(chat: Driver) -> None:
        engine = await chat.asked()
        engine.emit(round_of(0, ["\x1b[2J", "\x1b]52;c;aGk=\a", "\x9b31m", "a\tb"]))
        await chat.taken()
        assert "  ␛[2J␛]52;c;aGk=␇\\x9b31ma    b▌" in chat.shown

    drive(scenario, engine=Puppet)


def test_characters_of_several_tokens_are_never_torn() -> None:
    texts = ["日", "本", "", "👩", "\u200d", "👩", "\u200d", "👧", " e", "\u0301", "☺", "\ufe0f", "שלום"]

    async def scenario(chat: Driver) -> None:
        engine = await chat.asked()
        for number, text in enumerate(texts):
            engine.emit(round_of(number, [text]))
            await chat.taken()
            for y in range(chat.view.size.height):
                strip = chat.view.render_line(y)
                assert "\ufffd" not in strip.text and strip.cell_length == chat.view.columns
        assert "  日本👩\u200d👩\u200d👧 e\u0301☺\ufe0f\n  שלום▌" in chat.all_text
        assert chat.answer_text() == "".join(texts)

    drive(scenario, engine=Puppet, size=(14, 20))
