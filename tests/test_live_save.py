"""Saving a chat from the live screen: what is in the files, and what is said when there can be none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from live import Driver, Puppet, drive, round_of
from rich.style import Style
from textual.widgets import Input

from kestrel_engine.errors import KestrelError
from kestrel_engine.events import Released, Token
from kestrel_tui.chats import Chat, Turn
from kestrel_tui.live.save import Colours, save

COLOURS = Colours(
    {kind: Style(color="#0000ff", underline=kind == "accepted") for kind in ("own", "accepted", "replayed")},
    (0, 0, 0), (255, 255, 255),
)  # fmt: skip


@pytest.fixture
def chat() -> Chat:
    turn = Turn("what | is `it`?", finish_reason="stop", seed=3)
    turn.take(round_of(0, ["A ", "b|`\n"]))
    turn.take(round_of(1, ["[red]", "\x1b"], rejected=("guess",)))
    turn.take(Released((Token(9, " end", "own", 9, 1, None, -1.0),)))
    return Chat(id="1234", created="2026-01-01T00:00:00+00:00", turns=[turn])


def test_markdown_has_the_text_and_where_it_came_from(chat: Chat, tmp_path: Path) -> None:
    save(tmp_path / "new" / "chat.md", chat, COLOURS)
    text = (tmp_path / "new" / "chat.md").read_text()
    assert "## User\n\nwhat | is `it`?\n" in text and "A b|`\n[red]" in text
    appendix = text[text.index("## Provenance") :]
    assert "### Answer 1, seed 3" in appendix
    assert "5 tokens in 2 rounds; 2 of 3 tested drafts accepted (3 drafted)." in appendix
    assert "| 0 | `A ` accepted `b¦ˋ↵` own | 1 by mtp |  | 1.00, 2.00, 0.50 | fixed |" in appendix
    assert "| 1 | `[red]` replayed `␛` own ` end` own | 2 by mtp | `guess` |" in appendix


def test_json_lines_are_the_events_of_the_command(chat: Chat, tmp_path: Path) -> None:
    save(tmp_path / "chat.jsonl", chat, COLOURS)
    lines = [json.loads(line) for line in (tmp_path / "chat.jsonl").read_text().splitlines()]
    assert [line["event"] for line in lines] == ["chat", "question", "round", "round", "released", "done"]
    assert "".join(token["text"] for line in lines for token in line.get("tokens", [])) == lines[-1]["text"]
    assert lines[3]["rejected"] == [900] and lines[2]["tokens"][0]["kind"] == "accepted"


@pytest.mark.parametrize("suffix", [".svg", ".html"])
def test_pictures_show_the_coloured_answer(suffix: str, chat: Chat, tmp_path: Path) -> None:
    save(tmp_path / f"chat{suffix}", chat, COLOURS)
    text = (tmp_path / f"chat{suffix}").read_text()
    assert "[red]" in text and "\x1b" not in text and "#0000ff" in text and "underline" in text


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("chat.txt", "end the name in .md, .jsonl, .svg or .html"),
        ("there.md", "exists already"),
        ("there.md/chat.md", "cannot be written"),
        ("\0.md", "cannot be written"),
    ],
)
def test_a_file_that_cannot_be_made_is_explained(
    name: str, complaint: str, chat: Chat, tmp_path: Path
) -> None:
    (tmp_path / "there.md").write_text("precious")
    with pytest.raises(KestrelError, match=complaint):
        save(tmp_path / name, chat, COLOURS)
    assert (tmp_path / "there.md").read_text() == "precious"


def test_an_empty_chat_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(KestrelError, match="nothing to save"):
        save(tmp_path / "chat.md", Chat(), COLOURS)


@pytest.mark.parametrize("size", [(40, 10), (100, 30)])
def test_the_field_for_the_name_is_on_the_screen(size: tuple[int, int]) -> None:
    async def scenario(chat: Driver) -> None:
        await chat.ready()
        await chat.pilot.press("f9")
        await chat.until(lambda: chat.app.screen is not chat.screen and chat.app.focused)
        await chat.pilot.pause()
        field, dialog = chat.app.focused, chat.app.screen
        assert isinstance(field, Input) and field.content_region.height >= 1
        assert dialog.region.contains_region(field.region)
        for words in ("Save as", "enter saves"):
            assert any(words in strip.text for strip in dialog._compositor.render_strips()), words
        await chat.pilot.press("escape")

    drive(scenario, engine=Puppet, size=size)


def test_the_key_asks_for_a_name_and_says_how_it_went(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    async def scenario(chat: Driver) -> None:
        engine = await chat.asked()
        engine.emit(round_of(0, ["Yes"]))
        await chat.taken()
        messages: list[str] = []
        monkeypatch.setattr(chat.screen, "notify", lambda message, **_: messages.append(message))
        for name in ("chat.md", "chat.svg", "chat.doc", "new/er/chat.html"):
            await chat.pilot.press("f9")
            await chat.until(lambda: chat.app.screen is not chat.screen)
            chat.app.screen.query_one(Input).value = name
            await chat.pilot.press("enter")
            await chat.until(lambda: chat.app.screen is chat.screen)
        assert f"saved: {tmp_path}/chat.md" in messages
        assert f"saved: {tmp_path}/new/er/chat.html (the folder is new)" in messages
        assert any("end the name in" in message for message in messages)
        await chat.pilot.press("f9")
        await chat.until(lambda: chat.app.screen is not chat.screen)
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.app.screen is chat.screen)

    drive(scenario, engine=Puppet)
    assert sorted(path.name for path in tmp_path.rglob("*.*")) == ["chat.html", "chat.md", "chat.svg"]
