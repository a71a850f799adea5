"""Packed weights on disk: written whole, mapped with the same bits, and never served stale or damaged."""

from __future__ import annotations

import dataclasses
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from engines import Running, ids_of
from packed_place import Place, arrays_of, assert_same_weights, change_a_weight

from kestrel_engine import large_pages, packed_cache
from kestrel_engine.checkpoint import open_checkpoint
from kestrel_engine.config import load_config
from kestrel_engine.cpu.backend import CpuBackend
from kestrel_engine.events import Loading, Notice, Submit
from kestrel_engine.loader import load
from kestrel_engine.options import EngineOptions
from kestrel_engine.packed_cache import PackedCache, open_cache
from kestrel_engine.weights import load_weights

FORMATS = ("bf16", "q8", "q4")


@pytest.mark.parametrize("format", FORMATS)
def test_the_second_load_packs_nothing_and_has_the_same_bits(place, format):
    first = place.load(format)
    assert place.packed > 5 and len(place.files) == 1
    second = place.load(format)
    assert place.packed == 0 and place.notes == []
    assert_same_weights(first, second)
    assert all(array.ctypes.data % 64 == 0 for array in arrays_of(second.output) if array.size)
    place.assert_clean()


def test_formats_do_not_mix(place):
    weights = {format: place.load(format) for format in FORMATS}
    assert len(place.files) == 3
    for format in FORMATS:
        assert_same_weights(place.load(format), weights[format])
        assert place.packed == 0


def test_an_mtp_head_of_another_format(place):
    """It is not taken from a file without it, and the trunk has the same bits."""
    whole, mixed = place.load("bf16"), place.load("bf16", mtp_format="q8")
    assert len(place.files) == 2 and place.packed > 5
    assert_same_weights(place.load("bf16", mtp_format="q8"), mixed)
    assert place.packed == 0 and place.notes == []
    layer = mixed.mtp.layer
    head = (
        mixed.mtp.projection,
        layer.qkv,
        layer.output,
        layer.feed_forward.gate_up,
        layer.feed_forward.down,
    )
    assert {matrix.format for matrix in head} == {"q8"}
    assert_same_weights(dataclasses.replace(mixed, mtp=None), dataclasses.replace(whole, mtp=None))


@pytest.mark.parametrize(("format", "mtp_format"), [("bf16", "q8"), ("q8", "q8"), ("q4", "q4")])
def test_the_format_of_the_mtp_head_on_the_cpu(place, format, mtp_format):
    loaded = load(EngineOptions(model=str(place.folder), device="cpu", quant=format), lambda event: None)
    weights = loaded.session.model.weights
    assert (weights.output.format, weights.mtp.projection.format) == (format, mtp_format)


def change_it_unseen(path: Path) -> None:
    """The same size and time of modification."""
    status = path.stat()
    change_a_weight(path)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def replace_it(path: Path) -> None:
    other = path.with_suffix(".new")
    shutil.copy2(path, other)
    change_it_unseen(other)
    os.replace(other, path)


@pytest.mark.parametrize("change", [change_a_weight, change_it_unseen, replace_it])
def test_a_changed_weight_file_is_packed_again(place, change: Callable[[Path], None]):
    place.load()
    change(place.folder / "model.safetensors")
    changed = place.load()
    assert place.packed > 5
    monkey = PackedCache()
    config = load_config(place.folder)
    checkpoint = open_checkpoint(place.folder, config)
    assert_same_weights(changed, load_weights(checkpoint, config, "q8", CpuBackend(1).pack, cache=monkey))


def test_a_file_changed_a_moment_ago_is_not_trusted_to_its_time_stamp(place, monkeypatch):
    monkeypatch.setattr(packed_cache, "SETTLED_NANOSECONDS", 10**15)
    place.load()
    assert not list(place.cache.rglob("*.json"))
    monkeypatch.setattr(packed_cache, "SETTLED_NANOSECONDS", 0)
    place.load()
    assert place.packed == 0 and list(place.cache.rglob("*.json"))


def test_a_copy_of_the_model_shares_the_file(place, tmp_path):
    place.load()
    copy = Place(shutil.copytree(place.folder, tmp_path / "copy"), place.cache)
    copy.load()
    assert copy.packed == 0 and len(place.files) == 1


def test_the_bytes_are_hashed_once(place, monkeypatch):
    place.load()
    monkeypatch.setattr(packed_cache.hashlib, "file_digest", None)
    place.load()
    assert place.packed == 0


def test_a_damaged_memory_of_the_hash_is_ignored(place):
    place.load()
    (memo,) = place.cache.rglob("*.json")
    for text in (
        "",
        "[]",
        "{}",
        '{"status": null, "sha256": 3}',
        memo.read_text().replace('"sha256": "', '"x": "'),
    ):
        memo.write_text(text)
        place.load()
        assert place.packed == 0


def test_another_layout_is_another_file(place, monkeypatch):
    place.load()

    class OtherBackend(CpuBackend):
        def pack(self, matrix, format):
            return super().pack(matrix[::-1], format)

    place.load(backend=OtherBackend(1))
    assert place.packed > 5 and len(place.files) == 2


def test_two_at_once(place):
    """Both find nothing and write; the second replaces the first's file by the same bytes."""
    config = load_config(place.folder)
    checkpoint = open_checkpoint(place.folder, config)
    backend = CpuBackend(1)
    caches = [open_cache(checkpoint.files, backend, "q8", place.notes.append) for _ in range(2)]
    weights = [load_weights(checkpoint, config, "q8", backend.pack, cache=cache) for cache in caches]
    assert_same_weights(*weights)
    assert len(place.files) == 1 and not place.notes
    place.assert_clean()
    assert_same_weights(place.load(), weights[0])
    assert place.packed == 0


@pytest.mark.parametrize("large_pages_available", [True, False])
def test_a_file_in_use_outlives_its_removal(place, monkeypatch, large_pages_available):
    """Whether its pages are being moved or stay as they are."""
    monkeypatch.setattr(large_pages, "available", lambda: large_pages_available)
    first = place.load()
    second = place.load()
    shutil.rmtree(place.cache)
    assert_same_weights(first, second)


def test_small_models_are_not_kept(place, monkeypatch):
    monkeypatch.setattr(packed_cache, "SMALLEST_CHECKPOINT", 64 << 20)
    place.load()
    assert not place.cache.exists()


def test_pruning_removes_the_longest_unused(place, monkeypatch):
    for format in FORMATS:
        place.load(format)
    sizes = {path: path.stat().st_size for path in place.files}
    by_format = {path.name.split("-")[0]: path for path in place.files}
    for age, format in enumerate(("q4", "bf16", "q8")):
        os.utime(by_format[format], (1e9 - age, 1e9 - age))
    place.load("q8")  # used: now the newest
    monkeypatch.setattr(packed_cache, "SIZE_LIMIT", sizes[by_format["q8"]] + sizes[by_format["q4"]])
    packed_cache.prune(place.cache, keep=by_format["q4"])
    assert place.files == sorted([by_format["q8"], by_format["q4"]])
    monkeypatch.setattr(packed_cache, "SIZE_LIMIT", 0)
    packed_cache.prune(place.cache, keep=by_format["q4"])
    assert place.files == [by_format["q4"]], "the one in use stays whatever its size"


def test_an_engine_answers_the_same_from_the_mapped_file(place):
    answers = []
    for stage in ("packing weights as q8", "mapping packed weights"):
        with Running(place.folder, quant="q8", draft_vocab=50) as running:
            stages = {event.stage for event in running.loading if isinstance(event, Loading)}
            assert stage in stages and not any(isinstance(event, Notice) for event in running.loading)
            answers.append(ids_of(running.ask(Submit(raw="hello there", max_tokens=12))))
            assert len(place.files) == 2, "the weights and the draft head"
            assert running.session.drafters["mtp"].head.matrix.weights.flags.writeable == (len(answers) == 1)
    assert answers[0] == answers[1] and len(answers[0]) > 3


def test_a_notice_reaches_the_user(place):
    place.cache.parent.mkdir()
    place.cache.write_text("")
    with Running(place.folder, quant="q8") as running:
        notices = [event.message for event in running.loading if isinstance(event, Notice)]
        assert len(notices) == 1 and "cannot be kept" in notices[0]
        assert len(ids_of(running.ask(Submit(raw="hello", max_tokens=3)))) == 3
