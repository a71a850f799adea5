"""Breaking text into lines of so many cells, between words where possible and never inside a grapheme.

Lines are (start, end) offsets into the text. They cover it without gaps but for the newlines: spaces at a
break stay on the line they end, beyond its width. A line depends only on the text from its start on, so that
text which grew at its end need only be wrapped again from the start of its last line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.cells import cell_len, split_graphemes

from kestrel_tui.sanitize import for_terminal

Line = tuple[int, int]
_TAB = "    "
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def wrap(text: str, width: int, start: int = 0) -> list[Line]:
    """The lines of `text` from offset `start`, the beginning of a line, on. At least one, maybe empty."""
    width = max(1, width)
    lines: list[Line] = []
    while True:
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        lines += _wrap_paragraph(text, start, end, width)
        if end == len(text):
            return lines
        start = end + 1


def _wrap_paragraph(text: str, start: int, end: int, width: int) -> Iterator[Line]:
    paragraph = text[start:end]
    if is_simple(paragraph):
        return _wrap_simple(text, start, end, width)
    return _wrap_graphemes(paragraph, start, width)


def is_simple(text: str) -> bool:
    """Whether every character of `text` is one cell wide and shown as it is."""
    return text.isascii() and text.isprintable()


def _wrap_simple(text: str, start: int, end: int, width: int) -> Iterator[Line]:
    while end - start > width:
        space = text.rfind(" ", start, start + width + 1)
        if space < 0:
            after = start + width
        else:
            after = space + 1
            while after < end and text[after] == " ":
                after += 1
        if after == end:
            break
        yield start, after
        start = after
    yield start, end


def _wrap_graphemes(paragraph: str, offset: int, width: int) -> Iterator[Line]:
    start = used = 0
    opportunity, used_there = 0, 0
    for first, last, shown in graphemes(paragraph):
        cells = cell_len(shown)
        if paragraph[first] != " ":
            if used + cells > width and first > start:
                if opportunity <= start:
                    opportunity, used_there = first, used
                yield offset + start, offset + opportunity
                start, used = opportunity, used - used_there
                if used + cells > width and first > start:
                    yield offset + start, offset + first
                    start, used = first, 0
            if cells > 1:  # ideographs and emoji are words of their own
                opportunity, used_there = first, used
        used += cells
        if paragraph[first] == " " or cells > 1:
            opportunity, used_there = last, used
    yield offset + start, offset + len(paragraph)


def graphemes(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, how it is shown) of each grapheme: tabs as spaces, control characters as stand-ins."""
    done = 0
    for control in _CONTROL.finditer(text):
        yield from _visible(text, done, control.start())
        done = control.end()
        yield control.start(), done, _TAB if control[0] == "\t" else for_terminal(control[0])
    yield from _visible(text, done, len(text))


def _visible(text: str, offset: int, stop: int) -> Iterator[tuple[int, int, str]]:
    for start, end, _ in split_graphemes(text[offset:stop])[0]:
        yield offset + start, offset + end, text[offset + start : offset + end]
