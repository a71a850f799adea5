"""What launches, products and rounds take on a card (prove.py). With `dry` a few pieces, for the simulator."""

from __future__ import annotations

import time
from functools import partial
from types import SimpleNamespace

import numpy as np

from kestrel_cuda import cost
from kestrel_cuda.cursor import COMMIT
from kestrel_cuda.memory import Memory
from kestrel_cuda.model import CudaModel
from kestrel_cuda.operations import WIDE_SIZES, Operations
from kestrel_cuda.sampling import GREEDY, ORDERED
from kestrel_cuda.settings import setting_arrays
from kestrel_cuda.target import SIMULATOR
from kestrel_engine.options import SamplingOptions

ACCEPTANCES = (0.5, 0.7, 0.9)
DRAFTS = (0, 1, 2, 3, 4, 6, 8)


def seconds_of(memory: Memory, work, repeats: int) -> float:
    """Seconds that `work` takes as a replayed graph."""
    work()
    replay = memory.capture(work)
    replay()
    begin = memory.mark()
    for _ in range(repeats):
        replay()
    end = memory.mark()
    memory.zeros((1,), np.int32).host()  # everything is done
    return (end() - begin()) / repeats


def launches(operations: Operations, dry: bool) -> dict:
    """Microseconds from one small kernel to the next: launched one by one, and in a graph."""
    memory, count = operations.memory, 3 if dry else 200
    source, out = memory.zeros((1, 32), np.float32), memory.zeros((1, 32), np.float32)
    cursor = memory.zeros((8,), np.int32)

    def work() -> None:
        for _ in range(count):
            operations.take_row(source, cursor, 0, out)

    work()
    start = time.perf_counter()
    work()
    out.host()
    one_by_one = (time.perf_counter() - start) / count
    in_graph = seconds_of(memory, work, 1 if dry else 20) / count
    return {"one by one, us": 1e6 * one_by_one, "in a graph, us": 1e6 * in_graph}


def random_matrix(maker, rows: int, width: int, format: str | None = None):
    matrix = maker.operations.empty_matrix(rows, width, format or maker.format)
    if not SIMULATOR:
        matrix.weights.owner.random_(0, 256)
        if matrix.format != "bf16":
            matrix.scales.owner.fill_(0x3C00)
        else:
            matrix.weights.owner.bitwise_and_(0x3F)
    return matrix


class RandomMaker(cost._Maker):
    """Weights of a shape, made on the card."""

    matrix = random_matrix

    def vector(self, *size: int, dtype=np.float32):
        return self.operations.memory.zeros(size, dtype)


def bandwidth(operations: Operations, dry: bool) -> dict:
    """GB/s of each product of the 27B, enough copies to be beyond every cache."""
    memory, out = operations.memory, {}
    shapes = {"tiny": (64, 32)} if dry else {"gate and up": (34816, 5120), "down": (5120, 17408)}
    for name, (rows, width) in shapes.items():
        for format in ("q4",) if dry else ("q4", "q8"):
            maker = RandomMaker(operations, None, format)
            copies = [maker.matrix(rows, width) for _ in range(1 if dry else 4)]
            x = operations.operand(9, width, {format})
            for count in (2,) if dry else (1, 4, 9):
                y = memory.zeros((9, rows), np.float32)

                def work(copies=copies, x=x, y=y, count=count) -> None:
                    for matrix in copies:
                        operations.matmul(x, count, matrix, y)

                seconds = seconds_of(memory, work, 1 if dry else 20) / len(copies)
                out[f"{name}, {format}, {count} rows"] = copies[0].layout.bytes(format) / seconds / 1e9
    return out


def rounds(operations: Operations, config, format: str, dry: bool) -> dict:
    """Milliseconds of a round for each draft length, and per token for scripted acceptances."""
    context = 64 if dry else 4096
    maker = RandomMaker(operations, config, format)
    model = CudaModel(config, maker.weights(), None, context, operations)
    state = model.new_state()
    drafted = min(cost.DRAFT_ROWS, config.vocab_size - 1)
    head = SimpleNamespace(
        ids=np.arange(drafted), added=[], format="q4", matrix=maker.matrix(drafted, config.hidden_size, "q4")
    )
    there = model.rounds._on_device(head)
    integers, reals = setting_arrays(SamplingOptions(temperature=1, top_p=0.95))
    model.post.put("integers", integers.tolist())
    model.post.put("reals", reals.tolist())
    start, out, ordered = 0 if dry else context // 2, {}, {}
    for drafts in (1,) if dry else DRAFTS:
        model.post.put("cursor", [start, 0, 1, start, 0, start])  # from there on it moves by itself
        model.post.send()

        def work(drafts=drafts, mode=GREEDY) -> None:
            head = there if drafts else None
            model.rounds.launch(state, drafts + 1, head, drafts + 1 if drafts else 0, mode)

        out[drafts] = 1e3 * seconds_of(operations.memory, work, 1 if dry else 10)
        if not dry:
            ordered[drafts] = 1e3 * seconds_of(operations.memory, partial(work, mode=ORDERED), 10)
    wide = max(WIDE_SIZES)
    model.post.put("cursor", [wide], COMMIT)
    model.post.send()
    prefill = 1e3 * seconds_of(operations.memory, lambda: model.wide.trunk(state, wide), 1 if dry else 5)
    tokens = {a: {k: sum(a**i for i in range(k + 1)) for k in out} for a in ACCEPTANCES}
    per_token = {f"acceptance {a}": {k: out[k] / tokens[a][k] for k in out} for a in ACCEPTANCES}
    return {
        "round, ms": out,
        "round that sorts, ms": ordered,
        "token, ms": per_token,
        f"prefill of {wide} rows, ms": prefill,
    }


def expected(name: str, format: str, card: str) -> dict:
    """What the byte model says of the same rounds, where it knows the card."""
    known = next((each for each in cost.BANDWIDTH if each in card), None)
    costs = {k: cost.Shape(name, format, 2048).round(k) for k in (0, 3)}
    counts = {k: [each.bytes, each.launches] for k, each in costs.items()}
    times = {k: [each.floor_ms(known), each.estimate_ms(known)] for k, each in costs.items()} if known else {}
    return {"bytes, launches": counts, "floor, estimate, ms": times}
