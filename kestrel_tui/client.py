"""A blocking front to the engine thread: one command in, its events out, in order."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from typing import Any, Protocol, Self

from kestrel_engine.errors import KestrelError
from kestrel_engine.events import Cancel, Command, Event, Failed, Quit, Ready, Submit, TurnEnded
from kestrel_engine.options import EngineOptions, SamplingOptions

_TICK = 0.5
"""Seconds between two looks at the clock while no event comes."""

_SHORT_WAIT, _LONG_WAIT = 0.2, 5.0
"""Seconds the engine's thread gets to end."""


class Engine(Protocol):
    """What is needed of `kestrel_engine.thread.Engine`."""

    defaults: SamplingOptions

    def start(self) -> None: ...
    def send(self, command: Command) -> None: ...
    def join(self, timeout: float | None = None) -> None: ...


EngineFactory = Callable[..., Engine]
"""Called with EngineOptions and the keyword `emit`, which takes one Event on the engine's thread."""


class _Interrupt:
    """Travels in the event queue, so that a signal wakes whoever waits there."""


def failure(event: Failed, hint: str | None = None) -> KestrelError:
    """The exception that stands for `event`, with a `hint` behind its message."""
    error = KestrelError(f"{event.message}; {hint}" if hint else event.message)
    error.exit_status = event.exit_status
    return error


class Client:
    """Owns one engine; used by one thread (but `interrupt` may be called by a signal handler)."""

    def __init__(self, options: EngineOptions, factory: EngineFactory | None = None) -> None:
        # A SimpleQueue may be filled from a signal handler, even while its owner is inside get().
        self._events: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._engine = (factory or real_engine())(options, emit=self._events.put)
        self._engine.start()

    @property
    def defaults(self) -> SamplingOptions:
        """How the model's makers suggest to sample; after `wait_ready`."""
        return self._engine.defaults

    def wait_ready(self, show: Callable[[Event | None], None], hint: str | None = None) -> Ready:
        """Wait for the model; `show` gets each event on the way, and None now and then while none comes.
        `hint` is said beside why the model cannot be loaded.

        Raises KestrelError when it cannot be loaded, KeyboardInterrupt after `interrupt`.
        """
        while True:
            event = self._next(_TICK)
            match event:
                case _Interrupt():
                    raise KeyboardInterrupt
                case Ready():
                    return event
                case Failed():
                    raise failure(event, hint)
                case _:
                    show(event)

    def answer(self, submit: Submit) -> Iterator[Event]:
        """The events of one answer, the last one TurnEnded or Failed. `interrupt` cancels it.

        Left before its end, it cancels the answer; then nothing else may be asked.
        """
        while not self._events.empty():  # an interrupt that came too late for the answer before
            self._events.get_nowait()
        self._engine.send(submit)
        ended = False
        try:
            while not ended:
                event = self._next(_TICK)
                if event is None:
                    continue
                if isinstance(event, _Interrupt):
                    self._engine.send(Cancel())
                    continue
                ended = isinstance(event, TurnEnded | Failed)
                yield event
        finally:
            if not ended:
                self._engine.send(Cancel())

    def interrupt(self) -> None:
        """Cancel what is going on. Safe in a signal handler."""
        self._events.put(_Interrupt())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type | None, *_: object) -> None:
        """Stop the engine thread. A model that is still loading is not waited for after an interrupt."""
        self._engine.send(Cancel())
        self._engine.send(Quit())
        impatient = kind is not None and issubclass(kind, KeyboardInterrupt)
        self._engine.join(_SHORT_WAIT if impatient else _LONG_WAIT)

    def _next(self, timeout: float) -> Any:
        """The next event, or None when there is none for `timeout` seconds."""
        try:
            return self._events.get(timeout=timeout)
        except queue.Empty:
            return None


def real_engine() -> EngineFactory:
    # Imported here: numba and the tokenizer cost a second that --help and --list must not pay.
    from kestrel_engine.thread import Engine

    return Engine
