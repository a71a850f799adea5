"""Next-token loss of the trunk and the losses of the chained draft head, on the tokens that count."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from kestrel_assets.recipe.cross_entropy import cross_entropy
from kestrel_assets.recipe.data import Batch
from kestrel_assets.recipe.model import Model


@dataclass(frozen=True)
class LossPlan:
    """What one step trains."""

    depth: int  # draft depths trained
    mtp_weights: tuple[float, ...]  # weight of each depth's loss
    others_weight: float  # of tokens that no assistant says, beside 1 for those that it must say
    distill: bool  # drafts imitate the trunk's distribution instead of the text


@dataclass(frozen=True)
class TensorBatch:
    ids: Tensor  # [B, T]
    segments: Tensor  # [B, T]
    answers: Tensor  # [B, T] bool

    @classmethod
    def of(cls, batch: Batch, device: torch.device) -> TensorBatch:
        return cls(*(torch.from_numpy(x).to(device) for x in (batch.ids, batch.segments, batch.answers)))

    def targets(self, back: int, answers_only: bool = False) -> Tensor:
        """[B, T - back] bool: token t is a target, `back` tokens after the position that predicts it."""
        later, earlier = self.segments[:, back:], self.segments[:, : self.segments.shape[1] - back]
        counted = (later == earlier) & (later >= 0)
        return counted & self.answers[:, back:] if answers_only else counted


def losses(model: Model, batch: TensorBatch, plan: LossPlan) -> tuple[Tensor, list[Tensor]]:
    """Weighted mean of the trunk's loss in nats and the list of mean draft losses of depths 1..plan.depth.

    Where the others weigh less than the answers, drafts are trained on answers only.
    """
    hidden = model.hidden(batch.ids, batch.segments)
    counted = batch.targets(1, answers_only=plan.others_weight == 0)
    rows, matrix = hidden[:, :-1][counted], model.embedding
    weights = torch.where(batch.answers[:, 1:][counted], 1.0, plan.others_weight)
    trunk = cross_entropy(rows, matrix, batch.ids[:, 1:][counted], weights)
    # The trunk's row that predicts token t, for every counted t.
    row_of = F.pad(counted.flatten().cumsum(0).view_as(counted) - 1, (1, 0))

    drafts = []
    chain = model.mtp_hidden(hidden, batch.ids, plan.depth, batch.segments) if plan.depth else []
    for depth, draft_hidden in enumerate(chain, 1):
        counted = batch.targets(depth + 1, answers_only=plan.others_weight < 1)
        if depth > 1:  # half of the deeper targets give nearly the same gradient at half the price
            counted = counted & (torch.arange(counted.shape[1], device=counted.device) % 2 == 0)
        target = rows[row_of[:, depth + 1 :][counted]] if plan.distill else batch.ids[:, depth + 1 :][counted]
        drafts.append(cross_entropy(draft_hidden[:, :-1][counted], matrix, target))
    return trunk, drafts


def total_loss(trunk: Tensor, drafts: list[Tensor], plan: LossPlan) -> Tensor:
    return trunk + sum(w * x for w, x in zip(plan.mtp_weights, drafts, strict=False))
