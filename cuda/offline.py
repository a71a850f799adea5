"""Compile every kernel without a GPU and check what the compilers made of it.

PTX by NVVM, SASS by ptxas and nvdisasm (wheels nvidia-cuda-nvcc and nvidia-cuda-nvdisasm). Checked: no local
memory, no spills, 16-byte weight loads and dp4a where they belong, and no contracted multiply-add.

`python -m kestrel_cuda.offline write docs/gpu.md` writes the table into the document, `check` compares.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from numba import cuda, types

from kestrel_cuda import tiles
from kestrel_cuda.launches import ROW_COUNTS, Launch, launches

ARCHITECTURES = ("80", "90", "120")
REGISTERS_PER_SM = 65536
THREADS_PER_SM = {"80": 2048, "90": 2048, "120": 1536}
BLOCKS_PER_SM = {"80": 32, "90": 32, "120": 24}
SHARED_PER_SM = {"80": 164 << 10, "90": 228 << 10, "120": 100 << 10}
SYSTEM_SHARED = 1024
"""Bytes of shared memory that the system takes in each block."""


@dataclass(frozen=True, slots=True)
class Report:
    """What the compilers say of one kernel on one architecture."""

    registers: int
    local_bytes: int
    spill_bytes: int
    shared_bytes: int
    occupancy: float
    dp4a: int
    wide_loads: int
    stream_loads: int
    ptx_fma: int
    unrounded: int
    """Float additions after products without a rounding mode: they could be contracted."""
    fused: int
    """FFMA in the SASS beyond those of divisions and square roots."""
    counted: int
    """Atomic additions: a block counts itself in (arrival.py)."""
    fences: int
    """Fences over the whole device."""
    tensor: int
    """Integer products on the tensor cores (IMMA)."""


# --- compiling --------------------------------------------------------------------------------------------


@functools.cache
def tool(name: str) -> str:
    """Path of ptxas or nvdisasm: of the installed wheels, else of the search path."""
    found = importlib.util.find_spec("nvidia")
    for folder in found.submodule_search_locations if found else ():
        for path in sorted(Path(folder).glob(f"**/bin/{name}")):
            return str(path)
    path = shutil.which(name)
    if path is None:
        raise FileNotFoundError(f"{name} is missing: pip install 'kestrel-chat[test]'")
    return path


def compile_ptx(launch: Launch, architecture: str) -> str:
    """PTX of a kernel. Numba asks the current device for its architecture: there is none here."""
    capability = (int(architecture[:-1]), int(architecture[-1]))
    device = SimpleNamespace(compute_capability=capability)
    with mock.patch("numba.cuda.dispatcher.get_current_device", return_value=device):
        ptx, _ = cuda.compile_ptx(launch.function.py_func, types.void(*launch.arguments), cc=capability)
    return ptx


def assemble(ptx: str, architecture: str) -> tuple[str, str]:
    """-> SASS, and what ptxas says about registers and memory."""
    with tempfile.TemporaryDirectory() as folder:
        source, binary = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(ptx)
        command = [tool("ptxas"), "-v", f"-arch=sm_{architecture}", str(source), "-o", str(binary)]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
        command = [tool("nvdisasm"), "-c", str(binary)]
        sass = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return sass, said


DIVISION = re.compile(r"div\.rn\.f32\s+(%\w+), ")
INVERSE = re.compile(r"(?:rcp|sqrt)\.rn\.f32\s+(%\w+), (%\w+);")


def without_divisions(ptx: str) -> str:
    """The same program with an addition for each division and square root, whose own SASS is made of FFMA."""
    return INVERSE.sub(r"add.rn.f32 \1, \2, \2;", DIVISION.sub(r"add.rn.f32 \1, ", ptx))


def _number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    return int(found[1]) if found else 0


def report(launch: Launch, architecture: str) -> Report:
    """Compile a kernel for one architecture and read what came out."""
    ptx = compile_ptx(launch, architecture)
    sass, said = assemble(ptx, architecture)
    bare = sass
    if "FFMA" in sass:
        bare, _ = assemble(without_divisions(ptx), architecture)
    registers = _number(r"Used (\d+) registers", said)
    shared = _number(r"(\d+) bytes smem", said)
    return Report(
        registers=registers,
        local_bytes=_number(r"(\d+) bytes stack frame", said),
        spill_bytes=_number(r"(\d+) bytes spill stores", said) + _number(r"(\d+) bytes spill loads", said),
        shared_bytes=shared,
        occupancy=occupancy(launch.threads, registers, shared + launch.shared, architecture),
        dp4a=len(re.findall(r"\bIDP\.4A", sass)),
        wide_loads=len(re.findall(r"\bLDG\.E\.128", sass)),
        stream_loads=len(re.findall(r"\bLDG\.E\.NA\.128", sass)),
        ptx_fma=len(re.findall(r"\bfma\.", ptx)),
        unrounded=len(re.findall(r"\bmul\.f32\b", ptx)),
        fused=len(re.findall(r"\bFFMA", bare)),
        counted=len(re.findall(r"\bATOMG?\.E\.ADD", sass)),
        fences=len(re.findall(r"\bMEMBAR\.\w+\.GPU", sass)),
        tensor=len(re.findall(r"\bIMMA\.16832\.S8\.S8", sass)),
    )


def occupancy(threads: int, registers: int, shared: int, architecture: str) -> float:
    """Resident warps of an SM, of those it can hold (CUDA C++ programming guide, compute capabilities)."""
    warps = -(-threads // 32)
    by_registers = REGISTERS_PER_SM // (-(-registers * 32 // 256) * 256 * warps)
    by_shared = SHARED_PER_SM[architecture] // (shared + SYSTEM_SHARED)
    by_threads = THREADS_PER_SM[architecture] // (warps * 32)
    blocks = min(by_registers, by_shared, by_threads, BLOCKS_PER_SM[architecture])
    return blocks * warps * 32 / THREADS_PER_SM[architecture]


# --- the table --------------------------------------------------------------------------------------------

LEAST_STREAMS = {"q4": 9, "q8": 17, "bf16": 1}
"""16-byte weight loads in the code of a product: every load of an item is there where the loop is unrolled."""


LAST_BLOCKS = ("delta_rows", "values_rows")
"""Kernels beside products whose last block goes on with what the others have written."""


def faults(launch: Launch, found: Report) -> list[str]:
    """What is wrong with a compiled kernel."""
    wrong = []
    if found.local_bytes or found.spill_bytes:
        wrong.append(f"{found.local_bytes} bytes of local memory, {found.spill_bytes} spilled")
    if not found.occupancy:
        wrong.append(f"{found.registers} registers: a block of {launch.threads} threads does not fit")
    if found.ptx_fma or found.fused or found.unrounded:
        wrong.append(
            f"contracted: {found.ptx_fma} fma, {found.fused} FFMA, {found.unrounded} mul without .rn"
        )
    has_last_block = "+" in launch.name or launch.name.startswith(LAST_BLOCKS)
    if has_last_block and (found.counted < 1 or found.fences < 2 * found.counted):
        wrong.append(f"{found.counted} counts of blocks, {found.fences} fences: one is needed on either side")
    if launch.name.endswith("_tiles") and found.tensor < tiles.COLUMN_TILES:
        wrong.append(f"only {found.tensor} products on the tensor cores")
    format = launch.name.partition("_")[0]
    if "[" in launch.name and format in LEAST_STREAMS:
        unrolled = format == "bf16" or f"[{ROW_COUNTS[-1]}]" not in launch.name
        if found.stream_loads < (LEAST_STREAMS[format] if unrolled else 1):
            wrong.append(f"only {found.stream_loads} wide weight loads")
        if format != "bf16" and found.dp4a < 64:
            wrong.append(f"only {found.dp4a} dp4a")
    return wrong


HEADER = (
    "| kernel | threads | registers (occupancy) sm_80 | sm_90 | sm_120 | 16-byte loads | dp4a, IMMA |\n"
    "|---|--:|--:|--:|--:|--:|--:|"
)


def table_row(launch: Launch, reports: dict[str, Report]) -> str:
    cells = [f"{r.registers} ({100 * r.occupancy:.0f} %)" for r in reports.values()]
    last = list(reports.values())[-1]
    loads, integers = last.wide_loads + last.stream_loads, last.dp4a or last.tensor
    return f"| `{launch.name}` | {launch.threads} | {' | '.join(cells)} | {loads or ''} | {integers or ''} |"


def compile_row(name: str) -> tuple[str, list[str]]:
    """-> the table's row of a kernel, and its faults on every architecture."""
    launch = next(each for each in launches() if each.name == name)
    reports = {architecture: report(launch, architecture) for architecture in ARCHITECTURES}
    wrong = [f"{name} on sm_{a}: {fault}" for a, r in reports.items() for fault in faults(launch, r)]
    return table_row(launch, reports), wrong


BEGIN, END = "<!-- kernels: python -m kestrel_cuda.offline write -->", "<!-- end of kernels -->"


def main(arguments: Iterable[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="kestrel_cuda.offline", description="Compile every kernel; the table of a document."
    )
    parser.add_argument("mode", choices=("write", "check"))
    parser.add_argument("path", type=Path, help="a document with the marks of the table")
    options = parser.parse_args(list(arguments))
    mode, path = options.mode, options.path
    text = path.read_text() if path.is_file() else ""
    if BEGIN not in text or END not in text:
        parser.error(f"{path} has no marks for the table: {BEGIN} and {END}")
    before, rest = text.split(BEGIN, 1)
    old, after = rest.split(END, 1)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        rows = list(pool.map(compile_row, [launch.name for launch in launches()]))
    wrong = [fault for _, faults in rows for fault in faults]
    new = "\n" + "\n".join([HEADER, *(row for row, _ in rows)]) + "\n"
    if mode == "write":
        path.write_text(before + BEGIN + new + END + after)
    elif new != old:
        wrong += [f"{path}: out of date: {line}" for line in new.splitlines() if line not in old.splitlines()]
    print(
        "\n".join(wrong) or f"{len(rows)} kernels, {len(ARCHITECTURES)} architectures: all as they should be"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
