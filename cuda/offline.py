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

from kestrel_cuda import (
    attention,
    delta,
    finish,
    linear,
    ordered,
    packing,
    rows,
    sampling,
    settle,
    sorting,
    tiles,
)

ARCHITECTURES = ("80", "90", "120")
ROW_COUNTS = (1, 4, 9)
PAIRS = (4, 6, 8)
REGISTERS_PER_SM = 65536
THREADS_PER_SM = {"80": 2048, "90": 2048, "120": 1536}
BLOCKS_PER_SM = {"80": 32, "90": 32, "120": 24}
SHARED_PER_SM = {"80": 164 << 10, "90": 228 << 10, "120": 100 << 10}
SYSTEM_SHARED = 1024
"""Bytes of shared memory that the system takes in each block."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel, and the launch of a typical call: threads in a block, bytes of dynamic shared memory."""

    name: str
    function: object
    arguments: tuple
    threads: int
    shared: int = 0


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


# --- the kernels and their types --------------------------------------------------------------------------


def _array(item, dimensions: int):
    return types.Array(item, dimensions, "C")


def _floats(dimensions: int):
    return _array(types.float32, dimensions)


I8, U8, U16, I32 = (_array(t, 1) for t in (types.int8, types.uint8, types.uint16, types.int32))
TABLE = _array(types.uint16, 2)
N, F = types.int64, types.float32
"""A Python int of a launch; a float32."""
V1, V2, V3, V4 = (_floats(n) for n in (1, 2, 3, 4))
OPERAND = (N, N, I8, V1, V1)
WHERE = (I32, N, N)
HEADS = (V1, V1, F, V2, V2, *WHERE, V3, V4, V3)
NORM = (V1, F, N, N, I8, V1, V1, V2)


def launches() -> list[Launch]:
    """Every kernel, with the threads and shared memory it has on the 27B shape."""
    log = (V2, V3, V3)
    return [
        *_matrix_launches(),
        Launch("embed_rows", rows.embed_rows, (I32, N, TABLE, V2, V1, V2, V1, F, *OPERAND), 256, 4 * 5121),
        Launch("take_row", rows.take_row, (V2, I32, N, V2), 256),
        Launch("norm_rows", rows.norm_rows, (V2, *NORM), 256, 4 * 5121),
        Launch("operand_rows", rows.operand_rows, (V2, *OPERAND), 256),
        Launch("swiglu_rows", rows.swiglu_rows, (V2, *OPERAND), 256),
        Launch(
            "delta_rows",
            delta.delta_rows,
            (
                V3,
                V2,
                V2,
                V2,
                V2,
                types.UniTuple(V1, 2),
                *log,
                I32,
                N,
                N,
                F,
                V2,
                I32,
                V1,
                F,
                types.Tuple(OPERAND),
            ),
            128,
            4 * 4 * 290,
        ),
        Launch("attention_inputs", attention.attention_inputs, (V2, *HEADS), 256),
        *(
            Launch(f"scores_rows[{n}]", attention.make_scores(n), (V3, V4, F, *WHERE, N, V3, V2), 256)
            for n in PAIRS
        ),
        *(
            Launch(
                f"values_rows[{n}]",
                attention.make_values(n),
                (V3, V2, V3, *WHERE, N, N, V2, V3, V2, I32, types.Tuple(OPERAND)),
                256,
            )
            for n in PAIRS
        ),
        *_sampling_launches(),
    ]


def _sampling_launches() -> list[Launch]:
    bytes_, draws, places = _array(types.uint8, 1), (I32, I32, V1), _array(types.int32, 3)
    rows_, outcome = (V2, I32, I32), types.Tuple((I32, V1, V1, I32))
    seen, steps = (*rows_, bytes_, I32, N), (*rows_, I32, N, N)
    found = (*seen, N, *draws, N, V3, V3, places, I32)
    chosen = (*steps, N, *draws, N, V3, places, outcome, I32)
    entries, tile = _array(types.int64, 2), 8 * 4 * sorting.DIGITS
    sorted_ = (*steps, *draws, entries, outcome, I32)
    return [
        Launch("begin_round", settle.begin_round, (I32, I32), 32),
        Launch("find_candidates", sampling.find_candidates, found, 256, 4 * 1940),
        Launch("choose_tokens", sampling.choose_tokens, chosen, 256, 4 * 128 * sampling.MOST_TOP_K),
        Launch("make_entries", ordered.make_entries, (*seen, V1, entries, I32), 256),
        Launch("count_digits", sorting.count_digits, (entries, N, N, places), 256),
        Launch("move_entries", sorting.move_entries, (entries, entries, N, N, places), 256, tile),
        Launch("choose_ordered", ordered.choose_ordered, sorted_, 1024, 4 * 1024),
        Launch("log_sum_exp", sampling.log_sum_exp, (V2, V1), 1024, 4 * 1024),
        Launch("settle", settle.settle, (N, N, I32, I32, V2, I32, I32, V2, bytes_), 1024),
    ]


ONE = types.UniTuple(N, 1)
WIDEST = 544
"""Threads of a block of the 27B's product down."""
ENDINGS = {
    "norm": (finish.finish_norm, types.Tuple((I32, *NORM)), 4 * finish.STAGED),
    "swiglu": (finish.finish_swiglu, types.Tuple((I32, *OPERAND)), 0),
    "heads": (finish.finish_heads, types.Tuple((I32, *HEADS)), 0),
}
"""What follows a product in its last block: the function, the types of `extra`, bytes of shared memory."""


def _matrix_launches() -> list[Launch]:
    pack = (TABLE, U8, U16, N, N)
    packing_ = [
        Launch(kernel.py_func.__name__, kernel, pack, 256) for kernel in packing.PACK_KERNELS.values()
    ]
    products = [
        _product(format, count, "", linear.finish_nothing, ONE, 0)
        for format in linear.ITEMS
        for count in ROW_COUNTS
    ]
    endings = [
        _product("q4", count, f"+{name}", *ending)
        for name, ending in ENDINGS.items()
        for count in ((1, 4) if name == "norm" else ROW_COUNTS)
    ]
    two = (U8, U16, I8, V1, V2, U8, V1, V2, N, N, N)
    twos = [
        Launch(f"q4_two_rows[{n}]", linear.make_two_rows("q4", n), two, 160, 4 * 160 * n) for n in ROW_COUNTS
    ]
    for count, *ending in ((4, "+norm", *ENDINGS["norm"]), (9, "", linear.finish_nothing, ONE, 0)):
        products += [_product(f, count, *ending, WIDEST) for f in ("q4", "q8")]
    wide = (U8, U16, I8, V1, V2, N, N, N)
    on_tensor_cores = [Launch(f"{f}_tiles", tiles.make_tiles(f), wide, 128) for f in tiles.WORDS]
    return [*packing_, *products, *endings, *twos, *on_tensor_cores]


def _product(format: str, count: int, suffix: str, ending, extra, shared: int, threads: int = 160) -> Launch:
    x = V1 if format == "bf16" else I8
    return Launch(
        f"{format}_rows{suffix}[{count}]{', widest' * (threads == WIDEST)}",
        linear.make_rows(format, count, ending),
        (U8, U16, x, V1, V2, N, N, N, extra),
        threads,
        max(4 * threads * count, shared),
    )


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
