"""Making lines fit a height: what matters least is shortened or left out first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from textual.content import Content


class Part(NamedTuple):
    """Lines that stand or fall together; one that is too long goes on in the next."""

    lines: tuple[Content, ...]
    rank: int = 0
    """Of several parts the one with the highest goes first; 0 stays."""
    short: Part | None = None
    """What it becomes instead of going."""


def part(*lines: Content, rank: int = 0, short: Part | None = None) -> Part:
    return Part(lines, rank, short)


def fit(parts: Iterable[Part], width: int, height: int) -> list[Content]:
    """The lines of `parts`, wrapped to `width` cells; at most `height` of them as long as something may go."""
    kept = [(each, _wrapped(each, width)) for each in parts]
    while sum(len(lines) for _, lines in kept) > height:
        # Of those that matter as little, the last one.
        place = max(range(len(kept)), key=lambda place: (kept[place][0].rank, place), default=None)
        if place is None or kept[place][0].rank == 0:
            break
        short = kept.pop(place)[0].short
        if short is not None:
            kept.insert(place, (short, _wrapped(short, width)))
    return [line for _, lines in kept for line in lines]


def _wrapped(each: Part, width: int) -> list[Content]:
    return [own for line in each.lines for own in ([line] if line.cell_length <= width else line.wrap(width))]
