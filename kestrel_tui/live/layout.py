"""How the parts of the screen share its room: from the width at which there is enough for each."""

from __future__ import annotations

from typing import Final

BREAKPOINTS: Final = [(0, "-tiny"), (70, "-narrow"), (100, "-wide"), (140, "-widest")]
"""(columns, the screen's class from there on). Narrow screens have room for the list of keys beside the chat, wide
ones for the panel, the widest for both; on tiny ones that list covers the chat."""

CSS: Final = """
ChatScreen { layout: vertical; }
ChatScreen > PromptBox { split: bottom; }
ChatScreen > Panel { split: right; }
TokenView { height: 1fr; background: $background; color: $foreground; overflow-x: hidden;
            overflow-y: scroll; scrollbar-size-vertical: 1; }
TokenView > .view--user { text-style: bold; color: $foreground; }
TokenView > .view--reasoning { color: $muted; }
TokenView > .view--note { color: $muted; }
TokenView > .view--error { color: $text-error; text-style: bold; }
PromptBox { height: auto; min-height: 3; max-height: 10; border: round $primary; padding: 0 1; }
PromptBox:focus { border: round $accent; }
ChatScreen.-tiny Panel, ChatScreen.-narrow Panel, ChatScreen.-wide.-keys Panel { display: none; }
ChatScreen.-tiny KeyList { width: 100%; max-width: 100%; }
ChatScreen.-tiny.-keys TokenView, ChatScreen.-tiny.-keys StatusLine, ChatScreen.-tiny.-keys Legend,
ChatScreen.-tiny.-keys Inspector { display: none; }
"""
