"""The engine behind the screen: its events wait in a deque, and one message tells that there are some."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from kestrel_engine.events import Cancel, Command, Event, Quit
from kestrel_engine.options import EngineOptions, SamplingOptions
from kestrel_tui.client import Engine, EngineFactory, real_engine

_WAIT = 5.0
"""Seconds the engine's thread gets to end; one that still loads is not waited for."""


class Bridge:
    """Owns one engine. `wake` is called on the engine's thread when the first event comes after a `drain`."""

    def __init__(
        self, options: EngineOptions, wake: Callable[[], object], factory: EngineFactory | None = None
    ) -> None:
        self._options, self._wake, self._factory = options, wake, factory
        self._events: deque[Event] = deque()
        self._engine: Engine | None = None

    def start(self) -> None:
        """Begin to load the model."""
        self._engine = (self._factory or real_engine())(self._options, emit=self._take)
        self._engine.start()

    @property
    def defaults(self) -> SamplingOptions:
        """How the model's makers suggest to sample; once the model is ready."""
        return self._engine.defaults

    def send(self, command: Command) -> None:
        if self._engine is not None:
            self._engine.send(command)

    def drain(self) -> list[Event]:
        """The events that came since the last call."""
        events = []
        while self._events:
            events.append(self._events.popleft())
        return events

    def close(self, patient: bool) -> None:
        """Stop the engine; with `patient`, wait until it has."""
        self.send(Cancel())
        self.send(Quit())
        if patient and self._engine is not None:
            self._engine.join(_WAIT)

    def _take(self, event: Event) -> None:
        # Looking comes after appending: were it the other way round, the reader could empty the deque between.
        self._events.append(event)
        if len(self._events) == 1:
            self._wake()
