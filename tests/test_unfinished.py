"""Files that are being written, and those whose writer has gone."""

from __future__ import annotations

import os
import threading
import time

import pytest

from kestrel_engine import unfinished
from kestrel_engine.unfinished import UnfinishedFile, remove_abandoned

needs_locks = pytest.mark.skipif(unfinished.fcntl is None, reason="files cannot be locked here")


def test_it_is_moved_to_its_place_or_leaves_nothing(tmp_path):
    one, other = UnfinishedFile(tmp_path), UnfinishedFile(tmp_path)
    one.file.write(b"whole")
    one.move_to(tmp_path / "place")
    other.discard()
    assert [path.name for path in tmp_path.iterdir()] == ["place"]
    assert (tmp_path / "place").read_bytes() == b"whole"


@needs_locks
def test_only_a_file_without_a_writer_is_removed(tmp_path):
    written = UnfinishedFile(tmp_path)
    (tmp_path / "left.tmp").write_bytes(b"half")
    (tmp_path / "other").write_bytes(b"")
    remove_abandoned(tmp_path)
    assert sorted(os.listdir(tmp_path)) == sorted([os.path.basename(written.name), "other"])
    written.file.close()
    remove_abandoned(tmp_path)
    assert os.listdir(tmp_path) == ["other"]


def test_without_locks_a_file_is_left_alone_while_it_is_new(tmp_path, monkeypatch):
    monkeypatch.setattr(unfinished, "fcntl", None)
    old, new = tmp_path / "old.tmp", tmp_path / "new.tmp"
    for path in (old, new):
        path.write_bytes(b"half")
    hour_ago = time.time() - 3600
    os.utime(old, (hour_ago, hour_ago))
    remove_abandoned(tmp_path)
    assert not old.exists() and new.exists()


@needs_locks
def test_a_file_that_was_taken_for_abandoned_before_it_was_locked_is_made_again(tmp_path, monkeypatch):
    real, raced = unfinished.tempfile.mkstemp, []

    def mkstemp(**options):
        made = real(**options)
        if not raced:
            raced.append(made[1])
            remove_abandoned(tmp_path)
        return made

    monkeypatch.setattr(unfinished.tempfile, "mkstemp", mkstemp)
    file = UnfinishedFile(tmp_path)
    assert raced and not os.path.exists(raced[0]) and os.path.exists(file.name)
    file.discard()


@needs_locks
def test_writers_and_removers_at_once(tmp_path):
    done = threading.Event()

    def remove() -> None:
        while not done.is_set():
            remove_abandoned(tmp_path)

    removers = [threading.Thread(target=remove) for _ in range(2)]
    for remover in removers:
        remover.start()
    try:
        for number in range(200):
            file = UnfinishedFile(tmp_path)
            file.file.write(b"%d" % number)
            file.move_to(tmp_path / "place")
            assert (tmp_path / "place").read_bytes() == b"%d" % number
    finally:
        done.set()
        for remover in removers:
            remover.join()
    assert os.listdir(tmp_path) == ["place"]
