"""What is known about one token: where it comes from, and how sure the model was."""

from __future__ import annotations

import math

from textual.content import Content
from textual.widgets import Static

from kestrel_tui.live.fit import Part, fit, part
from kestrel_tui.live.kinds import MEANINGS
from kestrel_tui.live.transcript import ShownToken
from kestrel_tui.sanitize import for_terminal

_MUTED = "$muted"
_KEYS = "tokens: ← → or mouse; {closes} closes; typing goes to the prompt"
_NOTHING = Content("There is no token to inspect yet.")
_DRAFTERS = {"mtp": "the head", "lookup": "the lookup"}


class Inspector(Static):
    DEFAULT_CSS = """
    Inspector { height: 10; max-height: 50%; padding: 0 2; display: none;
                border-top: solid $panel; border-title-color: $muted; }
    Inspector.-open { display: block; }
    """

    def __init__(self, closes: str) -> None:
        """closes: the key that closes it, as it is printed."""
        super().__init__(markup=False)
        self._closes = closes
        self._parts = [part(_NOTHING)]

    def show(self, token: ShownToken | None) -> None:
        self._parts = [part(_NOTHING)] if token is None else describe(token)
        self._fit()

    def on_resize(self) -> None:
        self._fit()

    def _fit(self) -> None:
        """What matters least is left out where rows are few."""
        width, height = self.content_size
        if not (width and height):
            return
        lines = fit(self._parts, width, height)
        self.update(Content("\n").join(lines), layout=False)
        title = _KEYS.format(closes=self._closes)
        if len(title) + 4 > width:
            title = f"{self._closes} closes"
        everything = fit(self._parts, width, 99)
        if len(lines) < len(everything):
            title = f"{self._closes} closes; too few rows for all"
        self.border_title = title


def describe(shown: ShownToken) -> list[Part]:
    """The token, its kind, the guess against the choice, the round and why, its cost; a narrow screen wraps them."""
    token, event = shown
    piece = Content.assemble(
        ("piece ", _MUTED), (_quoted(token.text), "bold"), (" id ", _MUTED), str(token.id),
        (" position ", _MUTED), str(token.position), (" probability ", _MUTED), percent(token.logprob),
    )  # fmt: skip
    kind = Content.assemble((token.kind, "bold"), (f" ({MEANINGS[token.kind]})", _MUTED))
    if token.draft_index is not None:
        kind += Content.assemble((", draft ", _MUTED), str(token.draft_index + 1))
        kind += Content(f" of {event.drafted}" if event is not None else "")
    if event is None:
        return [part(piece), part(kind)]
    if token.kind == "own" and (later := "".join(event.rejected_texts[1:])):
        kind += Content.assemble(("; drafted behind the wrong guess: ", _MUTED), _quoted(later))
    drafts = f"{event.drafted} drafted by {event.drafter}, {event.accepted} accepted"
    cause = Content.assemble(
        (f"round {event.index}: ", _MUTED), drafts if event.drafted else "nothing drafted",
        (f" ({event.reason})", _MUTED),
    )  # fmt: skip
    times = f"draft {event.draft_ms:.2f}, verify {event.verify_ms:.2f}, replay {event.replay_ms:.2f} ms"
    guess, cost = Content(_guess(shown)), Content.styled(times, _MUTED)
    return [part(piece), part(kind, rank=2), part(guess, rank=1), part(cause, rank=3), part(cost, rank=4)]


def _guess(shown: ShownToken) -> str:
    """What was guessed for this token's place, and what the model chose there."""
    token, event = shown
    drafter = _DRAFTERS.get(event.drafter, "the drafter")
    chosen = f"{_quoted(token.text)} ({percent(token.logprob)})"
    if token.draft_index is not None:
        return f"{drafter} guessed it, and the model chose it: {chosen}"
    if not event.drafted:
        return f"nothing was drafted; the model chose {chosen}"
    if not event.rejected:
        return f"all drafts before it were right; the model chose {chosen}"
    guessed = _quoted(event.rejected_texts[0]) if event.rejected_texts else f"id {event.rejected[0]}"
    if event.rejected_logprob is not None:
        guessed += f" (model: {percent(event.rejected_logprob)})"
    return f"{drafter} guessed {guessed}, the model chose {chosen}"


def percent(logprob: float) -> str:
    """A probability, to two digits that say something: "61 %", "3.1 %", "0.00012 %"."""
    share = 100 * math.exp(logprob)
    if share == 0:
        return "0 %"
    return f"{share:.3g} %" if share >= 99 else f"{share:.2g} %" if share >= 1e-4 else f"{share:.0e} %"


def _quoted(text: str) -> str:
    visible = for_terminal(text.replace("\n", "↵").replace("\t", "⇥"))
    return f"“{visible}”" if visible else "(no text of its own)"
