"""Every kernel with the types and the launch of a typical call, for whoever compiles them without running them."""

from __future__ import annotations

from dataclasses import dataclass

from numba import types

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

ROW_COUNTS = (1, 4, 9)
PAIRS = (4, 6, 8)
"""(row, head) pairs that a block of the attention kernels takes together."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel, and the launch of a typical call: threads in a block, bytes of dynamic shared memory."""

    name: str
    function: object
    arguments: tuple
    threads: int
    shared: int = 0


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
