"""An engine on its thread, for tests: commands in, all events out."""

from __future__ import annotations

import queue
import threading
from pathlib import Path

from kestrel_engine.events import Event, Failed, Quit, Ready, Released, Round, Submit, TurnEnded
from kestrel_engine.options import EngineOptions
from kestrel_engine.thread import Engine

PATIENCE = 60
"""Seconds after which a test gives up waiting for an event."""


class Running:
    """`with Running(folder) as engine:` loads the model and ends the thread. Options are EngineOptions'."""

    def __init__(self, folder: Path, **options):
        self.events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self.hook = lambda event: None
        """Called with every event, on the engine's thread."""
        self.engine = Engine(
            EngineOptions(str(folder), **({"threads": 1, "context": 256} | options)), self._emit
        )

    def _emit(self, event: Event) -> None:
        self.hook(event)
        self.events.put(event)

    def __enter__(self):
        self.engine.start()
        self.loading = self.until(Ready, Failed)
        return self

    def __exit__(self, *_):
        self.engine.send(Quit())
        self.engine.join(PATIENCE)

    @property
    def session(self):
        return self.engine._loaded.session

    @property
    def thread(self) -> threading.Thread:
        return self.engine._thread

    def next(self) -> Event:
        return self.events.get(timeout=PATIENCE)

    def until(self, *kinds: type) -> list[Event]:
        """Events up to the first of one of `kinds`."""
        events = [self.next()]
        while not isinstance(events[-1], kinds):
            events.append(self.next())
        return events

    def ask(self, submit: Submit) -> list[Event]:
        """All events of one answer, the last one TurnEnded or Failed."""
        self.engine.send(submit)
        return self.until(TurnEnded, Failed)


def ids_of(events: list[Event]) -> list[int]:
    return [token.id for event in events if isinstance(event, Round | Released) for token in event.tokens]
