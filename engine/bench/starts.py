"""The prompts that measurements start from: six, as in the Kestrel field report, stories and chat."""

from __future__ import annotations

from dataclasses import dataclass

from kestrel_engine.errors import KestrelError, UsageError
from kestrel_engine.loader import LoadedModel
from kestrel_engine.options import MAX_DRAFT
from kestrel_engine.words import counted

TOKENS = 64
"""Tokens decoded from each start."""
PROMPTS = {
    "story: bird": "Tell me a story about a small bird who wanted to see the sea.",
    "story: dog": "Tell me a story about a dog who found a red ball in the garden.",
    "story: rain": "Write a short story about a rainy day.",
    "chat: hello": "Hello! Who are you, and what can you do?",
    "chat: draft": "What is a draft token, and why does it make you faster?",
    "chat: name": "My name is Anna and I like the sea. What shall we talk about?",
}


@dataclass(frozen=True, slots=True)
class Start:
    name: str
    prompt: tuple[int, ...]


def encode(loaded: LoadedModel, text: str) -> list[int]:
    """`text` as a user's message; as it is where the model has no usable template, for its speed and
    arithmetic are the same."""
    try:
        return loaded.tokenizer.encode_chat([{"role": "user", "content": text}], None)
    except KestrelError:
        return loaded.tokenizer.encode(text)


def starts(loaded: LoadedModel, count: int, tokens: int = 0) -> list[Start]:
    """The first `count` starts, stories and chat in turn. Raises UsageError where `tokens` more and a round's drafts do
    not fit the context."""
    names = list(PROMPTS)
    ordered = [name for pair in zip(names[:3], names[3:], strict=True) for name in pair]
    begun = [Start(name, tuple(encode(loaded, PROMPTS[name]))) for name in ordered[:count]]
    room = loaded.session.state.capacity - MAX_DRAFT - max(len(start.prompt) for start in begun)
    if tokens > room:
        raise UsageError(f"--tokens {tokens}: the context holds {max(room, 0)} beside the prompts: use fewer")
    return begun


def extent_text(report: dict, emitted: int | None = None) -> str:
    """How much was measured: "2 starts of 32 tokens, 1 repeat". `emitted`: tokens of a repeat, where answers may end
    before they have as many as they may."""
    begun, tokens = counted(len(report["starts"]), "start"), counted(report["tokens"], "token")
    if emitted is not None and emitted < len(report["starts"]) * report["tokens"]:
        tokens = f"at most {tokens} ({emitted} in all)"
    return f"{begun} of {tokens}, {counted(report['repeat'], 'repeat')}"
