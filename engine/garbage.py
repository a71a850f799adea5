"""The garbage collector, kept from stopping an answer and the screen: it must not look at what is there to stay.

A collection walks through the objects of the libraries (40 to 70 ms with numba) and of the chat; while it does, no
token is computed and no key echoed.
"""

from __future__ import annotations

import gc

_THRESHOLDS = (10_000, 20, 50)
"""Python's own (700, 10, 10) collect many times in an answer, which makes next to no cycles."""


def begin() -> None:
    """Collect rarely from now on."""
    gc.set_threshold(*_THRESHOLDS)


def release() -> None:
    """What was in use may go: look at all of it again."""
    gc.unfreeze()


def keep(collect: bool) -> None:
    """What is in use stays: never look at it again. collect: throw away first what is not."""
    if collect:
        gc.collect()
    gc.freeze()
