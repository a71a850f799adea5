"""A model's weights in the form the kernels use, loaded from a checkpoint in one of the formats bf16, q8, q4.

Norm weights, A_log, dt_bias and the convolution stay float32; the tiny beta/decay projection stays bf16 in
every format; all other matrices take the chosen format. The embedding is looked up as stored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kestrel_engine import numerics
from kestrel_engine.checkpoint import Checkpoint
from kestrel_engine.config import FULL, ModelConfig
from kestrel_engine.errors import UsageError
from kestrel_engine.packed_cache import PackedCache

Matrix = Any
"""A packed matrix: whatever the backend's `pack` returns."""
Pack = Callable[[np.ndarray, str], Matrix]

INFINITY_BITS = 0x7F80
"""Bfloat16 bits of infinity; without the sign, NaNs are above it."""
MTP_FORMATS = {"bf16": "q8"}
"""Format of the MTP head's matrices on the CPU, by that of the model, where it is another: drafts may be anything, and
a q8 head has half of the bytes. On kestrel-nano rounds of three drafts have as many tokens with it."""
CHECK_ITEMS = 1 << 18
"""Weights looked at together: few enough to stay in a core's cache."""


@dataclass(frozen=True, slots=True)
class FeedForward:
    norm: np.ndarray  # [H]
    gate_up: Matrix  # [2I, H]
    down: Matrix  # [H, I]


@dataclass(frozen=True, slots=True)
class DeltaWeights:
    """A Gated DeltaNet layer."""

    norm: np.ndarray  # [H]
    qkv_z: Matrix  # [conv_dim + Hv*dv, H]
    beta_a: Matrix  # [2*Hv, H], bf16 always
    taps: np.ndarray  # [4, conv_dim]
    negative_a: np.ndarray  # [Hv], -e**A_log
    dt_bias: np.ndarray  # [Hv]
    output_norm: np.ndarray  # [dv], not shifted
    output: Matrix  # [H, Hv*dv]
    feed_forward: FeedForward


@dataclass(frozen=True, slots=True)
class AttentionWeights:
    """A gated full-attention layer."""

    norm: np.ndarray  # [H]
    qkv: Matrix  # [2*Hq*d + 2*Hkv*d, H]: query and gate per head, then keys, then values
    query_norm: np.ndarray  # [d]
    key_norm: np.ndarray  # [d]
    output: Matrix  # [H, Hq*d]
    feed_forward: FeedForward


@dataclass(frozen=True, slots=True)
class MtpWeights:
    """The draft head: one attention layer between its own norms."""

    embedding_norm: np.ndarray  # [H]
    hidden_norm: np.ndarray  # [H]
    projection: Matrix  # [H, 2H]: embedding first, hidden second
    layer: AttentionWeights
    norm: np.ndarray  # [H]


@dataclass(frozen=True, slots=True)
class Weights:
    format: str
    embedding: np.ndarray  # [V, H] bfloat16 bits
    layers: tuple[DeltaWeights | AttentionWeights, ...]
    norm: np.ndarray  # [H]
    output: Matrix  # [V, H]
    output_bits: np.ndarray  # [V, H] bfloat16 bits: the source of reduced draft heads
    mtp: MtpWeights | None


def _all_finite(bits: np.ndarray) -> bool:
    flat = bits.reshape(-1)
    pieces = (flat[start : start + CHECK_ITEMS] for start in range(0, len(flat), CHECK_ITEMS))
    return all(int((piece & 0x7FFF).max()) < INFINITY_BITS for piece in pieces)


class _Loader:
    """Reads tensors of one checkpoint and counts them for the progress display."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        format: str,
        pack: Pack,
        progress: Callable[[float], None],
        cache: PackedCache,
    ):
        self.checkpoint, self.format, self.pack, self.progress = checkpoint, format, pack, progress
        self.cache = cache
        self.loaded = 0

    def _step(self) -> None:
        self.loaded += 1
        self.progress(self.loaded / len(self.checkpoint.names))

    def float32(self, name: str) -> np.ndarray:
        self._step()
        values = np.array(self.checkpoint.float32(name), np.float32)
        self._require(bool(np.isfinite(values).all()), name)
        return values

    def shifted(self, name: str) -> np.ndarray:
        """1 + w: the scale of a zero-centred norm. The only place where the shift is added."""
        return np.float32(1) + self.float32(name)

    def bits(self, name: str) -> np.ndarray:
        """A matrix as bfloat16 bits; float32 and float16 sources are rounded."""
        self._step()
        if self.checkpoint.dtype(name) == "BF16":
            bits = self.checkpoint.tensor(name)
        else:
            bits = numerics.to_bfloat16(self.checkpoint.float32(name))
        self._require(self.cache.filled or _all_finite(bits), name)
        return bits

    def _require(self, finite: bool, name: str) -> None:
        """Quantising would hide such a value in its block, and the model would write nonsense."""
        if not finite:
            problem = f"tensor {name} holds NaN or infinity"
            raise UsageError(f"{self.checkpoint.folder}: {problem}: download the model again")

    def matrix(self, *names: str, format: str | None = None) -> Matrix:
        """The named matrices one below the other, packed."""
        return self.packed(
            names, lambda: np.concatenate([self.bits(name) for name in names]), format or self.format
        )

    def packed(self, names: tuple[str, ...], bits: Callable[[], np.ndarray], format: str) -> Matrix:
        """`bits()` of the tensors `names` together, packed now or in an earlier start."""
        key = " ".join((format, *names))
        packed = self.cache.get(key)
        if packed is None:
            packed = self.pack(bits(), format)
            self.cache.add(key, packed)
        return packed

    def feed_forward(self, prefix: str, format: str | None = None) -> FeedForward:
        return FeedForward(
            norm=self.shifted(prefix + "post_attention_layernorm.weight"),
            gate_up=self.matrix(
                prefix + "mlp.gate_proj.weight", prefix + "mlp.up_proj.weight", format=format
            ),
            down=self.matrix(prefix + "mlp.down_proj.weight", format=format),
        )

    def attention(self, prefix: str, format: str | None = None) -> AttentionWeights:
        own = prefix + "self_attn."
        return AttentionWeights(
            norm=self.shifted(prefix + "input_layernorm.weight"),
            qkv=self.matrix(*(f"{own}{part}_proj.weight" for part in "qkv"), format=format),
            query_norm=self.shifted(own + "q_norm.weight"),
            key_norm=self.shifted(own + "k_norm.weight"),
            output=self.matrix(own + "o_proj.weight", format=format),
            feed_forward=self.feed_forward(prefix, format),
        )

    def delta(self, prefix: str) -> DeltaWeights:
        own = prefix + "linear_attn."
        return DeltaWeights(
            norm=self.shifted(prefix + "input_layernorm.weight"),
            qkv_z=self.matrix(own + "in_proj_qkv.weight", own + "in_proj_z.weight"),
            beta_a=self.matrix(own + "in_proj_b.weight", own + "in_proj_a.weight", format="bf16"),
            taps=np.ascontiguousarray(self.float32(own + "conv1d.weight")[:, 0, :].T),
            negative_a=-numerics.exp(self.float32(own + "A_log")),
            dt_bias=self.float32(own + "dt_bias"),
            output_norm=self.float32(own + "norm.weight"),
            output=self.matrix(own + "out_proj.weight"),
            feed_forward=self.feed_forward(prefix),
        )

    def mtp(self, format: str | None) -> MtpWeights:
        return MtpWeights(
            embedding_norm=self.shifted("mtp.pre_fc_norm_embedding.weight"),
            hidden_norm=self.shifted("mtp.pre_fc_norm_hidden.weight"),
            projection=self.matrix("mtp.fc.weight", format=format),
            layer=self.attention("mtp.layers.0.", format),
            norm=self.shifted("mtp.norm.weight"),
        )


def load_weights(
    checkpoint: Checkpoint,
    config: ModelConfig,
    format: str,
    pack: Pack,
    progress: Callable[[float], None] = lambda fraction: None,
    cache: PackedCache | None = None,
    mtp_format: str | None = None,
) -> Weights:
    """Read and pack every tensor, or take it from `cache`. `progress` is told the fraction done, 0..1. `mtp_format`:
    of the MTP head's matrices; None: as all.

    Raises UsageError, one line naming the tensor, for a weight that is no finite number.
    """
    cache = cache or PackedCache()
    try:
        weights = _load(_Loader(checkpoint, format, pack, progress, cache), config, mtp_format)
    except BaseException:
        cache.abandon()
        raise
    cache.finish()
    return weights


def _load(loader: _Loader, config: ModelConfig, mtp_format: str | None) -> Weights:
    layers = tuple(
        loader.attention(f"layers.{n}.") if kind == FULL else loader.delta(f"layers.{n}.")
        for n, kind in enumerate(config.layer_types)
    )
    embedding = np.ascontiguousarray(loader.bits("embed_tokens.weight"))
    output = "embed_tokens.weight" if config.tie_word_embeddings else "lm_head.weight"
    output_bits = embedding if config.tie_word_embeddings else loader.bits(output)
    return Weights(
        format=loader.format,
        embedding=embedding,
        layers=layers,
        norm=loader.shifted("norm.weight"),
        output=loader.packed((output,), lambda: output_bits, loader.format),
        output_bits=output_bits,
        mtp=loader.mtp(mtp_format) if config.has_mtp else None,
    )
