"""The rows of a transcript as strips of segments, ready for the terminal.

A view that follows a fast answer moves all its rows up many times a second. So a row is made once, complete:
its styles have gone through the screen's filters (NO_COLOR is one) before, not row by row. What pointing and
selecting need, the token's index and the place in the transcript, is put into its segments only when asked for.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from typing import Final, NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from kestrel_engine.words import counted
from kestrel_tui.live.kinds import styles_of
from kestrel_tui.live.transcript import GAP, HEADER, Block, Transcript
from kestrel_tui.live.wrap import graphemes, is_simple

GUTTER: Final = 2
"""Cells before the text."""

BLOCK_KINDS: Final = ("user", "reasoning", "note", "error")
"""Blocks with a style of their own, from the view's component class `view--KIND`."""

_CARET = "▌"
_FIRST, _NEXT = "❯ ", "  "
_SWITCH = "▲ "
"""In the row from which on speculation is off, or on again: the panel's mark."""


class _Piece(NamedTuple):
    text: str
    style: Style
    token: int | None = None


class LinePainter:
    """Paints rows of `transcript`. What its attributes say is the caller's to keep up to date."""

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        self.columns = 1
        """Cells of a row."""
        self.cursor: int | None = None
        """The token that is marked."""
        self.live: Block | None = None
        """The block that grows: the caret stands at its end."""
        self.guesses: tuple[str, ...] = ()
        """Texts of the drafts just rejected, shown behind the caret."""
        self._styles: dict[str, Style] = {}

    def forget_styles(self) -> None:
        self._styles = {}

    def find_styles(self, view: Widget) -> None:
        """Take the styles of `view`, unless they are known."""
        if self._styles:
            return
        base, background = view.rich_style, view.background_colors[1]
        named = {"base": Style(), "selection": view.screen.get_component_rich_style("screen--selection")}
        named |= styles_of(view.app)
        named |= {kind: view.get_component_rich_style(f"view--{kind}", partial=True) for kind in BLOCK_KINDS}
        segments = [Segment("x", base + style) for style in named.values()]
        for line_filter in view.get_line_filters():
            segments = line_filter.apply(segments, background)
        self._styles = {name: style for name, (_, style, _) in zip(named, segments, strict=True)}

    def paint(self, y: int, selected: tuple[int, int] | None = None, places: bool = False) -> Strip:
        """Row `y`, with the characters of the span `selected` (end -1: all the rest) marked.

        places: with a segment for each token, which tells where it is; else neighbours that look alike are one.
        """
        pieces = self.pieces(y)
        if selected is not None:
            pieces = _highlighted(pieces, selected, self._styles["selection"])
        cells = sum(cell_len(piece.text) for piece in pieces)
        pieces.append(_Piece(" " * (self.columns - cells), self._styles["base"]))
        strip = Strip(_placed(pieces, y) if places else _joined(pieces), max(cells, self.columns))
        return strip.crop(0, self.columns) if cells > self.columns else strip

    def pieces(self, y: int) -> list[_Piece]:
        row = self.transcript.row(y)
        if row is None:
            return []
        block, line = row
        if line == HEADER:
            return [_Piece(_header(block), self._styles["reasoning"])]
        if line == GAP:
            # Drafts that were rejected go below the text when its last line has no room for them.
            if block is self.live and self._room(block) <= 0:
                return [_Piece(" " * GUTTER, self._styles["base"]), *self._tail(self.columns - GUTTER)]
            return []
        start, end = block.lines[line]
        pieces = [self._gutter(block, line), *self._text(block, start, end)]
        if block is self.live and line == len(block.lines) - 1 and (room := self._room(block)) > 0:
            pieces += self._tail(room)
        return pieces

    def _gutter(self, block: Block, line: int) -> _Piece:
        if block.kind == "user":
            return _Piece(_FIRST if line == 0 else _NEXT, self._styles["user"])
        if self.transcript.switches_in(block, line):
            return _Piece(_SWITCH, self._styles["note"])
        if block.kind == "reasoning":
            return _Piece("┊ ", self._styles["reasoning"])
        return _Piece(" " * GUTTER, self._styles["base"])

    def _text(self, block: Block, start: int, end: int) -> list[_Piece]:
        text = block.text[start:end]
        if not block.token_starts:
            style = self._styles.get(block.kind, self._styles["base"])
            return [_Piece("".join(shown for _, _, shown in graphemes(text)), style)]
        shown: dict[int | None, str] = {}
        for token, piece in _by_token(block, start, text):
            shown[token] = shown.get(token, "") + piece
        return [_Piece(piece, self._token_style(token), token) for token, piece in shown.items()]

    def _token_style(self, index: int | None) -> Style:
        if index is None:
            return self._styles["base"]
        style = self._styles[self.transcript.tokens[index].token.kind]
        return style + Style(reverse=True) if index == self.cursor else style

    def _room(self, block: Block) -> int:
        """Cells left for the caret on the last line of the live block."""
        start, end = block.lines[-1]
        return self.columns - GUTTER - sum(cell_len(piece.text) for piece in self._text(block, start, end))

    def _tail(self, room: int) -> list[_Piece]:
        """The caret, and behind it the rejected drafts; they are no text and cannot be copied."""
        guesses = "".join(text.replace("\n", "↵") for text in self.guesses)
        shown = "".join(piece for _, _, piece in graphemes(guesses))
        shown = set_cell_size(shown, min(cell_len(shown), room - 1))
        return [_Piece(_CARET, self._styles["base"]), _Piece(shown, self._styles["rejected"])]


def _joined(pieces: list[_Piece]) -> Iterator[Segment]:
    text, style = "", None
    for piece in pieces:
        if piece.style is style:
            text += piece.text
        else:
            if text:
                yield Segment(text, style)
            text, style = piece.text, piece.style
    if text:
        yield Segment(text, style)


def _placed(pieces: list[_Piece], y: int) -> Iterator[Segment]:
    """Segments that tell the mouse their token and, for Textual's selection, their "offset"."""
    x = 0
    for text, style, token in pieces:
        place = {"offset": (x, y)} if token is None else {"offset": (x, y), "token": token}
        if text:
            yield Segment(text, style + Style.from_meta(place))
        x += len(text)


def _header(block: Block) -> str:
    return f"{'▸' if block.folded else '▾'} reasoning, {counted(len(block.token_starts), 'token')}"


def _by_token(block: Block, start: int, text: str) -> Iterator[tuple[int | None, str]]:
    """(token, shown text) of each piece of `text`, which begins at `start`: a grapheme has one owner."""
    if not is_simple(text):
        for first, _, shown in graphemes(text):
            yield block.token_at(start + first), shown
        return
    position, end = start, start + len(text)
    place = bisect.bisect_right(block.token_starts, start) - 1
    while position < end:
        following = place + 1
        stop = min(block.token_starts[following], end) if following < len(block.token_starts) else end
        yield (block.token_indices[place] if place >= 0 else None), text[position - start : stop - start]
        position, place = stop, following


def _highlighted(pieces: list[_Piece], span: tuple[int, int], style: Style) -> list[_Piece]:
    """`pieces` with the characters of `span` (end -1: all the rest) in `style`; the gutter stays."""
    start, end = max(span[0], GUTTER), span[1]
    result, position = [], 0
    for text, own, token in pieces:
        stop = position + len(text)
        first = min(max(start, position), stop)
        last = max(first, stop if end < 0 else min(end, stop))
        parts = [
            _Piece(text[: first - position], own, token),
            _Piece(text[first - position : last - position], own + style, token),
            _Piece(text[last - position :], own, token),
        ]
        result += [part for part in parts if part.text]
        position = stop
    return result
