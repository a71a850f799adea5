"""A chat as a file: Markdown with its provenance, JSON lines, or a picture of the coloured answers."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.style import Style
from rich.terminal_theme import SVG_EXPORT_THEME, TerminalTheme
from rich.text import Text

from kestrel_engine.errors import KestrelError
from kestrel_engine.events import Token
from kestrel_engine.words import counted
from kestrel_tui.chats import Chat, Turn, as_markdown
from kestrel_tui.live.kinds import KINDS, MEANINGS
from kestrel_tui.objects import round_object, token_object
from kestrel_tui.sanitize import for_terminal
from kestrel_tui.stats import TurnStats

FORMS = (".md", ".jsonl", ".svg", ".html")
_PICTURE_WIDTH = 100


class Colours:
    """How a picture looks: a style for each kind of token, on a background."""

    def __init__(self, styles: dict[str, Style], background: tuple, foreground: tuple) -> None:
        self.styles = styles
        palette = [tuple(SVG_EXPORT_THEME.ansi_colors[number]) for number in range(16)]
        self.theme = TerminalTheme(background, foreground, palette[:8], palette[8:])


def save(path: Path, chat: Chat, colours: Colours) -> None:
    """Write `chat` to a new file, in the form its suffix names. Raises KestrelError."""
    if path.suffix not in FORMS:
        raise KestrelError(f"{path.name}: end the name in {', '.join(FORMS[:-1])} or {FORMS[-1]}")
    if not chat.turns:
        raise KestrelError("there is nothing to save yet: ask something first")
    text = _text(path.suffix, chat, colours)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except (OSError, ValueError) as error:
        if isinstance(error, FileExistsError) and path.exists():
            raise KestrelError(f"{path} exists already: choose another name") from None
        reason = getattr(error, "strerror", None) or error
        raise KestrelError(f"{path} cannot be written ({reason}): choose another place") from None


def _text(suffix: str, chat: Chat, colours: Colours) -> str:
    if suffix == ".md":
        return as_markdown(chat) + "\n" + "\n".join(_provenance(chat)) + "\n"
    if suffix == ".jsonl":
        return "".join(json.dumps(value) + "\n" for value in _objects(chat))
    return _picture(suffix, chat, colours)


def _provenance(chat: Chat) -> Iterator[str]:
    """An appendix: where each token of each answer came from."""
    yield "## Provenance"
    yield ""
    yield "Where the tokens came from: " + "; ".join(f"{kind} = {MEANINGS[kind]}" for kind in KINDS) + "."
    for number, turn in enumerate(chat.turns, start=1):
        if not turn.tokens:
            continue
        stats = _stats(turn)
        seed = "" if turn.seed is None else f", seed {turn.seed}"
        yield ""
        yield f"### Answer {number}{seed}"
        yield ""
        tally = stats.tally
        yield (
            f"{counted(stats.tokens, 'token')} in {counted(tally.rounds, 'round')}; {tally.accepted} of "
            f"{counted(tally.tested, 'tested draft')} accepted ({tally.drafted} drafted)."
        )
        yield ""
        yield "| round | tokens | drafted | rejected | draft, verify, replay ms | draft length |"
        yield "|---|---|---|---|---|---|"
        for event in turn.rounds.values():
            own = [token for token in turn.tokens if token.round == event.index]
            tokens = " ".join(f"{_cell(token.text)} {token.kind}" for token in own)
            rejected = " ".join(map(_cell, event.rejected_texts))
            times = f"{event.draft_ms:.2f}, {event.verify_ms:.2f}, {event.replay_ms:.2f}"
            drafted = f"{event.drafted} by {event.drafter}" if event.drafted else "0"
            yield f"| {event.index} | {tokens} | {drafted} | {rejected} | {times} | {event.reason} |"


def _stats(turn: Turn) -> TurnStats:
    stats = TurnStats()
    for event in turn.rounds.values():
        stats.add(event)
    stats.tokens = len(turn.tokens)
    return stats


def _cell(text: str) -> str:
    """A token in a table: as code, with nothing in it that would end the cell or the code."""
    visible = for_terminal(text).replace("\n", "↵").replace("\t", "⇥").replace("|", "¦").replace("`", "ˋ")
    return f"`{visible}`" if visible else "`(part)`"


def _objects(chat: Chat) -> Iterator[dict]:
    """The events of `--output jsonl`, with the questions between them."""
    yield {"event": "chat", "model": chat.model, "system": chat.system}
    for turn in chat.turns:
        yield {"event": "question", "text": turn.question}
        told = 0
        for event in turn.rounds.values():
            yield {"event": "round", "tokens": list(map(token_object, event.tokens))} | round_object(event)
            told += len(event.tokens)
        if told < len(turn.tokens):
            yield {"event": "released", "tokens": list(map(token_object, turn.tokens[told:]))}
        end = "error" if turn.finish_reason == "error" else "done"
        yield {"event": end, "seed": turn.seed, "text": turn.text, "finish_reason": turn.finish_reason}


def _picture(suffix: str, chat: Chat, colours: Colours) -> str:
    console = Console(
        record=True, file=io.StringIO(), width=_PICTURE_WIDTH, force_terminal=True, color_system="truecolor",
        legacy_windows=False,
    )  # fmt: skip
    for turn in chat.turns:
        console.print(Text(f"❯ {for_terminal(turn.question)}", "bold"))
        console.print(Text.assemble(*(_piece(token, colours) for token in turn.tokens)))
        console.print()
    console.print(Text(" · ").join(Text(kind, colours.styles[kind]) for kind in KINDS if kind != "rejected"))
    if suffix == ".svg":
        return console.export_svg(title="kestrel-chat", theme=colours.theme)
    return console.export_html(theme=colours.theme, inline_styles=True)


def _piece(token: Token, colours: Colours) -> tuple[str, Style]:
    return for_terminal(token.text), colours.styles[token.kind]
