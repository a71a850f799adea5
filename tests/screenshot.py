"""Draws the picture of the documentation from the running program: `python screenshot.py MODEL OUT.svg`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

from live import Driver, drive

from kestrel_engine.thread import Engine

QUESTIONS = ("What is a kestrel?", "Tell me a story about a fox.", "Tell me a story about a bird and a tree.")
SIZE = (116, 34)


def draw(model: str, path: Path) -> None:
    """Ask a few questions, switch speculation off and on meanwhile, and stop the clock in mid-answer."""

    async def until(chat: Driver, condition: Callable[[], object]) -> None:
        # The pilot's own pause waits until nothing comes any more.
        while chat.conversation.is_answering and not condition():
            await asyncio.sleep(0.002)

    async def scenario(chat: Driver) -> None:
        tokens = chat.conversation.transcript.tokens
        for question in QUESTIONS[:-1]:
            await chat.ask(question)
        start = len(tokens)
        await chat.ask(QUESTIONS[-1], wait=False)
        await until(chat, lambda: len(tokens) > start + 10)
        await chat.pilot.press("f2")
        await until(chat, lambda: len(tokens) > start + 20)
        await chat.pilot.press("f2")
        await until(chat, lambda: len(tokens) > start + 50 and chat.conversation.guesses)
        chat.screen.show()
        await asyncio.sleep(0.05)
        path.write_text(chat.app.export_screenshot(title="kestrel-chat", simplify=True), encoding="utf-8")

    drive(scenario, size=SIZE, engine=Engine, model=model, seed=5, temperature=0.6, max_tokens=200, threads=1)


if __name__ == "__main__":
    draw(sys.argv[1], Path(sys.argv[2]))
