"""The transcript on the screen: a line of segments, one per token, at a cost that does not depend on its length."""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from kestrel_tui.live.kinds import styles_of
from kestrel_tui.live.transcript import GAP, HEADER, Block, Transcript
from kestrel_tui.live.wrap import graphemes, is_simple

GUTTER = 2
_CARET = "▌"
_CACHED_LINES = 512
_FIRST, _NEXT = "❯ ", "  "


class TokenView(ScrollView, can_focus=True):
    """Shows a Transcript. After changing that, call `sync`."""

    ALLOW_SELECT = True

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "move_cursor(-1)", "Token back", show=False),
        Binding("right", "move_cursor(1)", "Token on", show=False),
    ]

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "view--user",
        "view--reasoning",
        "view--note",
        "view--error",
    }

    @dataclass
    class Pointed(Message):
        """A token is under the mouse or the cursor."""

        token: int

    @dataclass
    class Followed(Message):
        """The view began or ceased to follow the end."""

        following: bool

    def __init__(self, transcript: Transcript, **keywords) -> None:
        super().__init__(**keywords)
        self.transcript = transcript
        self.following = True
        """Whether the view stays at the end as the transcript grows."""
        self.cursor: int | None = None
        """The token that is marked."""
        self.live: Block | None = None
        """The block that grows: the caret stands at its end."""
        self.guesses: tuple[str, ...] = ()
        """Texts of the drafts just rejected, shown behind the caret."""
        self._strips: LRUCache[tuple[int, int], Strip] = LRUCache(_CACHED_LINES)
        self._generation = 0
        self._anchor: tuple[Block, int] | None = None
        """What stays in the first row when the width changes."""
        self._arranging = False
        self._styles: dict[str, Style] = {}
        self._base = Style()

    @property
    def columns(self) -> int:
        """Cells there are for a row: the scroll bar has its own."""
        return self.scrollable_content_region.width

    # --- what changed --------------------------------------------------------------------------------------

    def sync(self) -> None:
        """Show the transcript as it is now: only rows that changed are painted again."""
        if not self.is_mounted or not self.size:
            return
        transcript = self.transcript
        dirty, transcript.dirty = transcript.dirty, None
        if self._generation != transcript.generation:
            self._generation, dirty = transcript.generation, 0
            self._strips.clear()
        if dirty is None:
            return
        for key in [key for key in self._strips.keys() if key[0] >= dirty]:  # noqa: SIM118 (not a dict)
            self._strips.discard(key)
        end = max(transcript.height, self.virtual_size.height)
        self._arrange()
        top = self.scroll_offset.y
        first, end = max(dirty, top), min(end, top + self.size.height)
        if first < end:
            self.refresh_lines(first, end - first)

    def set_live(self, block: Block | None, guesses: tuple[str, ...] = ()) -> None:
        """Put the caret at the end of `block`, with rejected drafts behind it; None takes it away."""
        if (self.live, self.guesses) == (block, guesses):
            return
        for changed in {id(b): b for b in (self.live, block) if b is not None}.values():
            self.transcript._touch(max(0, changed.top + changed.height - 2))
        self.live, self.guesses = block, guesses

    def _arrange(self) -> None:
        """Give the scroll bar the new height, and stay at the end if that is where the view is."""
        height = self.transcript.height
        if self.virtual_size.height != height or self.virtual_size.width != self.columns:
            self._arranging = True
            self.virtual_size = Size(self.columns, height)
            self._arranging = False
        if self.following:
            self._jump(self.max_scroll_y)

    def _jump(self, y: int) -> None:
        self._arranging = True
        self.scroll_to(y=y, animate=False, immediate=True, force=True)
        self._arranging = False

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()
        self._styles = {}

    def on_resize(self, event: events.Resize) -> None:
        width = max(1, self.columns - GUTTER)
        if width != self.transcript.width:
            if self._anchor is None:
                self._anchor = self._first_shown()
            self.transcript.set_width(width)
        self.sync()
        self._arrange()
        if not self.following and self._anchor is not None:
            self._jump(min(self.transcript.y_of(*self._anchor), self.max_scroll_y))

    def _first_shown(self) -> tuple[Block, int] | None:
        row = self.transcript.row(self.scroll_offset.y)
        if row is None:
            return None
        return row.block, row.block.lines[row.line][0] if row.line >= 0 else 0

    # --- scrolling -----------------------------------------------------------------------------------------

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if self._arranging or round(old_value) == round(new_value):
            return
        self._anchor = None
        self._set_following(round(new_value) >= self.max_scroll_y)

    def _set_following(self, following: bool) -> None:
        if following != self.following:
            self.following = following
            self.post_message(self.Followed(following))

    def page(self, direction: int) -> None:
        """Move by a page, -1 up or 1 down."""
        step = max(1, self.size.height - 2)
        target = self.scroll_offset.y + direction * step
        self.scroll_to(y=max(0, min(target, self.max_scroll_y)), animate=False, immediate=True)

    def to_start(self) -> None:
        self.scroll_to(y=0, animate=False, immediate=True)

    def to_end(self) -> None:
        """Go to the end, and follow it from now on."""
        self._anchor = None
        self._jump(self.max_scroll_y)
        self._set_following(True)

    # --- tokens --------------------------------------------------------------------------------------------

    def mark(self, token: int | None) -> None:
        """Mark a token, and scroll to where it can be seen."""
        self.cursor = token
        self._strips.clear()
        self.refresh()
        place = None if token is None else self.transcript.find_token(token)
        if place is not None:
            y, top = self.transcript.y_of(*place), self.scroll_offset.y
            if not top <= y < top + self.size.height:
                self.scroll_to(y=max(0, y - self.size.height // 2), animate=False, immediate=True)

    def action_move_cursor(self, by: int) -> None:
        last = len(self.transcript.tokens) - 1
        if last >= 0:
            at = last if self.cursor is None else self.cursor + by
            self.mark(max(0, min(at, last)))
            self.post_message(self.Pointed(self.cursor))

    def on_mouse_move(self, event: events.MouseMove) -> None:
        token = event.style.meta.get("token")
        if token is not None:
            self.post_message(self.Pointed(token))

    def on_click(self, event: events.Click) -> None:
        row = self.transcript.row(event.y + self.scroll_offset.y)
        if row is not None and row.line == HEADER:
            self.transcript.fold(row.block, not row.block.folded)
            self.sync()

    # --- painting ------------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        y += self.scroll_offset.y
        width = self.columns
        key = (y, width)
        selection = self.text_selection
        if selection is None and (cached := self._strips.get(key)) is not None:
            return cached
        if not self._styles:
            self._find_styles()
        segments = self._segments(y)
        if selection is not None and (span := selection.get_span(y)) is not None:
            segments = _highlighted(segments, span, self.screen.get_component_rich_style("screen--selection"))
        strip = Strip(segments).adjust_cell_length(width, self._base).apply_style(self._base)
        strip = strip.apply_offsets(0, y)
        if selection is None:
            self._strips[key] = strip
        return strip

    def _find_styles(self) -> None:
        self._base = self.rich_style
        self._styles = styles_of(self.app)
        for kind in ("user", "reasoning", "note", "error"):
            self._styles[kind] = self.get_component_rich_style(f"view--{kind}", partial=True)

    def _segments(self, y: int) -> list[Segment]:
        row = self.transcript.row(y)
        if row is None:
            return []
        block, line = row
        if line == HEADER:
            return [Segment(_header(block), self._styles["reasoning"])]
        if line == GAP:
            # Drafts that were rejected go below the text when its last line has no room for them.
            if block is self.live and self._room(block) <= 0:
                return self._tail(self.columns - GUTTER, [Segment(" " * GUTTER)])
            return []
        start, end = block.lines[line]
        segments = [self._gutter(block, line), *self._text(block, start, end)]
        if block is self.live and line == len(block.lines) - 1 and self._room(block) > 0:
            return self._tail(self._room(block), segments)
        return segments

    def _gutter(self, block: Block, line: int) -> Segment:
        if block.kind == "user":
            return Segment(_FIRST if line == 0 else _NEXT, self._styles["user"])
        if block.kind == "reasoning":
            return Segment("┊ ", self._styles["reasoning"])
        return Segment(" " * GUTTER)

    def _text(self, block: Block, start: int, end: int) -> list[Segment]:
        text = block.text[start:end]
        if not block.token_starts:
            style = self._styles.get(block.kind, self._base)
            return [Segment("".join(shown for _, _, shown in graphemes(text)), style)]
        shown: dict[int | None, str] = {}
        for token, piece in _by_token(block, start, text):
            shown[token] = shown.get(token, "") + piece
        return [Segment(piece, self._token_style(token)) for token, piece in shown.items()]

    def _token_style(self, index: int | None) -> Style:
        if index is None:
            return self._base
        style = self._styles[self.transcript.tokens[index].token.kind] + Style.from_meta({"token": index})
        return style + Style(reverse=True) if index == self.cursor else style

    def _room(self, block: Block) -> int:
        """Cells left for the caret on the last line of the live block."""
        start, end = block.lines[-1]
        used = sum(segment.cell_length for segment in self._text(block, start, end))
        return self.columns - GUTTER - used

    def _tail(self, room: int, before: list[Segment]) -> list[Segment]:
        """`before`, the caret, and behind it the rejected drafts; they are no text and cannot be copied."""
        guesses = "".join(text.replace("\n", "↵") for text in self.guesses)
        shown = "".join(piece for _, _, piece in graphemes(guesses))
        tail = Strip([Segment(_CARET, self._base), Segment(shown, self._styles["rejected"])])
        return [*before, *tail.crop(0, room)]

    # --- selecting -----------------------------------------------------------------------------------------

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The source text of what is selected: no gutter, no line breaks of the screen's making."""
        start = (0, 0) if selection.start is None else (selection.start.y, selection.start.x)
        end = (self.transcript.height, 0) if selection.end is None else (selection.end.y, selection.end.x)
        parts = []
        for block in self.transcript.blocks:
            first, last = _source_offset(block, *start), _source_offset(block, *end)
            if last > first:
                parts.append(block.text[first:last])
        return "\n\n".join(parts), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self._strips.clear()
        self.refresh()


def _header(block: Block) -> str:
    count = len(block.token_starts)
    tokens = f"{count} token" + ("" if count == 1 else "s")
    return f"{'▸' if block.folded else '▾'} reasoning, {tokens}"


def _by_token(block: Block, start: int, text: str) -> Iterator[tuple[int | None, str]]:
    """(token, shown text) of each piece of `text`, which begins at `start`: a grapheme has one owner."""
    if not is_simple(text):
        for first, _, shown in graphemes(text):
            yield block.token_at(start + first), shown
        return
    position = start
    while position < start + len(text):
        token = block.token_at(position)
        place = 0 if token is None else _next_start(block, position)
        stop = min(place or start + len(text), start + len(text))
        yield token, text[position - start : stop - start]
        position = stop


def _next_start(block: Block, offset: int) -> int:
    """Where the token after the one at `offset` begins; 0 if none does."""
    place = bisect.bisect_right(block.token_starts, offset)
    return block.token_starts[place] if place < len(block.token_starts) else 0


def _source_offset(block: Block, y: int, x: int) -> int:
    """The offset in a block's text of the shown character `x` (gutter included) in row `y`, or the nearest."""
    line = y - block.top - block.has_header
    if line < 0:
        return 0
    if line >= block.shown_lines:
        return len(block.text)
    start, end = block.lines[line]
    position = GUTTER
    for first, _, shown in graphemes(block.text[start:end]):
        if position >= x:
            return start + first
        position += len(shown)
    return end


def _highlighted(segments: list[Segment], span: tuple[int, int], style: Style) -> list[Segment]:
    """`segments` with the characters of `span` (end -1: all the rest) in `style`; the gutter stays."""
    start, end = max(span[0], GUTTER), span[1]
    result, position = [], 0
    for text, own, _ in segments:
        stop = position + len(text)
        first = min(max(start, position), stop)
        last = max(first, stop if end < 0 else min(end, stop))
        parts = [
            Segment(text[: first - position], own),
            Segment(text[first - position : last - position], (own or Style()) + style),
            Segment(text[last - position :], own),
        ]
        result += [part for part in parts if part.text]
        position = stop
    return result
