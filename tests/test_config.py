import json

import pytest
from checkpoints import write_checkpoint

from kestrel_engine.config import FULL, LINEAR, load_config, load_generation_config
from kestrel_engine.errors import UsageError
from kestrel_engine.options import SamplingOptions

SHAPE_KEYS = (
    "hidden_size",
    "num_hidden_layers",
    "intermediate_size",
    "vocab_size",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "linear_num_key_heads",
    "linear_num_value_heads",
    "linear_key_head_dim",
    "linear_value_head_dim",
    "linear_conv_kernel_dim",
    "rms_norm_eps",
    "tie_word_embeddings",
    "max_position_embeddings",
)
"""Keys that transformers names alike."""


def write_config(folder, edit=lambda config: None, layout="vlm"):
    """Only the JSON files of a checkpoint matter here."""
    return write_checkpoint(folder, layout=layout, edit_config=edit, tokenizer=False)


def in_text(**changes):
    """An edit of the text part; None removes a key."""

    def edit(config):
        text = config.get("text_config", config)
        text.update(changes)
        for key in [key for key, value in text.items() if value is None]:
            del text[key]

    return edit


def refusal(folder, load=load_config):
    with pytest.raises(UsageError) as caught:
        load(folder)
    message = str(caught.value)
    assert "\n" not in message and ": " in message
    return message


@pytest.mark.parametrize("layout", ["vlm", "text"])
def test_both_layouts_give_the_same_config(tmp_path, layout):
    config = load_config(write_config(tmp_path / "m", layout=layout))
    assert config.name == "m"
    assert config.layer_types == (LINEAR, LINEAR, LINEAR, FULL)
    assert (config.hidden_size, config.intermediate_size, config.vocab_size) == (64, 96, 512)
    assert (config.num_hidden_layers, config.linear_conv_kernel_dim) == (4, 4)
    assert (config.key_dim, config.value_dim, config.conv_dim) == (64, 64, 192)
    assert (config.query_dim, config.kv_dim, config.rotary_dim) == (128, 64, 8)
    assert (config.rms_norm_eps, config.rope_theta) == (1e-6, 1e7)
    assert config.tie_word_embeddings and config.has_mtp
    assert config.max_position_embeddings == 4096


def test_config_is_frozen(tmp_path):
    config = load_config(write_config(tmp_path))
    with pytest.raises(AttributeError):
        config.hidden_size = 1


def test_agrees_with_transformers(tmp_path):
    transformers = pytest.importorskip("transformers")
    folder = write_checkpoint(
        tmp_path, num_hidden_layers=6, full_attention_interval=3, num_attention_heads=6, tie=False
    )
    oracle = transformers.AutoConfig.from_pretrained(folder).text_config
    config = load_config(folder)
    assert {name: getattr(config, name) for name in SHAPE_KEYS} == {
        name: getattr(oracle, name) for name in SHAPE_KEYS
    }
    assert list(config.layer_types) == list(oracle.layer_types)
    assert config.rope_theta == oracle.rope_parameters["rope_theta"]


def test_interval_when_layer_types_are_absent(tmp_path):
    edit = in_text(layer_types=None, full_attention_interval=2)
    assert load_config(write_config(tmp_path, edit)).layer_types == (LINEAR, FULL, LINEAR, FULL)


def test_older_rope_keys(tmp_path):
    edit = in_text(rope_parameters=None, rope_theta=5000.0, partial_rotary_factor=0.5)
    config = load_config(write_config(tmp_path, edit))
    assert (config.rope_theta, config.rotary_dim) == (5000.0, 16)


@pytest.mark.parametrize(("value", "expected"), [(0, False), (1, True), (None, False)])
def test_mtp_head(tmp_path, value, expected):
    assert load_config(write_config(tmp_path, in_text(mtp_num_hidden_layers=value))).has_mtp is expected


def test_tie_is_read_beside_the_text_part_when_absent_there(tmp_path):
    assert load_config(write_config(tmp_path, in_text(tie_word_embeddings=None))).tie_word_embeddings

    def nowhere(config):
        del config["tie_word_embeddings"], config["text_config"]["tie_word_embeddings"]

    assert not load_config(write_config(tmp_path, nowhere)).tie_word_embeddings


def test_end_ids_are_the_union_of_both_files_within_the_vocabulary(tmp_path):
    folder = write_config(tmp_path, in_text(eos_token_id=7))
    (folder / "generation_config.json").write_text('{"eos_token_id": [9, 7, 248046]}')
    assert load_config(folder).eos_token_ids == (7, 9)
    (folder / "generation_config.json").unlink()
    assert load_config(folder).eos_token_ids == (7,)


def test_name_in_the_hub_cache(tmp_path):
    folder = tmp_path / "models--Qwen--Qwen3.5-0.8B" / "snapshots" / "2fc06364"
    assert load_config(write_config(folder)).name == "Qwen/Qwen3.5-0.8B"


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"hidden_size": None}, "hidden_size is missing"),
        ({"hidden_size": "64"}, 'hidden_size is "64"'),
        ({"hidden_size": 0}, "hidden_size is 0"),
        ({"hidden_size": True}, "hidden_size is true"),
        ({"hidden_size": 64.5}, "hidden_size is 64.5"),
        ({"hidden_size": float("nan")}, "hidden_size is NaN"),
        ({"hidden_size": 48}, "hidden_size is 48: must be a multiple of 32"),
        ({"intermediate_size": 100}, "intermediate_size is 100"),
        ({"linear_value_head_dim": 12}, "linear_num_value_heads * linear_value_head_dim is 48"),
        ({"num_attention_heads": 2, "head_dim": 24}, "num_attention_heads * head_dim is 48"),
        ({"linear_num_key_heads": 3}, "linear_num_value_heads is 4"),
        ({"num_key_value_heads": 3}, "num_attention_heads is 4"),
        ({"linear_conv_kernel_dim": 3}, "linear_conv_kernel_dim is 3"),
        ({"rms_norm_eps": -1e-6}, "rms_norm_eps is -1e-06"),
        ({"hidden_act": "gelu"}, 'hidden_act is "gelu"'),
        ({"attn_output_gate": False}, "attn_output_gate is false"),
        ({"attention_bias": True}, "attention_bias is true"),
        ({"mtp_num_hidden_layers": 2}, "mtp_num_hidden_layers is 2"),
        ({"mtp_use_dedicated_embeddings": True}, "mtp_use_dedicated_embeddings is true"),
        ({"num_experts": 8}, "num_experts is 8"),
        ({"layer_types": ["linear_attention"]}, "layer_types"),
        ({"layer_types": ["sliding_attention"] * 4}, "layer_types"),
        ({"layer_types": None, "full_attention_interval": 0}, "full_attention_interval is 0"),
        ({"rope_parameters": None}, "rope_theta is missing"),
        ({"rope_parameters": [1]}, "rope_parameters is [1]"),
        ({"rope_parameters": {"rope_theta": 1e7, "rope_type": "yarn"}}, 'rope_type is "yarn"'),
        ({"rope_parameters": {"rope_theta": 0}}, "rope_theta is 0"),
        (
            {"rope_parameters": {"rope_theta": 1e7, "partial_rotary_factor": 0.1}},
            "partial_rotary_factor is 0.1",
        ),
        ({"rope_parameters": {"rope_theta": 1e7, "partial_rotary_factor": 2}}, "partial_rotary_factor is 2"),
        ({"eos_token_id": "end"}, 'eos_token_id is "end"'),
        ({"quantization_config": {"quant_method": "fp8"}}, "quantized"),
        ({"model_type": "qwen3_next"}, '"qwen3_next"'),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_wrong_value_is_named(tmp_path, changes, named):
    message = refusal(write_config(tmp_path, in_text(**changes)))
    assert named in message and "config.json" in message


@pytest.mark.parametrize("model_type", ["llama", "qwen3_5_moe", None, 3])
def test_other_models_are_refused(tmp_path, model_type):
    message = refusal(write_config(tmp_path, lambda config: config.update(model_type=model_type)))
    assert "model_type" in message
    assert model_type is None or json.dumps(model_type) in message


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff\xfe", b"null", b"[" * 100_000])
@pytest.mark.parametrize("name", ["config.json", "generation_config.json"])
def test_a_file_that_is_no_json_object_is_named(tmp_path, name, content):
    folder = write_config(tmp_path)
    (folder / name).write_bytes(content)
    assert name in refusal(folder)


def test_missing_folder_file_and_config(tmp_path):
    assert "does not exist" in refusal(tmp_path / "none")
    assert "does not exist" in refusal(tmp_path / ("x" * 5000))
    (tmp_path / "file").touch()
    assert "is not a folder" in refusal(tmp_path / "file")
    assert "has no config.json" in refusal(tmp_path)
    (tmp_path / "config.json").mkdir()
    assert "cannot be read" in refusal(tmp_path)


def generation(folder, **values):
    (folder / "generation_config.json").write_text(json.dumps(values))
    return load_generation_config(folder)


def test_generation_defaults(tmp_path):
    assert load_generation_config(tmp_path) == SamplingOptions()
    assert generation(tmp_path) == SamplingOptions()
    sampled = generation(tmp_path, do_sample=True, temperature=0.7, top_k=20, top_p=0.8, min_p=None)
    assert sampled == SamplingOptions(temperature=0.7, top_k=20, top_p=0.8)
    assert generation(tmp_path, do_sample=True).temperature == 1.0
    assert generation(tmp_path, temperature=0.6).temperature == 0.6
    greedy = generation(tmp_path, do_sample=False, temperature=0.7, top_k=20, repetition_penalty=1.1)
    assert greedy == SamplingOptions(temperature=0.0, top_k=20, repetition_penalty=1.1)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("temperature", "hot"),
        ("temperature", -1),
        ("temperature", float("nan")),
        ("top_k", 2.5),
        ("top_k", -1),
        ("top_p", 0),
        ("min_p", 2),
        ("presence_penalty", True),
        ("repetition_penalty", 0),
        ("do_sample", "yes"),
    ],
)
def test_a_wrong_generation_default_is_named(tmp_path, key, value):
    (tmp_path / "generation_config.json").write_text(json.dumps({key: value}))
    message = refusal(tmp_path, load_generation_config)
    assert "generation_config.json" in message and f"{key} is " in message
