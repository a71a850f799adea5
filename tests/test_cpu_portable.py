"""Code generated for other CPUs gives the same bits: without AVX, with AVX2 and fused multiply-adds at hand."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

import kernel_digests
import pytest

from kestrel_engine.cpu import runtime
from kestrel_engine.cpu.simd import has_vnni

AVX2 = "+sse3,+ssse3,+sse4.1,+sse4.2,+popcnt,+avx,+avx2,+fma,+f16c,+bmi,+bmi2,+lzcnt,+movbe"


def digests_on(name: str, features: str) -> dict:
    """`kernel_digests` in a process whose code generator targets this CPU; compiled once per source."""
    cache = Path(tempfile.gettempdir()) / "kestrel-test-kernels" / runtime.cache_folder().name
    environment = {
        **os.environ,
        "NUMBA_CPU_NAME": name,
        "NUMBA_CPU_FEATURES": features,
        "NUMBA_CACHE_DIR": str(cache),
    }
    command = [sys.executable, kernel_digests.__file__]
    completed = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr
    return json.loads(completed.stdout)


def has_avx2() -> bool:
    if platform.machine() not in ("x86_64", "AMD64"):
        return False
    import llvmlite.binding as llvm

    return all(llvm.get_host_cpu_features().get(name[1:], False) for name in AVX2.split(","))


@pytest.mark.slow
def test_portable_code_has_the_same_bits():
    portable = digests_on("generic", "")
    assert portable.pop("vnni") is False
    assert portable == kernel_digests.digests()


@pytest.mark.slow
@pytest.mark.skipif(not has_avx2(), reason="this CPU has no AVX2")
def test_avx2_code_has_the_same_bits():
    avx2 = digests_on("haswell", AVX2)
    assert avx2.pop("vnni") is False
    assert avx2 == kernel_digests.digests()


@pytest.mark.skipif(not Path("/proc/cpuinfo").exists(), reason="needs /proc/cpuinfo")
def test_vnni_is_used_where_the_cpu_has_it():
    """Else the two tests above would compare the portable code with itself."""
    assert has_vnni() == ("avx512_vnni" in Path("/proc/cpuinfo").read_text().split())
