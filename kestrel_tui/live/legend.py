"""What the looks of the tokens mean, in one line that is always there."""

from __future__ import annotations

from rich.text import Text
from textual.widget import Widget

from kestrel_tui.live.kinds import KINDS, styles_of


class Legend(Widget):
    DEFAULT_CSS = "Legend { height: 1; padding: 0 2; color: $muted; }"

    following = True
    new = 0

    def show_new(self, following: bool, new: int) -> None:
        """Tell that the view does not follow the end, and how many tokens came since."""
        if (following, new) != (self.following, self.new):
            self.following, self.new = following, new
            self.refresh()

    def render(self) -> Text:
        styles = styles_of(self.app)
        legend = Text(" · ", no_wrap=True, end="").join([Text(kind, styles[kind]) for kind in KINDS])
        if self.following:
            return legend
        news = Text(f"↓ {f'{self.new} new' if self.new else 'more'} (ctrl+end)", "bold reverse")
        gap = self.size.width - legend.cell_len - news.cell_len
        return Text.assemble(legend, " " * gap, news) if gap > 0 else news
