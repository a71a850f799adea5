"""One file of packed matrices: arrays at aligned places, then an index, then a trailer that only a complete
file has. It is mapped, not read, so it is there at once.

Layout: the arrays' bytes, each padded with zeros to ALIGNMENT; the index, JSON `{"key": …, "matrices": {name:
{"type", "numbers": {field: value}, "arrays": {field: {"dtype", "shape", "begin", "sum"}}}}}`; the trailer, MAGIC,
the index's length (8 bytes, little endian) and its SHA-256. `sum` is that of the padded bytes as 64-bit words.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import os
import stat
from typing import Any, BinaryIO

import numpy as np

from kestrel_engine.mapped_file import map_file, move_to_large_pages

ALIGNMENT = 64
MAGIC = b"kestrel packed 1"
TRAILER_BYTES = len(MAGIC) + 8 + 32
PLAIN_TYPES = (str, int, float, bool, type(None))


class Damaged(Exception):
    """The file is not what was written."""


def fields_of(matrix: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]] | None:
    """A packed matrix (a dataclass) as numbers and arrays; None when it holds anything else."""
    if not dataclasses.is_dataclass(matrix):
        return None
    values = {field.name: getattr(matrix, field.name) for field in dataclasses.fields(matrix)}
    arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
    numbers = {name: value for name, value in values.items() if name not in arrays}
    plain = all(isinstance(value, PLAIN_TYPES) for value in numbers.values())
    return (numbers, arrays) if plain and arrays else None


class PackedWriter:
    """Appends matrices to an open file; `finish` makes it complete. Raises OSError."""

    def __init__(self, file: BinaryIO, key: str):
        self._file, self._key, self._at = file, key, 0
        self._matrices: dict[str, dict] = {}

    def add(self, name: str, matrix: Any) -> None:
        numbers, arrays = fields_of(matrix)
        entries = {field: self._append(array) for field, array in arrays.items()}
        self._matrices[name] = {"numbers": numbers, "arrays": entries}

    def _append(self, array: np.ndarray) -> dict:
        raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        padding = np.zeros(-len(raw) % ALIGNMENT, np.uint8)
        entry = {"dtype": array.dtype.str, "shape": list(array.shape), "begin": self._at}
        whole = len(raw) // 8 * 8
        rest = np.concatenate([raw[whole:], padding])
        entry["sum"] = (_sum(raw[:whole]) + _sum(rest)) % 2**64
        for part in (raw, padding):
            self._file.write(part.data)
        self._at += len(raw) + len(padding)
        return entry

    def finish(self) -> None:
        index = json.dumps({"key": self._key, "matrices": self._matrices}).encode()
        trailer = MAGIC + len(index).to_bytes(8, "little") + hashlib.sha256(index).digest()
        self._file.write(index + trailer)
        self._file.flush()
        os.fsync(self._file.fileno())


def map_packed(path: os.PathLike | str, key: str, matrix_type: type) -> dict[str, Any]:
    """The matrices of the file by name, their arrays read-only views of the file in memory.

    Every byte is checked, which also brings the pages in. Raises Damaged, or OSError (a missing file too).
    """
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise Damaged  # to open a pipe would wait for ever
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size < TRAILER_BYTES:
            raise Damaged
        data = map_file(file)
    try:
        matrices = _matrices(data, key, matrix_type)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Damaged from None
    move_to_large_pages(data)
    return matrices


def _matrices(data: np.ndarray, key: str, matrix_type: type) -> dict[str, Any]:
    trailer = data[-TRAILER_BYTES:].tobytes()
    length = int.from_bytes(trailer[len(MAGIC) : len(MAGIC) + 8], "little")
    end = len(data) - TRAILER_BYTES
    index = data[max(0, end - length) : end].tobytes()
    if not trailer.startswith(MAGIC) or trailer[-32:] != hashlib.sha256(index).digest():
        raise Damaged
    parsed = json.loads(index)
    if parsed["key"] != key:
        raise Damaged
    found = {}
    for name, entry in parsed["matrices"].items():
        arrays = {field: _array(data, **place) for field, place in entry["arrays"].items()}
        found[name] = matrix_type(**entry["numbers"], **arrays)
    return found


def _array(data: np.ndarray, dtype: str, shape: list[int], begin: int, sum: int) -> np.ndarray:
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if _sum(data[begin : begin + size + -size % ALIGNMENT]) != sum:
        raise Damaged
    return data[begin : begin + size].view(dtype).reshape(shape)


def _sum(raw: np.ndarray) -> int:
    """Of the 64-bit words, modulo 2^64: no single damaged word or page goes unnoticed, at memory speed."""
    return int(raw.view(np.uint64).sum(dtype=np.uint64))
