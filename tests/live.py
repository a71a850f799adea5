"""The live screen under test: driven by a pilot, with an engine whose every event the test decides."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

from fake_engine import FakeEngine
from textual.pilot import Pilot

from kestrel_engine.events import Command, Event, Ready, Round, Submit, Token, TurnEnded, TurnStarted
from kestrel_engine.options import SamplingOptions
from kestrel_tui.chats import Chat, ChatStore
from kestrel_tui.client import EngineFactory
from kestrel_tui.journal import Journal
from kestrel_tui.live.app import ChatApp
from kestrel_tui.live.conversation import Conversation
from kestrel_tui.live.token_view import TokenView
from kestrel_tui.settings import Settings

PATIENCE = 60
"""Seconds after which a test gives up waiting."""

READY = Ready("kestrel-test", "bf16", "cpu", 2, 512, 12.5, True)


class Puppet:
    """An engine that says what the test calls `emit` with, from any thread; it is ready at once."""

    def __init__(self, options: object, emit: Callable[[Event], None]) -> None:
        self.defaults = SamplingOptions()
        self.commands: list[Command] = []
        self.emit = emit

    def start(self) -> None:
        self.emit(READY)

    def send(self, command: Command) -> None:
        self.commands.append(command)

    def join(self, timeout: float | None = None) -> None:
        pass

    def begin(self, reasoning: bool = False) -> None:
        self.emit(TurnStarted(5, 0, 1, reasoning))

    def end(self, text: str = "", reason: str = "stop") -> None:
        self.emit(TurnEnded(reason, text, 1, 5, 4.0, 2.0, 1))


def round_of(
    index: int, texts: Iterable[str], drafted: int = 0, rejected: tuple[str, ...] = (), start: int = 0
) -> Round:
    """A round that emits `texts`: all but the last were drafted."""
    texts = list(texts)
    kind = "replayed" if rejected else "accepted"
    tokens = [
        Token(7, text, kind, start + place, index, place, -0.5) for place, text in enumerate(texts[:-1])
    ]
    tokens += [Token(7, texts[-1], "own", start + len(texts) - 1, index, None, -0.25)]
    drafted = drafted or len(texts) - 1 + len(rejected)
    ids = tuple(range(900, 900 + len(rejected)))
    guess = math.log(0.031) if rejected else None
    times = (1.0, 2.0, 0.5)
    return Round(index, tuple(tokens), drafted, len(texts) - 1, "mtp", ids, *times, "fixed", rejected, guess)


class Driver:
    """An app that runs, and what a test asks and does."""

    def __init__(self, app: ChatApp, pilot: Pilot) -> None:
        self.app, self.pilot = app, pilot
        self.screen, self.conversation = app.chat_screen, app.conversation

    @property
    def engine(self):
        return self.app.bridge._engine

    @property
    def view(self) -> TokenView:
        return self.screen.view

    @property
    def shown(self) -> list[str]:
        """The rows of the transcript that are on the screen."""
        return [self.view.render_line(y).text.rstrip() for y in range(self.view.size.height)]

    @property
    def all_text(self) -> str:
        return "\n".join(self.shown)

    def answer_text(self) -> str:
        """What the answers' blocks say."""
        return "".join(block.text for block in self.conversation.transcript.blocks if block.kind == "answer")

    async def until(self, condition: Callable[[], object]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, "what the test waits for did not happen"
            await self.pilot.pause(0.01)
        await self.pilot.pause()

    async def ready(self) -> None:
        await self.until(lambda: self.conversation.ready)

    async def ask(self, question: str, wait: bool = True) -> None:
        """Type and send `question`; wait until it is answered."""
        await self.ready()
        self.screen.prompt.put(question)
        await self.pilot.press("enter")
        if wait:
            await self.until(lambda: not self.conversation.is_answering)

    async def asked(self) -> Puppet:
        """Ask something, and begin the answer."""
        await self.ask("question", wait=False)
        self.engine.begin()
        await self.until(lambda: self.conversation.answer.seed is not None)
        return self.engine

    async def asked_for_lines(self, count: int) -> Puppet:
        """Ask something, and answer with so many lines; the answer goes on."""
        engine = await self.asked()
        for number in range(count):
            engine.emit(round_of(number, [f"line {number}\n"]))
        await self.taken()
        return engine

    async def taken(self) -> None:
        """Wait until the screen has all that the engine said."""
        await self.until(lambda: not self.app.bridge._events)

    def submits(self) -> list[str]:
        """The questions that went to a Puppet."""
        return [c.messages[-1]["content"] for c in self.engine.commands if isinstance(c, Submit)]


def make_app(
    engine: EngineFactory = FakeEngine,
    folder: Path | None = None,
    chat: Chat | None = None,
    **settings: object,
) -> ChatApp:
    """folder: where chats are saved; None saves nothing."""
    journal = Journal(print, folder)
    chat = chat or Chat()
    if chat.id and folder:
        journal.resume(folder / f"{chat.id}.jsonl")
    else:
        journal.begin(chat.model, chat.system)
    store = ChatStore(folder or Path("/nonexistent"))
    return ChatApp(Conversation(Settings(**settings), chat, journal), store, engine)


def drive(
    scenario: Callable[[Driver], Awaitable[None]], size: tuple[int, int] = (120, 36), **options: object
) -> ChatApp:
    """Run `scenario` on an app made with `options`; the app, closed."""

    async def run() -> ChatApp:
        app = make_app(**options)
        try:
            async with app.run_test(size=size, notifications=True) as pilot:
                await scenario(Driver(app, pilot))
        finally:
            app.close()
            app.conversation.journal.close()
        return app

    return asyncio.run(run())
