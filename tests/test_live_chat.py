"""The live screen as a person uses it: typing, streaming, stopping, toggling, scrolling, quitting."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from fake_engine import isolate
from live import Driver, Puppet, drive, round_of
from textual import events
from textual.geometry import Offset
from textual.selection import SELECT_ALL, Selection

from kestrel_engine.events import Cancel, Failed, Notice, Released, SetSpeculation, Token
from kestrel_engine.thread import Engine
from kestrel_tui.chats import read_chat
from kestrel_tui.live import chat_screen
from kestrel_tui.live.chat_screen import ChatScreen
from kestrel_tui.live.line_painter import LinePainter


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name, value in isolate({}, tmp_path).items():
        if "CACHE" not in name:  # compiled kernels are kept
            monkeypatch.setenv(name, value)
    return tmp_path


def test_nothing_heavy_is_imported_before_the_first_frame() -> None:
    code = (
        "import sys, kestrel_tui.live.app; "
        "print({'numpy', 'numba', 'torch', 'tokenizers', 'jinja2', 'huggingface_hub'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


# --- the prompt ---------------------------------------------------------------------------------------------


def test_enter_sends_and_ctrl_j_begins_a_line() -> None:
    async def scenario(chat: Driver) -> None:
        await chat.ready()
        await chat.pilot.press("a", "ctrl+j", "b", "enter")
        assert chat.submits() == ["a\nb"] and chat.screen.prompt.text == ""

    drive(scenario, engine=Puppet)


def test_a_paste_never_sends_and_a_large_one_is_taken_whole() -> None:
    async def scenario(chat: Driver) -> None:
        await chat.ready()
        chat.app.post_message(events.Paste("x\ny\nz"))
        await chat.pilot.pause()
        assert chat.screen.prompt.text == "x\ny\nz" and chat.submits() == []
        large = "some words of it\n" * 6000
        chat.app.post_message(events.Paste(large))
        await chat.pilot.pause()
        assert chat.screen.prompt.text == "x\ny\nz" + large and chat.submits() == []

    drive(scenario, engine=Puppet)


def test_history_and_a_cleared_draft_come_back() -> None:
    async def scenario(chat: Driver) -> None:
        for question in ("first", "second"):
            await chat.ask(question)
        prompt = chat.screen.prompt
        await chat.pilot.press("d", "up", "up")
        assert prompt.text == "first"
        await chat.pilot.press("down", "down")
        assert prompt.text == "d"
        await chat.pilot.press("ctrl+c")
        assert prompt.text == ""
        await chat.pilot.press("up")
        assert prompt.text == "d"
        await chat.pilot.press("ctrl+c", "ctrl+z")
        assert prompt.text == "d"

    drive(scenario)


def test_a_question_before_the_model_is_ready_waits_for_it() -> None:
    class Late(Puppet):
        def start(self) -> None:
            pass

    async def scenario(chat: Driver) -> None:
        await chat.until(lambda: chat.engine)
        await chat.pilot.press("h", "i", "enter")
        assert "❯ hi" in chat.shown and chat.submits() == []
        Puppet.start(chat.engine)
        await chat.until(chat.submits)
        assert chat.submits() == ["hi"] and chat.shown.count("❯ hi") == 1

    drive(scenario, engine=Late)


def test_a_message_during_an_answer_stays_in_the_prompt() -> None:
    async def scenario(chat: Driver) -> None:
        engine = await chat.asked()
        await chat.pilot.press("n", "enter")
        assert chat.screen.prompt.text == "n" and chat.submits() == ["question"]
        engine.end()

    drive(scenario, engine=Puppet)


def test_slash_commands_work_here_too() -> None:
    async def scenario(chat: Driver) -> None:
        await chat.ask("hello")
        await chat.ask("/think on")
        assert chat.conversation.settings.think is True and "  (reasoning: on)" in chat.shown
        await chat.ask("/undo")
        assert chat.conversation.chat.turns == [] and "❯ hello" not in chat.shown
        await chat.ask("/nonsense")
        assert "unknown command /nonsense" in chat.all_text
        await chat.ask("/etc/passwd is a file")
        assert "You said: /etc/passwd is a file" in chat.all_text
        await chat.ask("/quit")
        assert chat.app.return_value == 0

    drive(scenario)


# --- streaming ----------------------------------------------------------------------------------------------


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


# --- speculation --------------------------------------------------------------------------------------------


def test_keys_change_the_draft_length_in_mid_answer() -> None:
    async def scenario(chat: Driver) -> None:
        engine = await chat.asked()
        engine.emit(round_of(1, ["a", "b", "c"]))
        await chat.taken()
        await chat.pilot.press("f2", "f2", "f4", "f3", "f3", "f5")
        lengths = [command.length for command in engine.commands if isinstance(command, SetSpeculation)]
        assert lengths == [0, "auto", 3, 2, 1, "auto"]
        assert chat.conversation.settings.speculate == "auto"
        await chat.pilot.press("f2")
        assert "speculation is OFF" in str(chat.screen.query_one("Panel").render())

    drive(scenario, engine=Puppet)


def test_the_text_is_the_same_with_speculation_toggled_in_mid_answer(tiny_model: Path) -> None:
    def texts(toggle: bool) -> tuple[str, set[int]]:
        async def scenario(chat: Driver) -> None:
            await chat.ask("hello", wait=False)
            await chat.until(
                lambda: chat.conversation.transcript.tokens or not chat.conversation.is_answering
            )
            while chat.conversation.is_answering:
                if toggle:
                    await chat.pilot.press("f2")
                await chat.pilot.pause(0.005)

        app = drive(
            scenario, engine=Engine, model=str(tiny_model), threads=1, seed=3, temperature=1.0, max_tokens=120
        )
        turn = app.conversation.chat.turns[0]
        return turn.text, {event.drafted for event in turn.rounds.values()}

    plain, drafted = texts(False), texts(True)
    assert plain[0] == drafted[0] and 0 in drafted[1] and len(drafted[1]) > 1


# --- stopping, editing, quitting ----------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
def test_stopping_keeps_what_is_there(key: str) -> None:
    async def scenario(chat: Driver) -> None:
        await chat.ask("slow one", wait=False)
        await chat.until(lambda: len(chat.conversation.transcript.tokens) > 2)
        await chat.pilot.press(key)
        await chat.until(lambda: not chat.conversation.is_answering)
        turn = chat.conversation.chat.turns[0]
        assert turn.finish_reason == "cancelled" and "  (stopped)" in chat.shown
        assert chat.answer_text() == turn.text != ""
        await chat.ask("again")
        assert "You said: again" in chat.all_text

    drive(scenario)


def test_ctrl_c_copies_stops_clears_then_quits() -> None:
    async def scenario(chat: Driver) -> None:
        engine = await chat.asked()
        engine.emit(round_of(0, ["some text"]))
        await chat.taken()
        await chat.pilot.press("d")
        chat.screen.selections = {chat.view: Selection(Offset(2, 2), Offset(6, 2))}
        await chat.pilot.press("ctrl+c")
        assert chat.app.clipboard == "some" and Cancel() not in engine.commands
        await chat.pilot.press("ctrl+c")
        assert Cancel() in engine.commands and chat.screen.prompt.text == "d"
        engine.end("some text", "cancelled")
        await chat.until(lambda: not chat.conversation.is_answering)
        await chat.pilot.press("ctrl+c")
        assert chat.screen.prompt.text == "" and chat.app.return_value is None
        await chat.pilot.press("ctrl+c")
        assert chat.app.return_value is None
        await chat.pilot.press("ctrl+c")
        assert chat.app.return_value == 0

    drive(scenario, engine=Puppet)


def test_a_late_second_ctrl_c_does_not_quit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_screen, "QUIT_PATIENCE", 0.0)

    async def scenario(chat: Driver) -> None:
        await chat.ready()
        await chat.pilot.press("ctrl+c", "ctrl+c")
        assert chat.app.return_value is None

    drive(scenario, engine=Puppet)


def test_editing_takes_the_question_back() -> None:
    async def scenario(chat: Driver) -> None:
        await chat.ask("helo")
        chat.screen.action_edit()
        await chat.pilot.pause()
        assert chat.screen.prompt.text == "helo" and chat.conversation.chat.turns == []
        await chat.pilot.press("enter")
        await chat.until(lambda: "You said: helo" in chat.all_text)

    drive(scenario)


def test_the_chat_goes_on_after_an_error() -> None:
    async def scenario(chat: Driver) -> None:
        for question in ("fail", "break"):
            await chat.ask(question)
        assert "the prompt is longer than the context" in chat.all_text
        assert "a kernel broke: ask again" in chat.all_text
        await chat.ask("hello")
        assert "You said: hello" in chat.all_text

    drive(scenario)


def test_without_a_model_the_reason_stays_on_the_screen() -> None:
    async def scenario(chat: Driver) -> None:
        await chat.until(lambda: chat.conversation.fatal)
        assert "missing: no such model: name a folder" in chat.all_text
        await chat.pilot.press("x", "enter", "f10")

    app = drive(scenario, model="missing")
    assert app.conversation.fatal.exit_status == 2 and app.return_value == 0


def test_quitting_in_mid_answer_keeps_all_that_came(home: Path) -> None:
    async def scenario(chat: Driver) -> None:
        await chat.ask("slow one", wait=False)
        await chat.until(lambda: len(chat.conversation.transcript.tokens) > 2)
        await chat.pilot.press("f10")

    app = drive(scenario, folder=home)
    [path] = home.glob("*.jsonl")
    [turn] = read_chat(path).turns
    assert turn == app.conversation.chat.turns[0] and turn.finish_reason == "cancelled"


# --- saved chats --------------------------------------------------------------------------------------------


def test_a_chat_that_goes_on_looks_as_it_did(home: Path) -> None:
    rows: list[list] = []

    async def scenario(chat: Driver) -> None:
        if not rows:
            await chat.ask("think of colours")
            await chat.ask("tags")
        await chat.ready()
        kinds = [shown.token.kind for shown in chat.conversation.transcript.tokens]
        rounds = [shown.round for shown in chat.conversation.transcript.tokens]
        rows.append([[row for row in chat.shown if not row.startswith("  [")][:8], kinds, rounds])

    drive(scenario, folder=home)
    [path] = home.glob("*.jsonl")
    app = drive(scenario, folder=home, chat=read_chat(path))
    assert rows[0][1:] == rows[1][1:] and rows[0][0][:4] == rows[1][0][:4]
    turns = app.conversation.chat.turns
    assert app.conversation.figures.totals.rounds == sum(len(turn.rounds) for turn in turns) > 0
    assert len(turns) == 2


def test_another_chat_can_be_chosen_and_a_new_one_begun(home: Path) -> None:
    async def first(chat: Driver) -> None:
        await chat.ask("the first chat")

    async def second(chat: Driver) -> None:
        await chat.ask("the second chat")
        await chat.pilot.press("f7")
        await chat.until(lambda: chat.app.screen is not chat.screen)
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.app.screen is chat.screen)
        assert "❯ the first chat" in chat.shown and "❯ the second chat" not in chat.shown
        assert "this chat was held with" not in chat.all_text
        await chat.ask("more")
        await chat.pilot.press("f8")
        assert "❯ more" not in chat.shown

    drive(first, folder=home)
    drive(second, folder=home)
    turns = sorted(len(read_chat(path).turns) for path in home.glob("*.jsonl"))
    assert turns == [1, 2]


def test_a_damaged_journal_is_reported_on_the_screen(home: Path) -> None:
    async def scenario(chat: Driver) -> None:
        await chat.ask("hello")

    async def again(chat: Driver) -> None:
        await chat.ready()
        assert "line 2 is damaged and is skipped" in chat.all_text

    drive(scenario, folder=home)
    [path] = home.glob("*.jsonl")
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([lines[0], "nonsense\n", *lines[1:]]))
    drive(again, folder=home, chat=read_chat(path))


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
        assert any("not saved" in notice.message for notice in chat.app._notifications)

    drive(scenario, folder=home)
