"""The prompt of the live screen: sending, new lines, pastes, history, commands."""

from __future__ import annotations

from live import Driver, Puppet, drive
from textual import events


def test_enter_sends_and_ctrl_j_begins_a_line() -> None:
    async def scenario(chat: Driver) -> None:
        await chat.ready()
        await chat.pilot.press("a", "ctrl+j", "b", "enter")
        assert chat.submits() == ["a\nb"] and chat.screen.prompt.text == ""

    drive(scenario, engine=Puppet)


def test_keys_of_one_burst_act_in_their_order() -> None:
    """As a terminal delivers them when the screen lags behind the typist."""

    async def scenario(chat: Driver) -> None:
        await chat.ready()

        async def burst(*keys: str) -> None:
            for key in keys:
                chat.app.post_message(events.Key(key, key if len(key) == 1 else None))
            await chat.pilot.pause()

        prompt = chat.screen.prompt
        for keys, expected in (
            (("t", "e", "h", "backspace", "backspace", "h", "e"), "the"),
            (("a", "b", "c", "left", "X"), "abXc"),
            (("z", "z", "ctrl+u", "a", "b"), "ab"),
            (("a", "ctrl+j", "b"), "a\nb"),
        ):
            await burst(*keys)
            assert prompt.text == expected
            prompt.put("")
        await burst("H", "i", "enter", "x", "y", "z")
        assert (chat.submits(), prompt.text) == (["Hi"], "xyz")

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
