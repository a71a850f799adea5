"""The transcript on the screen: a line of segments, one per token, at a cost that does not depend on its length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar
from textual.selection import Selection
from textual.strip import Strip

from kestrel_tui.live.line_painter import BLOCK_KINDS, GUTTER, LinePainter
from kestrel_tui.live.transcript import HEADER, Block, Transcript
from kestrel_tui.live.wrap import graphemes

_CACHED_LINES = 512


class TokenView(ScrollView, can_focus=True):
    """Shows a Transcript. After changing that, call `sync`."""

    ALLOW_SELECT = True

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "move_cursor(-1)", "Token back", show=False),
        Binding("right", "move_cursor(1)", "Token on", show=False),
    ]

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"view--{kind}" for kind in BLOCK_KINDS}

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
        self.inspecting = False
        """Whether the arrows move from token to token."""
        self._painter = LinePainter(transcript)
        self._strips: LRUCache[tuple[int, int], Strip] = LRUCache(_CACHED_LINES)
        self._generation = 0
        self._anchor: tuple[Block, int] | None = None
        """What stays in the first row when the width changes."""
        self._arranging = False
        self._bar_look: tuple[int, ...] = ()

    @property
    def cursor(self) -> int | None:
        """The token that is marked."""
        return self._painter.cursor

    @property
    def columns(self) -> int:
        """Cells there are for a row: the scroll bar has its own."""
        return self.scrollable_content_region.width

    # --- what changed --------------------------------------------------------------------------------------

    def sync(self, with_bar: bool = True) -> None:
        """Show the transcript as it is now: only rows that changed are painted again.

        with_bar: the scroll bar too. It costs as much as the rows, and in a long answer it hardly moves.
        """
        if not self.is_mounted or not self.size:
            return
        transcript = self.transcript
        dirty, transcript.dirty = transcript.dirty, None
        heading, transcript.heading = transcript.heading, None
        if self._generation != transcript.generation:
            self._generation, dirty = transcript.generation, 0
            self._strips.clear()
        if dirty is None:
            return
        for key in [key for key in self._strips.keys() if key[0] >= dirty or key[0] == heading]:  # noqa: SIM118 (not a dict)
            self._strips.discard(key)
        end = max(transcript.height, self.virtual_size.height)
        self._arrange(with_bar)
        top = self.scroll_offset.y
        first, end = max(dirty, top), min(end, top + self.size.height)
        if first < end:
            self.refresh_lines(first, end - first)
        if heading is not None and top <= heading < first:
            self.refresh_lines(heading, 1)

    def set_live(self, block: Block | None, guesses: tuple[str, ...] = ()) -> None:
        """Put the caret at the end of `block`, with rejected drafts behind it; None takes it away."""
        painter = self._painter
        if (painter.live, painter.guesses) == (block, guesses):
            return
        self.transcript.settle()
        for changed in {id(b): b for b in (painter.live, block) if b is not None}.values():
            self.transcript.touch(max(0, changed.top + changed.height - 2))
        painter.live, painter.guesses = block, guesses

    def _arrange(self, with_bar: bool = True) -> None:
        """Take the new height, and stay at the end if that is where the view is."""
        # Set as an attribute, it would have the whole screen laid out anew, which changes nothing else here.
        self.set_reactive(TokenView.virtual_size, Size(self.columns, self.transcript.height))
        if self.following:
            self._jump(self.max_scroll_y)
        if with_bar:
            self._draw_bar()

    def _draw_bar(self) -> None:
        """Let the scroll bar be painted anew if it looks different, in eighths of a cell."""
        if not self.show_vertical_scrollbar:
            return
        bar, height, window = self.vertical_scrollbar, max(1, self.virtual_size.height), self.size.height
        bar.set_reactive(ScrollBar.window_virtual_size, height)
        bar.set_reactive(ScrollBar.position, bar.validate_position(self.scroll_y))
        look = (window, 8 * window * window // height, 8 * window * self.scroll_offset.y // height)
        if look != self._bar_look:
            self._bar_look = look
            bar.refresh()

    def _jump(self, y: int) -> None:
        self._arranging = True
        self.scroll_to(y=y, animate=False, immediate=True, force=True)
        self._arranging = False

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()
        self._painter.forget_styles()

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
            self._set_following(self.scroll_offset.y >= self.max_scroll_y)

    def _first_shown(self) -> tuple[Block, int] | None:
        row = self.transcript.row(self.scroll_offset.y)
        if row is None:
            return None
        return row.block, row.block.lines[row.line][0] if row.line >= 0 else 0

    # --- scrolling -----------------------------------------------------------------------------------------

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        if round(old_value) == round(new_value):
            return
        self.refresh(self.size.region)
        if self._arranging:
            return
        self._draw_bar()
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
        self._painter.cursor = token
        self._strips.clear()
        self.refresh()
        place = None if token is None else self.transcript.find_token(token)
        if place is not None:
            y, top = self.transcript.y_of(*place), self.scroll_offset.y
            if not top <= y < top + self.size.height:
                self.scroll_to(y=max(0, y - self.size.height // 2), animate=False, immediate=True)

    def action_move_cursor(self, by: int) -> None:
        last = len(self.transcript.tokens) - 1
        if self.inspecting and last >= 0:
            at = last if self.cursor is None else self.cursor + by
            self.mark(max(0, min(at, last)))
            self.post_message(self.Pointed(self.cursor))

    def uses(self, event: events.Key) -> bool:
        """Whether the key scrolls or moves the cursor."""
        return not self._bindings.key_to_bindings.keys().isdisjoint(event.aliases)

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
        """What stands in row `y` of the view, with what a selection must know of it."""
        self._prepare()
        return self._painter.paint(y + self.scroll_offset.y, self._selected(y), places=True)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Rows as they are painted: Textual's own cache makes every row anew when the view has scrolled."""
        if crop.height == 1 and crop.height < self.outer_size.height:
            # No painting, that asks for all rows: Textual wants to know what the mouse points at.
            strips = [self.render_line(crop.y)]
        else:
            self._prepare()
            strips = [self._painted(y) for y in crop.line_range]
        width = self.outer_size.width  # the scroll bar covers what is beyond the columns
        strips = [strip.adjust_cell_length(width) for strip in strips]
        first, last = crop.column_span
        return strips if (first, last) == (0, width) else [strip.crop(first, last) for strip in strips]

    def _prepare(self) -> None:
        self._painter.find_styles(self)
        self._painter.columns = self.columns

    def _painted(self, y: int) -> Strip:
        """Row `y` of the view."""
        selected = self._selected(y)
        y += self.scroll_offset.y
        if selected is not None:
            return self._painter.paint(y, selected)
        key = (y, self._painter.columns)
        strip = self._strips.get(key)
        if strip is None:
            strip = self._strips[key] = self._painter.paint(y)
        return strip

    def _selected(self, y: int) -> tuple[int, int] | None:
        """The characters of row `y` of the view that are selected."""
        selection = self.text_selection
        return None if selection is None else selection.get_span(y + self.scroll_offset.y)

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
