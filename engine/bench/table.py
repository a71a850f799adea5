"""Tables of plain text."""

from __future__ import annotations

from collections.abc import Sequence


def table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Columns as wide as they must be; the first to the left, the others to the right."""
    cells = [list(columns), *([_text(value) for value in row] for row in rows)]
    widths = [max(len(row[n]) for row in cells) for n in range(len(columns))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if n == 0 else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    )


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "NO"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


ACCEPTANCE_LEGEND = (
    "by position: share of the drafts right in each place, where all before were right\n"
    "histogram: how many rounds accepted no draft, one, two and so on"
)


def rates(values: Sequence[float]) -> str:
    return " ".join(f"{value:.2f}" for value in values) or "-"
