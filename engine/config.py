"""The model's shape and defaults, read from a checkpoint's `config.json` and `generation_config.json`."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from kestrel_engine.errors import UsageError
from kestrel_engine.options import SamplingOptions

CONFIG_FILE = "config.json"
GENERATION_FILE = "generation_config.json"
LINEAR = "linear_attention"
FULL = "full_attention"
MODEL_TYPES = ("qwen3_5", "qwen3_5_text")
BLOCK = 32
"""Quantised weights come in blocks of BLOCK along a matrix's input dimension."""
CONV_KERNEL = 4


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """Shape of a dense Qwen3.5 model. All sizes are counts of elements."""

    name: str
    """For the screen: the hub id of a model in the hub's cache, else the folder's name."""
    hidden_size: int
    num_hidden_layers: int
    layer_types: tuple[str, ...]
    """One of LINEAR and FULL for each layer."""
    intermediate_size: int
    vocab_size: int
    """Rows of the embedding; padded, so larger than the tokenizer."""
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    linear_num_key_heads: int
    linear_num_value_heads: int
    linear_key_head_dim: int
    linear_value_head_dim: int
    linear_conv_kernel_dim: int
    rms_norm_eps: float
    rope_theta: float
    rotary_dim: int
    """Leading elements of each head that are rotated; even."""
    tie_word_embeddings: bool
    has_mtp: bool
    max_position_embeddings: int
    eos_token_ids: tuple[int, ...]
    """Ids that end an answer, ascending: those of `config.json` and `generation_config.json` together."""

    @property
    def key_dim(self) -> int:
        """All key heads of a linear layer side by side."""
        return self.linear_num_key_heads * self.linear_key_head_dim

    @property
    def value_dim(self) -> int:
        """All value heads of a linear layer side by side."""
        return self.linear_num_value_heads * self.linear_value_head_dim

    @property
    def conv_dim(self) -> int:
        """Channels of the causal convolution: queries, keys and values."""
        return 2 * self.key_dim + self.value_dim

    @property
    def query_dim(self) -> int:
        """All query heads of a full-attention layer side by side (without the gates)."""
        return self.num_attention_heads * self.head_dim

    @property
    def kv_dim(self) -> int:
        """All key (or value) heads of a full-attention layer side by side."""
        return self.num_key_value_heads * self.head_dim


def load_config(folder: Path) -> ModelConfig:
    """Read and check `folder/config.json` (with a `text_config`, or the flat text form) and the end-of-text
    ids of `generation_config.json`. Raises UsageError that names the key and the value found."""
    folder = Path(folder)
    # os.path, because pathlib's tests raise on names that are too long or folders that may not be searched.
    if not os.path.isdir(folder):
        problem = "is not a folder" if os.path.exists(folder) else "does not exist"
        raise UsageError(f"{folder} {problem}: give a model folder in Hugging Face layout, or a hub id")
    path = folder / CONFIG_FILE
    if not os.path.exists(path):
        raise UsageError(f"{folder} has no {CONFIG_FILE}: give a model folder in Hugging Face layout")
    whole = _read_object(path)
    text = _text_part(path, whole)
    keys = _Keys(path, text)
    _refuse_unsupported(keys, whole)

    layer_types = _layer_types(keys)
    rope_theta, rotary_dim = _rope(keys)
    config = ModelConfig(
        name=_display_name(folder),
        hidden_size=keys.count("hidden_size"),
        num_hidden_layers=len(layer_types),
        layer_types=layer_types,
        intermediate_size=keys.count("intermediate_size"),
        vocab_size=keys.count("vocab_size"),
        num_attention_heads=keys.count("num_attention_heads"),
        num_key_value_heads=keys.count("num_key_value_heads"),
        head_dim=keys.count("head_dim"),
        linear_num_key_heads=keys.count("linear_num_key_heads"),
        linear_num_value_heads=keys.count("linear_num_value_heads"),
        linear_key_head_dim=keys.count("linear_key_head_dim"),
        linear_value_head_dim=keys.count("linear_value_head_dim"),
        linear_conv_kernel_dim=keys.count("linear_conv_kernel_dim"),
        rms_norm_eps=keys.number("rms_norm_eps"),
        rope_theta=rope_theta,
        rotary_dim=rotary_dim,
        tie_word_embeddings=keys.flag(
            "tie_word_embeddings", _Keys(path, whole).flag("tie_word_embeddings", False)
        ),
        has_mtp=_has_mtp(keys),
        max_position_embeddings=keys.count("max_position_embeddings"),
        eos_token_ids=_eos_token_ids(folder, whole, text, keys.count("vocab_size")),
    )
    _check_shape(path, config)
    return config


def load_generation_config(folder: Path) -> SamplingOptions:
    """Sampling defaults of `folder/generation_config.json`.

    As with transformers, no file and `"do_sample": false` both mean greedy (temperature 0). Without
    `do_sample`, a file that sets a temperature means to sample. Keys that are absent or null are off
    (temperature: 1). Raises UsageError that names the file and the key.
    """
    path = Path(folder) / GENERATION_FILE
    if not os.path.exists(path):
        return SamplingOptions()
    keys = _Keys(path, _read_object(path))
    options: dict[str, Any] = {}
    for field in fields(SamplingOptions):
        if field.name == "seed" or keys.get(field.name) is None:
            continue
        value = keys.whole(field.name) if field.name == "top_k" else keys.number(field.name)
        try:
            SamplingOptions(**{field.name: value})
        except UsageError as error:
            advice = str(error).partition(": ")[2]
            raise UsageError(f"{path}: {field.name} is {value!r}: {advice}") from None
        options[field.name] = value
    if keys.flag("do_sample", "temperature" in options):
        options.setdefault("temperature", 1.0)
    else:
        options["temperature"] = 0.0
    return SamplingOptions(**options)


class _Keys:
    """Typed access to a JSON object; every failure is a UsageError that names file, key and value."""

    def __init__(self, path: Path, values: dict[str, Any]):
        self.path = path
        self.values = values

    def get(self, key: str) -> Any:
        return self.values.get(key)

    def fail(self, key: str, needed: str) -> UsageError:
        found = f"is {_shorten(self.values[key])}" if key in self.values else "is missing"
        return UsageError(f"{self.path}: {key} {found}: {needed}")

    def require(self, condition: bool, key: str, needed: str) -> None:
        if not condition:
            raise self.fail(key, needed)

    def whole(self, key: str, default: int | None = None) -> int:
        value = self.values.get(key)
        if value is None and default is not None:
            return default
        # JSON's true is an int to Python; 4.0 is a float that some writers use for 4.
        is_whole = isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1
        self.require(is_whole and abs(value) < 2**53, key, "must be a whole number")
        return int(value)

    def count(self, key: str) -> int:
        value = self.whole(key)
        self.require(value >= 1, key, "must be a positive whole number")
        return value

    def number(self, key: str) -> float:
        value = self.values.get(key)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        self.require(is_number and abs(value) <= 1e30, key, "must be a number")
        return float(value)

    def flag(self, key: str, default: bool) -> bool:
        value = self.values.get(key)
        if value is None:
            return default
        self.require(isinstance(value, bool), key, "must be true or false")
        return value

    def mapping(self, key: str) -> dict[str, Any]:
        value = self.values.get(key)
        if value is None:
            return {}
        self.require(isinstance(value, dict), key, "must be an object")
        return value


def _read_object(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read ({error.strerror}): check the path and its permissions"
        ) from None
    except (ValueError, RecursionError):
        raise UsageError(f"{path} is not valid JSON: download the model again") from None
    if not isinstance(value, dict):
        raise UsageError(f"{path} does not hold a JSON object: download the model again")
    return value


def _shorten(value: Any) -> str:
    shown = json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= 60 else shown[:57] + "..."


def _text_part(path: Path, whole: dict[str, Any]) -> dict[str, Any]:
    found = whole.get("model_type")
    if found not in MODEL_TYPES:
        named = "is missing" if found is None else f"is {_shorten(found)}"
        raise UsageError(
            f"{path}: model_type {named}: Kestrel runs dense Qwen3.5 models ({', '.join(MODEL_TYPES)})"
        )
    text = whole.get("text_config", whole)
    if not isinstance(text, dict):
        raise UsageError(f"{path}: text_config is {_shorten(text)}: must be an object")
    inner = text.get("model_type", found)
    if inner not in MODEL_TYPES:
        raise UsageError(f"{path}: text_config.model_type is {_shorten(inner)}: must be qwen3_5_text")
    return text


def _refuse_unsupported(keys: _Keys, whole: dict[str, Any]) -> None:
    for part in (whole, keys.values):
        quantization = part.get("quantization_config") or part.get("quantization")
        if quantization:
            method = quantization.get("quant_method") if isinstance(quantization, dict) else None
            kind = f" ({_shorten(method)})" if method else ""
            raise UsageError(
                f"{keys.path}: quantization_config{kind} marks a quantized checkpoint: use the original"
                " weights; Kestrel quantizes them itself (--quant)"
            )
    for key in ("num_experts", "num_local_experts", "num_experts_per_tok"):
        keys.require(not keys.get(key), key, "mixture-of-experts models are not supported; use a dense one")
    keys.require(keys.get("hidden_act") in (None, "silu"), "hidden_act", "must be silu")
    keys.require(keys.flag("attn_output_gate", True), "attn_output_gate", "must be true")
    keys.require(not keys.flag("attention_bias", False), "attention_bias", "must be false")
    dedicated = keys.flag("mtp_use_dedicated_embeddings", False)
    keys.require(
        not dedicated, "mtp_use_dedicated_embeddings", "must be false: the MTP head shares the embeddings"
    )


def _layer_types(keys: _Keys) -> tuple[str, ...]:
    layers = keys.count("num_hidden_layers")
    keys.require(layers <= 10_000, "num_hidden_layers", "must be at most 10000")
    given = keys.get("layer_types")
    if given is None:
        interval = keys.whole("full_attention_interval", 4)
        keys.require(interval >= 1, "full_attention_interval", "must be a positive whole number")
        return tuple(LINEAR if (layer + 1) % interval else FULL for layer in range(layers))
    known = isinstance(given, list) and all(kind in (LINEAR, FULL) for kind in given)
    keys.require(known, "layer_types", f"must be a list of {LINEAR} and {FULL}")
    keys.require(
        len(given) == layers,
        "layer_types",
        f"must have {layers} entries (num_hidden_layers), not {len(given)}",
    )
    return tuple(given)


def _rope(keys: _Keys) -> tuple[float, int]:
    """(theta, rotary dimension) from `rope_parameters` or from the older top-level keys."""
    parameters = _Keys(
        keys.path, {**keys.values, **keys.mapping("rope_scaling"), **keys.mapping("rope_parameters")}
    )
    kind = parameters.get("rope_type") or parameters.get("type")
    if kind not in (None, "default", "mrope"):
        raise UsageError(f"{keys.path}: rope_type is {_shorten(kind)}: must be default")
    theta = parameters.number("rope_theta")
    parameters.require(theta > 0, "rope_theta", "must be positive")
    if parameters.get("partial_rotary_factor") is None:
        parameters.values["partial_rotary_factor"] = 0.25
    factor = parameters.number("partial_rotary_factor")
    rotary_dim = int(keys.count("head_dim") * factor)
    parameters.require(
        0 < factor <= 1 and rotary_dim >= 2 and rotary_dim % 2 == 0,
        "partial_rotary_factor",
        f"must be at most 1 and rotate an even number of a head's elements, not {rotary_dim}",
    )
    return theta, rotary_dim


def _has_mtp(keys: _Keys) -> bool:
    layers = keys.whole("mtp_num_hidden_layers", 0)
    keys.require(
        layers in (0, 1), "mtp_num_hidden_layers", "must be 0 or 1; deeper MTP heads are not supported"
    )
    return layers == 1


def _eos_token_ids(folder: Path, whole: dict, text: dict, vocab_size: int) -> tuple[int, ...]:
    """Ids at or above `vocab_size` are left out: the model cannot produce them."""
    generation = folder / GENERATION_FILE
    sources = [(folder / CONFIG_FILE, whole), (folder / CONFIG_FILE, text)]
    if os.path.exists(generation):
        sources.append((generation, _read_object(generation)))
    ids: set[int] = set()
    for path, values in sources:
        given = values.get("eos_token_id")
        for value in given if isinstance(given, list) else [given]:
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise UsageError(
                    f"{path}: eos_token_id is {_shorten(given)}: must be a token id or a list of them"
                )
            ids.add(value)
    return tuple(sorted(value for value in ids if value < vocab_size))


def _check_shape(path: Path, config: ModelConfig) -> None:
    def require(condition: bool, key: str, value: Any, needed: str) -> None:
        if not condition:
            raise UsageError(f"{path}: {key} is {value}: {needed}")

    def require_blocks(key: str, value: int) -> None:
        require(value % BLOCK == 0, key, value, f"must be a multiple of {BLOCK}")

    def require_groups(heads: str, groups: str) -> None:
        value, divisor = getattr(config, heads), getattr(config, groups)
        require(value % divisor == 0, heads, value, f"must be a multiple of {groups} ({divisor})")

    require_blocks("hidden_size", config.hidden_size)
    require_blocks("intermediate_size", config.intermediate_size)
    require_blocks("linear_num_value_heads * linear_value_head_dim", config.value_dim)
    require_blocks("num_attention_heads * head_dim", config.query_dim)
    require_groups("linear_num_value_heads", "linear_num_key_heads")
    require_groups("num_attention_heads", "num_key_value_heads")
    kernel = config.linear_conv_kernel_dim
    require(kernel == CONV_KERNEL, "linear_conv_kernel_dim", kernel, f"must be {CONV_KERNEL}")
    require(0 < config.rms_norm_eps < 1, "rms_norm_eps", config.rms_norm_eps, "must be between 0 and 1")


def _display_name(folder: Path) -> str:
    # The hub's cache keeps a model as models--ORGANISATION--NAME/snapshots/REVISION.
    folder = folder.absolute()
    if folder.parent.name == "snapshots" and folder.parent.parent.name.startswith("models--"):
        return folder.parent.parent.name.removeprefix("models--").replace("--", "/")
    return folder.name or folder.resolve().name
