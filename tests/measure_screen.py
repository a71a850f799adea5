"""Measures the live screen on a pseudo-terminal: `python measure_screen.py [PART …] [--model MODEL]`.

    launch   seconds to the first frame and to the first token, the model in the disk's cache
    speed    the engine's tokens per second with the screen, and for `-p --output json`
    keys     milliseconds from a key to its echo while the engine streams at full speed
    long     flush, paint and echo with 50,000 tokens in the transcript, and with none
    idle     share of a core while nothing happens

Nothing is asserted: the figures are for people, and only their ratios within one run mean much.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import select
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from fake_engine import isolate
from live import READY, Puppet, round_of
from terminal import spawn

from kestrel_engine.events import Command, Submit

SIZE = (120, 36)
LONG = 50_000
"""Tokens in a long transcript."""
RATE = 500
"""Tokens per second of the scripted engine."""
RUN = ("--seed", "5", "--temperature", "0.8", "--max-tokens", "1000")
QUESTIONS = (
    "Tell me a story about a fox.",
    "Tell me a story about a bird and a tree.",
    "Tell me another story.",
)
ECHOED = [chr(code) for code in range(0x100, 0x180)]
"""Letters that no model of ours writes: on the screen, they come from the keyboard."""


class Screen:
    """`kestrel-chat ARGUMENTS` on a pseudo-terminal, instrumented (see `child`)."""

    def __init__(self, folder: Path, *arguments: str, engine: str = "real") -> None:
        self.report, self.folder = folder / "report.json", folder
        kept = isolate(dict(os.environ), folder)
        kept["XDG_CACHE_HOME"] = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
        kept |= {"TERM": "xterm-256color", "COLUMNS": str(SIZE[0]), "LINES": str(SIZE[1])}
        self.started = time.monotonic()
        command = [sys.executable, __file__, "child", engine, str(self.report), *arguments]
        self.process, self.terminal = spawn(command, kept)
        self.written = b""

    def read(self, seconds: float) -> bool:
        """Take in what the program writes within `seconds`; False if that is nothing."""
        if not select.select([self.terminal], [], [], seconds)[0]:
            return False
        try:
            self.written = (self.written + os.read(self.terminal, 1 << 16))[-(1 << 17) :]
        except OSError:
            return False
        return True

    def type(self, text: str) -> None:
        os.write(self.terminal, text.encode())

    def until(self, condition: Callable[[], bool], every: float = 0.0) -> float:
        """Read until `condition`, which is asked `every` so many seconds: asking takes time from the program.

        Returns the seconds since the start. Raises SystemExit when it does not come.
        """
        deadline = time.monotonic() + 60.0
        while not condition():
            asked = time.monotonic()
            self.read(0.02)
            while time.monotonic() < asked + every:
                self.read(0.02)
            if time.monotonic() > deadline:
                raise SystemExit(f"the screen does not get on: {self.written[-2000:]!r}")
        return time.monotonic() - self.started

    def shows(self, text: str) -> Callable[[], bool]:
        return lambda: text.encode() in self.written

    def echo(self, letter: str) -> float:
        """Type a letter that is not on the screen; milliseconds until it is."""
        wanted, self.written = letter.encode(), b""
        start = time.monotonic()
        self.type(letter)
        self.until(lambda: wanted in self.written)
        return 1e3 * (time.monotonic() - start)

    def journal(self, kind: str) -> list[dict]:
        """The lines of this kind that the chat has in its journal."""
        lines = [
            line for path in self.folder.rglob("chats/*.jsonl") for line in path.read_bytes().splitlines()
        ]
        marked = f'{{"type":"{kind}"'.encode()
        return [json.loads(line) for line in lines if line.startswith(marked)]

    def answers(self) -> list[dict]:
        """Statistics of the answers that are over."""
        return [end["stats"] for end in self.journal("end") if "stats" in end]

    def ask(self, question: str) -> None:
        """Ask, and wait for the end of the answer."""
        count = len(self.answers())
        self.type(question + "\r")
        self.until(lambda: len(self.answers()) > count, every=0.1)

    def begin(self, question: str) -> Callable[[], bool]:
        """Ask, and wait for the beginning of the answer; whether it is over."""
        begun, over = len(self.journal("answer")), len(self.answers())
        self.type(question + "\r")
        self.until(lambda: len(self.journal("answer")) > begun)
        return lambda: len(self.answers()) > over

    def close(self) -> dict:
        """End the program; what it noted."""
        self.type("\x1b[21~")  # F10
        while self.process.poll() is None:
            self.read(0.05)
        os.close(self.terminal)
        return json.loads(self.report.read_text())


# --- the program that is measured ---------------------------------------------------------------------------


class Stream(Puppet):
    """Answers with words at a steady rate until it is told to stop."""

    def send(self, command: Command) -> None:
        if isinstance(command, Submit):
            threading.Thread(target=self._answer, daemon=True).start()

    def _answer(self) -> None:
        self.begin()
        start, count = time.monotonic(), 0
        while count < 6 * RATE:
            self.emit(round_of(count, [f"word{number} " for number in range(count, count + 2)]))
            count += 2
            time.sleep(max(0.0, start + count / RATE - time.monotonic()))
        self.end()


def child(engine: str, report: str, arguments: list[str]) -> int:
    """Run the program, and note when things were painted and how long it took. Times are milliseconds."""
    from kestrel_tui.cli import main
    from kestrel_tui.live.chat_screen import ChatScreen

    noted: dict = {"flush": [], "paint": [], "first_token": None}

    def timed(name: str, method: Callable) -> Callable:
        def call(screen: ChatScreen) -> None:
            start = time.monotonic()
            method(screen)
            end = time.monotonic()
            if screen.conversation.is_answering:
                noted[name].append(1e3 * (end - start))
            if name == "paint" and noted["first_token"] is None and screen.conversation.transcript.tokens:
                noted["first_token"] = end

        return call

    ChatScreen.flush = timed("flush", ChatScreen.flush)
    ChatScreen._on_timer_update = timed("paint", ChatScreen._on_timer_update)
    status = main(arguments, Stream if engine == "stream" else None)
    Path(report).write_text(json.dumps(noted))
    return status


# --- what is measured ---------------------------------------------------------------------------------------


def launch(model: str) -> Iterator[str]:
    for _ in range(3):
        with tempfile.TemporaryDirectory() as folder:
            screen = Screen(Path(folder), model, *RUN)
            frame = screen.until(screen.shows("f10"))
            screen.ask("hello")
            noted = screen.close()
            yield f"first frame {frame:.2f} s, first token {noted['first_token'] - screen.started:.2f} s"


def speed(model: str) -> Iterator[str]:
    for _ in range(2):
        with tempfile.TemporaryDirectory() as folder:
            screen = Screen(Path(folder), model, *RUN)
            screen.until(screen.shows("context"))
            for question in QUESTIONS:
                screen.ask(question)
            with_screen = _rates(screen.answers())
            screen.close()
            chats = [str(path) for path in Path(folder).rglob("chats/*.jsonl")]
            without = _rates(_replayed(model, Path(chats[0])))
            shares = " ".join(f"{one / other:.2f}" for one, other in zip(with_screen, without, strict=True))
            yield f"tokens/s with the screen {_list(with_screen)}, without {_list(without)}: {shares}"


def _replayed(model: str, chat: Path) -> list[dict]:
    """Statistics of the same answers from one engine that nobody looks at."""
    from kestrel_tui.answer import Answer
    from kestrel_tui.chats import Chat
    from kestrel_tui.client import Client
    from kestrel_tui.journal import Journal
    from kestrel_tui.settings import resolve

    names = [name.removeprefix("--").replace("-", "_") for name in RUN[::2]]
    settings, _ = resolve(
        dict(zip(names, RUN[1::2], strict=True)) | {"model": model}, {}, Path("/nonexistent")
    )
    found, memory, journal = [], Chat(), Journal(print, None)
    with Client(settings.engine_options()) as client:
        client.wait_ready(lambda event: None)
        for question in QUESTIONS:
            messages = (*memory.messages(), {"role": "user", "content": question})
            with Answer(question, memory, journal, 0.0) as answer:
                for event in client.answer(settings.submit(client.defaults, messages=messages)):
                    answer.take(event)
            found.append(answer.stats.as_dict())
    return found


def _rates(stats: list[dict]) -> list[float]:
    return [1e3 / answer["ms_per_token"] for answer in stats]


def keys(model: str) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        screen = Screen(Path(folder), model, *RUN)
        screen.until(screen.shows("context"))
        screen.ask("hello")
        echoes, letters = [], itertools.cycle(ECHOED)
        for question in 4 * QUESTIONS:
            over = screen.begin(question)
            echoes += _type_until(screen, over, letters)
            screen.until(over)
            screen.type("\x15\x15")
        screen.close()
        yield f"echo {_quantiles(echoes)}"


def _type_until(screen: Screen, over: Callable[[], bool], letters: Iterator[str]) -> list[float]:
    found = []
    for letter in letters:
        found.append(screen.echo(letter))
        pause = time.monotonic() + 0.02 + 0.01 * (len(found) % 5)
        while time.monotonic() < pause:
            screen.read(0.005)
        if over():
            break
    return found


def long(model: str) -> Iterator[str]:
    for tokens in (0, LONG, 0, LONG):
        with tempfile.TemporaryDirectory() as folder:
            started = _saved_chat(Path(folder), tokens)
            screen = Screen(Path(folder), *(("--resume", started) if tokens else ()), engine="stream")
            screen.until(screen.shows(READY.model))
            echoes = _type_until(screen, screen.begin("go on"), itertools.cycle(ECHOED))
            noted = screen.close()
            yield (
                f"{tokens} tokens: flush {_quantiles(noted['flush'])}; paint {_quantiles(noted['paint'])};"
                f" echo {_quantiles(echoes)}"
            )


def _saved_chat(folder: Path, tokens: int) -> str:
    """Write a chat of so many tokens where the program looks for chats; its id."""
    from kestrel_engine.events import TurnStarted
    from kestrel_tui.answer import Answer
    from kestrel_tui.chats import Chat
    from kestrel_tui.journal import Journal

    chat, journal = Chat(), Journal(print, folder / "data" / "kestrel" / "chats")
    journal.begin(None, None)
    for turn in range(0, tokens, 500):
        with Answer(f"question {turn}", chat, journal, 0.0) as answer:
            answer.take(TurnStarted(5, 0, 1))
            for place in range(0, 500, 2):
                words = [f"word{number} " for number in range(place, place + 2)]
                answer.take(round_of(place // 2, words, rejected=("no",)))
    journal.close()
    return journal.id or next((path.stem for path in folder.rglob("*.jsonl")), "")


def idle(model: str) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        screen = Screen(Path(folder), model, *RUN)
        screen.until(screen.shows("context"))
        screen.ask("hello")
        while screen.read(1.0):
            pass
        before, seconds = _cpu_seconds(screen.process.pid), 10.0
        time.sleep(seconds)
        yield f"idle: {(_cpu_seconds(screen.process.pid) - before) / seconds:.2%} of a core"
        screen.close()


def _cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _list(values: list[float]) -> str:
    return " ".join(f"{value:.0f}" for value in values)


def _quantiles(values: list[float]) -> str:
    if len(values) < 2:
        return "–"
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return f"median {cuts[49]:.1f} p90 {cuts[89]:.1f} p99 {cuts[98]:.1f} max {max(values):.1f} ms (n={len(values)})"


PARTS = {"launch": launch, "speed": speed, "keys": keys, "long": long, "idle": idle}

if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        sys.exit(child(sys.argv[2], sys.argv[3], sys.argv[4:]))
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=list(PARTS))
    parser.add_argument("--model", default="kestrel-nano")
    options = parser.parse_args()
    for part in options.parts:
        for line in PARTS[part](options.model):
            print(f"{part}: {line}", flush=True)
