"""Held-out loss and draft acceptance on a small fixed sample, to choose the best checkpoint."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from kestrel_assets.recipe.data import Corpus, heldout_batch
from kestrel_assets.recipe.losses import TensorBatch
from kestrel_assets.recipe.model import Model

DEPTH = 3
CHOSEN_BY = ("generated", "assistant", "story_requests")
OWN = "own_"
"""Begins the names of the groups that a model wrote itself."""


@dataclass(frozen=True)
class GroupScore:
    """Nats per token and the rate at which drafts 1..j all agree with the trunk's greedy choice."""

    loss: float
    tokens: int
    accepted: tuple[float, ...]

    @property
    def tokens_per_round(self) -> float:
        return 1 + sum(self.accepted)

    def __str__(self) -> str:
        chain = " ".join(f"{x:.3f}" for x in self.accepted)
        return f"loss {self.loss:.4f}  accepted {chain}  E {self.tokens_per_round:.2f}"


class HeldOut:
    def __init__(self, corpus: Corpus, documents: int, length: int, device: torch.device):
        self.batches = {
            name: TensorBatch.of(heldout_batch(group, documents, length), device)
            for name, group in corpus.heldout.items()
        }

    @torch.no_grad()
    def score(self, model: Model) -> dict[str, GroupScore]:
        """Scores every group: the groups of CHOSEN_BY and a model's own text on answers, the others on all tokens."""
        return {
            name: _score(model, batch, name in CHOSEN_BY or name.startswith(OWN))
            for name, batch in self.batches.items()
        }


def chosen_loss(scores: dict[str, GroupScore]) -> float:
    """The mean loss that picks the best checkpoint, over the CHOSEN_BY groups (all, if none is there)."""
    chosen = [score.loss for name, score in scores.items() if name in CHOSEN_BY]
    chosen = chosen or [score.loss for score in scores.values()]
    return sum(chosen) / len(chosen) if chosen else float("inf")


def _score(model: Model, batch: TensorBatch, answers_only: bool) -> GroupScore:
    hidden = model.hidden(batch.ids, batch.segments)
    logits = model.head(hidden).float()
    counted = batch.targets(1, answers_only)
    loss = torch.nn.functional.cross_entropy(logits[:, :-1][counted], batch.ids[:, 1:][counted]).item()
    greedy = logits.argmax(-1)
    # A chain counts where its last target counts; an earlier miss ends it.
    valid = batch.targets(DEPTH + 1, answers_only)
    alive, accepted = valid, []
    for depth, draft in enumerate(model.mtp_logits(hidden, batch.ids, DEPTH, batch.segments), 1):
        agrees = draft.argmax(-1) == greedy[:, depth:]
        alive = alive & agrees[:, : alive.shape[1]]
        accepted.append(alive.sum().item() / max(1, valid.sum().item()))
    return GroupScore(loss, int(counted.sum()), tuple(accepted))
