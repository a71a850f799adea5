"""Figures drawn with characters: bars, sparklines, progress."""

from __future__ import annotations

from collections.abc import Sequence

_LEVELS = "▁▂▃▄▅▆▇█"
_EIGHTHS = " ▏▎▍▌▋▊▉"


def bar(share: float, width: int) -> str:
    """`share` (0 to 1) of `width` cells, to an eighth of a cell."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    whole, rest = divmod(eighths, 8)
    return ("█" * whole + (_EIGHTHS[rest] if rest else "")).ljust(width)


def progress(fraction: float, width: int) -> str:
    """`width` cells in a frame."""
    return f"▕{bar(fraction, width)}▏"


def sparkline(values: Sequence[float | None], width: int) -> tuple[str, str]:
    """The last values as columns, and a line of marks below: ▲ before the value that follows a None.

    Every column is one value; heights are from 0 to the largest shown, outliers above thrice the median cut.
    """
    columns: list[float] = []
    marked: list[bool] = []
    mark = False
    for value in values:
        if value is None:
            mark = True
            continue
        columns.append(value)
        marked.append(mark)
        mark = False
    columns, marked = columns[-width:], marked[-width:]
    if not columns:
        return "", ""
    top = min(max(columns), 3 * sorted(columns)[len(columns) // 2]) or 1.0
    heights = [_LEVELS[max(0, min(7, round(7 * value / top)))] for value in columns]
    return "".join(heights), "".join("▲" if is_marked else " " for is_marked in marked).rstrip()
