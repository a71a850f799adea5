"""The causal depth-wise convolution of the GDN layers, row by row so that a row stays in the cache."""

from __future__ import annotations

import torch
from torch import Tensor


def causal_conv(x: Tensor, taps: Tensor, borders: list[Tensor] | None = None) -> Tensor:
    """x [B, T, C], taps [C, K] (the last one is the current token) -> [B, T, C].

    borders[i - 1] lists the tokens, as indices into B * T, whose i-th token back is in another document: that
    one does not count. Borders are few, so they are taken out afterwards.
    """
    return _CausalConv.apply(x, taps, *(borders or []))


class _CausalConv(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: Tensor, taps: Tensor, *borders: Tensor) -> Tensor:
        x = x.contiguous()
        ctx.save_for_backward(x, taps, *borders)
        out = x * taps[:, -1]
        for row in _rows(x):
            for back in range(1, taps.shape[1]):
                out[row, back:].addcmul_(x[row, :-back], taps[:, -1 - back])
        flat, flat_out = x.flatten(0, 1), out.flatten(0, 1)
        for back, tokens in enumerate(borders, 1):
            flat_out.index_add_(0, tokens, flat[tokens - back] * -taps[:, -1 - back])
        return out

    @staticmethod
    def backward(ctx, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, taps, *borders = ctx.saved_tensors
        grad = grad.contiguous()
        x_grad, taps_grad = grad * taps[:, -1], torch.zeros_like(taps)
        for row in _rows(x):
            taps_grad[:, -1] += (grad[row] * x[row]).sum((0, 1))
            for back in range(1, taps.shape[1]):
                passed = grad[row, back:]
                x_grad[row, :-back].addcmul_(passed, taps[:, -1 - back])
                taps_grad[:, -1 - back] += (passed * x[row, :-back]).sum((0, 1))
        flat, flat_grad, flat_x_grad = (y.flatten(0, 1) for y in (x, grad, x_grad))
        for back, tokens in enumerate(borders, 1):
            passed = flat_grad[tokens]
            flat_x_grad.index_add_(0, tokens - back, passed * -taps[:, -1 - back])
            taps_grad[:, -1 - back] -= (passed * flat[tokens - back]).sum(0)
        return x_grad, taps_grad, *(None for _ in borders)


def _rows(x: Tensor) -> list[slice]:
    if x.device.type != "cpu":
        return [slice(None)]
    return [slice(i, i + 1) for i in range(len(x))]
