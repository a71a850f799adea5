"""One safetensors file: its header is checked completely before any tensor is used, then it is mapped.

Layout: 8 bytes N (little endian), N bytes of JSON `{name: {dtype, shape, data_offsets: [begin, end]}}`, then
the data section that the offsets count from. The tensors must cover the data section exactly.
"""

from __future__ import annotations

import json
import math
import os
import stat
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kestrel_engine.errors import UsageError

LENGTH_BYTES = 8
MAX_HEADER_BYTES = 100_000_000
ITEM_BYTES = {
    "BOOL": 1, "U8": 1, "I8": 1, "F8_E4M3": 1, "F8_E5M2": 1, "F8_E8M0": 1, "U16": 2, "I16": 2, "F16": 2,
    "BF16": 2, "U32": 4, "I32": 4, "F32": 4, "U64": 8, "I64": 8, "F64": 8, "C64": 8,
}  # fmt: skip
AGAIN = "download the model again"


@dataclass(frozen=True, slots=True)
class TensorEntry:
    """Where a tensor lies. `begin` and `end` are byte offsets in the data section."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


class TensorFile:
    """A checked and mapped safetensors file. Raises UsageError (one line that names the file)."""

    def __init__(self, path: Path):
        self.path = Path(path)
        size = _regular_file_size(self.path)
        try:
            with open(self.path, "rb") as file:
                header = _read_header(self.path, file, size)
            self._data_start = LENGTH_BYTES + len(header)
            self.entries = _parse_entries(self.path, header, size - self._data_start)
            self._bytes = np.memmap(self.path, dtype=np.uint8, mode="r")
        except OSError as error:
            raise UsageError(
                f"{self.path} cannot be read ({error.strerror}): check its permissions"
            ) from None

    def raw(self, name: str) -> np.ndarray:
        """The tensor's bytes: uint8 [bytes], read-only, not copied."""
        entry = self.entries[name]
        return self._bytes[self._data_start + entry.begin : self._data_start + entry.end]


def _regular_file_size(path: Path) -> int:
    try:
        status = os.stat(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}): {AGAIN}") from None
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "a special file"
        raise UsageError(f"{path} is {kind}, not a safetensors file: {AGAIN}")
    return status.st_size


def _read_header(path: Path, file: Any, size: int) -> bytes:
    start = file.read(LENGTH_BYTES)
    if size == 0:
        raise UsageError(f"{path} is empty: {AGAIN}")
    if start == b"version ":
        raise UsageError(f"{path} is a Git LFS pointer, not the weights: fetch them with 'git lfs pull'")
    length = int.from_bytes(start, "little")
    available = size - LENGTH_BYTES
    if len(start) < LENGTH_BYTES or length > min(available, MAX_HEADER_BYTES):
        found = f"header of {length} bytes in a file of {size}"
        raise UsageError(f"{path} is truncated or not a safetensors file ({found}): {AGAIN}")
    header = file.read(length)
    if len(header) != length:
        raise UsageError(f"{path} is truncated in its header: {AGAIN}")
    return header


def _parse_entries(path: Path, header: bytes, data_bytes: int) -> dict[str, TensorEntry]:
    try:
        parsed = json.loads(header.decode("utf-8"), object_pairs_hook=lambda pairs: _unique(path, pairs))
    except (ValueError, RecursionError):
        raise UsageError(f"{path}: the header is not valid JSON: {AGAIN}") from None
    if not isinstance(parsed, dict):
        raise UsageError(f"{path}: the header is not a JSON object: {AGAIN}")
    parsed.pop("__metadata__", None)
    entries = {name: _parse_entry(path, name, value) for name, value in parsed.items()}
    _check_coverage(path, entries, data_bytes)
    return entries


def _unique(path: Path, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise UsageError(f"{path}: the header names {_quote(twice)} twice: {AGAIN}")
    return values


def _parse_entry(path: Path, name: str, value: Any) -> TensorEntry:
    def require(condition: bool, problem: str) -> None:
        if not condition:
            raise UsageError(f"{path}: tensor {_quote(name)} {problem}: {AGAIN}")

    require(isinstance(value, dict), "has no entry of dtype, shape and data_offsets")
    dtype, shape, offsets = (value.get(key) for key in ("dtype", "shape", "data_offsets"))
    require(isinstance(dtype, str) and dtype in ITEM_BYTES, f"has the unknown dtype {_quote(dtype)}")
    require(
        isinstance(shape, list) and all(map(_is_natural, shape)), f"has the impossible shape {_quote(shape)}"
    )
    valid_offsets = isinstance(offsets, list) and len(offsets) == 2 and all(map(_is_natural, offsets))
    require(valid_offsets and offsets[0] <= offsets[1], f"has the impossible data_offsets {_quote(offsets)}")
    needed, given = math.prod(shape) * ITEM_BYTES[dtype], offsets[1] - offsets[0]
    require(needed == given, f"({dtype} {shape}) needs {needed} bytes and has {given}")
    return TensorEntry(dtype, tuple(shape), offsets[0], offsets[1])


def _check_coverage(path: Path, entries: dict[str, TensorEntry], data_bytes: int) -> None:
    end = 0
    for name, entry in sorted(entries.items(), key=lambda item: (item[1].begin, item[1].end)):
        if entry.begin != end:
            problem = (
                "overlaps the tensor before it" if entry.begin < end else "comes after a gap in the data"
            )
            raise UsageError(f"{path}: tensor {_quote(name)} {problem}: {AGAIN}")
        end = entry.end
        if end > data_bytes:
            missing = f"tensor {_quote(name)} ends at byte {end} of {data_bytes}"
            raise UsageError(f"{path} is truncated ({missing}): {AGAIN}")
    if end != data_bytes:
        raise UsageError(f"{path} has {data_bytes - end} bytes after its last tensor: {AGAIN}")


def _is_natural(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _quote(value: Any) -> str:
    """On one line and of bounded length, whatever a hostile header holds; plain names stay as they are."""
    shown = value if isinstance(value, str) and value.isprintable() else json.dumps(value)
    return shown if len(shown) <= 120 else shown[:117] + "..."
