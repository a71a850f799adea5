"""What tokens may see, and softmax attention over it: causal, and for chains of drafts."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from kestrel_assets.recipe.model_config import ModelConfig


class Context:
    """What a row's documents allow: which tokens may see which. Built once a batch, used by every layer."""

    def __init__(self, segments: Tensor | None, taps: int = 1):
        self.segments = segments
        self.first = self.mask = self.borders = None
        if segments is not None:
            self.first = F.pad(segments[:, 1:] != segments[:, :-1], (1, 0))
            # [B, 1, T, T], true where query t may see key s; None stands for plain causal attention.
            self.mask = (segments[:, None, :, None] == segments[:, None, None, :]).tril()
            # What causal_conv asks for: the tokens whose i-th token back is in another document.
            self.borders = [
                F.pad(segments[:, back:] != segments[:, :-back], (back, 0)).flatten().nonzero()[:, 0]
                for back in range(1, taps)
            ]

    def crop(self, length: int) -> Context:
        return Context(None if self.segments is None else self.segments[:, :length])


def attend(q: Tensor, k: Tensor, v: Tensor, context: Context) -> Tensor:
    """Causal softmax attention, [B, heads, T, dim]."""
    if context.mask is None:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=context.mask)


def attend_chain(
    q: Tensor, trunk_k: Tensor, trunk_v: Tensor, own: list[tuple[Tensor, Tensor]], context: Context
) -> Tensor:
    """Attention of chained drafts: query p sees the trunk entries 0..p and entry p of every list in `own`."""
    length = q.shape[2]
    scale = q.shape[-1] ** -0.5
    visible = context.mask
    if visible is None:
        visible = torch.ones(length, length, dtype=torch.bool, device=q.device).tril()
    scores = (q @ trunk_k[:, :, :length].transpose(-1, -2)).float() * scale
    scores = scores.masked_fill(~visible, -torch.inf)
    extra = [(q * k[:, :, :length]).sum(-1, keepdim=True).float() * scale for k, _ in own]
    weights = torch.cat([scores, *extra], dim=-1).softmax(-1).to(q.dtype)
    mixed = weights[..., :length] @ trunk_v[:, :, :length]
    for i, (_, v) in enumerate(own):
        mixed = mixed + weights[..., length + i, None] * v[:, :, :length]
    return mixed


def rope_table(config: ModelConfig, start: int, length: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """cos and sin [T, rotary_dim / 2] of positions start .. start + length."""
    half = torch.arange(0, config.rotary_dim, 2, device=device, dtype=torch.float32) / config.rotary_dim
    positions = torch.arange(start, start + length, device=device, dtype=torch.float32)
    angles = positions[:, None] * config.rope_theta**-half
    return angles.cos(), angles.sin()


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """NeoX-style rotation of the first rotary_dim entries of [..., T, dim]."""
    half = cos.shape[-1]
    a, b, rest = x.split([half, half, x.shape[-1] - 2 * half], dim=-1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin, rest], dim=-1)
