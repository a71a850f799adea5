"""Trains kestrel-nano: warm-up, stable phase, decay, answers; resumes from its last checkpoint after any stop.

    python -m kestrel_assets.recipe.train --corpus build/nano --out build/nano/run --steps 6000

Until three quarters of the steps the loss is on all tokens in rows of 512. In the last quarter the learning
rate falls linearly to zero, rows are half as many and twice as long, and users' turns count a quarter of
assistant turns. In the last twenty-fifth assistant turns alone count. Starting the same command again continues;
a larger --steps prolongs the stable phase.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import time
from pathlib import Path

import torch

from kestrel_assets.recipe.data import Corpus, Rows
from kestrel_assets.recipe.errors import RecipeError, run_command
from kestrel_assets.recipe.export import export_run
from kestrel_assets.recipe.held_out import GroupScore, HeldOut, chosen_loss
from kestrel_assets.recipe.losses import LossPlan, TensorBatch, losses, total_loss
from kestrel_assets.recipe.model import Model
from kestrel_assets.recipe.model_config import ModelConfig
from kestrel_assets.recipe.muon import Muon
from kestrel_assets.recipe.options import make_parser, parse_floats, parse_mix, parse_model
from kestrel_assets.recipe.run_state import check_settings, read_state, write_state

# Shares of rows. Stories and talk between people have no assistant: they count whole, and not at the very end.
STABLE_MIX = {
    "generated": 0.60,
    "dialogue": 0.15,
    "stories": 0.10,
    "story_requests": 0.09,
    "fairytale": 0.02,
    "assistant": 0.035,
    "definitions": 0.005,
}
FINAL_MIX = {
    "generated": 0.66,
    "dialogue": 0.14,
    "story_requests": 0.08,
    "stories": 0.08,
    "assistant": 0.03,
    "fairytale": 0.005,
    "definitions": 0.005,
}
ANSWERS_MIX = {"generated": 0.8, "story_requests": 0.14, "assistant": 0.06}
DECAY_SHARE = 0.25
ANSWERS_SHARE = 0.04
"""Of all steps, the last ones of the decay. More would make the model forget how users speak, which the draft head
and the bits per byte of whole dialogues need."""


class Trainer:
    """One run: model, optimisers, data position, files."""

    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.device = torch.device(pick_device(options.device))
        self.corpus = Corpus(options.corpus)
        torch.manual_seed(options.seed)
        self.model = Model(model_config(self.corpus, dict(options.model))).to(self.device)
        self.optimizers = make_optimizers(self.model, options)
        self.rows = Rows(self.corpus.train, options.seed)
        self.held_out = HeldOut(self.corpus, options.eval_documents, options.row_length, self.device)
        self.step, self.tokens, self.seconds, self.best = 0, 0, 0.0, float("inf")
        self.settings = {
            "model": self.model.config.to_dict(),
            "corpus": self.corpus.hash,
            "seed": options.seed,
            "optimizer": options.optimizer,
            "precision": options.precision,
        }
        self.stopping = False

    # --- files -------------------------------------------------------------------------------------------

    @property
    def checkpoint(self) -> Path:
        return self.options.out / "checkpoint.pt"

    def resume(self) -> None:
        """Continues from the checkpoint, if there is one; raises RecipeError if it does not fit."""
        state = read_state(self.checkpoint)
        if state is None:
            self.options.out.mkdir(parents=True, exist_ok=True)
            return
        wanted = {k: v for k, v in self.settings.items() if k != "corpus" or not self.options.accept_corpus}
        check_settings(self.checkpoint, state["settings"], wanted)
        self.model.load_state_dict(state["weights"])
        for optimizer, saved in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(saved)
        if state["settings"]["corpus"] == self.settings["corpus"]:
            self.rows.state = state["rows"]
        self.step, self.tokens = state["step"], state["tokens"]
        self.seconds, self.best = state["seconds"], state["best"]
        say(f"resumed {self.checkpoint} at step {self.step}")

    def save(self) -> None:
        state = self._weights_state()
        state |= {
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
            "rows": self.rows.state,
            "tokens": self.tokens,
            "seconds": self.seconds,
        }
        write_state(self.checkpoint, state)

    def _weights_state(self) -> dict:
        return {
            "weights": self.model.state_dict(),
            "settings": self.settings,
            "corpus": str(self.options.corpus.resolve()),
            "step": self.step,
            "best": self.best,
        }

    # --- schedule ----------------------------------------------------------------------------------------

    @property
    def decay_start(self) -> int:
        return self.options.steps - round(self.options.steps * DECAY_SHARE)

    @property
    def is_final(self) -> bool:
        return self.step >= self.decay_start

    @property
    def answers_start(self) -> int:
        return self.options.steps - round(self.options.steps * ANSWERS_SHARE)

    @property
    def is_answers(self) -> bool:
        return self.step >= self.answers_start

    def rate(self) -> float:
        """The learning rate of the current step as a share of its peak."""
        steps = self.options.steps
        if self.is_final:
            return (steps - self.step) / max(1, steps - self.decay_start)
        return min(1.0, (self.step + 1) / self.options.warmup)

    def plan(self) -> LossPlan:
        options = self.options
        deep = self.step % (options.final_deep_every if self.is_final else options.deep_every) == 0
        others_weight = 0.0 if self.is_answers else options.final_others_weight if self.is_final else 1.0
        return LossPlan(
            depth=3 if deep else 1,
            mtp_weights=options.final_mtp_weights if self.is_final else options.mtp_weights,
            others_weight=others_weight,
            distill=self.is_final,
        )

    def mix(self) -> dict[str, float]:
        """Group -> its share of the current step's rows."""
        if self.is_answers:
            return self.options.answers_mix
        return self.options.final_mix if self.is_final else self.options.stable_mix

    # --- the loop ----------------------------------------------------------------------------------------

    def run(self, stop_after: int | None = None) -> None:
        """Trains to the last step (or `stop_after`), saving as it goes; a signal saves and returns."""
        options = self.options
        saved, logged, log_tokens = time.monotonic(), time.monotonic(), self.tokens
        started = time.monotonic() - self.seconds
        while self.step < min(options.steps, stop_after or options.steps) and not self.stopping:
            self.keep_phase_start()
            report = self.train_step()
            now = time.monotonic()
            self.seconds = now - started
            if self.step % options.log_every == 0:
                speed = (self.tokens - log_tokens) / max(1e-9, now - logged)
                say(f"step {self.step}  {report}  {speed:.0f} tokens/s  {self.seconds / 60:.1f} min")
                logged, log_tokens = now, self.tokens
            if self.step % options.eval_every == 0 or self.step == options.steps:
                self.evaluate()
                self.seconds = time.monotonic() - started
                logged = time.monotonic()
            if now - saved > options.save_minutes * 60:
                self.save()
                saved = time.monotonic()
        self.save()
        if self.step == options.steps:
            self.finish()
        else:
            say(f"stopped at step {self.step}; the same command continues")

    def keep_phase_start(self) -> None:
        """Keeps a copy of the checkpoint where a phase begins: a longer or another one can go on from there."""
        for name, start in (("stable", self.decay_start), ("decayed", self.answers_start)):
            copy = self.options.out / f"{name}-{start}.pt"
            if self.step == start > 0 and not copy.exists():
                self.save()
                shutil.copyfile(self.checkpoint, copy)

    def train_step(self) -> str:
        """One optimiser step; returns its report."""
        options, plan = self.options, self.plan()
        scale = 2 if self.is_final else 1
        batch = self.rows.batch(
            self.step, max(1, options.rows // scale), options.row_length * scale, self.mix()
        )
        with self.autocast():
            trunk, drafts = losses(self.model, TensorBatch.of(batch, self.device), plan)
            loss = total_loss(trunk, drafts, plan)
        descent = self.descend(loss, batch.ids.size)
        mtp = " ".join(f"{x.item():.3f}" for x in drafts)
        return f"loss {trunk.item():.4f}  mtp {mtp}  {descent}"

    def descend(self, loss: torch.Tensor, tokens: int) -> str:
        """The optimisers' step for the loss of so many tokens; returns its report."""
        if not torch.isfinite(loss):
            raise RecipeError(f"the loss became {loss.item()} at step {self.step}; resume with a lower --lr")
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.options.clip)
        rate = self.rate()
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = rate * group["peak"]
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        self.step += 1
        self.tokens += tokens
        return f"norm {norm.item():.2f}  rate {rate:.3f}"

    def autocast(self) -> torch.autocast:
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.options.precision == "bf16")

    def evaluate(self) -> None:
        self.model.eval()
        with self.autocast():
            scores = self.held_out.score(self.model)
        self.model.train()
        for name, score in scores.items():
            say(f"  held-out {name:<15} {score}")
        loss = self.choosing(scores)
        if loss < self.best:
            self.best = loss
            write_state(self.options.out / "best.pt", self._weights_state())
            say(f"  best so far: {loss:.4f}")

    def choosing(self, scores: dict[str, GroupScore]) -> float:
        """What the best weights have least of."""
        return chosen_loss(scores)

    def finish(self) -> None:
        export_run(self.options.out, self.options.out / "model", "best")


def model_config(corpus: Corpus, changes: dict) -> ModelConfig:
    """The default size with the corpus's vocabulary and the changed fields."""
    unknown = changes.keys() - ModelConfig().to_dict().keys()
    if unknown:
        raise RecipeError(f"--model knows no {', '.join(sorted(unknown))}; see ModelConfig for the names")
    vocabulary = {"vocab_size": corpus.meta.get("vocab_size", ModelConfig.vocab_size)}
    config = ModelConfig.from_dict({**vocabulary, **changes})
    if corpus.largest_id >= config.vocab_size:
        raise RecipeError(
            f"the corpus has token {corpus.largest_id}, the model only {config.vocab_size} entries"
        )
    return config


def make_optimizers(model: Model, options: argparse.Namespace) -> list[torch.optim.Optimizer]:
    """Muon for the weight matrices and AdamW for the rest, or AdamW for all; decay on matrices only."""
    matrices, rest = [], []
    for name, weight in model.named_parameters():
        is_matrix = weight.ndim == 2 and min(weight.shape) >= 32 and "embed_tokens" not in name
        (matrices if is_matrix else rest).append(weight)
    small = {"params": rest, "peak": options.lr_small, "weight_decay": 0.0}
    if options.optimizer == "muon":
        groups = [{"params": matrices, "peak": options.lr}]
        return [Muon(groups, weight_decay=options.weight_decay), _adamw([small])]
    return [_adamw([{"params": matrices, "peak": options.lr, "weight_decay": options.weight_decay}, small])]


def _adamw(groups: list[dict]) -> torch.optim.Optimizer:
    return torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.95), eps=1e-10, fused=True)


def pick_device(wanted: str) -> str:
    if wanted == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if wanted == "cuda" and not torch.cuda.is_available():
        raise RecipeError("no CUDA device here; use --device cpu")
    return wanted


def say(line: str) -> None:
    print(line, flush=True)


def parse_options(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = make_parser(
        "train",
        __doc__,
        steps=6000,
        warmup=100,
        rows=8,
        lr=0.02,
        lr_small=0.003,
        eval_every=200,
        eval_documents=40,
    )
    add = parser.add_argument
    add("--mtp-weights", type=parse_floats, default=(0.3, 0.2, 0.15))
    add("--final-mtp-weights", type=parse_floats, default=(0.5, 0.4, 0.3))
    add(
        "--final-others-weight",
        type=float,
        default=0.25,
        help="of users' tokens in the decay, before the answers",
    )
    add("--deep-every", type=int, default=3, help="draft depths 2 and 3 are trained on every n-th step")
    add("--final-deep-every", type=int, default=2, help="the same in the final phase")
    add("--stable-mix", type=parse_mix, default=STABLE_MIX)
    add("--final-mix", type=parse_mix, default=FINAL_MIX)
    add("--answers-mix", type=parse_mix, default=ANSWERS_MIX)
    add("--model", type=parse_model, default=[], help="changed config fields, e.g. hidden_size=320")
    return parser.parse_args(arguments)


def train(options: argparse.Namespace, kind: type[Trainer] = Trainer) -> None:
    torch.set_num_threads(options.threads)
    trainer = kind(options)
    trainer.resume()

    def stop(*_) -> None:
        trainer.stopping = True

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    trainer.run()


def main() -> int:
    options = parse_options()
    os.nice(options.nice)
    return run_command(lambda: train(options))


if __name__ == "__main__":
    sys.exit(main())
