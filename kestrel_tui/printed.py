"""Markdown for a terminal to print: broken between words where it would break them at its edge.

Only spaces become newlines, and only where Markdown takes the one for the other: in prose. Lines of code, headings and
tables stay whole, so do words and spans of code, which the terminal breaks by itself and copies as they are.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator

from rich.cells import cell_len, set_cell_size

from kestrel_tui.sanitize import for_terminal
from kestrel_tui.streams import is_terminal

_FENCE = re.compile(r"[ >]*(`{3,}|~{3,})([^`]*)$")
_VERBATIM = re.compile(r" {4}|[ >]*(#{1,6} |\|)|.*\t")
_LEAD = re.compile(r"((?: {0,3}> ?)*)( *(?:(?:[-+*]|\d{1,9}[.)]) +)?)")
_WORD = re.compile(r" *(?:(`+)(?:(?!\1).)+\1|[^ ])+")
_STARTS = re.compile(r" *(?:[-+*]|#{1,6}|\d{1,9}[.)]|[-=*_]{2,}|[>|].*|(?:```|~~~).*)$")
"""Words that mean something else at the beginning of a line."""


def for_stdout(text: str) -> str:
    """`text` fit for standard output: for a terminal wrapped and without control characters, else as it is."""
    if not is_terminal(sys.stdout):
        return text
    return wrap_markdown(for_terminal(text), shutil.get_terminal_size().columns)


def wrap_markdown(text: str, columns: int) -> str:
    """`text`, in which no word of prose crosses the edge of a terminal of `columns` cells, if it fits in a line."""
    return "\n".join(_lines(text, columns))


def cut(line: str, columns: int) -> str:
    """`line` in at most `columns` cells; a mark says that it went on."""
    return line if cell_len(line) <= columns else set_cell_size(line, columns - 1).rstrip() + "…"


def rows(text: str, columns: int) -> int:
    """Rows that `text` takes on a terminal, which breaks lines where they reach its edge."""
    return sum(1 + max(0, cell_len(line) - 1) // columns for line in text.splitlines())


def _lines(text: str, columns: int) -> Iterator[str]:
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            yield line
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif mark:
            fence = mark[1]
            yield line
        elif _VERBATIM.match(line) or cell_len(line) <= columns:
            yield line
        else:
            yield from _wrapped(line, columns)


def _wrapped(line: str, columns: int) -> Iterator[str]:
    quote, item = _LEAD.match(line).groups()
    hanging = quote + " " * len(item)
    present, used, is_empty = quote + item, cell_len(quote + item), True
    for word in _words(line[len(present) :]):
        cells = cell_len(word)
        # Ideographs may be broken anywhere, which is better left to the terminal.
        if used + cells > columns and not is_empty and cells < 1.5 * len(word):
            yield present
            word = word.lstrip(" ")
            present, used, cells = hanging, cell_len(hanging), cell_len(word)
        present, is_empty = present + word, False
        used = (used + cells - 1) % columns + 1
    yield present


def _words(text: str) -> Iterator[str]:
    """Words with the spaces before them; the last one with those behind it."""
    word, end = "", 0
    for found in _WORD.finditer(text):
        if word and not _STARTS.match(found[0]):
            yield word
            word = ""
        word, end = word + found[0], found.end()
    yield word + text[end:]
