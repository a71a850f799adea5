"""The sizes of a model, under the names of `config.json`."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields


@dataclass(frozen=True)
class ModelConfig:
    """The text config; the defaults are kestrel-nano's."""

    vocab_size: int = 4096
    hidden_size: int = 256
    num_hidden_layers: int = 8
    full_attention_interval: int = 4
    num_attention_heads: int = 4
    num_key_value_heads: int = 2
    head_dim: int = 64
    linear_num_key_heads: int = 4
    linear_num_value_heads: int = 4
    linear_key_head_dim: int = 64
    linear_value_head_dim: int = 64
    linear_conv_kernel_dim: int = 4
    intermediate_size: int = 640
    rms_norm_eps: float = 1e-6
    partial_rotary_factor: float = 0.25
    rope_theta: float = 1e7
    max_position_embeddings: int = 4096

    @property
    def rotary_dim(self) -> int:
        return int(self.head_dim * self.partial_rotary_factor)

    @property
    def conv_dim(self) -> int:
        keys = self.linear_num_key_heads * self.linear_key_head_dim
        return 2 * keys + self.linear_num_value_heads * self.linear_value_head_dim

    def is_attention(self, layer: int) -> bool:
        return (layer + 1) % self.full_attention_interval == 0

    @classmethod
    def from_dict(cls, values: dict) -> ModelConfig:
        """Reads a text config (or a whole `config.json`); keys it does not know are ignored."""
        text = values.get("text_config", values)
        text = {**text, **text.get("rope_parameters", {})}
        return cls(**{f.name: text[f.name] for f in fields(cls) if f.name in text})

    def to_dict(self) -> dict:
        return asdict(self)
