"""`kestrel-bench perplexity`: what a weight format costs in fidelity, on a text."""

from __future__ import annotations

import argparse
import math
from dataclasses import asdict, dataclass

from kestrel_engine.bench.command import (
    Progress,
    add_all_formats,
    add_command,
    frame,
    load_formats,
    positive,
    show,
)
from kestrel_engine.bench.table import table
from kestrel_engine.errors import KestrelError, UsageError
from kestrel_engine.loader import LoadedModel

WINDOW = 512
"""Tokens scored from one empty state."""
CHUNK = 64
MOST_TEXT = 1 << 26
"""Bytes of a text, far more than is scored: what never ends would fill the memory."""


@dataclass(frozen=True, slots=True)
class Perplexity:
    format: str
    tokens: int
    bits_per_byte: float
    perplexity: float
    """Per token."""


def read_text(path: str) -> str:
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_TEXT + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}): check the path") from None
    if len(data) > MOST_TEXT:
        raise UsageError(f"{path} has more than {MOST_TEXT >> 20} MiB: give a part of it")
    try:
        text = data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
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


# --- the command ------------------------------------------------------------------------------------------


def add_options(commands) -> None:
    parser = add_command(commands, "perplexity", "what does a weight format cost in fidelity?", __doc__, run)
    add_all_formats(parser)
    parser.add_argument("--text", required=True, metavar="FILE", help="UTF-8 text file to score")
    parser.add_argument(
        "--tokens", type=positive, default=20_000, metavar="N", help="most tokens to score (20000)"
    )


def run(arguments: argparse.Namespace) -> int:
    text, report, rows = read_text(arguments.text), {}, []
    for loaded in load_formats(arguments, Progress()):
        report = frame(loaded, "perplexity", arguments.quant)
        rows.append(asdict(measure(loaded, text, arguments.tokens)))
    show(report | {"results": rows}, arguments.output, _text)
    return 0


def _text(report: dict) -> str:
    rows = report["results"]
    costs = [100 * (row["perplexity"] / rows[0]["perplexity"] - 1) for row in rows]
    return table(
        ("format", "tokens", "bits per byte", "perplexity", f"% over {rows[0]['format']}"),
        [
            (row["format"], row["tokens"], f"{row['bits_per_byte']:.4f}", f"{row['perplexity']:.3f}", cost)
            for row, cost in zip(rows, costs, strict=True)
        ],
    )
