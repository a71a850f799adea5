"""The prompt of the live screen: sending, new lines, pastes, history, commands."""

from __future__ import annotations

from live import Driver, Puppet, drive, round_of
from textual import events
from textual.widgets import Input

from kestrel_engine.events import Cancel


def test_enter_sends_and_ctrl_j_begins_a_line() -> None:
    async def scenario(chat: Driver) -> None:
        await chat.ready()
        await chat.pilot.press("a", "ctrl+j", "b", "enter")
        assert chat.submits() == ["a\nb"] and chat.screen.prompt.text == ""

    drive(scenario, engine=Puppet)


async def settled(chat: Driver) -> None:
    """Wait until nobody has a message to deal with: keys that wait for others go through several queues."""
    for _ in range(20):
        await chat.until(
            lambda: (
                not any(
                    pump.message_queue_size
                    for pump in (chat.app, chat.app.screen, *chat.app.screen.query("*"))
                )
            )
        )


def test_keys_of_one_burst_act_in_their_order() -> None:
    """As a terminal delivers them when the screen lags behind the typist."""

    async def scenario(chat: Driver) -> None:
        await chat.ready()

        async def burst(*keys: str) -> None:
            for key in keys:
                chat.app.post_message(events.Key(key, key if len(key) == 1 else None))
            await settled(chat)

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


def test_keys_of_the_chat_act_in_the_order_of_a_burst() -> None:
    """They are the app's, which has them before the prompt has the letters typed in front of them."""

    async def scenario(chat: Driver) -> None:
        await chat.ready()

        async def burst(*typed: str | events.Paste) -> None:
            for each in typed:
                is_letter = isinstance(each, str) and len(each) == 1
                key = events.Key(each, each if is_letter else None) if isinstance(each, str) else each
                chat.app.post_message(key)
            await settled(chat)

        prompt = chat.screen.prompt
        await burst("a", "b", "ctrl+c", "c")
        assert prompt.text == "c", "ctrl+c clears what was typed before it"
        await burst("ctrl+c", "H", "i", "enter", "escape", "x")
        await chat.until(lambda: any(isinstance(each, Cancel) for each in chat.engine.commands))
        assert (chat.submits(), prompt.text) == (["Hi"], "x"), "escape stops what enter sent before it"
        chat.engine.begin()
        chat.engine.emit(round_of(0, ["Yes"]))
        chat.engine.end()
        await chat.until(lambda: not chat.conversation.is_answering)
        await burst("y", "f9", "ctrl+u", "n", events.Paste("ame"), ".", "m", "d")
        assert chat.app.screen is not chat.screen
        assert (prompt.text, chat.app.screen.query_one(Input).value) == ("xy", "name.md")
        await burst("escape", "z")
        assert chat.app.screen is chat.screen and prompt.text == "xyz"
        await burst("f6", "a", "ctrl+u", "b", "f6", "backspace", "f6", "c", "d", "backspace")
        assert prompt.text == "c", "the focus moves at once"

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


def test_editing_takes_the_question_back() -> None:
    async def scenario(chat: Driver) -> None:
        await chat.ask("helo")
        chat.screen.action_edit()
        await chat.pilot.pause()
        assert chat.screen.prompt.text == "helo" and chat.conversation.chat.turns == []
        await chat.pilot.press("enter")
        await chat.until(lambda: "You said: helo" in chat.all_text)

    drive(scenario)


def test_editing_keeps_what_was_being_typed() -> None:
    async def scenario(chat: Driver) -> None:
        await chat.ask("helo")
        await chat.pilot.press(*"draft")
        chat.screen.action_edit()
        assert chat.screen.prompt.text == "helo"
        await chat.pilot.press("up")
        assert chat.screen.prompt.text == "draft"

    drive(scenario)


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
