"""A column of lines, of which only those that changed are painted again."""

from __future__ import annotations

from rich.segment import Segment
from textual.content import Content
from textual.geometry import Region
from textual.strip import Strip
from textual.visual import Visual
from textual.widget import Widget


class Lines(Widget):
    """Shows what `show` was given last: a line each, cut at the width."""

    ALLOW_SELECT = False

    DEFAULT_CSS = "Lines { text-wrap: nowrap; text-overflow: ellipsis; }"

    def __init__(self, **keywords) -> None:
        super().__init__(**keywords)
        self.auto_links = False
        self._lines: list[Content] = []

    def show_lines(self, lines: list[Content]) -> None:
        old, self._lines = self._lines, lines
        width = self.outer_size.width
        for y in range(max(len(old), len(lines))):
            if y >= len(old) or y >= len(lines) or not old[y].is_same(lines[y]):
                self.refresh(Region(0, y, width, 1))

    def render(self) -> Content:
        return Content("\n").join(self._lines)

    def render_line(self, y: int) -> Strip:
        width, style = self.size.width, self.visual_style
        if y >= len(self._lines) or width <= 0:
            return Strip.blank(width, style.rich_style)
        line = self._lines[y]
        if line.cell_length > width:
            return Visual.to_strips(self, line, width, 1, style)[0]
        # What fits needs none of what Textual does to lay out a text.
        parts = line.render(style, end="", parse_style=self._get_style)
        segments = [Segment(text, (style + own).rich_style) for text, own in parts]
        return Strip(segments, line.cell_length)
