"""Draws the picture of the documentation from the running program: `python screenshot.py MODEL OUT.svg`."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from live import Driver, drive

from kestrel_engine.events import Event, Round
from kestrel_engine.options import EngineOptions
from kestrel_engine.thread import Engine

QUESTIONS = ("What is a kestrel?", "Tell me a story about a fox.", "Tell me a story about a bird and a tree.")
SIZE = (116, 34)

OFF, ON, END = 4, 25, 36
"""Rounds of the last answer before which speculation is switched off and on, and after which the picture is taken."""


SEEDS = range(5, 25)
"""Tried in turn until the last answer is long enough."""


class TooShort(Exception):
    """The answer was over before the picture could be taken."""


class Gate:
    """Between the engine, which would have answered before a key is pressed, and the screen: holds a round back."""

    def __init__(self) -> None:
        self._opened = threading.Semaphore(0)
        self._wanted: Callable[[Round], bool] | None = None
        self.is_holding = False

    def hold_at(self, wanted: Callable[[Round], bool]) -> None:
        """Hold the engine when it has shown such a round; let it go on until then."""
        self._wanted = wanted
        self.open()

    def open(self) -> None:
        if self.is_holding:
            self.is_holding = False
            self._opened.release()

    def engine(self, options: EngineOptions, emit: Callable[[Event], None]) -> Engine:
        def pass_on(event: Event) -> None:
            emit(event)
            if self._wanted is not None and isinstance(event, Round) and self._wanted(event):
                self._wanted, self.is_holding = None, True
                self._opened.acquire()

        return Engine(options, pass_on)


def draw(model: str, path: Path) -> None:
    """Raises SystemExit when all the answers are too short."""
    for seed in SEEDS:
        with contextlib.suppress(TooShort):
            return draw_with(seed, model, path)
    raise SystemExit("all answers were over too soon: ask for longer ones")


def draw_with(seed: int, model: str, path: Path) -> None:
    """Ask a few questions, switch speculation off and on meanwhile, and stop the clock in mid-answer."""
    gate = Gate()

    async def held(chat: Driver) -> None:
        await chat.until(lambda: gate.is_holding or not chat.conversation.is_answering)
        await chat.taken()
        if not gate.is_holding:
            raise TooShort

    async def scenario(chat: Driver) -> None:
        for question in QUESTIONS[:-1]:
            await chat.ask(question)
        gate.hold_at(lambda event: event.index == OFF)
        await chat.ask(QUESTIONS[-1], wait=False)
        await held(chat)
        await chat.pilot.press("f2")
        gate.hold_at(lambda event: event.index == ON)
        await held(chat)
        await chat.pilot.press("f2")
        gate.hold_at(lambda event: event.index >= END and event.rejected)
        await held(chat)
        chat.screen.show()
        await chat.pilot.pause()
        path.write_text(chat.app.export_screenshot(title="kestrel-chat", simplify=True), encoding="utf-8")
        gate.open()

    drive(
        scenario,
        size=SIZE,
        engine=gate.engine,
        model=model,
        seed=seed,
        temperature=0.6,
        max_tokens=200,
        threads=1,
    )


if __name__ == "__main__":
    draw(sys.argv[1], Path(sys.argv[2]))
