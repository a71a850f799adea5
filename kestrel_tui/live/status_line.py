"""One line above the prompt: what is being waited for; without the side panel, its figures in short."""

from __future__ import annotations

from collections.abc import Iterator

from textual.content import Content

from kestrel_engine.events import Loading, Prefill
from kestrel_engine.words import counted
from kestrel_tui.keys import shown_key
from kestrel_tui.live.conversation import Conversation
from kestrel_tui.live.fit_line import Piece, fit_line
from kestrel_tui.live.gauges import progress
from kestrel_tui.live.lines import Lines
from kestrel_tui.live.panel import speculation_words, speed
from kestrel_tui.sanitize import one_line
from kestrel_tui.stats import milliseconds

_MUTED = "$muted"
_BAR = 16
_WONDER = 2.0
"""Seconds of loading after which it is told how many there were."""

# On a narrow screen the highest goes first.
_ROUNDS, _ACCEPTED, _SPEEDUP, _CONTEXT, _SPEED = 5, 4, 3, 2, 1
_BAR_RANK, _SHARE, _AFTER = 3, 2, 1


class StatusLine(Lines):
    DEFAULT_CSS = "StatusLine { height: 1; padding: 0 0 0 2; }"

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._pieces: list[Piece] = []

    def show(self, conversation: Conversation, is_narrow: bool, seconds: float) -> None:
        """is_narrow: there is no side panel. seconds: since loading began."""
        self._pieces = list(_pieces(conversation, is_narrow, seconds))
        self._fit()

    def on_resize(self) -> None:
        self._fit()

    def _fit(self) -> None:
        if self._pieces:
            self.show_lines([fit_line(self._pieces, self.size.width)])


def _pieces(conversation: Conversation, is_narrow: bool, seconds: float) -> Iterator[Piece]:
    event, keys = conversation.progress, conversation.settings.keys
    stops = f"({shown_key(keys, 'answer.stop')} stops)"
    if conversation.fatal is not None:
        ends = f" there is no model: {shown_key(keys, 'app.quit')} ends "
        yield Piece(Content.styled(ends, "bold reverse"))
    elif isinstance(event, Loading):
        yield from _progress(f"loading: {one_line(event.stage)}", event.fraction)
        # A stage can be long and tell nothing meanwhile: the seconds show that it is alive.
        if seconds >= _WONDER:
            yield Piece(Content.styled(f"{seconds:.0f} s", _MUTED), _AFTER, " ")
        if conversation.waiting is not None:
            yield Piece(Content.styled("(then you are answered)", _MUTED), _BAR_RANK, " ")
    elif conversation.ready is None:
        yield Piece(Content.styled("starting …", _MUTED))
    elif conversation.is_stopping:
        yield Piece(Content.styled("stopping …", _MUTED))
    elif conversation.is_answering and conversation.answer.seed is None:  # the text becomes tokens
        yield from _progress("reading", None)
        yield Piece(Content.styled(stops, _MUTED), _AFTER, " ")
    elif isinstance(event, Prefill) and conversation.is_answering:
        fraction = event.done / event.total if event.total else 1.0
        read = conversation.answer.prompt_tokens - event.reused
        yield from _progress(f"reading {counted(read, 'token')}", fraction)
        yield Piece(Content.styled(stops, _MUTED), _AFTER, " ")
    elif is_narrow:
        yield from _figures(conversation)
    elif conversation.is_answering:
        count = counted(conversation.answer.stats.tokens, "token")
        yield Piece(Content.styled(f"this answer: {count}", _MUTED))
        yield Piece(Content.styled(stops, _MUTED), _AFTER, " ")
    else:
        for rank, words in enumerate(("enter sends", "ctrl+j begins a new line", "up recalls")):
            yield Piece(Content.styled(words, _MUTED), rank, ", ")


def _progress(words: str, fraction: float | None) -> Iterator[Piece]:
    yield Piece(Content(words), gap=" ")
    if fraction is None:
        yield Piece(Content("…"), _SHARE, " ")
    else:
        yield Piece(Content(progress(fraction, _BAR)), _BAR_RANK, " ")
        yield Piece(Content(f"{fraction:.0%}"), _SHARE, " ")


def _figures(conversation: Conversation) -> Iterator[Piece]:
    figures = conversation.figures
    words, is_loud = speculation_words(conversation)
    yield Piece(Content.styled(words.removeprefix("speculation: "), "bold reverse" if is_loud else "bold"))
    rate, when = speed(conversation)
    if rate is not None:
        now = " now" if when == "now" else ""
        yield Piece(Content(f"{milliseconds(rate)} ms/token{now}"), _SPEED)
    speedup = figures.speedup.ratio
    if speedup is not None:
        yield Piece(Content(f"{speedup:.1f}×"), _SPEEDUP)
    if figures.totals.tally.drafted:
        stats = figures.totals.as_dict()
        yield Piece(Content(f"{stats['tokens_per_round']:.1f}/round"), _ROUNDS)
        yield Piece(Content(f"{stats['acceptance_rate']:.0%} accepted"), _ACCEPTED)
    yield Piece(Content(f"context {conversation.context_used / conversation.ready.context:.0%}"), _CONTEXT)
