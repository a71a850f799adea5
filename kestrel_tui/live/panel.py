"""The side panel: how fast it goes, what speculation brings, what it costs, and on what it all runs."""

from __future__ import annotations

from collections.abc import Iterator

from textual.content import Content

from kestrel_tui.keys import shown_key
from kestrel_tui.live.conversation import Conversation
from kestrel_tui.live.figures import Figures
from kestrel_tui.live.gauges import bar, sparkline
from kestrel_tui.live.lines import Lines

WIDTH = 36
_INNER = WIDTH - 4
_MUTED, _STRONG, _LOUD, _DRAWN = "$muted", "bold", "bold reverse", "$primary"
_BAR, _HALF = 14, 7
_BLANK = Content("")
_DRAFTERS = {"mtp": "the draft head", "lookup": "looking up repeats"}
_SAID_ANYWAY = ("fixed", "speculation is off")
"""Reasons that the state of speculation says already."""


class Panel(Lines):
    DEFAULT_CSS = f"""
    Panel {{ width: {WIDTH}; height: 1fr; padding: 0 1 0 2; border-left: solid $panel; }}
    """

    def show(self, conversation: Conversation) -> None:
        self.show_lines([line for part in _parts(conversation) for line in _fitted(part)])


def _parts(conversation: Conversation) -> Iterator[Content]:
    """What the panel says; what is too long for a line goes on in the next."""
    figures = conversation.figures
    yield from _engine(conversation)
    yield _BLANK
    yield from _speculation(conversation)
    yield _BLANK
    yield _heading("this chat")
    yield from _speed(conversation)
    yield from _history(figures)
    yield from _acceptance(figures)
    yield from _costs(figures)


def _fitted(part: Content) -> list[Content]:
    return [part] if part.cell_length <= _INNER else part.wrap(_INNER)


def _heading(words: str) -> Content:
    return Content.styled(f"{words} ".ljust(_INNER, "─"), _MUTED)


def _engine(conversation: Conversation) -> Iterator[Content]:
    ready = conversation.ready
    if ready is None:
        yield Content.styled(conversation.settings.model or "kestrel-nano", _STRONG)
        yield Content.styled("no model" if conversation.fatal else "loading …", _MUTED)
        return
    threads = f"{ready.threads} thread" + ("" if ready.threads == 1 else "s")
    yield Content.styled(ready.model, _STRONG)
    yield Content(f"{ready.format} · {ready.device} · {threads}")
    share = conversation.context_used / ready.context
    count = f"{conversation.context_used}/{ready.context}"
    yield Content.assemble(("context ", _MUTED), (bar(share, 8), _DRAWN), (f" {count} {share:.0%}", _MUTED))


def speculation_words(conversation: Conversation) -> tuple[str, bool]:
    """(the state of speculation, whether it is to be loud)"""
    length, last = conversation.settings.speculate, conversation.figures.last
    if length == 0:
        return "speculation is OFF", True
    if conversation.ready is not None and not conversation.ready.speculation_possible:
        return "no draft head: only repeats are drafted", True
    if length != "auto":
        return f"speculation: {length} drafts, fixed", False
    if conversation.is_answering and last is not None:
        return f"speculation: auto, now {last.drafted}", False
    return "speculation: auto", False


def _speculation(conversation: Conversation) -> Iterator[Content]:
    words, is_loud = speculation_words(conversation)
    yield Content.styled(f" {words} " if is_loud else words, _LOUD if is_loud else _STRONG)
    length, last = conversation.settings.speculate, conversation.figures.last
    if length == 0:
        toggle = shown_key(conversation.settings.keys, "speculation.toggle")
        yield Content.styled(f"{toggle} switches it on again; the text stays the same", _MUTED)
    elif last is not None and last.reason not in _SAID_ANYWAY:
        yield Content.styled(last.reason, _MUTED)
    if length != 0 and last is not None and last.drafted:
        yield Content.styled(f"drafted by {_DRAFTERS.get(last.drafter, last.drafter)}", _MUTED)


def _speed(conversation: Conversation) -> Iterator[Content]:
    figures = conversation.figures
    yield Content.assemble(
        ("ms/token ", _MUTED), (_number(figures.now), _STRONG), (" now, ", _MUTED), _number(figures.median),
        (" median", _MUTED),
    )  # fmt: skip
    toggle = shown_key(conversation.settings.keys, "speculation.toggle")
    if figures.speedup is not None:
        yield Content.assemble(
            ("speed-up ", _MUTED), (f"{figures.speedup:.2f}×", _STRONG),
            (f" ({_number(figures.plain)} ms without)", _MUTED),
        )  # fmt: skip
    elif figures.plain is None:
        words = f"speed-up not known yet: press {toggle} in an answer, it goes on without drafts to compare"
        yield Content.styled(words, _MUTED)
    else:
        yield Content.styled(
            f"{_number(figures.plain)} ms without drafts; nothing to compare with yet", _MUTED
        )
    if figures.totals.tally.rounds:
        per_round = figures.totals.as_dict()["tokens_per_round"]
        yield Content.assemble(("tokens/round ", _MUTED), f"{per_round:.2f}")


def _acceptance(figures: Figures) -> Iterator[Content]:
    totals = figures.totals
    if not totals.tally.drafted:
        return
    rate = totals.as_dict()["acceptance_rate"]
    yield _BLANK
    yield Content.assemble(
        ("accepted ", _MUTED),
        (f"{rate:.0%}", _STRONG),
        (f" ({totals.tally.accepted} of {totals.tally.tested} tested)", _MUTED),
    )
    yield Content.styled("  n right at n    rounds with n", _MUTED)
    yield from _by_count(totals.tally.acceptance_by_position, totals.tally.accepted_histogram)


def _by_count(rates: list[float], histogram: list[int]) -> Iterator[Content]:
    """For each n: how often the n-th draft was right, and how many rounds accepted n drafts."""
    for count, rounds in enumerate(histogram):
        share = rates[count - 1] if 0 < count <= len(rates) else None
        rate = " " * (_HALF + 5) if share is None else bar(share, _HALF) + f" {share:>4.0%}"
        drawn = bar(rounds / max(histogram), _HALF)
        yield Content.assemble(
            (f"  {count} ", _MUTED), (rate[:_HALF], _DRAWN), rate[_HALF:], "  ", (drawn, _DRAWN), f" {rounds}"
        )


def _costs(figures: Figures) -> Iterator[Content]:
    if figures.phases is None:
        return
    yield _BLANK
    yield Content.styled("ms/round, the last few", _MUTED)
    whole = sum(figures.phases) or 1.0
    for name, milliseconds in zip(("draft", "verify", "replay"), figures.phases, strict=True):
        yield Content.assemble(
            (f" {name:>7} ", _MUTED), (bar(milliseconds / whole, _BAR), _DRAWN), f" {milliseconds:.2f}"
        )


def _history(figures: Figures) -> Iterator[Content]:
    columns, marks = sparkline(figures.speeds, _INNER)
    if columns:
        yield Content.styled(columns, _DRAWN)
        yield Content.styled(marks + " ▲ changed" if marks and len(marks) < _INNER - 10 else marks, _MUTED)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}" if value < 100 else f"{value:.0f}"
