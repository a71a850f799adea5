"""What can be seen: contrast in every theme, no meaning in colour alone, and pictures of the screen."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import textual
from fake_engine import FakeEngine
from live import Driver, Puppet, drive, round_of
from rich.style import Style
from textual.color import Color
from textual.theme import BUILTIN_THEMES

from kestrel_tui.live.kinds import KINDS, contrast, kind_styles, muted

SNAPSHOTS = Path(__file__).with_name("snapshots")
DRAWN_BY = "8.2.8"
"""The version of textual that the snapshots were made with; others may draw a border differently."""

USUAL_ANSI = {"bright_cyan": (0, 255, 255), "bright_yellow": (255, 255, 0), "white": (229, 229, 229),
              "blue": (0, 0, 238), "red": (205, 0, 0), "black": (0, 0, 0)}  # fmt: skip
"""xterm's palette."""


@pytest.mark.parametrize("name", BUILTIN_THEMES)
def test_every_kind_can_be_read_in_every_theme(name: str) -> None:
    theme = BUILTIN_THEMES[name]
    variables = theme.to_color_system().generate()
    if theme.ansi:
        background = Color(0, 0, 0) if theme.dark else Color(255, 255, 255)
        styles = kind_styles(theme, background, background)
        shown = {kind: Color(*USUAL_ANSI[styles[kind].color.name]) for kind in KINDS if kind != "own"}
    else:
        background = Color.parse(variables["background"])
        styles = kind_styles(theme, background, Color.parse(variables["foreground"]))
        shown = {kind: Color.from_rich_color(styles[kind].color) for kind in KINDS}
        shown["muted"] = Color.parse(muted(theme, variables))
    for kind, colour in shown.items():
        assert contrast(colour, background) >= 4.5, (kind, colour)
    assert len({styles[kind].color for kind in KINDS if kind != "own"}) == 3


def test_contrast_is_that_of_wcag() -> None:
    assert contrast(Color(0, 0, 0), Color(255, 255, 255)) == pytest.approx(21)
    assert contrast(Color(119, 119, 119), Color(255, 255, 255)) == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("environ", [{}, {"NO_COLOR": "1"}])
def test_kinds_differ_without_colour(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    seen: dict[str, tuple] = {}

    async def scenario(chat: Driver) -> None:
        engine = await chat.asked()
        engine.emit(round_of(0, ["aaa", "bbb"]))
        engine.emit(round_of(1, ["ccc", "ddd"], rejected=("eee",)))
        await chat.taken()
        for strip in chat.screen._compositor.render_strips():
            for segment in strip.apply_filter(chat.app._filters[-1], Color(0, 0, 0)):
                if segment.text in ("aaa", "bbb", "ccc", "eee"):
                    seen[segment.text] = attributes(segment.style)

    drive(scenario, engine=Puppet)
    assert len(seen) == 4 and len(set(seen.values())) == 4


def attributes(style: Style) -> tuple:
    return tuple(map(bool, (style.bold, style.italic, style.underline, style.strike, style.reverse)))


async def all_kinds(chat: Driver) -> None:
    """A question, reasoning, and an answer that still grows, with rejected drafts behind the caret."""
    await chat.ask("What does a kestrel eat?", wait=False)
    chat.engine.begin(reasoning=True)
    chat.engine.emit(round_of(0, ["The ", "user ", "asks ", "about ", "birds.", "\n"]))
    chat.engine.emit(round_of(1, ["</think>", "\n\n"]))
    chat.engine.emit(round_of(2, ["A ", "kestrel ", "eats "]))
    chat.engine.emit(round_of(3, ["voles"]))
    chat.engine.emit(round_of(4, [", ", "mice "], rejected=("or ", "small ")))
    await chat.taken()
    chat.screen.show()


async def empty(chat: Driver) -> None:
    await chat.ready()


async def narrow(chat: Driver) -> None:
    await all_kinds(chat)


async def light(chat: Driver) -> None:
    chat.app.theme = "textual-light"
    await all_kinds(chat)


async def error(chat: Driver) -> None:
    await chat.ask("fail")


async def inspector(chat: Driver) -> None:
    await all_kinds(chat)
    await chat.pilot.press("f6")


SCREENS = {
    "empty": (empty, (110, 30), Puppet),
    "streaming": (all_kinds, (110, 40), Puppet),
    "narrow": (narrow, (60, 20), Puppet),
    "light": (light, (110, 40), Puppet),
    "error": (error, (110, 24), FakeEngine),
    "inspector": (inspector, (110, 30), Puppet),
}


@pytest.mark.skipif(textual.__version__ != DRAWN_BY, reason=f"snapshots were drawn by textual {DRAWN_BY}")
@pytest.mark.parametrize("name", SCREENS)
def test_the_screen_looks_as_it_did(name: str) -> None:
    """KESTREL_UPDATE_SNAPSHOTS=1 makes the pictures anew: then look at them."""
    scenario, size, engine = SCREENS[name]
    pictures: list[str] = []

    async def draw(chat: Driver) -> None:
        await scenario(chat)
        await chat.pilot.pause()
        pictures.append(chat.app.export_screenshot(title="kestrel-chat", simplify=True))

    drive(draw, size=size, engine=engine, seed=1)
    path = SNAPSHOTS / f"{name}.svg"
    if os.environ.get("KESTREL_UPDATE_SNAPSHOTS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(pictures[0], encoding="utf-8")
    assert pictures[0] == path.read_text(encoding="utf-8"), f"the screen differs from {path.name}"
