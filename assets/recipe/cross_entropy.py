"""Cross-entropy against the tied output matrix, in blocks of rows that stay in the cache.

The logits of a whole batch are by far its largest array. Here every block computes its logits, its loss and its
gradients in one go, and only the gradients of the hidden states and of the matrix are kept.
"""

from __future__ import annotations

import torch
from torch import Tensor

BLOCK = 256


def cross_entropy(
    hidden: Tensor, weight: Tensor, target: Tensor, row_weights: Tensor | None = None
) -> Tensor:
    """Mean loss in nats of softmax(hidden weight^T), weighted by row; 0 when there are no rows.

    hidden [N, H]; weight [V, H]; target: token ids [N], or the hidden states [N, H] of a teacher whose
    distribution (under the same matrix, without gradient) is to be matched; row_weights [N], all 1 by default.
    """
    if row_weights is None:
        row_weights = hidden.new_ones(len(hidden), dtype=torch.float32)
    shares = row_weights / row_weights.sum().clamp(min=1e-9)
    if torch.is_grad_enabled():
        return _CrossEntropy.apply(hidden, weight, target.detach(), shares)
    return _forward(hidden, weight, target, shares, None, None)


class _CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, hidden: Tensor, weight: Tensor, target: Tensor, shares: Tensor) -> Tensor:
        hidden_grad = torch.empty_like(hidden, dtype=torch.float32)
        weight_grad = torch.zeros_like(weight, dtype=torch.float32)
        loss = _forward(hidden, weight, target, shares, hidden_grad, weight_grad)
        ctx.save_for_backward(hidden_grad, weight_grad)
        ctx.dtypes = hidden.dtype, weight.dtype
        return loss

    @staticmethod
    def backward(ctx, grad: Tensor) -> tuple[Tensor, Tensor, None, None]:
        hidden_grad, weight_grad = ctx.saved_tensors
        return (hidden_grad * grad).to(ctx.dtypes[0]), (weight_grad * grad).to(ctx.dtypes[1]), None, None


def _forward(
    hidden: Tensor,
    weight: Tensor,
    target: Tensor,
    shares: Tensor,
    hidden_grad: Tensor | None,
    weight_grad: Tensor | None,
) -> Tensor:
    """The loss; with gradient arrays given, fills hidden_grad [N, H] and adds to weight_grad [V, H]."""
    device = hidden.device.type
    dtype = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else hidden.dtype
    hidden, weight = hidden.detach().to(dtype), weight.detach().to(dtype)
    teacher = target.to(dtype) if target.is_floating_point() else None
    loss = hidden.new_zeros((), dtype=torch.float32)
    for start in range(0, len(hidden), BLOCK):
        block = slice(start, start + BLOCK)
        logs = (hidden[block] @ weight.T).float().log_softmax(-1)
        share = shares[block, None]  # [n, 1]
        if teacher is None:
            picked = logs.gather(1, target[block, None])
            loss -= (share * picked).sum()
        else:
            wanted = (teacher[block] @ weight.T).float().softmax(-1)
            loss -= (share * wanted * logs).sum()
        if hidden_grad is None:
            continue
        error = logs.exp_()
        if teacher is None:
            error.scatter_add_(1, target[block, None], torch.full_like(picked, -1.0))
        else:
            error -= wanted
        error = (error * share).to(dtype)
        hidden_grad[block] = error @ weight
        weight_grad += error.T @ hidden[block]
    return loss
