"""The keys of the live screen: whose they are, and changing them in `config.toml`."""

from __future__ import annotations

from pathlib import Path

import pytest
from live import Driver, Puppet, drive

from kestrel_engine.errors import UsageError
from kestrel_engine.events import SetSpeculation
from kestrel_tui.keys import ACTIONS, parse_keys
from kestrel_tui.live.app import ChatApp
from kestrel_tui.live.chat_screen import ChatScreen
from kestrel_tui.live.key_list import KeyList
from kestrel_tui.live.prompt_box import PromptBox
from kestrel_tui.settings import resolve

# What belongs to readline (emacs and vi keys on ctrl), tmux (ctrl+b) and screen (ctrl+a); ctrl+c is the
# interrupt there too.
TAKEN = {f"ctrl+{letter}" for letter in "abdefghijklmnopqrstuvwxyz"} | {"tab", "up", "down", "left", "right"}


def test_no_key_of_the_chat_belongs_to_readline_tmux_or_screen() -> None:
    bindings = ChatScreen.BINDINGS
    keys = {binding.key for binding in bindings}
    assert not keys & TAKEN
    assert all(binding.id and binding.priority for binding in bindings)
    assert len({binding.id for binding in bindings}) == len(bindings)
    own = {binding.key for binding in PromptBox.BINDINGS}
    assert not any(key in own for key in keys)
    assert ChatApp.BINDINGS == []


def test_the_footer_and_the_palette_name_the_keys() -> None:
    async def scenario(chat: Driver) -> None:
        await chat.ready()
        footer = " ".join(str(key.render()) for key in chat.screen.query("FooterKey"))
        assert footer.split()[:4] == ["f1", "Menu", "f2", "Spec"] and "f10 Quit" in footer
        titles = [command.title for command in chat.app.get_system_commands(chat.screen)]
        for action in ACTIONS:
            if action.key not in ("f1", "ctrl+c"):
                assert any(title.endswith(f"({action.key})") for title in titles)
        for command in chat.app.get_system_commands(chat.screen):
            if "Start a new chat" in command.title:
                await command.callback()
        await chat.pilot.press("f1")
        await chat.until(lambda: chat.app.screen is not chat.screen)
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.app.screen is chat.screen)

    drive(scenario, engine=Puppet, size=(80, 24))


def test_an_entry_of_the_palette_is_one_line() -> None:
    async def scenario(chat: Driver) -> None:
        await chat.ready()
        await chat.pilot.press("f1")
        await chat.until(lambda: chat.app.screen.query("CommandList"))
        shown = chat.app.screen.query_one("CommandList")
        await chat.until(lambda: shown.option_count)
        entries = [
            str(shown.get_option_at_index(place).prompt).rstrip() for place in range(shown.option_count)
        ]
        assert "Choose a theme" in entries and "Show or hide all keys" in entries
        assert not [entry for entry in entries if "\n" in entry]

    drive(scenario, engine=Puppet)


def test_changed_keys_work_and_the_old_ones_do_not(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text(
        '[keys]\n"speculation.toggle" = "F3"\ndraft.shorter = "alt+m"\n"palette.open" = "f20"\n"chat.new" = "f1"\n'
    )
    settings, warnings = resolve({}, {}, config)
    assert warnings == []

    async def scenario(chat: Driver) -> None:
        await chat.ready()
        await chat.pilot.press("f3", "f2", "f3", "f1")
        lengths = [each.length for each in chat.engine.commands if isinstance(each, SetSpeculation)]
        assert lengths == [0, "auto"] and chat.app.screen is chat.screen
        assert "(a new chat)" in chat.all_text
        footer = " ".join(str(key.render()) for key in chat.screen.query("FooterKey"))
        assert "f3 Spec" in footer and "f20 Menu" in footer and "f2" not in footer.split()
        assert any(
            command.title.endswith("(f3)") and "Speculation" in command.title
            for command in chat.app.get_system_commands(chat.screen)
        )
        await chat.pilot.press("f20")
        await chat.until(lambda: chat.app.screen is not chat.screen)
        await chat.pilot.press("escape")

    drive(scenario, engine=Puppet, keys=settings.keys)


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ({"chat.sav": "f9"}, "unknown action 'chat.sav': did you mean chat.save?"),
        ({"zzz": "f9"}, "unknown action 'zzz': the actions are palette.open, speculation.toggle"),
        ({"chat.new": "f9"}, "f9 is for chat.new and for chat.save: give one another key"),
        ({"chat.new": "f11", "chat.save": "F11"}, "f11 is for chat.new and for chat.save"),
        (
            {"chat.new": "ctrl+b"},
            "chat.new 'ctrl+b': readline, tmux, screen or the terminal needs it: use a function",
        ),
        ({"chat.new": "alt+f"}, "readline, tmux, screen or the terminal needs it"),
        ({"chat.new": "enter"}, "chat.new 'enter': no key that is free: use a function key"),
        ({"chat.new": "n"}, "no key that is free"),
        ({"chat.new": 8}, "chat.new 8: no key that is free"),
        ("f8", "write a table"),
    ],
)
def test_bad_keys_are_one_line_that_says_what_to_do(table: object, complaint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_keys(table)
    assert complaint in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ('[keys]\nchat.save = "f11"\nchat.new = "ctrl+a"\n', "4: keys: chat.new 'ctrl+a'"),
        ('[keys]\n\n"chat.sav" = "f9"', "4: keys: unknown action 'chat.sav'"),
        ('[keys.chat]\nsave = "f11"\n  new = "f11" # \n', "4: keys: f11 is for chat.new and for chat.save"),
        (
            '[keys]\n# chat.save = "f11"\n\'chat.new\' = "f9"\n',
            "4: keys: f9 is for chat.new and for chat.save",
        ),
        ('keys.chat.save = "f12"\nkeys."chat.new" = "a"', "3: keys: chat.new 'a'"),
        ('keys = { "chat.new" = "a" }', "2: keys: chat.new 'a'"),
        ('keys = """\n[keys]\n"""', "2: keys: write a table"),
    ],
)
def test_a_bad_key_names_the_file_and_the_line(table: str, complaint: str, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text(f"seed = 3\n{table}")
    with pytest.raises(UsageError) as caught:
        resolve({}, {}, config)
    assert f"config.toml:{complaint}" in str(caught.value)


def test_swapped_keys_and_the_usual_ones_are_allowed() -> None:
    swapped = {
        "draft.shorter": "f4",
        "draft.longer": "f3",
        "app.interrupt": "ctrl+c",
        "answer.stop": "escape",
    }
    assert parse_keys(swapped) == swapped


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
def test_whatever_covers_the_chat_is_left_with_the_keys_that_stop(key: str) -> None:
    async def scenario(chat: Driver) -> None:
        await chat.ready()
        for opens in ("f1", "f7", "f9"):
            await chat.pilot.press(opens)
            await chat.until(lambda: chat.app.screen is not chat.screen)
            await chat.pilot.press(key, "x")
            await chat.until(lambda: chat.app.screen is chat.screen)
            await chat.until(lambda: chat.screen.prompt.has_focus)
        assert chat.screen.prompt.text == "xxx" and chat.app.return_value is None

    drive(scenario, engine=Puppet)


def test_the_list_of_keys_begins_with_those_of_the_chat() -> None:
    async def scenario(chat: Driver) -> None:
        await chat.ready()
        await chat.pilot.press("f1", *"keys")
        await chat.until(lambda: chat.app.screen.query("CommandList").first().option_count == 1)
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.screen.query(KeyList) and chat.screen.query_one(KeyList).size.height)
        shown = chat.screen.query_one(KeyList)
        rows = [
            strip.crop(*shown.content_region.column_span).text.strip()
            for strip in chat.screen._compositor.render_strips()
        ]
        assert rows[0] == "Chat" and rows[1].split() == ["F1", "Every", "action"]
        assert rows[2].startswith("alt+k") and "Speculation off" in rows[2]
        places = [
            next(n for n, row in enumerate(rows) if row.startswith(key)) for key in ("F12", "enter", "ctrl+w")
        ]
        assert places == sorted(places)
        assert not any(row.startswith(("f6 ", "f7 ")) for row in rows), "the field for text has not got them"
        await chat.pilot.press("x")
        assert chat.screen.prompt.text == "x"
        await chat.pilot.resize_terminal(80, 24)
        chat.screen.set_focus(shown)
        await chat.pilot.press("pagedown")
        await chat.until(lambda: shown.scroll_y > 0)
        await chat.pilot.press("y")
        await chat.until(lambda: chat.screen.prompt.has_focus)
        assert chat.screen.prompt.text == "xy"
        await chat.pilot.press("escape")
        await chat.until(lambda: not chat.screen.query(KeyList))

    drive(scenario, engine=Puppet, size=(120, 90), keys={"speculation.toggle": "alt+k"})
