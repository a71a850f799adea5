"""What is known about one token."""

from __future__ import annotations

import math

from textual.content import Content
from textual.widgets import Static

from kestrel_tui.live.kinds import MEANINGS
from kestrel_tui.live.transcript import ShownToken
from kestrel_tui.sanitize import for_terminal

_MUTED = "$muted"
_HINT = "Token inspector: move with ← and →, or point with the mouse; esc closes it."


class Inspector(Static):
    DEFAULT_CSS = """
    Inspector { height: 5; padding: 0 2; text-wrap: nowrap; text-overflow: ellipsis; display: none;
                border-top: solid $panel; }
    Inspector.-open { display: block; }
    """

    def show(self, token: ShownToken | None) -> None:
        self.update(Content(_HINT) if token is None else describe(token), layout=False)


def describe(shown: ShownToken) -> Content:
    """Four lines: the token, what was guessed, the round, why."""
    token, event = shown
    probability = f"{math.exp(token.logprob):.1%}" if token.logprob > -math.inf else "0 %"
    first = Content.assemble(
        ("piece ", _MUTED), (_quoted(token.text), "bold"), (" id ", _MUTED), str(token.id),
        (" position ", _MUTED), str(token.position), (" probability ", _MUTED), probability,
    )  # fmt: skip
    second = Content.assemble((token.kind, "bold"), (f" ({MEANINGS[token.kind]})", _MUTED))
    if token.draft_index is not None:
        second += Content.assemble((", draft ", _MUTED), str(token.draft_index + 1))
        second += Content(f" of {event.drafted}" if event is not None else "")
    if event is None:
        return Content("\n").join([first, second])
    if token.kind == "own":
        second += Content.styled(f": {_guess(shown)}", "")
    third = Content.assemble(
        (f"round {event.index}: ", _MUTED), f"{event.drafted} drafted by {event.drafter}, {event.accepted} accepted",
        (f"; draft {event.draft_ms:.2f}, verify {event.verify_ms:.2f}, replay {event.replay_ms:.2f} ms", _MUTED),
    )  # fmt: skip
    return Content("\n").join([first, second, third, Content.styled(event.reason, _MUTED)])


def _guess(shown: ShownToken) -> str:
    """What the drafter had said where the model said its own."""
    event = shown.round
    if not event.drafted:
        return "nothing was drafted"
    if not event.rejected:
        return "it follows a draft that was all right"
    if not event.rejected_texts:
        return f"the drafter guessed id {event.rejected[0]}"
    later = "".join(event.rejected_texts[1:])
    more = f", then {_quoted(later)}" if later else ""
    return f"the drafter guessed {_quoted(event.rejected_texts[0])}{more}"


def _quoted(text: str) -> str:
    visible = for_terminal(text.replace("\n", "↵").replace("\t", "⇥"))
    return f"“{visible}”" if visible else "(part of a character)"
