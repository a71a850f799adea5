"""The GPU kernels compiled without a GPU: what the check looks for is found, and a kernel passes it.

All kernels on all architectures are checked by `python -m kestrel_cuda.offline check docs/gpu.md` in CI.
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys

import pytest
from numba import cuda

from kestrel_cuda import launches, offline

EMPTY = offline.Report(*[0] * 4, 0.5, *[0] * 9)


@cuda.jit
def contracted(x, out):
    i = cuda.grid(1)
    out[i] = x[i] * x[i] + x[i + 1]


@cuda.jit
def divided(x, out):
    i = cuda.grid(1)
    out[i] = x[i] / x[i + 1]


def launch(kernel) -> launches.Launch:
    return launches.Launch(kernel.py_func.__name__, kernel, (launches.V1, launches.V1), 128)


def test_a_contracted_product_is_found():
    found = offline.report(launch(contracted), "90")
    assert found.ptx_fma == 1 and found.fused == 1
    assert "contracted" in offline.faults(launch(contracted), found)[0]


def test_the_inside_of_a_division_is_not_taken_for_one():
    assert "FFMA" in offline.assemble(offline.compile_ptx(launch(divided), "90"), "90")[0]
    assert not offline.faults(launch(divided), offline.report(launch(divided), "90"))


def test_a_product_of_four_rows_is_as_it_should_be():
    product = next(each for each in launches.launches() if each.name == "q4_rows[4]")
    found = offline.report(product, "120")
    assert not offline.faults(product, found)
    assert (found.dp4a, found.stream_loads, found.wide_loads) == (4 * 64, 9, 4 * 16)


def test_missing_loads_and_spills_are_faults():
    product = next(each for each in launches.launches() if each.name == "q8_rows[1]")
    assert len(offline.faults(product, EMPTY)) == 2
    assert "spilled" in offline.faults(product, offline.Report(255, 8, 16, 0, 0.1, 64, 16, 17, *[0] * 6))[0]


def test_a_last_block_needs_a_fence_on_either_side_of_its_count():
    product = next(each for each in launches.launches() if each.name == "q4_rows+norm[1]")
    good = dataclasses.replace(EMPTY, dp4a=64, stream_loads=17, counted=1, fences=2)
    assert not offline.faults(product, good)
    for broken in (dict(counted=0, fences=0), dict(fences=1)):
        assert "fences" in offline.faults(product, dataclasses.replace(good, **broken))[0]


@pytest.mark.parametrize(
    "threads, registers, shared, expected",
    [(128, 32, 0, 1.0), (256, 128, 0, 0.25), (1024, 64, 0, 0.5), (160, 40, 640, 0.78125)],
)
def test_occupancy(threads, registers, shared, expected):
    assert offline.occupancy(threads, registers, shared, "90") == expected


def test_the_tensor_cores_are_used():
    tiles = next(each for each in launches.launches() if each.name == "q4_tiles")
    assert "tensor cores" in offline.faults(tiles, EMPTY)[0]
    assert not offline.faults(tiles, dataclasses.replace(EMPTY, tensor=4))


def test_a_block_must_have_enough_registers():
    """544 threads of 138 do not fit into 65,536."""
    product = next(each for each in launches.launches() if each.name == "q4_rows[9], widest")
    assert offline.occupancy(product.threads, 138, product.shared, "80") == 0
    crowded = dataclasses.replace(EMPTY, registers=138, occupancy=0, dp4a=64, stream_loads=9)
    assert offline.faults(product, crowded) == ["138 registers: a block of 544 threads does not fit"]


KEYS = """
import numba.cuda
from types import SimpleNamespace
from kestrel_cuda import launches, offline
codegen = SimpleNamespace(magic_tuple=tuple)
for launch in launches.launches():
    print(launch.function._cache._index_key(launch.arguments, codegen)[2:])
"""


def test_a_later_start_finds_every_kernel_again():
    """Its key in the cache does not depend on the process, and is no other kernel's."""
    keys = []
    for seed in "12":
        environment = os.environ | {"PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", KEYS]
        keys.append(
            subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout
        )
    assert keys[0] == keys[1]
    each = keys[0].splitlines()
    assert len(each) == len(launches.launches())
    assert len(set(each)) == len({launch.function for launch in launches.launches()})
