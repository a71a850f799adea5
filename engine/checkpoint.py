"""A checkpoint in Hugging Face layout: one or several safetensors files whose tensors are exactly those that
the configuration asks for. Nothing is read before it is used; files are mapped, not loaded."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import numpy as np

from kestrel_engine.config import ModelConfig
from kestrel_engine.errors import UsageError
from kestrel_engine.inventory import EMBEDDING, MTP_PREFIX, OUTPUT_HEAD, expected_tensors
from kestrel_engine.tensor_file import AGAIN, TensorEntry, TensorFile

INDEX_FILE = "model.safetensors.index.json"
SUFFIX = ".safetensors"
WEIGHT_DTYPES = {"BF16": np.uint16, "F16": np.float16, "F32": np.float32}
"""Accepted dtypes and the numpy type a tensor comes as: bfloat16 as its raw bits."""
VISION_PREFIXES = ("model.visual.", "visual.")
TEXT_PREFIXES = ("model.language_model.", "model.")
COMPARE_BYTES = 1 << 24


class Checkpoint:
    """The tensors of a model by canonical name (no `model.` or `model.language_model.` prefix).

    Its inventory has been checked: `names` is exactly what the configuration asks for, in model order.
    """

    def __init__(self, folder: Path, names: tuple[str, ...], places: dict[str, tuple[TensorFile, str]]):
        self.folder = folder
        self.names = names
        self._places = places

    def _entry(self, name: str) -> TensorEntry:
        file, stored_name = self._places[name]
        return file.entries[stored_name]

    def dtype(self, name: str) -> str:
        """Stored type: "BF16", "F16" or "F32"."""
        return self._entry(name).dtype

    def shape(self, name: str) -> tuple[int, ...]:
        return self._entry(name).shape

    def tensor(self, name: str) -> np.ndarray:
        """The tensor as stored, read-only: uint16 bit patterns for "BF16", float16 or float32 otherwise.

        A view of the mapped file (a copy only where the file does not align the tensor).
        """
        file, stored_name = self._places[name]
        stored = file.raw(stored_name).view(WEIGHT_DTYPES[self.dtype(name)]).reshape(self.shape(name))
        if not stored.flags.aligned:
            stored = stored.copy()
            stored.flags.writeable = False
        return stored.view(np.ndarray)

    def float32(self, name: str) -> np.ndarray:
        """The tensor as float32, exactly; read-only when it is stored so (then it is not copied)."""
        return exact_float32(self.tensor(name))

    @property
    def files(self) -> list[Path]:
        """The files that hold the tensors, in the order of their names."""
        return sorted({file.path for file, _ in self._places.values()})

    @property
    def byte_count(self) -> int:
        """Size of all tensors as stored."""
        return sum(entry.end - entry.begin for entry in map(self._entry, self.names))


def exact_float32(stored: np.ndarray) -> np.ndarray:
    """A tensor, or some rows of one, as float32: uint16 is taken as bfloat16 bits. Float32 is not copied."""
    if stored.dtype != np.uint16:
        return stored.astype(np.float32, copy=False)
    bits = stored.astype(np.uint32)
    bits <<= 16
    return bits.view(np.float32)


def open_checkpoint(folder: Path, config: ModelConfig) -> Checkpoint:
    """Map the weights of `folder` and check them against `config`.

    Vision tensors are skipped by name. Every other tensor must be expected, and every expected one must be
    there with its shape and one of the WEIGHT_DTYPES: a head that is dropped or half-loaded without a word
    still produces text and only loses its speed, so nothing is guessed. This holds for `mtp.*` both ways: a
    configuration that promises an MTP head needs its tensors, and one without it must not come with them.
    One thing is tolerated: with tied embeddings, a stored `lm_head.weight` that equals the embedding bit for
    bit (some writers keep the copy). Raises UsageError, one line naming file or tensor.
    """
    folder = Path(folder)
    expected = expected_tensors(config)
    places: dict[str, tuple[TensorFile, str]] = {}
    for file in _open_files(folder):
        for stored_name in file.entries:
            if stored_name.startswith(VISION_PREFIXES):
                continue
            name = _canonical_name(stored_name)
            if name in places:
                other_file, other_name = places[name]
                where = f"as {stored_name} in {file.path.name} and as {other_name} in {other_file.path.name}"
                raise UsageError(f"{folder}: tensor {name} is there twice ({where}): {AGAIN}")
            places[name] = (file, stored_name)
    if config.tie_word_embeddings and OUTPUT_HEAD in places and EMBEDDING in places:
        _drop_tied_copy(folder, places)
    _check_inventory(folder, expected, places)
    return Checkpoint(folder, tuple(expected), places)


def _canonical_name(stored_name: str) -> str:
    """Without the text model's prefix. A name that should have that prefix and has not (or the reverse) maps
    to itself with a mark, so that the inventory reports it."""
    prefix = next((prefix for prefix in TEXT_PREFIXES if stored_name.startswith(prefix)), "")
    name = stored_name[len(prefix) :]
    unprefixed = name == OUTPUT_HEAD or name.startswith(MTP_PREFIX)
    return name if unprefixed != bool(prefix) else f"unknown:{stored_name}"


def _drop_tied_copy(folder: Path, places: dict[str, tuple[TensorFile, str]]) -> None:
    (head_file, head_name), (embedding_file, embedding_name) = places[OUTPUT_HEAD], places[EMBEDDING]
    head, embedding = head_file.entries[head_name], embedding_file.entries[embedding_name]
    alike = (head.dtype, head.shape) == (embedding.dtype, embedding.shape)
    if not alike or not _equal_bytes(head_file.raw(head_name), embedding_file.raw(embedding_name)):
        raise UsageError(
            f"{folder}: tensor {OUTPUT_HEAD} differs from {EMBEDDING}, but config.json ties them"
            f" (tie_word_embeddings is true): {AGAIN}, or set it to false"
        )
    del places[OUTPUT_HEAD]


def _equal_bytes(left: np.ndarray, right: np.ndarray) -> bool:
    """In pieces, so that comparing gigabytes needs little memory."""
    starts = range(0, len(left), COMPARE_BYTES)
    return all(np.array_equal(left[at : at + COMPARE_BYTES], right[at : at + COMPARE_BYTES]) for at in starts)


def _check_inventory(
    folder: Path, expected: dict[str, tuple[int, ...]], places: dict[str, tuple[TensorFile, str]]
) -> None:
    missing = [name for name in expected if name not in places]
    if missing:
        advice = AGAIN
        if all(name.startswith(MTP_PREFIX) for name in missing):
            advice += ", or set mtp_num_hidden_layers to 0 in config.json to do without the MTP head"
        raise UsageError(f"{folder}: tensor {_first_of(missing)} is missing: {advice}")
    extra = [name for name in places if name not in expected]
    if extra:
        advice = "the weights do not match config.json"
        if all(name.startswith(MTP_PREFIX) for name in extra):
            advice = "config.json has no MTP head; set its mtp_num_hidden_layers to 1, or remove the tensors"
        stored_names = [places[name][1] for name in extra]
        raise UsageError(f"{folder}: tensor {_first_of(stored_names)} is not expected: {advice}")
    for name, shape in expected.items():
        file, stored_name = places[name]
        entry = file.entries[stored_name]
        if entry.shape != shape:
            found = f"has shape {list(entry.shape)}, expected {list(shape)}"
            raise UsageError(
                f"{file.path}: tensor {stored_name} {found}: the weights do not match config.json"
            )
        if entry.dtype not in WEIGHT_DTYPES:
            found = f"has dtype {entry.dtype}, expected {', '.join(WEIGHT_DTYPES)}"
            raise UsageError(
                f"{file.path}: tensor {stored_name} {found}: use the original, unquantized weights"
            )


def _first_of(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} (and {len(names) - 1} more)"


def _open_files(folder: Path) -> list[TensorFile]:
    index_path = folder / INDEX_FILE
    present = _weight_file_names(folder)
    if not os.path.exists(index_path):
        return [TensorFile(folder / name) for name in _complete_set(folder, present)]
    weight_map = _read_index(index_path)
    shards = sorted(set(weight_map.values()))
    stray = [name for name in present if name.startswith("model") and name not in shards]
    if stray:
        raise UsageError(f"{folder / stray[0]} is not named by {INDEX_FILE}: remove one of the two")
    missing = [name for name in shards if not os.path.exists(folder / name)]
    if missing:
        raise UsageError(f"{folder / _first_of(missing)} is missing, but {INDEX_FILE} names it: {AGAIN}")
    files = {name: TensorFile(folder / name) for name in shards}
    for tensor, shard in weight_map.items():
        if tensor not in files[shard].entries:
            raise UsageError(f"{index_path}: tensor {tensor} is not in {shard}: {AGAIN}")
    return list(files.values())


def _weight_file_names(folder: Path) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(SUFFIX))
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be read ({error.strerror}): check the path and its permissions"
        ) from None


def _complete_set(folder: Path, names: list[str]) -> list[str]:
    """Weight files of a folder without an index: one file, or all of `…-00001-of-0000N.safetensors`."""
    if not names:
        raise UsageError(f"{folder} has no {SUFFIX} weights: download the model in safetensors format")
    numbered = [re.search(r"^(.*)-(\d{5})-of-(\d{5})\.safetensors$", name) for name in names]
    if len(names) == 1 and numbered[0] is None:
        return names
    if None in numbered or len({(match[1], match[3]) for match in numbered}) != 1:
        listed = f"{', '.join(names[:3])}{', …' if len(names) > 3 else ''}"
        raise UsageError(f"{folder} has several weight files ({listed}) and no {INDEX_FILE}: {AGAIN}")
    stem, total = numbered[0][1], numbered[0][3]
    wanted = [f"{stem}-{number:05d}-of-{total}{SUFFIX}" for number in range(1, int(total) + 1)]
    missing = [name for name in wanted if name not in names]
    if missing or len(names) != len(wanted):
        raise UsageError(f"{folder / _first_of(missing or names)} is missing or misnumbered: {AGAIN}")
    return wanted


def _read_index(path: Path) -> dict[str, str]:
    try:
        index = json.loads(path.read_bytes().decode("utf-8"))
        weight_map = index["weight_map"]
        valid = bool(weight_map) and all(isinstance(shard, str) for shard in weight_map.values())
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}): check its permissions") from None
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        valid = False
    if not valid:
        raise UsageError(f"{path} holds no weight_map from tensors to files: {AGAIN}")
    for shard in weight_map.values():
        if shard != os.path.basename(shard) or "\\" in shard or not shard.endswith(SUFFIX):
            raise UsageError(
                f"{path}: {json.dumps(shard)} is not the name of a {SUFFIX} file beside it: {AGAIN}"
            )
    return weight_map
