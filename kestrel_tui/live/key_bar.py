"""The keys at the bottom: on a narrow terminal those that matter most, whole; F1 has the others."""

from __future__ import annotations

from textual.widgets import Footer
from textual.widgets._footer import FooterKey

from kestrel_tui.keys import ACTIONS
from kestrel_tui.live.fit_line import which_fit

_RANKS = {each.action: each.rank for each in ACTIONS}
_GAP = 1


class KeyBar(Footer):
    DEFAULT_CSS = "KeyBar { dock: initial; split: bottom; }"

    def __init__(self) -> None:
        super().__init__(compact=True, show_command_palette=False)

    async def recompose(self) -> None:
        await super().recompose()
        self._fit()

    def on_resize(self) -> None:
        self._fit()

    def _fit(self) -> None:
        keys = list(self.query(FooterKey))
        widths = [_GAP + key.render().cell_len for key in keys]
        kept = which_fit(widths, [_RANKS.get(key.action, 0) for key in keys], self.size.width, _GAP)
        for place, key in enumerate(keys):
            key.display = place in kept
