"""Measures the live screen on a pseudo-terminal: `python measure_screen.py [PART …] [--model MODEL]`.

    launch   seconds to the first frame and to the first token, the model in the disk's cache
    speed    the engine's tokens per second on the screen, and with what it says held back until the answer is over
    keys     milliseconds from a key to its echo while the engine streams at full speed
    long     flush, paint and echo with 50,000 tokens in the transcript, and with none
    idle     share of a core while nothing happens

Nothing is asserted: the figures are for people, and only their ratios within one run mean much.
"""

from __future__ import annotations

import argparse
import contextlib
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
from typing import TYPE_CHECKING

from fake_engine import isolate
from live import READY, Puppet, round_of
from terminal import spawn

from kestrel_engine.events import Command, Event, Submit, TurnEnded, TurnStarted
from kestrel_tui.live.run import FRAMES

if TYPE_CHECKING:
    from kestrel_tui.live.bridge import Bridge

SIZE = (120, 36)
LONG = 50_000
"""Tokens in a long transcript."""
KEYS = 200
"""Keys that are pressed at least, for the slowest of a hundred to mean something."""
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

_MARKS = (b'{"type":"answer"', b'{"type":"end"')


class Screen:
    """`kestrel-chat ARGUMENTS` on a pseudo-terminal, instrumented (see `child`)."""

    def __init__(self, folder: Path, *arguments: str, engine: str = "real") -> None:
        self.report, self.folder = folder / "report.json", folder
        kept = isolate(dict(os.environ), folder)
        kept["XDG_CACHE_HOME"] = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
        kept |= {"TERM": "xterm-256color", "COLUMNS": str(SIZE[0]), "LINES": str(SIZE[1])}
        # Our `child` imports textual, which looks for this, before the program would set it.
        kept.setdefault("TEXTUAL_FPS", FRAMES)
        self.started = time.monotonic()
        command = [sys.executable, __file__, "child", engine, str(self.report), *arguments]
        self.process, self.terminal = spawn(command, kept)
        _share_priority(self.process.pid)
        self.written = b""
        self._journals: dict[Path, int] = {}
        """How far each was read."""
        self._lines: list[dict] = []

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
        """The "answer" or "end" lines that chats have in their journals. Only what is new is read."""
        for path in self.folder.rglob("chats/*.jsonl"):
            start = self._journals.get(path, 0)
            with path.open("rb") as file:
                file.seek(start)
                data = file.read()
            whole = data[: data.rfind(b"\n") + 1]
            self._journals[path] = start + len(whole)
            self._lines += [json.loads(line) for line in whole.splitlines() if line.startswith(_MARKS)]
        return [line for line in self._lines if line["type"] == kind]

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

    def settle(self, keys: str) -> None:
        """Press `keys`, and wait a moment: what a key does may come after text that follows at once."""
        self.type(keys)
        ready = time.monotonic() + 0.1
        while time.monotonic() < ready:
            self.read(0.02)

    def close(self) -> dict:
        """End the program; what it noted."""
        self.type("\x1b[21~")  # F10
        while self.process.poll() is None:
            self.read(0.05)
        os.close(self.terminal)
        return json.loads(self.report.read_text())


def _share_priority(process: int) -> None:
    """Give a process of another session the priority that ours has: Linux may weigh sessions as groups."""
    with contextlib.suppress(OSError, IndexError):
        nice = Path("/proc/self/autogroup").read_text().split()[-1]
        Path(f"/proc/{process}/autogroup").write_text(nice)


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
    from kestrel_tui.live.bridge import Bridge
    from kestrel_tui.live.chat_screen import ChatScreen

    noted: dict = {"flush": [], "paint": [], "first_token": None, "speeds": []}

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
    if engine == "paired":
        Bridge._take = _in_pairs(Bridge._take, noted["speeds"])
    status = main(arguments, Stream if engine == "stream" else None)
    Path(report).write_text(json.dumps(noted))
    return status


def _in_pairs(take: Callable[[Bridge, Event], None], speeds: list[float]) -> Callable:
    """A Bridge's `_take` that shows the first of four answers, not the second and third, but the fourth again.

    What is not shown comes when the answer is over. Tokens per second go to `speeds`.
    """
    held: list[Event] = []

    def take_or_hold(bridge: Bridge, event: Event) -> None:
        is_first, is_last = isinstance(event, TurnStarted), isinstance(event, TurnEnded)
        if (is_first and len(speeds) % 4 in (1, 2)) or (held and not is_last):
            held.append(event)
        else:
            if is_last:
                speeds.append(1e3 * event.tokens / event.decode_ms)
            for each in (*held, event):
                take(bridge, each)
            held.clear()

    return take_or_hold


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
    """In one process, as another one may well run at another speed; the answers of four in a row are the same."""
    for arguments in ((), ("--speculate", "0")):
        with tempfile.TemporaryDirectory() as folder:
            screen = Screen(Path(folder), model, *RUN, *arguments, engine="paired")
            screen.until(screen.shows("context"))
            for question in 2 * QUESTIONS:
                screen.ask(question)
                for _ in range(3):
                    screen.ask("/retry")
                screen.settle("/new\r")
            speeds = screen.close()["speeds"]
        shown = [speed for place, speed in enumerate(speeds) if place % 4 in (0, 3)]
        held = [speed for place, speed in enumerate(speeds) if place % 4 in (1, 2)]
        shares = [one / other for one, other in zip(shown, held, strict=True)]
        low, median, high = statistics.quantiles(shares, n=4)
        yield (
            f"{' '.join(arguments) or 'auto'}: tokens/s shown {statistics.median(shown):.0f}, held back"
            f" {statistics.median(held):.0f}; ratio {median:.2f} (quartiles {low:.2f} {high:.2f}, n={len(shares)})"
        )


def keys(model: str) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        screen = Screen(Path(folder), model, *RUN)
        screen.until(screen.shows("context"))
        screen.ask("hello")
        echoes, letters = [], itertools.cycle(ECHOED)
        while len(echoes) < KEYS:
            screen.settle("/new\r")
            for question in QUESTIONS:
                over = screen.begin(question)
                echoes += _type_until(screen, over, letters)
                screen.until(over, every=0.05)
                screen.settle("\x15\x15")
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
