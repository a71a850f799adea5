"""The gated delta rule in a chunked form for training.

One head keeps a state S [K, V]. Per token, with decay g <= 0 and write strength beta:

    S <- exp(g) S;   d = beta (v - S^T k);   S <- S + k d^T;   o = S^T q

Inside a chunk that enters with state S0, let G be the running sum of g. Unrolling the recurrence gives a
unit lower-triangular system for the rows of D (the WY / UT form of Yang et al. 2024):

    (I + L) D = beta V - (beta exp(G) K) S0,    L[t, s] = beta_t exp(G_t - G_s) k_t.k_s  for s < t

It is solved once for all chunks of the batch; only the small state update stays sequential.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

CHUNK = 32


def chunked_gated_delta_rule(
    q: Tensor, k: Tensor, v: Tensor, g: Tensor, beta: Tensor, chunk: int = CHUNK
) -> Tensor:
    """The outputs o [B, T, H, V] of the recurrence from an empty state, in chunks; any T.

    q, k: [B, T, H, K], already normalised and scaled; v: [B, T, H, V]; g, beta: [B, T, H].
    """
    length = k.shape[1]
    pad = -length % chunk
    # Zero rows leave the state alone (g = 0, beta = 0), and their outputs are dropped.
    q, k, v = (_split(F.pad(x, (0, 0, 0, 0, 0, pad)), chunk) for x in (q, k, v))
    g, beta = (_split(F.pad(x, (0, 0, 0, pad)), chunk) for x in (g, beta))  # [B, H, N, C]

    total = g.cumsum(-1)
    causal = torch.ones(chunk, chunk, dtype=torch.bool, device=k.device).tril()
    decay = (total[..., :, None] - total[..., None, :]).masked_fill(~causal, -torch.inf).exp()
    entry = total.exp()[..., None]  # decay from the chunk's entry to token t

    keys_t = k.transpose(-1, -2)
    scaled_k = k * beta[..., None]
    system = (scaled_k @ keys_t) * decay  # the solver reads only what is below the diagonal
    right = torch.cat([v * beta[..., None], scaled_k * entry], dim=-1)
    solved = torch.linalg.solve_triangular(system, right, upper=False, unitriangular=True)
    fresh, erase = solved.split([v.shape[-1], k.shape[-1]], dim=-1)

    leaving = (k * (total[..., -1:] - total).exp()[..., None]).transpose(-1, -2)
    chunk_decay = total[..., -1].exp()[..., None, None]
    entry_states, writes = _scan(fresh, erase, leaving, chunk_decay)

    out = (q * entry) @ entry_states + ((q @ keys_t) * decay) @ writes  # [B, H, N, C, V]
    batch, heads, chunks, _, value_dim = out.shape
    return out.reshape(batch, heads, chunks * chunk, value_dim)[:, :, :length].transpose(1, 2)


def _split(x: Tensor, chunk: int) -> Tensor:
    """[B, N*C, H, ...] to [B, H, N, C, ...]."""
    return x.transpose(1, 2).unflatten(2, (-1, chunk)).contiguous()


@torch.compiler.disable
def _scan(fresh: Tensor, erase: Tensor, leaving: Tensor, decay: Tensor) -> tuple[Tensor, Tensor]:
    """Carries the state over chunks. Returns each chunk's entry state [B,H,N,K,V] and writes [B,H,N,C,V]."""
    state = fresh.new_zeros(*fresh.shape[:2], erase.shape[-1], fresh.shape[-1])
    states, writes = [], []
    # unbind, not indexing: the gradient of an index is a whole zero array each time
    for fresh_n, erase_n, leaving_n, decay_n in zip(
        *(x.unbind(2) for x in (fresh, erase, leaving, decay)), strict=True
    ):
        states.append(state)
        write = fresh_n - erase_n @ state
        writes.append(write)
        state = state * decay_n + leaving_n @ write
    return torch.stack(states, dim=2), torch.stack(writes, dim=2)
