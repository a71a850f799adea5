"""Random checkpoints of any small Qwen3.5 shape, with a tokenizer and a chat template, for fast tests.

Written without the package's own code, so that a wrong inventory or converter there cannot hide here.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

Tensors = dict[str, np.ndarray]
"""Full names as stored. uint16 arrays are bfloat16 bits."""

LINEAR, FULL = "linear_attention", "full_attention"
TOKENIZER_SIZE = 420
END_OF_TEXT, IM_START, IM_END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
CONTROL_TOKENS = (END_OF_TEXT, IM_START, IM_END)
PLAIN_ADDED_TOKENS = ("<think>", "</think>")
"""Added tokens that are text: decoding keeps them."""

CHAT_TEMPLATE = """\
{%- if not messages %}{{- raise_exception('No messages provided.') }}{%- endif %}
{%- set ns = namespace(last_query=-1) %}
{%- for message in messages %}
    {%- if message.role == 'user' %}{%- set ns.last_query = loop.index0 %}{%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- set content = message.content|trim %}
    {%- if message.role == 'assistant' and loop.index0 > ns.last_query %}
        {%- set reasoning = (message.reasoning_content or '')|trim %}
        {{- '<|im_start|>assistant\\n<think>\\n' + reasoning + '\\n</think>\\n\\n' + content }}
    {%- elif message.role in ['system', 'user', 'assistant'] %}
        {{- '<|im_start|>' + message.role + '\\n' + content }}
    {%- else %}
        {{- raise_exception('Unexpected message role.') }}
    {%- endif %}
    {{- '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is true %}
        {{- '<think>\\n' }}
    {%- else %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- endif %}
{%- endif %}
"""
"""In the shape of Qwen3.5's: earlier reasoning is dropped, thinking is off unless asked for."""

TRAINING_TEXT = """\
The kestrel hangs in the wind above the field. It looks, it waits, and then it drops like a stone.
Tell me a story about a small bird that could not sing. Once upon a time there was a little bird, and the
little bird said: "Why do the others sing? I'd rather listen." So she listened to the rain, to the river and
to the wind in the trees, and she was happy. They've told this story for 1234 years; it isn't true.
def twice(x):\n    return 2 * x\n\n\nprint(twice(21))\n
Grüße aus Köln, où êtes-vous? Привет, как дела? 你好，世界。 こんにちは。 🦅
"""


def write_checkpoint(
    folder: Path,
    *,
    seed: int = 0,
    hidden_size: int = 64,
    num_hidden_layers: int = 4,
    full_attention_interval: int = 4,
    intermediate_size: int = 96,
    vocab_size: int = 512,
    num_attention_heads: int = 4,
    num_key_value_heads: int = 2,
    head_dim: int = 32,
    linear_num_key_heads: int = 2,
    linear_num_value_heads: int = 4,
    linear_key_head_dim: int = 32,
    linear_value_head_dim: int = 16,
    max_position_embeddings: int = 4096,
    tie: bool = True,
    mtp: bool = True,
    echo: bool = False,
    layout: str = "vlm",
    dtype: str = "bf16",
    shards: int = 1,
    embedding_std: float = 0.15,
    tokenizer: bool = True,
    chat_template: str | None = CHAT_TEMPLATE,
    generation: dict | None = None,
    edit_tensors: Callable[[Tensors], object] = lambda tensors: None,
    edit_config: Callable[[dict], object] = lambda config: None,
) -> Path:
    """Write a checkpoint into `folder` (created) and return the folder.

    layout: "vlm" has a `text_config` and the prefix `model.language_model.`; "text" is flat, prefix `model.`.
    dtype: "bf16" (A_log and the linear layers' norm in float32, as the real ones), "f16" or "f32" for all.
    echo: greedy decoding repeats the last token and the MTP head knows it, so every draft is right.
    generation: contents of generation_config.json beside the end-of-text ids; None: greedy.
    edit_tensors, edit_config: change the contents just before they are written.
    """
    shape = {
        "hidden_size": hidden_size,
        "num_hidden_layers": num_hidden_layers,
        "layer_types": [
            LINEAR if (layer + 1) % full_attention_interval else FULL for layer in range(num_hidden_layers)
        ],
        "intermediate_size": intermediate_size,
        "vocab_size": vocab_size,
        "num_attention_heads": num_attention_heads,
        "num_key_value_heads": num_key_value_heads,
        "head_dim": head_dim,
        "linear_num_key_heads": linear_num_key_heads,
        "linear_num_value_heads": linear_num_value_heads,
        "linear_key_head_dim": linear_key_head_dim,
        "linear_value_head_dim": linear_value_head_dim,
        "max_position_embeddings": max_position_embeddings,
        "tie_word_embeddings": tie,
    }
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    prefix = "model.language_model." if layout == "vlm" else "model."
    tensors: Tensors = {}
    for name, (dimensions, kind) in _tensor_kinds(shape, prefix, mtp).items():
        values = _draw(name.replace("model.language_model.", "model."), dimensions, kind, seed, embedding_std)
        if echo:
            values = _echoing(name, values, tensors.get(prefix + "embed_tokens.weight"))
        tensors[name] = _stored(
            values, "f32" if dtype == "bf16" and kind in ("decay", "plain norm") else dtype
        )
    edit_tensors(tensors)
    _write_shards(folder, tensors, shards)
    config = _config(shape, layout, mtp, full_attention_interval)
    edit_config(config)
    (folder / "config.json").write_text(json.dumps(config, indent=1))
    end_ids = [TOKENIZER_SIZE - len(CONTROL_TOKENS + PLAIN_ADDED_TOKENS) + offset for offset in (2, 0)]
    generation = {"do_sample": False} if generation is None else generation
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": end_ids, **generation}))
    if tokenizer:
        write_tokenizer(folder, chat_template)
    return folder


def write_tokenizer(folder: Path, chat_template: str | None = CHAT_TEMPLATE) -> Path:
    """Write tokenizer.json and tokenizer_config.json of a small byte-level BPE; ids end with CONTROL_TOKENS
    and PLAIN_ADDED_TOKENS at TOKENIZER_SIZE."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_text(trained_tokenizer())
    config = {
        "tokenizer_class": "Qwen3_5Tokenizer",
        "eos_token": IM_END,
        "pad_token": END_OF_TEXT,
        "clean_up_tokenization_spaces": False,
        "model_max_length": 4096,
    }
    if chat_template is not None:
        config["chat_template"] = chat_template
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return folder


@functools.cache
def trained_tokenizer() -> str:
    """tokenizer.json of a BPE with Qwen3.5's normalizer and pre-tokenizer, trained on TRAINING_TEXT."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    pattern = (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}"
        r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    added = [AddedToken(token, special=True, normalized=False) for token in CONTROL_TOKENS]
    added += [AddedToken(token, special=False, normalized=False) for token in PLAIN_ADDED_TOKENS]
    trainer = trainers.BpeTrainer(
        vocab_size=TOKENIZER_SIZE - len(added),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([TRAINING_TEXT], trainer)
    tokenizer.add_tokens(added)
    assert tokenizer.get_vocab_size() == TOKENIZER_SIZE
    return tokenizer.to_str()


def write_safetensors(path: Path, tensors: Tensors) -> None:
    """Write one file; the tensors lie in the order given."""
    names = {
        "uint16": "BF16",
        "float16": "F16",
        "float32": "F32",
        "float64": "F64",
        "uint8": "U8",
        "int32": "I32",
    }
    header: dict = {"__metadata__": {"format": "pt"}}
    offset = 0
    for name, values in tensors.items():
        end = offset + values.nbytes
        header[name] = {
            "dtype": names[values.dtype.name],
            "shape": list(values.shape),
            "data_offsets": [offset, end],
        }
        offset = end
    encoded = json.dumps(header).encode()
    encoded += b" " * (-len(encoded) % 8)
    data = b"".join(np.ascontiguousarray(values).tobytes() for values in tensors.values())
    path.write_bytes(len(encoded).to_bytes(8, "little") + encoded + data)


def to_bfloat16(values: np.ndarray) -> np.ndarray:
    """float32 → bits of the nearest bfloat16 (ties to even), uint16."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bfloat16(bits: np.ndarray) -> np.ndarray:
    return (bits.astype(np.uint32) << 16).view(np.float32)


def _write_shards(folder: Path, tensors: Tensors, shards: int) -> None:
    if shards == 1:
        write_safetensors(folder / "model.safetensors", tensors)
        return
    names = list(tensors)
    weight_map = {}
    for shard in range(shards):
        file_name = f"model.safetensors-{shard + 1:05d}-of-{shards:05d}.safetensors"
        part = {name: tensors[name] for name in names[shard::shards]}
        weight_map |= dict.fromkeys(part, file_name)
        write_safetensors(folder / file_name, part)
    index = {
        "metadata": {"total_size": sum(values.nbytes for values in tensors.values())},
        "weight_map": weight_map,
    }
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def _tensor_kinds(shape: dict, prefix: str, mtp: bool) -> dict[str, tuple[tuple[int, ...], str]]:
    """Stored name → (shape, kind of initial values)."""
    hidden, inner, head_dim = shape["hidden_size"], shape["intermediate_size"], shape["head_dim"]
    queries, keys = shape["num_attention_heads"] * head_dim, shape["num_key_value_heads"] * head_dim
    value_heads, value_head_dim = shape["linear_num_value_heads"], shape["linear_value_head_dim"]
    values = value_heads * value_head_dim
    channels = 2 * shape["linear_num_key_heads"] * shape["linear_key_head_dim"] + values
    full = {
        "self_attn.q_proj.weight": ((2 * queries, hidden), "matrix"),
        "self_attn.k_proj.weight": ((keys, hidden), "matrix"),
        "self_attn.v_proj.weight": ((keys, hidden), "matrix"),
        "self_attn.o_proj.weight": ((hidden, queries), "output matrix"),
        "self_attn.q_norm.weight": ((head_dim,), "shifted norm"),
        "self_attn.k_norm.weight": ((head_dim,), "shifted norm"),
    }
    linear = {
        "linear_attn.in_proj_qkv.weight": ((channels, hidden), "matrix"),
        "linear_attn.in_proj_z.weight": ((values, hidden), "matrix"),
        "linear_attn.in_proj_b.weight": ((value_heads, hidden), "matrix"),
        "linear_attn.in_proj_a.weight": ((value_heads, hidden), "matrix"),
        "linear_attn.conv1d.weight": ((channels, 1, 4), "convolution"),
        "linear_attn.dt_bias": ((value_heads,), "time step"),
        "linear_attn.A_log": ((value_heads,), "decay"),
        "linear_attn.norm.weight": ((value_head_dim,), "plain norm"),
        "linear_attn.out_proj.weight": ((hidden, values), "output matrix"),
    }
    rest = {
        "mlp.gate_proj.weight": ((inner, hidden), "matrix"),
        "mlp.up_proj.weight": ((inner, hidden), "matrix"),
        "mlp.down_proj.weight": ((hidden, inner), "output matrix"),
        "input_layernorm.weight": ((hidden,), "shifted norm"),
        "post_attention_layernorm.weight": ((hidden,), "shifted norm"),
    }
    kinds = {prefix + "embed_tokens.weight": ((shape["vocab_size"], hidden), "embedding")}
    for layer, layer_type in enumerate(shape["layer_types"]):
        mixer = full if layer_type == FULL else linear
        kinds |= {f"{prefix}layers.{layer}.{name}": kind for name, kind in (mixer | rest).items()}
    kinds[prefix + "norm.weight"] = ((hidden,), "shifted norm")
    if not shape["tie_word_embeddings"]:
        kinds["lm_head.weight"] = ((shape["vocab_size"], hidden), "embedding")
    if mtp:
        kinds["mtp.fc.weight"] = ((hidden, 2 * hidden), "matrix")
        for name in ("pre_fc_norm_embedding", "pre_fc_norm_hidden", "norm"):
            kinds[f"mtp.{name}.weight"] = ((hidden,), "shifted norm")
        kinds |= {f"mtp.layers.0.{name}": kind for name, kind in (full | rest).items()}
    return kinds


def _draw(name: str, dimensions: tuple[int, ...], kind: str, seed: int, embedding_std: float) -> np.ndarray:
    """float32. One generator a tensor, keyed by its name, so that layout and sharding do not change values.

    Matrices keep the scale of their input, so that layers matter at any width; norm weights are well away
    from 0 and 1, so that a shift left out or applied twice shows; the time step makes the state remember.
    """
    random = np.random.default_rng([seed, *name.encode()])
    if kind == "decay":
        return np.log(random.uniform(1, 16, dimensions)).astype(np.float32)
    if kind == "time step":
        step = np.exp(random.uniform(np.log(1e-3), np.log(1e-1), dimensions))
        return (step + np.log(-np.expm1(-step))).astype(np.float32)
    scale = {
        "matrix": dimensions[-1] ** -0.5,
        "output matrix": dimensions[-1] ** -0.5,
        "embedding": embedding_std,
        "convolution": 0.4,
        "shifted norm": 0.1,
        "plain norm": 0.1,
    }[kind]
    values = scale * random.standard_normal(dimensions)
    return (values + (kind == "plain norm")).astype(np.float32)


def _echoing(name: str, values: np.ndarray, stored_embedding: np.ndarray | None) -> np.ndarray:
    """Blocks that hardly change the residual stream, and an MTP head that passes its token's embedding on."""
    if name.endswith(("o_proj.weight", "out_proj.weight", "down_proj.weight")):
        return values * np.float32(0.01)
    if name == "mtp.fc.weight":
        return np.eye(*values.shape, dtype=np.float32)
    if name == "lm_head.weight":
        return from_bfloat16(stored_embedding) if stored_embedding.dtype == np.uint16 else stored_embedding
    return values


def _stored(values: np.ndarray, dtype: str) -> np.ndarray:
    return (
        to_bfloat16(values)
        if dtype == "bf16"
        else values.astype({"f16": np.float16, "f32": np.float32}[dtype])
    )


def _config(shape: dict, layout: str, mtp: bool, full_attention_interval: int) -> dict:
    text = {
        **shape,
        "model_type": "qwen3_5_text",
        "attention_bias": False,
        "attention_dropout": 0.0,
        "attn_output_gate": True,
        "dtype": "bfloat16",
        "eos_token_id": TOKENIZER_SIZE - len(CONTROL_TOKENS + PLAIN_ADDED_TOKENS),
        "full_attention_interval": full_attention_interval,
        "hidden_act": "silu",
        "linear_conv_kernel_dim": 4,
        "mamba_ssm_dtype": "float32",
        "mtp_num_hidden_layers": int(mtp),
        "mtp_use_dedicated_embeddings": False,
        "rms_norm_eps": 1e-6,
        "rope_parameters": {
            "mrope_interleaved": True,
            "mrope_section": _rotary_sections(shape["head_dim"] // 8),
            "partial_rotary_factor": 0.25,
            "rope_theta": 10_000_000,
            "rope_type": "default",
        },
    }
    if layout == "text":
        return {"architectures": ["Qwen3_5ForCausalLM"], **text}
    return {
        "architectures": ["Qwen3_5ForConditionalGeneration"],
        "model_type": "qwen3_5",
        "tie_word_embeddings": shape["tie_word_embeddings"],
        "text_config": text,
        "vision_config": {"model_type": "qwen3_5", "depth": 1, "hidden_size": 32},
    }


def _rotary_sections(pairs: int) -> list[int]:
    """Shares of the three position axes; with text all three positions are equal, so only the sum matters."""
    return [pairs - 2 * (pairs // 3), pairs // 3, pairs // 3]
