"""What the looks of the tokens mean, in one line that is always there."""

from __future__ import annotations

from typing import Final

from rich.text import Text
from textual.widget import Widget

from kestrel_tui.live.fit_line import which_fit
from kestrel_tui.live.kinds import KINDS, styles_of

_GAP: Final = " · "
_RANKS: Final = {"accepted": 1, "replayed": 2, "rejected": 3, "own": 4}
"""On a narrow screen the highest goes first: what looks like any text needs no explanation."""


class Legend(Widget):
    DEFAULT_CSS = "Legend { height: 1; padding: 0 0 0 2; color: $muted; }"

    following = True
    new = 0

    def show_new(self, following: bool, new: int) -> None:
        """Tell that the view does not follow the end, and how many tokens came since."""
        if (following, new) != (self.following, self.new):
            self.following, self.new = following, new
            self.refresh()

    def render(self) -> Text:
        if self.following:
            return self._kinds(self.size.width)
        news = Text(f"↓ {f'{self.new} new' if self.new else 'more'} (ctrl+end)", "bold reverse", no_wrap=True)
        legend = self._kinds(self.size.width - news.cell_len - 1)
        gap = max(0, self.size.width - legend.cell_len - news.cell_len)
        return Text.assemble(legend, " " * gap, news, no_wrap=True)

    def _kinds(self, width: int) -> Text:
        """The kinds that fit into `width` cells."""
        styles = styles_of(self.app)
        widths = [len(_GAP) + len(kind) for kind in KINDS]
        kept = which_fit(widths, [_RANKS[kind] for kind in KINDS], width, len(_GAP))
        return Text(_GAP, no_wrap=True, end="").join(Text(KINDS[n], styles[KINDS[n]]) for n in kept)
