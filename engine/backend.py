"""What a backend must offer: the operations a forward pass is made of, each in M-row form.

Every array is float32 unless said otherwise; M is the number of rows (tokens) of the pass. Row m of an M-row
call has the bits of a one-row call, and every backend has the bits of `reference.ReferenceBackend`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from kestrel_engine.config import ModelConfig
from kestrel_engine.state import DeltaLayer, KVCache
from kestrel_engine.weights import AttentionWeights, DeltaWeights, Weights

if TYPE_CHECKING:
    from kestrel_engine.model import Model


@dataclass(slots=True)
class WholeRound:
    """What a backend that runs a round whole brings back; nothing is accepted or emitted yet."""

    drafts: list[int]
    chosen: list[int]
    """The model's own token of each row, to the first that differs from its draft."""
    logprobs: list[float]
    """Natural logs of the model's probabilities of `chosen`."""
    rejected_logprob: float | None
    """Of the first wrong draft; None without one."""
    draft_seconds: float


class Backend(Protocol):
    name: str
    threads: int

    def pack(self, matrix: np.ndarray, format: str) -> Any:
        """bfloat16 bits [N, K] (uint16), K a multiple of 32 -> a packed matrix with `.bytes`."""

    def make_model(self, config: ModelConfig, weights: Weights, context: int) -> Model:
        """The model on this backend: a `Model`, which runs a pass operation by operation, or a subclass that
        runs whole passes (`_trunk`, `_mtp_layer`, `_mtp_input`, `logits`), or rounds up to the choice of their
        tokens (`whole_round`), in its own way, with the same bits.

        Such a pass reads the cursors of the `State` and moves none; what it prepares for a state it keeps in
        `State.prepared`, which no copy of the state shares. `replay_seconds` is the model's to add to."""

    def embed(self, tokens: list[int], table: np.ndarray) -> np.ndarray:
        """Rows `tokens` of table [V, H] (bfloat16 bits) -> [M, H]."""

    def concatenate(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """x [M, A], y [M, B] -> [M, A+B]."""

    def matmul(self, x: np.ndarray, matrix: Any) -> np.ndarray:
        """x [M, K] -> [M, N]. For q8 and q4, x is first quantised to int8 in blocks of 32."""

    def rms_norm(self, x: np.ndarray, scale: np.ndarray, eps: float) -> np.ndarray:
        """x [M, H], scale [H] -> [M, H]."""

    def add(self, x: np.ndarray, y: np.ndarray) -> None:
        """x += y, both [M, H]."""

    def conv_silu(self, x: np.ndarray, layer: DeltaLayer, taps: np.ndarray) -> np.ndarray:
        """Raw rows x [M, ≥C] at positions layer.conv_length… -> convolved [M, C]; writes them to the ring."""

    def delta_inputs(
        self, mixed: np.ndarray, beta_a: np.ndarray, weights: DeltaWeights, layer: DeltaLayer
    ) -> tuple:
        """-> query, key [M, Hk, dk], decay, beta [M, Hv]."""

    def delta_rows(
        self,
        inputs: tuple,
        mixed: np.ndarray,
        layer: DeltaLayer,
        commit: int,
        slots: np.ndarray | None = None,
    ) -> np.ndarray:
        """The first `commit` rows change layer.state; later rows run on a copy and fill the log. -> [M, Hv*dv].

        slots [M, Hv, dk, dv] takes the state after each row."""

    def delta_replay(self, layer: DeltaLayer) -> None:
        """Apply layer.log_length records to layer.state."""

    def gated_norm(self, x: np.ndarray, gate: np.ndarray, scale: np.ndarray, eps: float) -> np.ndarray:
        """RMSNorm over each value head of x [M, Hv*dv], times silu(gate). -> [M, Hv*dv]."""

    def attention_inputs(
        self,
        qkv: np.ndarray,
        weights: AttentionWeights,
        eps: float,
        tables: tuple,
        cache: KVCache,
        heads: int,
    ) -> np.ndarray:
        """Writes keys and values at positions cache.length…; -> normalised, rotated queries [M, Hq, d]."""

    def attention(self, query: np.ndarray, qkv: np.ndarray, cache: KVCache, position: int) -> np.ndarray:
        """Row m attends to positions 0..position+m; the gate is in qkv. -> [M, Hq*d]."""

    def swiglu(self, gate_up: np.ndarray) -> np.ndarray:
        """[M, 2I] -> [M, I]."""

    def log_sum_exp(self, x: np.ndarray) -> np.float32:
        """Of a 1-D array."""

    def top_k(self, x: np.ndarray, count: int) -> np.ndarray:
        """Indices (int64) of the `count` largest, largest first, ties to the lower index."""

    def gumbel(self, seed: int, position: int, ids: np.ndarray) -> np.ndarray:
        """Gumbel noise [n] for token ids [n] int64 at an absolute position."""
