"""`kestrel-bench accept`: how often drafts are right over a text.

Teacher-forced: the model has read the text's own tokens up to each position, drafts there as a round would, and
one pass consumes the next token of the text and verifies the drafts behind it. A draft counts as right when the
model itself, given the text and the drafts before, would have said it: what a round that began there accepts.
"""

from __future__ import annotations

import argparse

from kestrel_engine.bench.arithmetic import chained, expected_length
from kestrel_engine.bench.command import (
    CONTEXT,
    Progress,
    add_command,
    add_one_format,
    frame,
    load_model,
    positive,
    show,
    up_to,
)
from kestrel_engine.bench.perplexity import read_text
from kestrel_engine.bench.table import table
from kestrel_engine.drafter import Drafter
from kestrel_engine.errors import KestrelError
from kestrel_engine.loader import LoadedModel
from kestrel_engine.model import Model
from kestrel_engine.options import MAX_DRAFT, SamplingOptions
from kestrel_engine.sampling import Sampler
from kestrel_engine.tally import Tally
from kestrel_engine.words import counted


def count_window(model: Model, drafter: Drafter, tokens: list[int], length: int, tally: Tally) -> None:
    """A round of `length` drafts at every position of `tokens` but the first, from an empty state."""
    state, sampler = model.new_state(), Sampler(SamplingOptions(), model.backend)
    drafter.reset()
    model.forward(state, tokens[:1], 1)
    for token in tokens[1:]:
        drafts = drafter.draft(state, token, length, sampler)
        logits = model.logits(model.forward(state, [token, *drafts], commit=1))
        right = 0
        while right < len(drafts) and sampler.sample(logits[right], state.length + right) == drafts[right]:
            right += 1
        state.accept(0)
        tally.add(right + 1, len(drafts), right, right < len(drafts))


def measure(loaded: LoadedModel, text: str, length: int, limit: int, progress: Progress) -> dict:
    """At most `limit` positions, in windows that fit into the context."""
    drafter = loaded.session.drafters.get("mtp")
    if drafter is None:
        raise KestrelError("this model has no MTP head: nothing drafts over a text")
    tokens = loaded.tokenizer.encode(text)[: limit + 1]
    if len(tokens) < 2:
        raise KestrelError("the text has fewer than two tokens: give a longer one")
    tally, window = Tally(), loaded.session.model.context
    for start in range(0, len(tokens) - 1, window):
        progress(f"position {start} of {len(tokens)}")
        count_window(loaded.session.model, drafter, tokens[start : start + window], length, tally)
    alpha = tally.acceptance_by_position
    return {
        "alpha": alpha,
        "p": chained(alpha),
        "expected_length": expected_length(alpha),
        "positions": tally.rounds,
        "accepted_histogram": tally.accepted_histogram,
    }


def add_options(commands) -> None:
    parser = add_command(commands, "accept", "how often are drafts right over a text?", __doc__, run)
    add_one_format(parser)
    parser.add_argument("--text", required=True, metavar="FILE", help="UTF-8 text file")
    parser.add_argument(
        "--speculate",
        type=up_to(MAX_DRAFT),
        default=4,
        metavar="K",
        help="drafts a round (4)",
    )
    parser.add_argument("--tokens", type=positive, default=5000, metavar="N", help="most positions (5000)")


def run(arguments: argparse.Namespace) -> int:
    content, progress = read_text(arguments.text), Progress()
    loaded = load_model(arguments, progress, context=CONTEXT)
    figures = measure(loaded, content, arguments.speculate, arguments.tokens, progress)
    progress.done()
    show(frame(loaded, "accept") | figures, arguments.output, text)
    return 0


def text(report: dict) -> str:
    rows = [(str(n + 1), *pair) for n, pair in enumerate(zip(report["alpha"], report["p"], strict=True))]
    return (
        f"teacher-forced over {counted(report['positions'], 'position')}\n\n"
        f"{table(('draft', 'alpha', 'p'), rows)}\n\nE[tokens/round] {report['expected_length']:.3f}\n"
        "alpha: share of the drafts right, where all before were right; p: share right with all before\n"
        "E[tokens/round]: the model's own token and the sum of p"
    )
