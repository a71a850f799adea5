"""Text that a checkpoint writes itself: `python -m kestrel_assets.recipe.own_text --corpus C --checkpoint M --out OUT`.

A draft head has to foretell what its trunk says, not what the corpus says. The prompts are those of the corpus: a
chat up to its last answer, a text up to a few tokens; the engine goes on from there, greedily and at two
temperatures in turn. OUT is a corpus of the groups `own_*`, in the arrays that kestrel_assets.recipe.corpus writes.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from kestrel_assets.recipe.data import Corpus, Group
from kestrel_assets.recipe.errors import RecipeError, run_command
from kestrel_assets.recipe.held_out import OWN
from kestrel_engine.errors import KestrelError
from kestrel_engine.events import Released, Round
from kestrel_engine.loader import load
from kestrel_engine.options import EngineOptions, SamplingOptions
from kestrel_engine.session import Session, Turn

TEMPERATURES = (0.0, 0.4, 0.8)
SHARES = {"generated": 0.4, "story_requests": 0.3, "stories": 0.2, "assistant": 0.1}
"""Of the tokens written. The other groups have nothing that an assistant would say."""
LONGEST_PROMPT = 700
LONGEST_ANSWER = 320
SHORTEST_OPENING, LONGEST_OPENING = 2, 16
"""Tokens of a text that are its prompt."""


def prompts(group: Group, seed: int) -> Iterator[list[int]]:
    """The prompts of a group's documents, each once, in an order drawn from the seed."""
    rng = np.random.default_rng(seed)
    for document in rng.permutation(len(group.bounds) - 1):
        span = slice(group.bounds[document], group.bounds[document + 1])
        ids, answers = group.ids[span], group.answers[span].astype(bool)
        opening = int(rng.integers(SHORTEST_OPENING, LONGEST_OPENING + 1))
        length = opening if answers.all() else last_answer(answers)
        if 0 < length < min(len(ids), LONGEST_PROMPT):
            yield ids[:length].tolist()


def last_answer(answers: np.ndarray) -> int:
    """Where the last stretch of true begins in bool [T]; 0 without one."""
    begins = np.flatnonzero(answers[1:] & ~answers[:-1]) + 1
    return int(begins[-1]) if len(begins) else 0


def answer(session: Session, prompt: list[int], sampling: SamplingOptions, longest: int) -> list[int]:
    """What the engine says after `prompt`, with the token that ends it."""
    ids: list[int] = []

    def emit(event) -> None:
        if isinstance(event, Round | Released):
            ids.extend(token.id for token in event.tokens)

    session.answer(Turn(prompt, sampling, longest), emit, cancelled=lambda: False)
    return ids


def write_group(session: Session, group: Group, tokens: int, seed: int, longest: int, stem: Path) -> int:
    """Writes at least `tokens` of answers, or one to every prompt; returns how many tokens they have."""
    ids: list[int] = []
    learned: list[int] = []
    starts: list[int] = []
    written = 0
    for number, prompt in enumerate(prompts(group, seed)):
        if written >= tokens:
            break
        sampling = SamplingOptions(temperature=TEMPERATURES[number % len(TEMPERATURES)], seed=seed + number)
        said = answer(session, prompt, sampling, longest)
        starts.append(len(ids))
        ids += prompt + said
        learned += [0] * len(prompt) + [1] * len(said)
        written += len(said)
    np.save(f"{stem}.npy", np.array(ids, np.uint16))
    np.save(f"{stem}-loss.npy", np.array(learned, np.uint8))
    np.save(f"{stem}-docs.npy", np.array(starts, np.int64))
    return written


def write(options: argparse.Namespace) -> None:
    corpus = Corpus(options.corpus)
    try:
        loaded = load(
            EngineOptions(model=str(options.checkpoint), threads=options.threads), lambda event: None
        )
    except KestrelError as error:
        raise RecipeError(f"cannot load {options.checkpoint} ({error})") from error
    if corpus.largest_id >= loaded.config.vocab_size:
        raise RecipeError(
            f"{options.corpus} has tokens that {options.checkpoint} lacks; build it with its tokenizer"
        )
    options.out.mkdir(parents=True, exist_ok=True)
    counts: dict[str, dict[str, int]] = {}
    for split, groups, wanted in (
        ("train", corpus.train, options.tokens),
        ("heldout", corpus.heldout, options.held_out_tokens),
    ):
        counts[split] = {}
        for name in (name for name in SHARES if name in groups):
            stem = options.out / f"{split}-{OWN}{name}"
            tokens = round(wanted * SHARES[name])
            counts[split][name] = write_group(
                loaded.session, groups[name], tokens, options.seed, options.longest, stem
            )
            print(f"{split} {name}: {counts[split][name]} tokens", flush=True)
    meta = {"vocab_size": loaded.config.vocab_size, "seed": options.seed, "tokens": counts}
    (options.out / "meta.json").write_text(json.dumps(meta) + "\n")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="own_text", description="Let a checkpoint write a corpus for its draft head."
    )
    add = parser.add_argument
    add("--corpus", type=Path, required=True, help="folder whose documents give the prompts")
    add("--checkpoint", type=Path, required=True)
    add("--out", type=Path, required=True)
    add("--tokens", type=int, default=600_000, help="tokens of answers for training")
    add("--held-out-tokens", type=int, default=20_000, help="to held-out prompts")
    add("--longest", type=int, default=LONGEST_ANSWER, help="tokens of an answer")
    add("--threads", type=int, default=1)
    add("--nice", type=int, default=10)
    add("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    os.nice(options.nice)
    return run_command(lambda: write(options))


if __name__ == "__main__":
    sys.exit(main())
