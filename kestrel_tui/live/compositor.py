"""Textual's compositor, asking only those widgets for their rows that something dirty can be seen of.

Textual's own asks every widget within the rectangle around all that is dirty. With a transcript on the left and
figures on the right that is the whole screen, its background included, many times a second.
"""

from __future__ import annotations

from collections.abc import Iterable

from textual._compositor import ChopsUpdate, Compositor
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget


class LeanCompositor(Compositor):
    def __init__(self) -> None:
        super().__init__()
        self._dirty: frozenset[Region] | None = None
        """What a partial update is about, while there is one."""

    def render_partial_update(self) -> ChopsUpdate | None:
        self._dirty = frozenset(self._dirty_regions)
        try:
            return super().render_partial_update()
        finally:
            self._dirty = None

    def _get_renders(self, crop: Region | None = None) -> Iterable[tuple[Region, Region, list[Strip]]]:
        if self._dirty is None:
            yield from super()._get_renders(crop)
            return
        seen = self._seen(self._dirty)
        for widget, (region, clip) in self.visible_widgets.items():
            if widget not in seen:
                continue
            shown = region.intersection(clip)
            yield region, clip, widget.render_lines(shown.translate(-region.offset))

    def _seen(self, dirty: Iterable[Region]) -> set[Widget]:
        """The widgets that can be seen in the regions `dirty`: those that nothing before them covers whole."""
        # From the front to the back, as Textual has them.
        shown = [
            (widget, region.intersection(clip)) for widget, (region, clip) in self.visible_widgets.items()
        ]
        seen = set()
        for part in dirty:
            for widget, region in shown:
                if region.overlaps(part):
                    seen.add(widget)
                    if region.contains_region(part):
                        break
        return seen
