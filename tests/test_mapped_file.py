"""Files in memory: the same bytes at the same addresses while their pages are exchanged, and never a crash."""

from __future__ import annotations

import errno
import gc
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from kestrel_engine import large_pages, mapped_file
from kestrel_engine.large_pages import PAGE

TAIL = 12345
SIZE = 9 * PAGE + TAIL

pytestmark = pytest.mark.skipif(
    mapped_file._system() is None or not large_pages.available(), reason="no large pages here"
)


@pytest.fixture
def path(tmp_path, monkeypatch) -> Path:
    """A file of several chunks, the last of them odd, and a tail that is no whole page."""
    monkeypatch.setattr(mapped_file, "CHUNK", 2 * PAGE)
    monkeypatch.setattr(mapped_file, "large_pages", _Lender())
    path = tmp_path / "bytes"
    path.write_bytes(np.random.default_rng(1).bytes(SIZE))
    return path


class _Lender:
    """`large_pages` for chunks that are smaller than what has a mapping of its own."""

    available = staticmethod(large_pages.available)

    @staticmethod
    def empty(size: int) -> np.ndarray:
        return large_pages.empty(max(size, large_pages.SHARED_BYTES))[:size]


def mapped(path: Path) -> np.ndarray:
    with open(path, "rb") as file:
        return mapped_file.map_file(file)


def pages_of(address: int, size: int) -> dict[str, int]:
    """Bytes of a range by kind and by permission, as the system tells them."""
    kinds, inside = {"Anonymous": 0, "AnonHugePages": 0, "Rss": 0, "r--p": 0, "rw-p": 0}, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        first, *rest = line.split()
        if not first.endswith(":"):
            begin, end = (int(each, 16) for each in first.split("-"))
            inside = address <= begin < address + size
            if inside and rest[0] in kinds:
                kinds[rest[0]] += end - begin
        elif inside and first[:-1] in kinds:
            kinds[first[:-1]] += int(rest[0]) << 10
    return kinds


def system_gives_large_pages() -> bool:
    """Whether it has some left: it need not."""
    memory = large_pages.empty(large_pages.SHARED_BYTES)
    memory[:] = 1
    return pages_of(memory.ctypes.data, memory.size)["AnonHugePages"] > 0


def test_bytes_and_address_stay_while_pages_are_exchanged(path):
    data, expected = mapped(path), np.fromfile(path, np.uint8)
    address, wrong, done = data.ctypes.data, [], threading.Event()
    assert address % PAGE == 0 and pages_of(address, SIZE)["Anonymous"] == 0

    def read() -> None:
        while not done.is_set():
            if not np.array_equal(data, expected):
                wrong.append(True)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    mapped_file.move_to_large_pages(data).join()
    done.set()
    for reader in readers:
        reader.join()
    assert not wrong and np.array_equal(data, expected) and data.ctypes.data == address
    kinds = pages_of(address, SIZE)
    assert kinds["Anonymous"] == 9 * PAGE and kinds["rw-p"] == 0
    if system_gives_large_pages():
        assert kinds["AnonHugePages"] > 0, "an exchange keeps pages large"
    assert kinds["Rss"] > 9 * PAGE, "the tail stays mapped"


def test_the_file_may_change_its_name_and_its_bytes_are_never_written(path):
    data, expected = mapped(path), path.read_bytes()
    path.rename(path.with_suffix(".old"))
    mapped_file.move_to_large_pages(data).join()
    assert data.tobytes() == expected == path.with_suffix(".old").read_bytes()
    assert not data.flags.writeable


@pytest.mark.parametrize("first_makes_room", [False, True])
@pytest.mark.parametrize("call", ["mremap", "mprotect"])
def test_a_refusal_leaves_the_bytes(path, monkeypatch, caplog, call, first_makes_room):
    """In the second chunk; a system that has already made room where the pages should go is the worst case."""
    real, calls = mapped_file._system(), []

    class Refusing:
        def __getattr__(self, name):
            return refuse if name == call else getattr(real, name)

    def refuse(*arguments):
        calls.append(arguments)
        if len(calls) < 2:
            return getattr(real, call)(*arguments)
        if call == "mremap" and first_makes_room:
            real.munmap(arguments[4], arguments[2])
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    data, expected = mapped(path), path.read_bytes()
    monkeypatch.setattr(mapped_file, "_system", Refusing)
    with caplog.at_level("DEBUG", "kestrel.engine"):
        mapped_file.move_to_large_pages(data).join()
    assert len(calls) == 2 and data.tobytes() == expected
    assert pages_of(data.ctypes.data, SIZE)["Anonymous"] == (2 if call == "mremap" else 4) * PAGE
    assert "Cannot allocate memory" in caplog.text


def test_too_little_memory_moves_nothing(path, monkeypatch):
    monkeypatch.setattr(mapped_file, "available_memory", lambda: 11 * PAGE)
    data = mapped(path)
    mapped_file.move_to_large_pages(data).join()
    assert data.tobytes() == path.read_bytes() and pages_of(data.ctypes.data, SIZE)["Anonymous"] == 0


@pytest.mark.parametrize("moved", [False, True])
def test_the_last_view_unmaps(path, moved):
    data = mapped(path)
    address, view = data.ctypes.data, data[PAGE : PAGE + 64].view(np.uint16).reshape(4, 8)
    if moved:
        mapped_file.move_to_large_pages(data).join()
    del data
    gc.collect()
    assert view.tobytes() == path.read_bytes()[PAGE : PAGE + 64]
    assert str(path) in Path("/proc/self/maps").read_text()
    del view
    gc.collect()
    assert str(path) not in Path("/proc/self/maps").read_text()
    assert pages_of(address, SIZE)["r--p"] == 0


def test_a_mover_ends_when_nobody_holds_the_bytes(path, monkeypatch):
    moved, original = [], mapped_file._Mapping.move
    first, freed = threading.Event(), threading.Event()

    def move(mapping, begin, size, large):
        first.set()
        assert freed.wait(60)
        original(mapping, begin, size, large)
        moved.append(begin)

    monkeypatch.setattr(mapped_file._Mapping, "move", move)
    data = mapped(path)
    mover = mapped_file.move_to_large_pages(data)
    assert first.wait(60)
    del data
    freed.set()
    mover.join()
    assert moved == [0] and str(path) not in Path("/proc/self/maps").read_text()


def test_a_file_smaller_than_a_page_stays_mapped(path):
    path.write_bytes(b"few")
    data = mapped(path)
    mapped_file.move_to_large_pages(data).join()
    assert data.tobytes() == b"few"


def test_a_process_may_end_meanwhile(tmp_path):
    path = tmp_path / "bytes"
    path.write_bytes(bytes(96 << 20))
    program = (
        "import sys, threading, time; from kestrel_engine import mapped_file\n"
        "data = mapped_file.map_file(open(sys.argv[1], 'rb'))\n"
        "mover = mapped_file.move_to_large_pages(data)\n"
        "reader = threading.Thread(target=lambda: [data.sum() for _ in iter(int, 1)], daemon=True)\n"
        "reader.start(); time.sleep(float(sys.argv[2])); print(mover.is_alive())\n"
    )
    for delay in ("0", "0.02", "0.05"):
        done = subprocess.run(
            [sys.executable, "-c", program, str(path), delay], capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0 and done.stderr == "" and done.stdout in ("True\n", "False\n")
