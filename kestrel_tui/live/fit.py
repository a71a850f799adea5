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
    present = list(parts)
    shown = [_wrapped(each, width) for each in present]
    spare = height - sum(map(len, shown))
    gone: list[tuple[int, int, list[Content]]] = []
    """(rank, place, lines)"""
    while spare < 0:
        # Of those that matter as little, the last one.
        place = max(range(len(present)), key=lambda place: (present[place].rank, place))
        rank, lines = present[place].rank, shown[place]
        if rank == 0:
            break
        gone.append((rank, place, lines))
        present[place] = present[place].short or part()
        shown[place] = _wrapped(present[place], width)
        spare += len(lines) - len(shown[place])
    # What went last may have left room for what went before it; of a rank, the first that went come back last.
    missing: set[int] = set()
    for rank, place, lines in reversed(gone):
        more = len(lines) - len(shown[place])
        if more <= spare and rank not in missing:
            shown[place] = lines
            spare -= more
        else:
            missing.add(rank)
    return [line for lines in shown for line in lines]


def _wrapped(each: Part, width: int) -> list[Content]:
    return [own for line in each.lines for own in ([line] if line.cell_length <= width else line.wrap(width))]
