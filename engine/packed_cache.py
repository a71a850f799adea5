"""Packed weights kept on disk, so that a model is quantised and packed once and loaded ever after.

A file's name is a hash of all that decides its contents: the bytes of the checkpoint, the format, the backend
and its layout (as seen on a sample that is packed each time, so a changed layout needs no version number).
It is written beside its place and moved there when complete; processes that do so at the same time write the
same bytes. Whatever goes wrong with the disk costs a notice and never the start.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs

from kestrel_engine import numerics
from kestrel_engine.packed_file import Damaged, PackedWriter, fields_of, map_packed
from kestrel_engine.unfinished import UnfinishedFile, remove_abandoned

SMALLEST_CHECKPOINT = 64 << 20
"""Bytes below which packing takes no longer than looking for a file."""
SIZE_LIMIT = 20 << 30
"""Bytes of all packed files together; the longest unused go first."""
SUFFIX = ".weights"
SETTLED_NANOSECONDS = 2 * 10**9
"""A file changed so shortly ago could change again within the same time stamp."""

Note = Callable[[str], None]


def cache_folder() -> Path:
    return Path(platformdirs.user_cache_dir("kestrel")) / "packed"


class PackedCache:
    """Matrices of one model in one format. `get` finds them when the file was complete; else `add` writes one."""

    def __init__(
        self,
        path: Path | None = None,
        key: str = "",
        note: Note = lambda message: None,
        unchanged: Callable[[], bool] = lambda: True,
    ):
        """Without a path nothing is kept. `unchanged`: whether the checkpoint is still the one of the key."""
        self.path, self._key, self._note, self._unchanged = path, key, note, unchanged
        self._found: dict[str, Any] = {}
        self._unfinished: UnfinishedFile | None = None
        self._writer: PackedWriter | None = None

    @property
    def filled(self) -> bool:
        """Whether the matrices come from a file: their weights were checked when it was written."""
        return bool(self._found)

    @property
    def writable(self) -> bool:
        """Whether what is added will be kept."""
        return self._writer is not None

    def open(self, matrix_type: type, space: int) -> None:
        """Map the file, or begin to write it when there is room for `space` bytes."""
        if self.path is None:
            return
        remove_abandoned(self.path.parent)
        try:
            self._found = map_packed(self.path, self._key, matrix_type)
            with contextlib.suppress(OSError):
                os.utime(self.path)  # used: the last to go
            return
        except Damaged:
            self._note(f"{self.path} is damaged: making it again")
        except OSError:
            pass  # usually there is none; what else is wrong shows when it is written
        with self._forgiving():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if shutil.disk_usage(self.path.parent).free < space:
                raise OSError(None, "the disk is nearly full")
            self._unfinished = UnfinishedFile(self.path.parent)
            self._writer = PackedWriter(self._unfinished.file, self._key)

    def get(self, name: str) -> Any | None:
        return self._found.get(name)

    def add(self, name: str, matrix: Any) -> None:
        if self._writer is not None:
            with self._forgiving():
                self._writer.add(name, matrix)

    def keep(self, name: str, make: Callable[[], Any]) -> Any:
        """The only matrix of this cache, made now or in an earlier start."""
        matrix = self.get(name)
        if matrix is None:
            try:
                matrix = make()
            except BaseException:
                self.abandon()
                raise
            self.add(name, matrix)
            self.finish()
        return matrix

    def finish(self) -> None:
        """All matrices were added: put the file into its place, and remove what has not been used for long."""
        if not self._unchanged():
            self.abandon()
        if self._writer is not None:
            with self._forgiving():
                self._writer.finish()
                self._unfinished.move_to(self.path)
                self._writer = self._unfinished = None
                _sync_folder(self.path.parent)
                prune(self.path.parent, keep=self.path)

    def abandon(self) -> None:
        """Nothing more will be added: leave no unfinished file behind."""
        if self._unfinished is not None:
            self._unfinished.discard()
        self._writer = self._unfinished = None

    @contextlib.contextmanager
    def _forgiving(self):
        try:
            yield
        except OSError as error:
            self.abandon()
            reason = f"what was packed cannot be kept in {self.path.parent} ({error.strerror or error})"
            self._note(f"{reason}: every start packs it again")


def open_cache(
    files: Sequence[Path], backend: Any, format: str, note: Note, part: str = "weights", also: str = "bf16"
) -> PackedCache:
    """The cache for a `part` of the model in `files`, opened; one that keeps nothing for small models and for
    backends whose matrices are not made of arrays. `note` is told what the user should know. `also`: the format of
    some of the matrices."""
    size = sum(os.stat(path).st_size for path in files)
    samples = [backend.pack(_sample(), each) for each in dict.fromkeys((format, also, "bf16"))]
    if size < SMALLEST_CHECKPOINT or any(fields_of(sample) is None for sample in samples):
        return PackedCache()
    identity = [part, format, backend.name, *map(_digest_of_matrix, samples)]
    return open_kept(files, identity, format, type(samples[0]), size, note)


def open_kept(
    files: Sequence[Path], identity: list[str], name: str, matrix_type: type, space: int, note: Note
) -> PackedCache:
    """The opened cache `name` of what is made of `files` in the way `identity`; `space`: bytes that it may need.
    Raises OSError when a file cannot be read."""
    folder, status = cache_folder(), _status(files)
    key = hashlib.sha256(json.dumps([source_digest(files, folder), *identity]).encode()).hexdigest()
    cache = PackedCache(folder / f"{name}-{key[:32]}{SUFFIX}", key, note, lambda: _status(files) == status)
    cache.open(matrix_type, space)
    return cache


def _sample() -> np.ndarray:
    """bfloat16 bits [80, 544]: several tiles and segments, none of them whole."""
    values = np.arange(80 * 544, dtype=np.float32) * np.float32(0.7548777) % np.float32(1) - np.float32(0.4)
    return numerics.to_bfloat16(values.reshape(80, 544))


def _digest_of_matrix(matrix: Any) -> str:
    numbers, arrays = fields_of(matrix)
    digest = hashlib.sha256(repr((type(matrix).__name__, sorted(numbers.items()))).encode())
    for name, array in sorted(arrays.items()):
        digest.update(repr((name, array.dtype.str, array.shape)).encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


# --- the checkpoint's identity ----------------------------------------------------------------------------


def source_digest(files: Sequence[Path], folder: Path) -> str:
    """SHA-256 of the files' bytes. Remembered in `folder` for as long as no file's status has changed: the time
    of the last change of the file's status (ctime) moves with every write, whatever a program sets mtime to."""
    status = _status(files)
    place = hashlib.sha256(json.dumps([entry[0] for entry in status]).encode()).hexdigest()[:32]
    memo = folder / "sources" / f"{place}.json"
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        known = json.loads(memo.read_text())
        if known["status"] == status and isinstance(known["sha256"], str):
            return known["sha256"]
    started = time.time_ns()
    digest = hashlib.sha256()
    for path in files:
        with open(path, "rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    newest = max(max(entry[2:4]) for entry in status)
    if newest + SETTLED_NANOSECONDS < started and status == _status(files):
        with contextlib.suppress(OSError):
            memo.parent.mkdir(parents=True, exist_ok=True)
            _write_whole(memo, json.dumps({"status": status, "sha256": digest.hexdigest()}))
    return digest.hexdigest()


def _status(files: Sequence[Path]) -> list[list]:
    found = []
    for path in map(os.path.realpath, files):
        status = os.stat(path)
        times = [status.st_mtime_ns, status.st_ctime_ns]
        found.append([path, status.st_size, *times, status.st_ino, status.st_dev])
    return found


def _write_whole(path: Path, text: str) -> None:
    remove_abandoned(path.parent)
    unfinished = UnfinishedFile(path.parent)
    try:
        unfinished.file.write(text.encode())
        unfinished.move_to(path)
    except OSError:
        unfinished.discard()
        raise


# --- the folder -------------------------------------------------------------------------------------------


def prune(folder: Path, keep: Path) -> None:
    """Remove the longest unused files beyond SIZE_LIMIT."""
    total, files = 0, []
    for path in folder.glob(f"*{SUFFIX}"):
        with contextlib.suppress(OSError):
            status = path.stat()
            files.append((path == keep, status.st_mtime_ns, status.st_size, path))
    for _, _, size, path in sorted(files, reverse=True):
        total += size
        if total > SIZE_LIMIT and path != keep:
            with contextlib.suppress(OSError):
                path.unlink()


def _sync_folder(folder: Path) -> None:
    """So that a file that was moved into its place survives a power cut; where the system can do it."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
