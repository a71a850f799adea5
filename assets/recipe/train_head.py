"""Trains the draft head of a finished checkpoint alone, against its frozen trunk.

    python -m kestrel_assets.recipe.own_text --corpus build/nano --checkpoint assets/kestrel-nano --out build/own
    python -m kestrel_assets.recipe.train_head --corpus build/nano --own build/own --checkpoint assets/kestrel-nano \\
        --out build/nano/head --steps 1480

Only the tensors `mtp.*` change, so the text of every answer stays what it was. The head learns the trunk's own
distribution, where and as the engine asks for it: on answers, in chains fed with its own output, mostly on text that
the trunk wrote. Starting the same command again continues.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from pathlib import Path

import torch

from kestrel_assets.recipe.data import Corpus, Rows
from kestrel_assets.recipe.draft_loss import DraftPlan, draft_loss
from kestrel_assets.recipe.errors import RecipeError, run_command
from kestrel_assets.recipe.export import export_run
from kestrel_assets.recipe.held_out import OWN, GroupScore, HeldOut
from kestrel_assets.recipe.losses import TensorBatch
from kestrel_assets.recipe.model import load_checkpoint
from kestrel_assets.recipe.options import make_parser, parse_floats, parse_mix
from kestrel_assets.recipe.train import Trainer, make_optimizers, pick_device, train

MIX = {
    "own_generated": 0.26,
    "own_story_requests": 0.2,
    "own_stories": 0.14,
    "own_assistant": 0.03,
    "generated": 0.18,
    "stories": 0.08,
    "story_requests": 0.06,
    "dialogue": 0.03,
    "assistant": 0.015,
    "fairytale": 0.005,
}
DECAY_SHARE = 0.7
"""Of all steps, the last ones, in which the rate falls to zero."""


class HeadTrainer(Trainer):
    """One run. Its checkpoint holds the whole model, of which `mtp.*` alone ever changes."""

    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.device = torch.device(pick_device(options.device))
        self.corpus = Corpus(options.corpus)
        if options.own is not None:
            own = Corpus(options.own)
            self.corpus.train |= own.train
            self.corpus.heldout |= own.heldout
        self.model = load_checkpoint(options.checkpoint).requires_grad_(False).to(self.device)
        if self.corpus.largest_id >= self.model.config.vocab_size:
            raise RecipeError(
                f"the corpus has tokens that {options.checkpoint} lacks; build it with its tokenizer"
            )
        self.model.mtp.requires_grad_(True)
        self.optimizers = make_optimizers(self.model.mtp, options)
        self.rows = Rows(self.corpus.train, options.seed)
        self.held_out = HeldOut(self.corpus, options.eval_documents, options.row_length, self.device)
        self.plan = DraftPlan(options.depth_weights, options.variation, options.temperature)
        self.step, self.tokens, self.seconds, self.best = 0, 0, 0.0, float("inf")
        self.settings = {
            "model": self.model.config.to_dict(),
            "checkpoint": hashlib.sha256((options.checkpoint / "model.safetensors").read_bytes()).hexdigest(),
            "corpus": self.corpus.hash,
            "seed": options.seed,
            "optimizer": options.optimizer,
            "precision": options.precision,
        }
        self.stopping = False

    def keep_phase_start(self) -> None:
        """A run of the head has one phase."""

    def rate(self) -> float:
        steps = self.options.steps
        falling = (steps - self.step) / max(1.0, DECAY_SHARE * steps)
        return min(1.0, (self.step + 1) / self.options.warmup, falling)

    def train_step(self) -> str:
        options = self.options
        batch = TensorBatch.of(
            self.rows.batch(self.step, options.rows, options.row_length, options.mix), self.device
        )
        with self.autocast():
            with torch.no_grad():
                hidden = self.model.hidden(batch.ids, batch.segments)
            chain = self.model.mtp_hidden(hidden, batch.ids, self.plan.depth, batch.segments)
            found = draft_loss(chain, hidden, self.model.embedding, batch, self.plan)
        descent = self.descend(found.loss, batch.ids.numel())
        rates = " ".join(f"{r / max(1, j):.3f}" for r, j in zip(found.right, found.judged, strict=True))
        return f"loss {found.loss.item():.4f}  right {rates}  {descent}"

    def choosing(self, scores: dict[str, GroupScore]) -> float:
        """Less the more tokens a round has: on the trunk's own text, where there is any."""
        own = [score for name, score in scores.items() if name.startswith(OWN)] or list(scores.values())
        return -sum(score.tokens_per_round for score in own) / max(1, len(own))

    def finish(self) -> None:
        export_run(self.options.out, self.options.out / "model", "best", self.options.checkpoint)


def parse_options(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = make_parser(
        "train_head",
        __doc__,
        steps=1480,
        warmup=20,
        rows=4,
        lr=0.004,
        lr_small=0.0005,
        eval_every=250,
        eval_documents=20,
    )
    add, plan = parser.add_argument, DraftPlan()
    add("--own", type=Path, help="folder written by kestrel_assets.recipe.own_text")
    add("--checkpoint", type=Path, required=True, help="folder of the model whose head is trained")
    add("--depth-weights", type=parse_floats, default=plan.depth_weights, help="of drafts 1, 2, ...")
    add("--variation", type=float, default=plan.variation, help="share of the total variation in the loss")
    add("--temperature", type=float, default=plan.temperature, help="of the total variation")
    add("--mix", type=parse_mix, default=MIX)
    return parser.parse_args(arguments)


def main() -> int:
    options = parse_options()
    os.nice(options.nice)
    return run_command(lambda: train(options, HeadTrainer))


if __name__ == "__main__":
    sys.exit(main())
