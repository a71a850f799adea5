"""Copying text: with the desktop's own tool where there is one, and by asking the terminal."""

from __future__ import annotations

import os
import shutil
import subprocess

from textual.app import App

from kestrel_engine.words import counted

_TOOLS = {
    "pbcopy": (["pbcopy"], None),
    "wl-copy": (["wl-copy"], "WAYLAND_DISPLAY"),
    "xclip": (["xclip", "-selection", "clipboard"], "DISPLAY"),
    "xsel": (["xsel", "--clipboard", "--input"], "DISPLAY"),
}
"""Tool → its command, and the variable without which it cannot work."""

_WAIT = 2.0
"""Seconds a tool may take."""


def copy(app: App, text: str) -> str:
    """Put `text` on the clipboard in every way there is; what was done, in words. Raises nothing."""
    app.copy_to_clipboard(text)
    tool = _by_tool(text)
    way = f"with {tool}" if tool else "through the terminal (OSC 52)"
    return f"{counted(len(text), 'character')} copied {way}"


def _by_tool(text: str) -> str | None:
    for name, (command, variable) in _TOOLS.items():
        if shutil.which(name) and (variable is None or os.environ.get(variable)):
            try:
                subprocess.run(
                    command, input=text.encode(), timeout=_WAIT, check=True,
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                )  # fmt: skip
                return name
            except (OSError, subprocess.SubprocessError):
                continue
    return None
