import json
import os

import numpy as np
import pytest
from checkpoints import to_bfloat16, write_safetensors
from hypothesis import given
from hypothesis import strategies as st

from kestrel_engine.errors import UsageError
from kestrel_engine.tensor_file import TensorFile


def header_refusal(path):
    with pytest.raises(UsageError) as caught:
        TensorFile(path)
    message = str(caught.value)
    assert "\n" not in message and path.name in message and len(message) < 500 + len(str(path))
    return message


def write_file(path, header, data=b"", length=None):
    encoded = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes((len(encoded) if length is None else length).to_bytes(8, "little") + encoded + data)
    return path


def entry(begin, end, shape=None, dtype="U8"):
    return {"dtype": dtype, "shape": [end - begin] if shape is None else shape, "data_offsets": [begin, end]}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def test_empty_short_and_truncated_files(path):
    path.touch()
    assert "is empty" in header_refusal(path)
    path.write_bytes(b"\x01\x02\x03")
    assert "truncated or not a safetensors file" in header_refusal(path)
    write_file(path, {"a": entry(0, 8)}, b"1234567")
    assert "is truncated" in header_refusal(path)
    write_file(path, {"a": entry(0, 8)}, b"123456789")
    assert "1 bytes after its last tensor" in header_refusal(path)


@pytest.mark.parametrize("length", [2**64 - 1, 2**63, 100_000_001, 3])
def test_a_header_length_beyond_the_file(path, length):
    write_file(path, b"{}", length=length)
    assert "truncated or not a safetensors file" in header_refusal(path)


def test_a_header_above_the_limit_is_not_read(path):
    write_file(path, b"{}", length=100_000_001)
    os.truncate(path, 200_000_000)
    assert "header of 100000001 bytes" in header_refusal(path)


def test_a_git_lfs_pointer(path):
    path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    assert "Git LFS pointer" in header_refusal(path)


def test_folders_and_special_files_are_not_opened(path):
    path.mkdir()
    assert "is a folder" in header_refusal(path)
    path.rmdir()
    assert "cannot be read" in header_refusal(path)
    os.mkfifo(path)
    assert "is a special file" in header_refusal(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_permission(path):
    write_file(path, {})
    path.chmod(0)
    assert "cannot be read" in header_refusal(path)


@pytest.mark.parametrize("header", [b"{", b"\xff\xfe", b"", b"nul", b'{"a": 1', b"[" * 100_000, b"{'a': 1}"])
def test_a_header_that_is_no_json(path, header):
    assert "not valid JSON" in header_refusal(write_file(path, header))


@pytest.mark.parametrize("header", [[], None, 7, "text"])
def test_a_header_that_is_no_object(path, header):
    assert "not a JSON object" in header_refusal(write_file(path, header))


def test_a_name_given_twice(path):
    first = json.dumps({"a": entry(0, 4)})[1:-1]
    header = f"{{{first}, {first}}}".encode()
    assert "names a twice" in header_refusal(write_file(path, header, b"1234"))


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (7, "no entry"),
        (None, "no entry"),
        ({}, "unknown dtype"),
        (entry(0, 4, dtype="F4"), "unknown dtype F4"),
        (entry(0, 4, dtype=["U8"]), "unknown dtype"),
        (entry(0, 4, shape=-4), "impossible shape"),
        (entry(0, 4, shape=[-4]), "impossible shape"),
        (entry(0, 4, shape=[2.0, 2]), "impossible shape"),
        (entry(0, 4, shape=[True, 4]), "impossible shape"),
        (entry(0, 4, shape=[2**40, 2**40]), "needs 1208925819614629174706176 bytes and has 4"),
        (entry(0, 4, shape=[3]), "needs 3 bytes and has 4"),
        (entry(0, 4, shape=[2], dtype="F32"), "needs 8 bytes and has 4"),
        (entry(0, 4) | {"data_offsets": [0]}, "impossible data_offsets"),
        (entry(0, 4) | {"data_offsets": [4, 0]}, "impossible data_offsets"),
        (entry(0, 4) | {"data_offsets": [-4, 0]}, "impossible data_offsets"),
        (entry(0, 4) | {"data_offsets": ["0", "4"]}, "impossible data_offsets"),
        (entry(0, 4) | {"data_offsets": None}, "impossible data_offsets"),
    ],
)
def test_an_impossible_entry_is_named(path, value, problem):
    message = header_refusal(write_file(path, {"some.weight": value}, b"1234"))
    assert "tensor some.weight" in message and problem in message


@pytest.mark.parametrize(
    ("second", "problem"),
    [(entry(2, 8), "overlaps"), (entry(0, 8), "overlaps"), (entry(5, 8), "after a gap")],
)
def test_overlaps_and_gaps(path, second, problem):
    message = header_refusal(write_file(path, {"b": second, "a": entry(0, 4)}, b"12345678"))
    assert "tensor b" in message and problem in message


def test_a_gap_at_the_start(path):
    assert "tensor a comes after a gap" in header_refusal(write_file(path, {"a": entry(1, 4)}, b"1234"))


def test_a_hostile_name_stays_on_one_short_line(path):
    header_refusal(write_file(path, {"a\nb" * 10_000: 1}))


def test_empty_tensors_and_metadata_are_valid(path):
    header = {
        "__metadata__": {"format": "pt"},
        "none": entry(0, 0, shape=[0, 5]),
        "one": entry(0, 4, [], "F32"),
    }
    file = TensorFile(write_file(path, header, b"1234"))
    assert sorted(file.entries) == ["none", "one"]
    assert bytes(file.raw("one")) == b"1234" and len(file.raw("none")) == 0


@given(st.data())
def test_a_damaged_header_is_refused_or_harmless(tmp_path_factory, data):
    """A changed byte before the data is refused in one line, or every tensor still lies in the file."""
    path = tmp_path_factory.mktemp("damaged") / "model.safetensors"
    tensors = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": to_bfloat16(np.ones(5, np.float32))}
    write_safetensors(path, tensors)
    content = bytearray(path.read_bytes())
    header_end = 8 + int.from_bytes(content[:8], "little")
    content[data.draw(st.integers(0, header_end - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    try:
        file = TensorFile(path)
    except UsageError as error:
        assert "\n" not in str(error)
        return
    assert sum(len(file.raw(name)) for name in file.entries) == len(content) - header_end
