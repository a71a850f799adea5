"""The live screen as a person uses it: toggling, stopping, editing, quitting, going on with a chat."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from fake_engine import isolate
from live import Driver, Puppet, drive, round_of
from textual.geometry import Offset
from textual.selection import Selection

from kestrel_engine.events import Cancel, Failed, Prefill, SetSpeculation, TurnEnded, TurnStarted
from kestrel_engine.thread import Engine
from kestrel_tui.chats import read_chat
from kestrel_tui.journal import Journal
from kestrel_tui.live import chat_screen


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
        said = str(chat.screen.query_one("Panel").render())
        assert "speculation is OFF" in said and "F2 switches it on again" in said
        engine.emit(replace(round_of(2, ["d"]), reason="the best rate"))
        await chat.taken()
        chat.screen.show()
        assert "the best rate" not in str(chat.screen.query_one("Panel").render())
        await chat.pilot.press("f2")
        assert "the best rate" in str(chat.screen.query_one("Panel").render())

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
    assert app.conversation.figures.totals.tally.rounds == sum(len(turn.rounds) for turn in turns) > 0
    assert len(turns) == 2


def test_a_chat_that_goes_on_tells_how_its_answers_ended(home: Path) -> None:
    async def scenario(chat: Driver) -> None:
        await chat.ask("break")
        await chat.ask("slow one", wait=False)
        await chat.until(lambda: len(chat.conversation.transcript.tokens) > 2)
        await chat.pilot.press("escape")
        await chat.until(lambda: not chat.conversation.is_answering)
        told(chat)

    async def again(chat: Driver) -> None:
        await chat.ready()
        told(chat)

    def told(chat: Driver) -> None:
        assert "a kernel broke: ask again" in chat.all_text and "(stopped)" in chat.all_text

    drive(scenario, folder=home)
    [path] = home.glob("*.jsonl")
    drive(again, folder=home, chat=read_chat(path))


def test_a_chat_that_goes_on_marks_what_a_killed_process_left(home: Path) -> None:
    journal = Journal(pytest.fail, home)
    journal.begin(None, None)
    journal.user("killed before the first token")
    journal.close()

    async def scenario(chat: Driver) -> None:
        await chat.ready()
        assert "  (cut off)" in chat.shown

    [path] = home.glob("*.jsonl")
    drive(scenario, folder=home, chat=read_chat(path))


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


def test_notices_leave_the_prompt_free_and_help_keeps_its_columns(home: Path) -> None:
    async def scenario(chat: Driver) -> None:
        chat.screen.tell("one\ntwo\nthree")
        await chat.until(lambda: list(chat.app.screen.query("Toast")))
        await chat.pilot.pause()
        prompt = chat.screen.prompt.region
        assert not any(toast.region.overlaps(prompt) for toast in chat.app.screen.query("Toast"))
        await chat.pilot.press(*"/help", "enter")
        await chat.until(lambda: "/undo" in chat.all_text)
        lines = chat.all_text.split("\n")
        [first] = [number for number, line in enumerate(lines) if line.strip().startswith("/new")]
        assert lines[first + 1].strip().startswith("/retry")

    drive(scenario, folder=home)


def test_a_chat_whose_model_is_gone_can_be_read_and_says_what_to_do(home: Path) -> None:
    async def scenario(chat: Driver) -> None:
        await chat.ask("hello")

    async def again(chat: Driver) -> None:
        await chat.pilot.press("m", "o", "r", "e", "enter")
        await chat.until(lambda: chat.conversation.fatal)
        assert "❯ hello" in chat.shown and "You said: hello" in chat.all_text
        told = " ".join(chat.all_text.split())
        assert "missing: no such model: name a folder" in told
        assert f"kestrel-chat MODEL --resume {path.stem} goes on with another model" in told
        assert chat.screen.prompt.text == "more", "the question that waited is given back"
        await chat.pilot.press("enter")
        assert chat.screen.prompt.text == "more"
        chat.screen.action_retry()
        await chat.pilot.pause()
        assert any("there is no model" in notice.message for notice in chat.app._notifications)

    drive(scenario, folder=home)
    [path] = home.glob("*.jsonl")
    path.write_text(path.read_text().replace('"model":null', '"model":"missing"', 1))
    before = path.read_bytes()
    drive(again, folder=home, chat=read_chat(path), model="missing")
    assert path.read_bytes() == before


def test_the_context_meter_knows_a_chat_that_goes_on(home: Path) -> None:
    async def scenario(chat: Driver) -> None:
        await chat.ask("one two three")
        used.append(chat.conversation.context_used)

    async def again(chat: Driver) -> None:
        await chat.ready()
        used.append(chat.conversation.context_used)
        await chat.until(lambda: f"{used[0]}/512" in str(chat.screen.query_one("Panel").render()))

    used: list[int] = []
    drive(scenario, folder=home)
    [path] = home.glob("*.jsonl")
    drive(again, folder=home, chat=read_chat(path))
    assert used[0] == used[1] == read_chat(path).turns[0].tokens[-1].position + 1


def test_the_context_meter_forgets_a_question_that_is_not_asked_again() -> None:
    """A long prompt whose reading was stopped, or that failed: the next one comes in its place."""

    async def scenario(chat: Driver) -> None:
        def used() -> str:
            return next(
                line for line in str(chat.screen.query_one("Panel").render()).split("\n") if "/512" in line
            )

        engine = await chat.asked()
        engine.emit(round_of(0, ["an ", "answer "], start=5))
        engine.end()
        await chat.until(lambda: not chat.conversation.is_answering)
        assert " 7/512 " in used()
        for end in (TurnEnded("cancelled", "", 0, 400, 4.0, 0.0, 1), Failed("a kernel broke: ask again")):
            await chat.ask("a long text", wait=False)
            engine.emit(TurnStarted(400, 7, 1))
            engine.emit(Prefill(64, 399, 7))
            await chat.taken()
            chat.screen.show()
            assert " 400/512 " in used()
            engine.emit(end)
            await chat.until(lambda: not chat.conversation.is_answering)
            assert " 7/512 " in used()

    drive(scenario, engine=Puppet)
