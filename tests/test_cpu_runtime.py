"""The cache of compiled kernels is a help, never a condition."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import types
from numba.core import caching

from kestrel_engine.cpu.jit import kernel


@pytest.mark.parametrize("method", ["save", "load"])
def test_a_cache_that_fails_only_costs_time(monkeypatch, method):
    def refuse(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(caching.IndexDataCacheFile, method, refuse)

    @kernel(types.float32(types.float32))
    def doubled(x):
        return x + x

    assert doubled(np.float32(3)) == 6


def test_a_temporary_cache_is_removed_at_the_end(tmp_path: Path):
    (tmp_path / "file").touch()
    program = "import sys, pathlib; from kestrel_engine.cpu import runtime\n"
    program += "folder = runtime._writable(pathlib.Path(sys.argv[1])); assert folder.is_dir(); print(folder)"
    arguments = [sys.executable, "-c", program, str(tmp_path / "file" / "kernels")]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert "kestrel-kernels-" in done.stdout and not Path(done.stdout.strip()).exists()
