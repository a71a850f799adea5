"""Saved chats for tests: made by asking a fake engine."""

from __future__ import annotations

from pathlib import Path

from fake_engine import FakeEngine

from kestrel_tui.cli import main


def chat_files(home: Path) -> list[Path]:
    return sorted((home / "data" / "kestrel" / "chats").glob("*.jsonl"))


def ask(*arguments: str) -> None:
    assert main(["-q", *arguments], FakeEngine) == 0


def a_chat(home: Path, *questions: str) -> Path:
    """Have a chat; its file."""
    before = set(chat_files(home))
    ask("-p", questions[0])
    for question in questions[1:]:
        ask("--continue", "-p", question)
    return (set(chat_files(home)) - before).pop()
