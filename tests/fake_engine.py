"""An engine for the interface's tests: the real interface, scripted answers, no model.

Also a program: `python fake_engine.py OPTIONS` is `kestrel-chat OPTIONS` with this engine. The reply to
a question is found by its text:

    "slow …"      forty words, one every 50 ms; "endless": a thousand
    "wide"        letters of several scripts, two ids to a character
    "think …"     begins inside an open <think>, as templates of reasoning models have it
    "tags …"      opens <think> itself
    "escape"      control characters and escape sequences
    "empty"       no token at all
    "noise"       meanwhile a library prints on standard output and standard error
    "fail"        Failed before the first token; "break": after some
    anything else "You said: …" word by word
"""

from __future__ import annotations

import os
import queue
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator

from kestrel_engine.events import (
    Cancel,
    Command,
    Event,
    Failed,
    Loading,
    Prefill,
    Quit,
    Ready,
    Round,
    Submit,
    Token,
    TurnEnded,
    TurnStarted,
)
from kestrel_engine.options import EngineOptions, SamplingOptions

# (drafts, accepted) of the rounds, again and again.
ROUNDS = ((3, 3), (3, 1), (2, 0), (0, 0))


class FakeEngine:
    """Takes commands and emits events like `kestrel_engine.thread.Engine`; keeps every Submit it got."""

    made: FakeEngine | None = None
    """The engine made last."""

    def __init__(self, options: EngineOptions, emit: Callable[[Event], None]) -> None:
        FakeEngine.made = self
        self.options = options
        self.submits: list[Submit] = []
        self.defaults = SamplingOptions()
        self._emit = emit
        self._commands: queue.SimpleQueue[Command] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def send(self, command: Command) -> None:
        self._commands.put(command)

    def join(self, timeout: float | None = None) -> None:
        self._thread.join(timeout)

    def _work(self) -> None:
        self._emit(Loading("weights", 0.5))
        if self.options.model == "slow-load":
            time.sleep(30)
        if self.options.model and "missing" in self.options.model:
            self._emit(
                Failed(f"{self.options.model}: no such model: name a folder", fatal=True, exit_status=2)
            )
            return
        self.defaults = SamplingOptions(temperature=0.6, top_k=20)
        self._emit(Ready("kestrel-fake", "bf16", "cpu", 2, 512, 12.5, True))
        while not isinstance(command := self._commands.get(), Quit):
            if isinstance(command, Submit):
                self.submits.append(command)
                self._answer(command)

    def _answer(self, submit: Submit) -> None:
        question = submit.raw if submit.raw is not None else submit.messages[-1]["content"]
        prompt_tokens = len(question.split())
        if question == "fail":
            self._emit(Failed("the prompt is longer than the context: shorten it or raise --context"))
            return
        self._emit(TurnStarted(prompt_tokens, 0, submit.sampling.seed, question.startswith("think")))
        self._emit(Prefill(prompt_tokens, prompt_tokens, 0))
        if question == "noise":
            os.write(1, b"NOISE")
            os.write(2, b"NOISE")
        text, finish_reason, count = "", "stop", 0
        for event in rounds(reply(question), submit.max_tokens):
            if self._cancelled():
                finish_reason = "cancelled"
                break
            if question.startswith(("slow", "endless")):
                time.sleep(0.05)
            if question == "break" and event.index == 2:
                self._emit(Failed("a kernel broke: ask again"))
                return
            self._emit(event)
            text += "".join(token.text for token in event.tokens)
            count += len(event.tokens)
            if count >= submit.max_tokens:
                finish_reason = "length"
        self._emit(
            TurnEnded(finish_reason, text, count, prompt_tokens, 4.0, 2.0 * count, submit.sampling.seed)
        )

    def _cancelled(self) -> bool:
        kept = []
        cancelled = False
        while not self._commands.empty():
            command = self._commands.get()
            cancelled |= isinstance(command, Cancel)
            kept += [] if isinstance(command, Cancel) else [command]
        for command in kept:
            self._commands.put(command)
        return cancelled


def reply(question: str) -> list[str]:
    """The texts of the tokens that answer `question`."""
    match question.split()[0] if question.split() else "":
        case "slow" | "break":
            return [f"word{number} " for number in range(40)]
        case "endless":
            return [f"word{number} " for number in range(1000)]
        case "wide":
            return ["日", "本", "", "🦅", " e\u0301", " ", "שלום"]
        case "think":
            return ["I ", "wonder", "\n", "</think>", "\n\n", "The ", "answer"]
        case "tags":
            return ["<think>", "\n", "hm", "</th", "ink>", "\n\n", "Yes"]
        case "escape":
            return ["\x1b[2J", "\x1b]52;c;aGk=\a", "\x9b31m", "ok\t", "\n", "[/red]"]
        case "empty":
            return []
    return ["You ", "said: ", *re.findall(r"\S+\s*|\s+", question)]


def rounds(texts: list[str], limit: int) -> Iterator[Round]:
    """`texts` (at most `limit` of them) in rounds that follow ROUNDS."""
    texts = texts[:limit]
    index = start = 0
    while start < len(texts):
        drafted, accepted = ROUNDS[index % len(ROUNDS)]
        accepted = min(accepted, len(texts) - start - 1)
        tokens = []
        for place in range(accepted + 1):
            kind = "own" if place == accepted else "accepted" if accepted == drafted else "replayed"
            draft_index = None if kind == "own" else place
            identity = 100 + start + place
            tokens.append(
                Token(identity, texts[start + place], kind, start + place, index, draft_index, -0.25)
            )
        rejected = tuple(range(900, 900 + drafted - accepted))
        guesses = tuple(f"guess{place} " for place in range(len(rejected)))
        yield Round(
            index, tuple(tokens), drafted, accepted, "mtp", rejected, 1.0, 2.0, 0.5, "best of k", guesses
        )
        start += accepted + 1
        index += 1


def isolate(environ: dict[str, str], folder: object) -> dict[str, str]:
    """`environ` with Kestrel's folders below `folder`, and nothing that would change how it behaves."""
    kept = {name: value for name, value in environ.items() if not name.startswith(("KESTREL_", "XDG_"))}
    kept.pop("NO_COLOR", None)
    kept.pop("ACCESSIBLE", None)
    places = {f"XDG_{name}_HOME": f"{folder}/{name.lower()}" for name in ("CONFIG", "DATA", "STATE", "CACHE")}
    return kept | places


if __name__ == "__main__":
    from kestrel_tui.cli import main

    sys.exit(main(engine_factory=FakeEngine))
