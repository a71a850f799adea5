"""The loss of a draft head beside a frozen trunk: how far its drafts are from being accepted.

A draft is accepted when it is the token that the trunk chooses. Of two distributions p (trunk) and q (head) the
best coupling agrees on 1 - TV(p, q), where TV = sum max(0, p - q) is their total variation; so TV at the
temperature of a chat is nearly the rate of rejection itself. It has no gradient where the head is sure and wrong,
hence the cross-entropy beside it. A draft that follows a wrong one is never judged, hence it does not count.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from kestrel_assets.recipe.losses import TensorBatch

BLOCK = 256


@dataclass(frozen=True)
class DraftPlan:
    """What a step of the head trains."""

    depth_weights: tuple[float, ...] = (1.0, 0.7, 0.45)
    """Of drafts 1.., each where all before it were right: a draft opens the way for those behind it."""
    variation: float = 0.5
    """Share of the total variation in the loss; the rest is cross-entropy."""
    temperature: float = 0.4
    """Of both distributions in the total variation."""

    @property
    def depth(self) -> int:
        return len(self.depth_weights)


@dataclass(frozen=True)
class DraftLoss:
    loss: Tensor
    """Scalar, with gradient to the drafts."""
    judged: tuple[int, ...]
    right: tuple[int, ...]
    """Drafts at each depth that counted, and those of them that are the trunk's likeliest token."""


def draft_loss(
    chain: list[Tensor], hidden: Tensor, embedding: Tensor, batch: TensorBatch, plan: DraftPlan
) -> DraftLoss:
    """Mean over the chains of a batch.

    chain: the head's outputs of drafts 1.., draft d [B, T - d, H], row p foretelling token p + d + 1; hidden
    [B, T, H], the trunk's rows, row p + d foretelling the same token; embedding [V, H]. Only drafts of answers count.
    """
    length = batch.ids.shape[1]
    places = F.pad(batch.targets(1, answers_only=True), (0, 1)).flatten().nonzero()[:, 0]  # of trunk rows [N]
    following = batch.ids.roll(-1, 1).flatten()[places]  # the token after each
    follows = F.pad(
        places[1:] - places[:-1] == 1, (1, 0)
    )  # whether the row before is the chain's former draft
    drafts = [F.pad(draft, (0, 0, length - draft.shape[1], 0)).flatten(0, 1)[places] for draft in chain]
    segments = batch.segments.flatten()
    # A chain of draft d begins d rows back, in the same row of the batch and the same document.
    begun = [
        (places % length >= d) & (segments[(places - d).clamp(min=0)] == segments[places])
        for d in range(1, len(chain) + 1)
    ]
    loss, judged, right = _DraftLoss.apply(
        torch.stack(drafts),
        embedding,
        hidden.flatten(0, 1)[places],
        following,
        follows,
        torch.stack(begun),
        plan,
    )
    return DraftLoss(loss, tuple(judged.tolist()), tuple(right.tolist()))


class _DraftLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, drafts, embedding, teacher, following, follows, begun, plan):
        """drafts [D, N, H], teacher [N, H], following [N], follows [N] bool, begun [D, N] bool."""
        device = drafts.device.type
        dtype = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else drafts.dtype
        embedding, teacher = embedding.to(dtype), teacher.to(dtype)
        depth, count = begun.shape
        gradient = torch.zeros_like(drafts, dtype=torch.float32)
        # Whether drafts 1..d of the chain are the text's; place 0 stands for the chain's beginning.
        hits = torch.zeros(depth + 1, count, dtype=torch.bool, device=drafts.device)
        hits[0] = True
        judged, right = (torch.zeros(depth, dtype=torch.long) for _ in range(2))
        loss = drafts.new_zeros((), dtype=torch.float32)
        for start in range(0, count, BLOCK):
            block = slice(start, min(start + BLOCK, count))
            scores = (teacher[block] @ embedding.T).float()
            wanted, sharp = scores.softmax(-1), (scores / plan.temperature).softmax(-1)
            greedy = scores.argmax(-1)
            for d in range(depth):
                alive = begun[d, block] & (hits[d, block] if d == 0 else _before(hits[d], follows, block))
                rows = alive.nonzero()[:, 0]
                if not len(rows):
                    continue
                logits = (drafts[d, block][rows].to(dtype) @ embedding.T).float()
                guess = logits.argmax(-1)
                hits[d + 1, block][rows] = guess == following[block][rows]
                judged[d] += len(rows)
                right[d] += int((guess == greedy[rows]).sum())
                rows_loss, error = _rows(logits, wanted[rows], sharp[rows], plan)
                loss += plan.depth_weights[d] * rows_loss
                gradient[d, block][rows] = plan.depth_weights[d] * (error.to(dtype) @ embedding).float()
        scale = 1 / max(1, int(judged[0]))
        ctx.save_for_backward(gradient.mul_(scale).to(drafts.dtype))
        ctx.mark_non_differentiable(judged, right)
        return loss * scale, judged, right

    @staticmethod
    def backward(ctx, grad, *_):
        (gradient,) = ctx.saved_tensors
        return gradient * grad, None, None, None, None, None, None


def _before(hits: Tensor, follows: Tensor, block: slice) -> Tensor:
    """hits of the row before, where that belongs to the same chain; block's rows."""
    earlier = hits[max(0, block.start - 1) : block.stop - 1]
    if block.start == 0:
        earlier = F.pad(earlier, (1, 0))
    return earlier & follows[block]


def _rows(logits: Tensor, wanted: Tensor, sharp: Tensor, plan: DraftPlan) -> tuple[Tensor, Tensor]:
    """Loss, summed over the rows, and its gradient by `logits` [n, V]; wanted, sharp: the trunk's distribution at
    temperature 1 and at the plan's."""
    mine = (logits / plan.temperature).softmax(-1)
    logs = logits.log_softmax(-1)
    entropy = -(wanted * logs).sum()
    variation = (sharp - mine).clamp_(min=0).sum()
    # d TV / d q = -1 where q < p; through the softmax that is q (mean of the ones under q - one) / temperature.
    short = mine * (mine < sharp)
    error = mine.mul_(short.sum(-1, keepdim=True)).sub_(short).mul_(plan.variation / plan.temperature)
    error += logs.exp_().sub_(wanted).mul_(1 - plan.variation)
    return (1 - plan.variation) * entropy + plan.variation * variation, error
