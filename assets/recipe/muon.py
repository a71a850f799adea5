"""Muon (Keller Jordan, 2024): momentum made orthogonal by Newton-Schulz, on stacks of same-shape matrices."""

from __future__ import annotations

from collections import defaultdict

import torch
from torch import Tensor
from torch.optim import Optimizer

NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)
ITERATIONS = 5


def orthogonalise(stack: Tensor) -> Tensor:
    """stack [N, rows, columns], rows <= columns -> about U V^T of each matrix, in bf16."""
    a, b, c = NEWTON_SCHULZ
    x = (stack / stack.norm(dim=(1, 2), keepdim=True).clamp_min(1e-7)).bfloat16()
    for _ in range(ITERATIONS):
        gram = x @ x.transpose(1, 2)
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x


class Muon(Optimizer):
    """Nesterov momentum, orthogonalised, with decoupled weight decay; for weight matrices only."""

    def __init__(self, params, lr: float = 0.02, momentum: float = 0.95, weight_decay: float = 0.1):
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure=None) -> None:
        for group in self.param_groups:
            by_shape = defaultdict(list)
            for weight in group["params"]:
                if weight.grad is not None:
                    by_shape[tuple(sorted(weight.shape))].append(weight)
            for weights in by_shape.values():
                self._update(weights, group)

    def _update(self, weights: list[Tensor], group: dict) -> None:
        directions = []
        for weight in weights:
            state = self.state[weight]
            if not state:
                state["momentum"] = torch.zeros_like(weight)
            momentum = state["momentum"].lerp_(weight.grad, 1 - group["momentum"])
            direction = weight.grad.lerp(momentum, group["momentum"])
            directions.append(direction.T if weight.shape[0] > weight.shape[1] else direction)
        for weight, update in zip(weights, orthogonalise(torch.stack(directions)), strict=True):
            tall = weight.shape[0] > weight.shape[1]
            scale = max(1.0, weight.shape[0] / weight.shape[1]) ** 0.5
            weight.mul_(1 - group["lr"] * group["weight_decay"])
            weight.add_((update.T if tall else update).to(weight.dtype), alpha=-group["lr"] * scale)
