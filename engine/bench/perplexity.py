"""`kestrel-bench perplexity`: what a weight format costs in fidelity, on a text."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from kestrel_engine.errors import KestrelError, UsageError
from kestrel_engine.loader import LoadedModel

WINDOW = 512
"""Tokens scored from one empty state."""
CHUNK = 64


@dataclass(frozen=True, slots=True)
class Perplexity:
    format: str
    tokens: int
    bits_per_byte: float
    perplexity: float
    """Per token."""


def read_text(path: str) -> str:
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}): check the path") from None
    except ValueError:
        raise UsageError(f"{path} is not UTF-8 text: convert it") from None
    if not text.strip():
        raise UsageError(f"{path} is empty: give a file with text")
    return text


def measure(loaded: LoadedModel, text: str, limit: int) -> Perplexity:
    """Teacher-forced over windows of WINDOW tokens, the first of each unscored; at most `limit` tokens."""
    model = loaded.session.model
    tokens = loaded.tokenizer.encode(text)[:limit]
    if len(tokens) < 2:
        raise KestrelError("the text has fewer than two tokens: give a longer one")
    window = min(WINDOW, model.context)
    loss, scored, scored_bytes = 0.0, 0, 0
    for start in range(0, len(tokens) - 1, window):
        part = tokens[start : start + window]
        state = model.new_state()
        for first in range(0, len(part) - 1, CHUNK):
            rows = part[first : min(first + CHUNK, len(part) - 1)]
            logits = model.logits(model.forward(state, rows, len(rows)))
            for m, row in enumerate(logits):
                target = part[first + m + 1]
                loss += float(model.backend.log_sum_exp(row) - row[target])
                scored += 1
                scored_bytes += len(loaded.tokenizer.token_bytes(target))
    return Perplexity(
        format=loaded.format,
        tokens=scored,
        bits_per_byte=loss / math.log(2) / max(1, scored_bytes),
        perplexity=math.exp(loss / scored),
    )
