"""How often a measurement is repeated: as often as was asked for, or until it has taken long enough."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

AT_LEAST, SECONDS = 3, 20.0
"""Repeats, and seconds of all of them together. An answer of a small model takes milliseconds, and as few repeats as
for a great one would tell little."""


def repeats(fixed: int | None, clock: Callable[[], float] = time.monotonic) -> Iterator[str]:
    """What to call each repeat. `fixed`: how many; None for AT_LEAST, and more while SECONDS have not passed."""
    if fixed is not None:
        yield from (f"repeat {number} of {fixed}" for number in range(1, fixed + 1))
        return
    start, number = clock(), 0
    while number < AT_LEAST or clock() - start < SECONDS:
        number += 1
        yield f"repeat {number}, {clock() - start:.0f} of {SECONDS:.0f} s"
