"""One line above the prompt: what is being waited for; without the side panel, its figures in short."""

from __future__ import annotations

from textual.content import Content

from kestrel_engine.events import Loading, Prefill
from kestrel_engine.words import counted
from kestrel_tui.keys import shown_key
from kestrel_tui.live.conversation import Conversation
from kestrel_tui.live.gauges import progress
from kestrel_tui.live.lines import Lines
from kestrel_tui.live.panel import speculation_words, speed
from kestrel_tui.sanitize import one_line

_MUTED = "$muted"
_BAR = 16
_WONDER = 2.0
"""Seconds of loading after which it is told how many there were."""


class StatusLine(Lines):
    DEFAULT_CSS = "StatusLine { height: 1; padding: 0 2; }"

    def show(self, conversation: Conversation, is_narrow: bool, seconds: float) -> None:
        """is_narrow: there is no side panel. seconds: since loading began."""
        self.show_lines([_status(conversation, is_narrow, seconds)])


def _status(conversation: Conversation, is_narrow: bool, seconds: float) -> Content:
    event, keys = conversation.progress, conversation.settings.keys
    stops = f" ({shown_key(keys, 'answer.stop')} stops)"
    if conversation.fatal is not None:
        return Content.styled(f" there is no model: {shown_key(keys, 'app.quit')} ends ", "bold reverse")
    if isinstance(event, Loading):
        # A stage can be long and tell nothing meanwhile: the seconds show that it is alive.
        waiting = f" {seconds:.0f} s" if seconds >= _WONDER else ""
        waiting += " (then you are answered)" if conversation.waiting is not None else ""
        return _progress(f"loading: {one_line(event.stage)}", event.fraction, waiting)
    if conversation.ready is None:
        return Content.styled("starting …", _MUTED)
    if isinstance(event, Prefill) and conversation.is_answering:
        fraction = event.done / event.total if event.total else 1.0
        read = conversation.answer.prompt_tokens - event.reused
        return _progress(f"reading {counted(read, 'token')}", fraction, stops)
    if is_narrow:
        return _figures(conversation)
    if conversation.is_answering:
        return Content.styled(
            f"this answer: {counted(conversation.answer.stats.tokens, 'token')}{stops}", _MUTED
        )
    return Content.styled("enter sends, ctrl+j begins a new line, up recalls", _MUTED)


def _progress(words: str, fraction: float | None, after: str) -> Content:
    if fraction is None:
        return Content.assemble(words, " …", (after, _MUTED))
    return Content.assemble(words, " ", progress(fraction, _BAR), f" {fraction:.0%}", (after, _MUTED))


def _figures(conversation: Conversation) -> Content:
    figures = conversation.figures
    words, is_loud = speculation_words(conversation)
    parts = [Content.styled(words.removeprefix("speculation: "), "bold reverse" if is_loud else "bold")]
    milliseconds, when = speed(conversation)
    if milliseconds is not None:
        parts.append(Content(f"{milliseconds:.1f} ms/token {when}"))
    speedup = figures.speedup.ratio
    if speedup is not None:
        parts.append(Content(f"{speedup:.1f}×"))
    if figures.totals.tally.drafted:
        stats = figures.totals.as_dict()
        parts.append(Content(f"{stats['tokens_per_round']:.1f}/round"))
        parts.append(Content(f"{stats['acceptance_rate']:.0%} accepted"))
    parts.append(Content(f"context {conversation.context_used / conversation.ready.context:.0%}"))
    return Content(" · ").join(parts)
