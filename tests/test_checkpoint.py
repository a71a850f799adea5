import json

import numpy as np
import pytest
from checkpoints import from_bfloat16, write_checkpoint, write_safetensors

from kestrel_engine.checkpoint import exact_float32, open_checkpoint
from kestrel_engine.config import load_config
from kestrel_engine.errors import UsageError

EMBEDDING = "model.language_model.embed_tokens.weight"
UP = "model.language_model.layers.1.mlp.up_proj.weight"


def open_model(folder):
    return open_checkpoint(folder, load_config(folder))


def refusal(folder):
    with pytest.raises(UsageError) as caught:
        open_model(folder)
    message = str(caught.value)
    assert "\n" not in message and ": " in message
    return message


def write(folder, edit_tensors=lambda tensors: None, **options):
    return write_checkpoint(folder, edit_tensors=edit_tensors, tokenizer=False, **options)


# What is accepted


def test_names_shapes_and_dtypes(tmp_path):
    checkpoint = open_model(write(tmp_path, hidden_size=96))
    assert len(checkpoint.names) == 1 + 3 * 14 + 11 + 1 + 15
    assert len([name for name in checkpoint.names if name.startswith("mtp.")]) == 15
    assert checkpoint.names[0] == "embed_tokens.weight"
    assert "lm_head.weight" not in checkpoint.names
    assert checkpoint.shape("layers.0.linear_attn.conv1d.weight") == (192, 1, 4)
    assert checkpoint.shape("layers.3.self_attn.q_proj.weight") == (256, 96)
    assert checkpoint.shape("mtp.fc.weight") == (96, 192)
    assert checkpoint.dtype("embed_tokens.weight") == "BF16"
    assert checkpoint.dtype("layers.0.linear_attn.A_log") == "F32"


@pytest.mark.parametrize(
    "options", [{}, {"tie": False}, {"mtp": False}, {"num_hidden_layers": 8}, {"shards": 3}]
)
@pytest.mark.parametrize("layout", ["vlm", "text"])
def test_every_value_is_read_exactly(tmp_path, layout, options):
    written = {}
    folder = write(tmp_path, written.update, layout=layout, **options)
    checkpoint = open_model(folder)
    prefix = "model.language_model." if layout == "vlm" else "model."
    assert {name.removeprefix(prefix) for name in written} == set(checkpoint.names)
    for stored_name, values in written.items():
        name = stored_name.removeprefix(prefix)
        stored, exact = checkpoint.tensor(name), checkpoint.float32(name)
        assert stored.dtype == values.dtype and np.array_equal(stored, values)
        assert exact.dtype == np.float32
        assert np.array_equal(exact, from_bfloat16(values) if values.dtype == np.uint16 else values)
    assert checkpoint.byte_count == sum(values.nbytes for values in written.values())


@pytest.mark.parametrize("dtype", ["bf16", "f16", "f32"])
def test_float32_agrees_with_torch(tmp_path, dtype):
    safetensors = pytest.importorskip("safetensors")
    folder = write(tmp_path, dtype=dtype)
    checkpoint = open_model(folder)
    with safetensors.safe_open(folder / "model.safetensors", "pt") as oracle:
        for name in checkpoint.names:
            stored_name = name if name.startswith("mtp.") else "model.language_model." + name
            expected = oracle.get_tensor(stored_name).float().numpy()
            assert np.array_equal(checkpoint.float32(name), expected)


def test_special_bfloat16_values_survive(tmp_path):
    bits = np.array([0x0000, 0x8000, 0x0001, 0x8001, 0x7F7F, 0x7F80, 0xFF80, 0x3F80], dtype=np.uint16)

    def edit(tensors):
        tensors[EMBEDDING].ravel()[: len(bits)] = bits

    exact = open_model(write(tmp_path, edit)).float32("embed_tokens.weight").ravel()[: len(bits)]
    expected = np.array([0.0, -0.0, 2.0**-133, -(2.0**-133), 3.3895314e38, np.inf, -np.inf, 1.0], np.float32)
    assert np.array_equal(exact.view(np.uint32), expected.view(np.uint32))


def test_rows_are_converted_alike(tmp_path):
    checkpoint = open_model(write(tmp_path))
    whole, rows = checkpoint.float32("embed_tokens.weight"), checkpoint.tensor("embed_tokens.weight")[3:7]
    assert np.array_equal(exact_float32(rows), whole[3:7])


def test_tensors_are_read_only_and_mapped(tmp_path):
    checkpoint = open_model(write(tmp_path))
    tensor = checkpoint.tensor("embed_tokens.weight")
    with pytest.raises(ValueError):
        tensor[0, 0] = 1
    assert not tensor.flags.owndata


def test_an_unaligned_file_is_read(tmp_path):
    folder = write(tmp_path, dtype="f32")
    path = folder / "model.safetensors"
    expected = open_model(folder).float32("norm.weight").copy()
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = content[8 : 8 + length].rstrip(b" ")
    header += b" " * (1 - len(header) % 2)
    path.write_bytes(len(header).to_bytes(8, "little") + header + content[8 + length :])
    tensor = open_model(folder).tensor("norm.weight")
    assert len(header) % 4 and tensor.flags.aligned and not tensor.flags.writeable
    assert np.array_equal(tensor, expected)


def test_vision_tensors_are_skipped(tmp_path):
    def edit(tensors):
        tensors["model.visual.blocks.0.attn.qkv.weight"] = np.zeros((3, 3), np.float32)
        tensors["visual.patch_embed.proj.bias"] = np.zeros(4, np.float64)

    assert not any("visual" in name for name in open_model(write(tmp_path, edit)).names)


def test_a_stored_copy_of_the_tied_embedding_is_ignored(tmp_path):
    def edit(tensors):
        tensors["lm_head.weight"] = tensors[EMBEDDING].copy()

    assert "lm_head.weight" not in open_model(write(tmp_path, edit)).names


def test_numbered_files_without_an_index(tmp_path):
    folder = write(tmp_path, shards=3)
    (folder / "model.safetensors.index.json").unlink()
    assert len(open_model(folder).names) == 70


def test_one_file_of_any_name(tmp_path):
    folder = write(tmp_path)
    (folder / "model.safetensors").rename(folder / "weights.safetensors")
    assert len(open_model(folder).names) == 70


def test_shared_tool_writes_what_is_expected(make_checkpoint):
    folder = make_checkpoint("tiny", "--layout", "text", "--no-mtp")
    assert len(open_model(folder).names) == 108
    assert len(open_model(make_checkpoint("tiny")).names) == 123


# What is refused: the inventory


@pytest.mark.parametrize(
    "name",
    [EMBEDDING, UP, "model.language_model.norm.weight", "mtp.fc.weight", "mtp.layers.0.mlp.up_proj.weight"],
)
def test_a_missing_tensor_is_named(tmp_path, name):
    message = refusal(write(tmp_path, lambda tensors: tensors.pop(name)))
    assert f"tensor {name.removeprefix('model.language_model.')} is missing" in message


def test_an_untied_head_must_be_there(tmp_path):
    assert "lm_head.weight is missing" in refusal(
        write(tmp_path, lambda tensors: tensors.pop("lm_head.weight"), tie=False)
    )


def test_mtp_tensors_must_match_the_config_both_ways(tmp_path):
    def promise(config):
        config["text_config"]["mtp_num_hidden_layers"] = 1

    def deny(config):
        config["text_config"]["mtp_num_hidden_layers"] = 0

    message = refusal(write(tmp_path / "dropped", mtp=False, edit_config=promise))
    assert "mtp.fc.weight (and 14 more) is missing" in message and "mtp_num_hidden_layers to 0" in message
    message = refusal(write(tmp_path / "undeclared", edit_config=deny))
    assert (
        "mtp.fc.weight (and 14 more) is not expected" in message and "mtp_num_hidden_layers to 1" in message
    )


@pytest.mark.parametrize(
    "name",
    [
        "model.language_model.layers.4.mlp.up_proj.weight",
        "model.language_model.layers.0.mlp.up_proj.bias",
        "norm.weight",
        "model.mtp.fc.weight",
        "model.language_model.lm_head.weight",
        "mtp.layers.1.mlp.up_proj.weight",
        "audio.weight",
    ],
)
def test_an_extra_tensor_is_named(tmp_path, name):
    def edit(tensors):
        tensors[name] = np.zeros(64, np.float32)

    assert f"tensor {name} is not expected" in refusal(write(tmp_path, edit))


def test_a_name_without_its_prefix_is_no_substitute(tmp_path):
    def edit(tensors):
        tensors["norm.weight"] = tensors.pop("model.language_model.norm.weight")

    assert "tensor norm.weight is missing" in refusal(write(tmp_path, edit))


def test_one_tensor_under_two_prefixes(tmp_path):
    def edit(tensors):
        tensors["model.norm.weight"] = tensors["model.language_model.norm.weight"]

    assert "tensor norm.weight is there twice" in refusal(write(tmp_path, edit))


@pytest.mark.parametrize("last_row", [slice(0, 1), slice(0, 0)], ids=["one bit", "shape"])
def test_a_tied_head_that_differs_is_refused(tmp_path, last_row):
    def edit(tensors):
        embedding = tensors[EMBEDDING]
        tensors["lm_head.weight"] = np.concatenate([embedding[:-1], embedding[-1:][last_row] ^ 1])

    message = refusal(write(tmp_path, edit))
    assert "lm_head.weight differs" in message and "tie_word_embeddings" in message


def test_a_wrong_shape_is_named_with_both_shapes(tmp_path):
    def edit(tensors):
        tensors[UP] = tensors[UP].T.copy()

    message = refusal(write(tmp_path, edit))
    assert f"tensor {UP} has shape [64, 96], expected [96, 64]" in message


def test_a_flat_vector_of_the_right_size_is_a_wrong_shape(tmp_path):
    name = "model.language_model.layers.0.linear_attn.conv1d.weight"

    def edit(tensors):
        tensors[name] = tensors[name].reshape(192, 4)

    assert "has shape [192, 4], expected [192, 1, 4]" in refusal(write(tmp_path, edit))


@pytest.mark.parametrize(("dtype", "named"), [(np.float64, "F64"), (np.uint8, "U8"), (np.int32, "I32")])
def test_a_wrong_dtype_is_named(tmp_path, dtype, named):
    def edit(tensors):
        tensors[UP] = tensors[UP].astype(dtype)

    message = refusal(write(tmp_path, edit))
    assert f"tensor {UP} has dtype {named}, expected BF16, F16, F32" in message


# What is refused: files and index


def edit_index(folder, edit):
    path = folder / "model.safetensors.index.json"
    index = json.loads(path.read_text())
    edit(index)
    path.write_text(json.dumps(index))


def test_no_weights(tmp_path):
    folder = write(tmp_path)
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").touch()
    assert "no .safetensors weights" in refusal(folder)


@pytest.mark.parametrize("index", [True, False])
def test_a_missing_shard_is_named(tmp_path, index):
    folder = write(tmp_path, shards=3)
    (folder / "model.safetensors-00002-of-00003.safetensors").unlink()
    if not index:
        (folder / "model.safetensors.index.json").unlink()
    assert "model.safetensors-00002-of-00003.safetensors is missing" in refusal(folder)


def test_a_tensor_in_two_shards(tmp_path):
    folder = write(tmp_path, shards=2)
    path = folder / "model.safetensors-00001-of-00002.safetensors"
    (folder / "model.safetensors-00002-of-00002.safetensors").write_bytes(path.read_bytes())
    (folder / "model.safetensors.index.json").unlink()
    message = refusal(folder)
    assert "embed_tokens.weight is there twice" in message and path.name in message


def test_an_index_that_places_a_tensor_wrongly(tmp_path):
    folder = write(tmp_path, shards=2)
    other = "model.safetensors-00002-of-00002.safetensors"
    edit_index(folder, lambda index: index["weight_map"].update({EMBEDDING: other}))
    message = refusal(folder)
    assert f"tensor {EMBEDDING} is not in {other}" in message


@pytest.mark.parametrize(
    "shard",
    [
        "../model.safetensors",
        "/etc/x.safetensors",
        "a/b.safetensors",
        "..\\x.safetensors",
        "..",
        "",
        "x.bin",
        "\n",
    ],
)
def test_an_index_that_leads_out_of_the_folder(tmp_path, shard):
    folder = write(tmp_path / "model", shards=2)
    (tmp_path / "model.safetensors").write_bytes(
        (folder / "model.safetensors-00001-of-00002.safetensors").read_bytes()
    )
    edit_index(folder, lambda index: index["weight_map"].update({EMBEDDING: shard}))
    assert "is not the name of a .safetensors file beside it" in refusal(folder)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b'{"weight_map": []}',
        b'{"weight_map": {}}',
        b'{"weight_map": {"a": 1}}',
        b"\xff",
    ],
)
def test_a_wrong_index_is_named(tmp_path, content):
    folder = write(tmp_path, shards=2)
    (folder / "model.safetensors.index.json").write_bytes(content)
    assert "model.safetensors.index.json holds no weight_map" in refusal(folder)


def test_weights_beside_an_index_that_does_not_name_them(tmp_path):
    folder = write(tmp_path, shards=2)
    write_safetensors(folder / "model.safetensors", {"x": np.zeros(1, np.float32)})
    assert "model.safetensors is not named by" in refusal(folder)


def test_several_files_without_index_or_numbers(tmp_path):
    folder = write(tmp_path)
    write_safetensors(folder / "extra.safetensors", {"x": np.zeros(1, np.float32)})
    message = refusal(folder)
    assert "several weight files (extra.safetensors, model.safetensors)" in message
