"""The tensors that a checkpoint of a given shape must hold: names without prefix, and shapes."""

from __future__ import annotations

from kestrel_engine.config import LINEAR, ModelConfig

Shapes = dict[str, tuple[int, ...]]

EMBEDDING = "embed_tokens.weight"
OUTPUT_HEAD = "lm_head.weight"
MTP_PREFIX = "mtp."


def expected_tensors(config: ModelConfig) -> Shapes:
    """Canonical name → shape in model order; `lm_head.weight` if untied, `mtp.*` with an MTP head."""
    hidden = config.hidden_size
    shapes: Shapes = {EMBEDDING: (config.vocab_size, hidden)}
    for layer, kind in enumerate(config.layer_types):
        mixer = _linear_attention(config) if kind == LINEAR else _full_attention(config)
        shapes |= _prefixed(f"layers.{layer}.", mixer | _block(config))
    shapes["norm.weight"] = (hidden,)
    if not config.tie_word_embeddings:
        shapes[OUTPUT_HEAD] = (config.vocab_size, hidden)
    if config.has_mtp:
        shapes |= _prefixed(MTP_PREFIX, _mtp_head(config))
    return shapes


def _prefixed(prefix: str, shapes: Shapes) -> Shapes:
    return {prefix + name: shape for name, shape in shapes.items()}


def _block(config: ModelConfig) -> Shapes:
    hidden, inner = config.hidden_size, config.intermediate_size
    return {
        "input_layernorm.weight": (hidden,),
        "post_attention_layernorm.weight": (hidden,),
        "mlp.gate_proj.weight": (inner, hidden),
        "mlp.up_proj.weight": (inner, hidden),
        "mlp.down_proj.weight": (hidden, inner),
    }


def _linear_attention(config: ModelConfig) -> Shapes:
    hidden, heads = config.hidden_size, config.linear_num_value_heads
    return {
        "linear_attn.in_proj_qkv.weight": (config.conv_dim, hidden),
        "linear_attn.in_proj_z.weight": (config.value_dim, hidden),
        "linear_attn.in_proj_b.weight": (heads, hidden),
        "linear_attn.in_proj_a.weight": (heads, hidden),
        "linear_attn.conv1d.weight": (config.conv_dim, 1, config.linear_conv_kernel_dim),
        "linear_attn.A_log": (heads,),
        "linear_attn.dt_bias": (heads,),
        "linear_attn.norm.weight": (config.linear_value_head_dim,),
        "linear_attn.out_proj.weight": (hidden, config.value_dim),
    }


def _full_attention(config: ModelConfig) -> Shapes:
    hidden = config.hidden_size
    return {
        # Per head: the query, then its output gate.
        "self_attn.q_proj.weight": (2 * config.query_dim, hidden),
        "self_attn.k_proj.weight": (config.kv_dim, hidden),
        "self_attn.v_proj.weight": (config.kv_dim, hidden),
        "self_attn.o_proj.weight": (hidden, config.query_dim),
        "self_attn.q_norm.weight": (config.head_dim,),
        "self_attn.k_norm.weight": (config.head_dim,),
    }


def _mtp_head(config: ModelConfig) -> Shapes:
    hidden = config.hidden_size
    head: Shapes = {
        "fc.weight": (hidden, 2 * hidden),
        "pre_fc_norm_embedding.weight": (hidden,),
        "pre_fc_norm_hidden.weight": (hidden,),
        "norm.weight": (hidden,),
    }
    return head | _prefixed("layers.0.", _full_attention(config) | _block(config))
