"""`kestrel-chat -p`: one answer on standard output, as text, one JSON object, or JSON events."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from kestrel_engine.events import (
    Event,
    Failed,
    Loading,
    Notice,
    Prefill,
    Ready,
    Released,
    Round,
    TurnEnded,
    TurnStarted,
)
from kestrel_engine.output import OutputClosed
from kestrel_tui.answer import Answer
from kestrel_tui.chats import Chat, resume_hint
from kestrel_tui.client import Client, EngineFactory, failure
from kestrel_tui.interrupts import Asking
from kestrel_tui.journal import Journal
from kestrel_tui.objects import round_object, token_object
from kestrel_tui.progress import LoadingProgress
from kestrel_tui.reasoning import Piece, ReasoningSplitter
from kestrel_tui.settings import Settings
from kestrel_tui.streams import is_terminal, say, show_out, write_err, write_out

SCHEMA = 1
INTERRUPTED = 130


class Output(Protocol):
    """What becomes of the events of one run."""

    def event(self, event: Event) -> None: ...
    def end(self, summary: dict[str, Any]) -> None: ...
    def close(self) -> None: ...


class TextOutput:
    """The answer, streamed; reasoning goes to standard error, if a person may be reading there."""

    def __init__(self, settings: Settings) -> None:
        self._is_quiet = settings.quiet
        self._shows_reasoning = not settings.quiet and is_terminal(sys.stderr)
        self._splitter = ReasoningSplitter()
        self._wrote: Piece | None = None
        self._kinds: set[str] = set()
        """Of the pieces there were."""

    def event(self, event: Event) -> None:
        if isinstance(event, TurnStarted):
            self._splitter = ReasoningSplitter(event.reasoning)
        elif isinstance(event, Round | Released):
            self._show(self._splitter.feed("".join(token.text for token in event.tokens)))

    def end(self, summary: dict[str, Any]) -> None:
        self._show(self._splitter.finish())
        self._end_line()
        if summary["finish_reason"] == "length" and self._kinds == {"reasoning"} and not self._is_quiet:
            say("(the limit was reached while the model reasoned: raise --max-tokens, or use --no-think)")

    def close(self) -> None:
        self._end_line()

    def _show(self, pieces: list[Piece]) -> None:
        for piece in pieces:
            self._kinds.add(piece.kind)
            if piece.kind == "answer":
                if self._wrote and self._wrote.kind == "reasoning":
                    self._end_line()
                show_out(piece.text)
            elif self._shows_reasoning:
                write_err(("" if self._wrote else "Reasoning: ") + piece.text)
            else:
                continue
            self._wrote = piece

    def _end_line(self) -> None:
        """End what was written with a line end, so that a shell's prompt starts on its own line."""
        if self._wrote and self._wrote.kind == "reasoning":
            say("")
        elif self._wrote and not self._wrote.text.endswith("\n"):
            show_out("\n")
        self._wrote = None


class JsonOutput:
    """One object when all is over; nothing when it fails."""

    def __init__(self) -> None:
        self._tokens: list[dict] = []
        self._rounds: list[dict] = []

    def event(self, event: Event) -> None:
        if isinstance(event, Round | Released):
            self._tokens += map(token_object, event.tokens)
        if isinstance(event, Round):
            self._rounds.append(round_object(event))

    def end(self, summary: dict[str, Any]) -> None:
        stats = summary.pop("stats")
        _write_json(summary | {"tokens": self._tokens, "rounds": self._rounds, "stats": stats})

    def close(self) -> None:
        pass


class JsonlOutput:
    """An object a line as things happen; the last one is "done", or "error" from `write_error`."""

    def event(self, event: Event) -> None:
        match event:
            case Loading() | Ready() | Prefill() | Notice():
                _write_json({"event": type(event).__name__.lower()} | asdict(event))
            case Round():
                tokens = [token_object(token) for token in event.tokens]
                _write_json({"event": "round", "tokens": tokens} | round_object(event))
            case Released():
                _write_json({"event": "released", "tokens": [token_object(token) for token in event.tokens]})

    def end(self, summary: dict[str, Any]) -> None:
        _write_json({"event": "done"} | summary)

    def close(self) -> None:
        pass


def write_error(message: str) -> None:
    """The last line of a run with `--output jsonl` that failed."""
    _write_json({"event": "error", "message": message})


def _write_json(value: dict[str, Any]) -> None:
    write_out(json.dumps(value) + "\n")


def make_output(form: str, settings: Settings) -> Output:
    """form: "text", "json" or "jsonl"."""
    return {"json": JsonOutput, "jsonl": JsonlOutput}[form]() if form != "text" else TextOutput(settings)


@dataclass(frozen=True, slots=True)
class Job:
    """One answer to give."""

    prompt: str
    raw: bool
    """The prompt is the token stream itself, not a question of `chat`."""
    settings: Settings
    chat: Chat
    journal: Journal
    output: Output


def run_oneshot(job: Job, factory: EngineFactory | None) -> int:
    """Give the answer and return the exit status. Raises KestrelError, OutputClosed or KeyboardInterrupt."""
    try:
        with Client(job.settings.engine_options(), factory) as client, Asking(client.interrupt):
            finish_reason = _answer(job, client)
    except OutputClosed:
        raise
    except BaseException:
        job.output.close()
        raise
    return INTERRUPTED if finish_reason == "cancelled" else 0


def _answer(job: Job, client: Client) -> str:
    """Load, ask and show. Returns the finish reason."""
    settings, output = job.settings, job.output
    progress = LoadingProgress(settings.quiet)

    def show(event: Event | None) -> None:
        progress(event)
        if event is not None:
            output.event(event)

    ready = client.wait_ready(show, resume_hint(job.chat))
    show(ready)
    if job.raw:
        submit = settings.submit(client.defaults, raw=job.prompt)
    else:
        question = {"role": "user", "content": job.prompt}
        submit = settings.submit(client.defaults, messages=(*job.chat.messages(), question))
    with Answer(job.prompt, job.chat, job.journal, ready.load_ms) as answer:
        for event in client.answer(submit):
            answer.take(event)
            show(event)
            if isinstance(event, Failed):
                raise failure(event)
            if isinstance(event, TurnEnded):
                output.end(summary(ready, answer))
                if not settings.quiet:
                    say(answer.stats.line())
    return answer.turn.finish_reason


def summary(ready: Ready, answer: Answer) -> dict[str, Any]:
    """The contract's object without its tokens and rounds."""
    return {
        "schema": SCHEMA,
        "model": ready.model,
        "format": ready.format,
        "device": ready.device,
        "seed": answer.seed,
        "prompt_tokens": answer.prompt_tokens,
        "text": answer.turn.text,
        "finish_reason": answer.turn.finish_reason,
        "stats": answer.stats.as_dict(),
    }
