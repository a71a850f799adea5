"""What ctrl+c and the ending signals do: at a prompt they raise, during an answer they ask first."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import Self

_ENDING = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP: the program ends, whatever it is doing."""


class _Signals:
    """While inside, `_handle` gets SIGINT, SIGTERM and SIGHUP.

    Outside the main thread nothing is installed: Python delivers signals to the main thread only.
    """

    def __enter__(self) -> Self:
        self._previous = {}
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, *_ENDING):
                self._previous[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _handle(self, number: int, _frame: object) -> None:
        raise NotImplementedError


class Asking(_Signals):
    """Signals call `ask`; the `patience`-th raises KeyboardInterrupt: what hangs can still be left."""

    def __init__(self, ask: Callable[[], None], patience: int = 2) -> None:
        self._ask = ask
        self._patience = patience
        self._received = 0
        self.terminating = False
        """Whether the program is to end after this answer (SIGTERM or SIGHUP came)."""

    def _handle(self, number: int, _frame: object) -> None:
        self._received += 1
        self.terminating |= number != signal.SIGINT
        if self._received >= self._patience:
            raise KeyboardInterrupt
        self._ask()


class Raising(_Signals):
    """SIGINT raises KeyboardInterrupt after calling `before`; the ending signals raise Terminated."""

    def __init__(self, before: Callable[[], None] = lambda: None) -> None:
        self._before = before

    def _handle(self, number: int, _frame: object) -> None:
        if number != signal.SIGINT:
            raise Terminated
        self._before()
        raise KeyboardInterrupt
