"""The side panel: how fast it goes, what speculation brings, what it costs, and on what it all runs."""

from __future__ import annotations

from collections.abc import Iterator

from textual.content import Content

from kestrel_engine.events import SPECULATION_OFF
from kestrel_engine.words import counted
from kestrel_tui.keys import shown_key
from kestrel_tui.live.conversation import Conversation
from kestrel_tui.live.figures import Figures
from kestrel_tui.live.fit import Part, fit, part
from kestrel_tui.live.gauges import bar, sparkline
from kestrel_tui.live.lines import Lines
from kestrel_tui.stats import milliseconds

WIDTH = 36
_INNER = WIDTH - 4
_MUTED, _STRONG, _LOUD, _DRAWN = "$muted", "bold", "bold reverse", "$primary"
_BAR, _HALF = 14, 7
_DRAFTERS = {"mtp": "the draft head", "lookup": "looking up repeats"}
_SAID_ANYWAY = ("fixed", SPECULATION_OFF)
"""Reasons that the state of speculation says already."""

# On a low screen the highest goes first.
_GAPS, _WORDS, _COSTS, _DRAFTER, _COUNTS, _HISTORY, _TITLES = 7, 6, 5, 4, 3, 2, 1


class Panel(Lines):
    DEFAULT_CSS = f"""
    Panel {{ width: {WIDTH}; height: 1fr; padding: 0 1 0 2; border-left: solid $panel; }}
    """

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._parts: list[Part] = []

    def show(self, conversation: Conversation) -> None:
        self._parts = list(_parts(conversation))
        self._fit()

    def on_resize(self) -> None:
        self._fit()

    def _fit(self) -> None:
        self.show_lines(fit(self._parts, _INNER, self.size.height))


def _parts(conversation: Conversation) -> Iterator[Part]:
    figures = conversation.figures
    gap = part(Content(""), rank=_GAPS)
    yield part(*_engine(conversation))
    yield gap
    yield from _speculation(conversation)
    yield gap
    yield part(_heading("this chat"), rank=_TITLES)
    yield from _speed(conversation)
    yield from _history(figures)
    if figures.totals.tally.drafted:
        yield gap
        yield from _acceptance(figures)
    if figures.phases is not None:
        yield gap
        yield _costs(figures.phases)


def _heading(words: str) -> Content:
    return Content.styled(f"{words} ".ljust(_INNER, "─"), _MUTED)


def _engine(conversation: Conversation) -> Iterator[Content]:
    ready = conversation.ready
    if ready is None:
        yield Content.styled(conversation.settings.model or "kestrel-nano", _STRONG)
        yield Content.styled("no model" if conversation.fatal else "loading …", _MUTED)
        return
    yield Content.styled(ready.model, _STRONG)
    yield Content(f"{ready.format} · {ready.device} · {counted(ready.threads, 'thread')}")
    share = conversation.context_used / ready.context
    count = f"{conversation.context_used}/{ready.context}"
    yield Content.assemble(("context ", _MUTED), (bar(share, 8), _DRAWN), (f" {count} {share:.0%}", _MUTED))


def speculation_words(conversation: Conversation) -> tuple[str, bool]:
    """(the state of speculation, whether it is to be loud)"""
    length, last = conversation.settings.speculate, conversation.figures.last
    if length == 0:
        return "speculation is OFF", True
    if conversation.ready is not None and not conversation.ready.speculation_possible:
        return "no draft head: only repeats drafted", True
    if length != "auto":
        return f"speculation: {counted(length, 'draft')}, fixed", False
    if conversation.is_answering and last is not None:
        return f"speculation: auto, now {last.drafted}", False
    return "speculation: auto", False


def _speculation(conversation: Conversation) -> Iterator[Part]:
    words, is_loud = speculation_words(conversation)
    yield part(Content.styled(f" {words} " if is_loud else words, _LOUD if is_loud else _STRONG))
    length, last = conversation.settings.speculate, conversation.figures.last
    if length == 0:
        toggle = shown_key(conversation.settings.keys, "speculation.toggle")
        yield part(
            Content.styled(f"{toggle} switches it on again; the text stays the same", _MUTED),
            rank=_WORDS,
            short=part(Content.styled(f"{toggle} switches it on again", _MUTED), rank=_DRAFTER),
        )
    elif length == "auto" and last is not None and last.reason not in _SAID_ANYWAY:
        yield part(Content.styled(last.reason, _MUTED), rank=_DRAFTER)
    if length != 0 and last is not None and last.drafted:
        words = f"drafted by {_DRAFTERS.get(last.drafter, last.drafter)}"
        yield part(Content.styled(words, _MUTED), rank=_DRAFTER)


def speed(conversation: Conversation) -> tuple[float | None, str]:
    """(milliseconds per token, of what): of the answer's last rounds "now", else of the "last" answer, whole."""
    figures, stats = conversation.figures, conversation.last_stats
    if conversation.is_answering or stats is None or not stats.tokens or figures.last is None:
        return figures.now, "now"
    return stats.as_dict()["ms_per_token"], "last"


def _speed(conversation: Conversation) -> Iterator[Part]:
    figures = conversation.figures
    milliseconds, when = speed(conversation)
    yield part(Content.assemble(
        ("ms/token ", _MUTED), (_number(milliseconds), _STRONG), (f" {when}, ", _MUTED), _number(figures.median),
        (" median", _MUTED),
    ))  # fmt: skip
    toggle = shown_key(conversation.settings.keys, "speculation.toggle")
    yield _speedup(figures.speedup.ratio, figures.speedup.plain, toggle)
    if figures.totals.tally.rounds:
        per_round = figures.totals.as_dict()["tokens_per_round"]
        yield part(Content.assemble(("tokens/round ", _MUTED), f"{per_round:.2f}"))


def _speedup(ratio: float | None, plain: float | None, toggle: str) -> Part:
    """ratio: how many times faster drafts make it. plain: milliseconds per token without; None if not known."""
    if ratio is not None:
        return part(Content.assemble(
            ("speed-up ", _MUTED), (f"{ratio:.1f}×", _STRONG), (f" ({_number(plain)} ms without)", _MUTED),
        ))  # fmt: skip
    if plain is None:
        words = f"speed-up not known yet: ask one question without drafts ({toggle})"
        short = part(Content.styled(f"speed-up – ({toggle} compares)", _MUTED), rank=_DRAFTER)
    else:
        words = f"{_number(plain)} ms without drafts; nothing to compare with yet"
        short = part(Content.styled(f"{_number(plain)} ms without drafts", _MUTED))
    return part(Content.styled(words, _MUTED), rank=_WORDS, short=short)


def _acceptance(figures: Figures) -> Iterator[Part]:
    totals = figures.totals
    rate = totals.as_dict()["acceptance_rate"]
    yield part(
        Content.assemble(
            ("accepted ", _MUTED),
            (f"{rate:.0%}", _STRONG),
            (f" ({totals.tally.accepted}/{totals.tally.tested} tested)", _MUTED),
        )
    )
    title = Content.styled("  n right at n    rounds with n", _MUTED)
    lines = list(_by_count(totals.tally.acceptance_by_position, totals.tally.accepted_histogram))
    yield part(title, *lines[:2], rank=_COUNTS)
    for line in lines[2:]:
        yield part(line, rank=_COUNTS)


def _by_count(rates: list[float], histogram: list[int]) -> Iterator[Content]:
    """For each n: how often the n-th draft was right, and how many rounds accepted n drafts."""
    most = max(histogram)
    # A long draft may have been tried once, and never got that far.
    while len(histogram) > len(rates) + 1 and not histogram[-1]:
        histogram = histogram[:-1]
    for count, rounds in enumerate(histogram):
        share = rates[count - 1] if 0 < count <= len(rates) else None
        rate = " " * (_HALF + 5) if share is None else bar(share, _HALF) + f" {share:>4.0%}"
        drawn = bar(rounds / most, _HALF)
        yield Content.assemble(
            (f"  {count} ", _MUTED), (rate[:_HALF], _DRAWN), rate[_HALF:], "  ", (drawn, _DRAWN), f" {rounds}"
        )


def _costs(phases: tuple[float, float, float]) -> Part:
    """phases: milliseconds of (draft, verify, replay)."""
    whole = sum(phases) or 1.0
    title = Content.styled("ms/round, the last few", _MUTED)
    lines = (
        Content.assemble((f" {name:>7} ", _MUTED), (bar(ms / whole, _BAR), _DRAWN), f" {ms:.2f}")
        for name, ms in zip(("draft", "verify", "replay"), phases, strict=True)
    )
    added = Content.assemble(("ms/round ", _MUTED), " + ".join(map(_number, phases)))
    return part(title, *lines, rank=_COSTS, short=part(added))


def _history(figures: Figures) -> Iterator[Part]:
    columns, marks = sparkline(figures.speeds, _INNER)
    if not columns:
        return
    changed = " changed" if marks and len(marks) < _INNER - 10 else ""
    below = [Content.styled(marks + changed, _MUTED)] if marks else []
    yield part(Content.styled(columns, _DRAWN), *below, rank=_HISTORY)


def _number(value: float | None) -> str:
    return "–" if value is None else milliseconds(value)
