"""Text made safe to show: a terminal must never obey what a model, a file or a user wrote."""

from __future__ import annotations

_C0 = [code for code in range(0x20) if chr(code) not in "\n\t"]
_VISIBLE = {code: chr(0x2400 + code) for code in _C0}  # Unicode's control pictures: ESC becomes ␛
_VISIBLE[0x7F] = "\u2421"
_VISIBLE |= {code: f"\\x{code:02x}" for code in range(0x80, 0xA0)}

_BLANK = {ord("\n"): " ", ord("\t"): " ", ord("\r"): " "}


def for_terminal(text: str) -> str:
    """`text` with every control character but newline and tab replaced by a visible stand-in.

    Character by character, so that a stream may be treated piece by piece.
    """
    return text.translate(_VISIBLE)


def one_line(text: str) -> str:
    """`text` on a single line without control characters."""
    return for_terminal(text.translate(_BLANK)).strip()


def clean_input(text: str) -> str:
    """`text` without the lone surrogates that stand for undecodable bytes of the command line or stdin."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
