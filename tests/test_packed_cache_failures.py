"""Packed weights on disk when something is wrong: damaged files, full disks, killed processes, refused weights."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import checkpoints
import numpy as np
import pytest
from packed_place import Place, assert_same_weights, change_a_weight

from kestrel_engine import packed_cache, packed_file
from kestrel_engine.errors import UsageError


def truncate(data: bytes) -> bytes:
    return data[:-1]


def flip(where: float) -> Callable[[bytes], bytes]:
    def damage(data: bytes) -> bytes:
        data = bytearray(data)
        data[int(where * (len(data) - 1))] ^= 16
        return bytes(data)

    return damage


def zero_page(data: bytes) -> bytes:
    return data[:4096] + bytes(4096) + data[8192:]


@pytest.mark.parametrize(
    "damage",
    [
        truncate,
        flip(0.0),
        flip(0.3),
        flip(0.7),
        flip(1.0),
        zero_page,
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data + b"x",
        lambda data: b"kestrel packed 1" * 9,
        lambda data: data[:-40] + (2**63).to_bytes(8, "little") + data[-32:],
    ],
)
def test_a_damaged_file_is_rebuilt_with_a_notice(place, damage):
    first = place.load()
    (path,) = place.files
    whole = path.read_bytes()
    path.unlink()
    path.write_bytes(damage(whole))
    assert_same_weights(place.load(), first)
    assert place.packed > 5 and len(place.notes) == 1 and "damaged" in place.notes[0]
    assert path.read_bytes() == whole
    place.load()
    assert place.packed == 0 and place.notes == []
    place.assert_clean()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_in_the_place_of_the_file_does_not_stop_the_start(place):
    first = place.load()
    (path,) = place.files
    path.unlink()
    os.mkfifo(path)
    assert_same_weights(place.load(), first)
    assert len(place.notes) == 1 and path.is_file()


def test_what_a_killed_process_left_is_removed_at_the_next_start_and_not_what_is_being_written(place):
    place.load()
    code = (
        "import sys, time; from kestrel_engine.unfinished import UnfinishedFile; from pathlib import Path\n"
    )
    code += "file = UnfinishedFile(Path(sys.argv[1])); print(file.name, flush=True); time.sleep(600)"
    writers = [
        subprocess.Popen([sys.executable, "-c", code, folder], stdout=subprocess.PIPE, text=True)
        for folder in (place.cache, place.cache, place.cache / "sources")
    ]
    try:
        names = [Path(writer.stdout.readline().strip()) for writer in writers]
        for writer in writers[1:]:
            writer.kill()
            writer.wait()
        place.load()
        change_a_weight(place.folder / "model.safetensors")
        place.load()  # remembers another source
        assert [name.exists() for name in names] == [True, False, False]
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()


def test_a_file_of_another_key_is_not_taken(place):
    place.load()
    (path,) = place.files
    change_a_weight(place.folder / "model.safetensors")
    place.load()
    (other,) = set(place.files) - {path}
    shutil.copy(path, other)
    place.load()
    assert place.packed > 5 and "damaged" in place.notes[0]


def test_a_folder_that_cannot_be_written(place):
    place.cache.parent.mkdir()
    place.cache.write_text("a file where the folder should be")
    place.load()
    place.load()
    assert place.packed > 5 and len(place.notes) == 1 and "cannot be kept" in place.notes[0]
    assert all(": " in note for note in place.notes)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder(place):
    place.cache.mkdir(parents=True)
    place.cache.chmod(0o500)
    place.load()
    assert "cannot be kept" in place.notes[0]


def test_a_nearly_full_disk_is_not_filled(place, monkeypatch):
    usage = shutil.disk_usage("/")._replace(free=1000)
    monkeypatch.setattr(packed_cache.shutil, "disk_usage", lambda path: usage)
    place.load()
    assert place.packed > 5 and not place.files and len(place.notes) == 1 and "full" in place.notes[0]
    place.assert_clean()


@pytest.mark.parametrize("after", [0, 3, 10])
def test_a_disk_that_fills_up_while_writing(place, monkeypatch, after):
    original, calls = packed_file.PackedWriter._append, []

    def append(writer, array):
        calls.append(array)
        if len(calls) > after:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return original(writer, array)

    monkeypatch.setattr(packed_file.PackedWriter, "_append", append)
    place.load()
    assert place.packed > 5 and not place.files
    assert len(place.notes) == 1 and "No space left" in place.notes[0]
    place.assert_clean()


def test_a_failing_last_step(place, monkeypatch):
    def fails(descriptor):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(packed_file.os, "fsync", fails)
    place.load()
    assert not place.files and len(place.notes) == 1
    place.assert_clean()


def test_weights_that_are_refused_leave_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(packed_cache, "SMALLEST_CHECKPOINT", 0)
    monkeypatch.setattr(packed_cache, "cache_folder", lambda: tmp_path / "packed")

    def edit(tensors):
        key = next(key for key in tensors if key.endswith("layers.3.mlp.down_proj.weight"))
        tensors[key] = tensors[key].copy()
        tensors[key].reshape(-1)[-1] = checkpoints.to_bfloat16(np.float32([np.nan]))[0]

    place = Place(checkpoints.write_checkpoint(tmp_path / "model", edit_tensors=edit), tmp_path / "packed")
    for _ in range(2):
        with pytest.raises(UsageError, match="down_proj"):
            place.load()
        assert not place.files
    place.assert_clean()


def test_a_checkpoint_changed_while_it_is_packed_is_not_kept(place, monkeypatch):
    original, done = packed_file.PackedWriter.add, []

    def add(writer, name, matrix):
        if not done:
            done.append(change_a_weight(place.folder / "model.safetensors"))
        original(writer, name, matrix)

    monkeypatch.setattr(packed_file.PackedWriter, "add", add)
    place.load()
    assert done and not place.files
    place.assert_clean()
