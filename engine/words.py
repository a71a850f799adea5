"""Words that go with numbers."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """ "1 token", "2 tokens"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
