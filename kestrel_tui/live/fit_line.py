"""Making one line fit a width: what matters least is left out first, and nothing is cut within a word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from textual.content import Content


class Piece(NamedTuple):
    """What stands or falls as one."""

    text: Content
    rank: int = 0
    """Of several pieces those with the highest go first, together; those with 0 stay."""
    gap: str = " · "
    """What parts it from the piece before it."""


def fit_line(pieces: Sequence[Piece], width: int) -> Content:
    """The pieces that fit into `width` cells, in their order."""
    widths = [len(piece.gap) + piece.text.cell_length for piece in pieces]
    kept = which_fit(widths, [piece.rank for piece in pieces], width, len(pieces[0].gap))
    line = Content()
    for place in kept:
        line = line + pieces[place].gap + pieces[place].text if line else pieces[place].text
    return line


def which_fit(widths: Sequence[int], ranks: Sequence[int], room: int, spared: int) -> list[int]:
    """Places of the pieces that fit into `room` cells. widths: each with the gap before it, of which the first needs
    none: that spares `spared` cells."""
    for most in sorted({0, *ranks}, reverse=True):
        kept = [place for place, rank in enumerate(ranks) if rank <= most]
        if sum(widths[place] for place in kept) - spared <= room:
            break
    return kept
