"""Programs under test: run to their end, or driven on a pseudo-terminal as a person would."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

from fake_engine import isolate

PROGRAM = [sys.executable, str(Path(__file__).with_name("fake_engine.py"))]
"""`kestrel-chat` with the fake engine."""

_PATIENCE = 20.0
"""Seconds until a test that waits for text or an end fails."""


def run_chat(
    folder: Path, *arguments: str, stdin: bytes | None = None, environ: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run to the end, with Kestrel's folders below `folder`; stdin None is /dev/null."""
    keywords = {"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}
    environment = isolate(dict(os.environ), folder) | (environ or {})
    return subprocess.run(
        [*PROGRAM, *arguments], capture_output=True, env=environment, timeout=_PATIENCE, **keywords
    )


def start_chat(folder: Path, *arguments: str, **keywords: object) -> subprocess.Popen[bytes]:
    """Start with unbuffered pipes on standard output and error."""
    environment = isolate(dict(os.environ), folder)
    return subprocess.Popen(
        [*PROGRAM, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        bufsize=0,
        **keywords,
    )


class Terminal:
    """A program on a pseudo-terminal. Use as a context manager; what still runs at the end is killed."""

    def __init__(self, folder: Path, *arguments: str, environ: dict[str, str] | None = None) -> None:
        environment = isolate(dict(os.environ), folder) | {"TERM": "dumb"} | (environ or {})
        self.process, self._master = spawn([*PROGRAM, *arguments], environment)
        self.output = ""
        """Everything written so far, line ends as "\\n"."""
        self._seen = 0

    def send(self, text: str) -> None:
        """Type `text`; "\\n" is the enter key, "\\x03" ctrl+c, "\\x04" ctrl+d."""
        os.write(self._master, text.encode())

    def expect(self, text: str) -> str:
        """Wait until `text` is written after what was expected before; the output up to its end."""
        deadline = time.monotonic() + _PATIENCE
        while text not in self.output[self._seen :]:
            if time.monotonic() > deadline or not self._read():
                raise AssertionError(f"{text!r} did not come after {self.output[self._seen :]!r}")
        start = self._seen
        self._seen = self.output.index(text, self._seen) + len(text)
        return self.output[start : self._seen]

    def settle(self) -> None:
        """Let readline go back to waiting: a signal that comes just before that is seen with the next key."""
        time.sleep(0.3)

    def wait(self) -> int:
        """The exit status, once the program has ended."""
        while self._read():
            pass
        return self.process.wait(_PATIENCE)

    def _read(self) -> bool:
        """Take in what is written within a while; False when the program has closed the terminal."""
        if not select.select([self._master], [], [], _PATIENCE)[0]:
            return False
        try:
            data = os.read(self._master, 65536)
        except OSError:
            return False
        self.output += data.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(data)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        os.close(self._master)


def spawn(command: list[str], environment: dict[str, str]) -> tuple[subprocess.Popen[bytes], int]:
    master, slave = pty.openpty()
    process = subprocess.Popen(
        command,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=environment,
        start_new_session=True,
        preexec_fn=_take_terminal,
    )
    os.close(slave)
    return process, master


def _take_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
