"""Faults planted in the kernels, each of which a check of checks.py must report: one JSON line each,
{"name", "error"}. Meant for the CUDA simulator: NUMBA_ENABLE_CUDASIM=1 python tests/gpu/faults.py [names…]
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import unittest.mock  # noqa: F401  the parent imports what takes long, the children what differs
from pathlib import Path

import numba.cuda  # noqa: F401

import kestrel_engine.reference
import kestrel_engine.sampling  # noqa: F401

FAULTS = {
    "segments added backwards": (
        "linear",
        "range(place * segments, (place + 1) * segments)",
        "range((place + 1) * segments - 1, place * segments - 1, -1)",
        "q4 product, 3 x 544 -> 5, added",
    ),
    "no barrier before the segments are added": (
        "linear",
        "    cuda.syncthreads()\n    for place in",
        "    for place in",
        "q4 product, 3 x 544 -> 5, added",
    ),
    "scales multiplied with each other first": (
        "linear",
        "mul(mul(np.float32(dot), scale), x_scale)",
        "mul(np.float32(dot), mul(scale, x_scale))",
        "q8 product, 9 x 64 -> 7",
    ),
    "a nibble's sign lost": (
        "linear",
        "np.float32(dot >> np.int32(4))",
        "np.float32(abs(dot) >> np.int32(4))",
        "q4 product, 9 x 64 -> 7",
    ),
    "half of a tensor core's rows read twice": (
        "tiles",
        "a1, a3 = words(weights, item1, block, t)",
        "a1, a3 = words(weights, item0, block, t)",
        "q4 tiles, 9 x 32 -> 19, added",
    ),
    "halves rounded up": (
        "functions",
        "return (x + ROUNDER) - ROUNDER",
        "return np.float32(np.floor(x + HALF))",
        "halves",
    ),
    "a norm by the last block but one": (
        "finish",
        "arrive(counters, 0, 1, cuda.gridDim.x)",
        "arrive(counters, 0, 1, cuda.gridDim.x - 1)",
        "norm behind a product",
    ),
    "the block with the highest number taken for the last": (
        "finish",
        "if arrive(counters, 0, 1, cuda.gridDim.x):",
        "if cuda.blockIdx.x == cuda.gridDim.x - 1:",
        "norm behind a product",
    ),
    "a counter left full": ("arrival", "counters[place] = 0", "pass", "SwiGLU behind wide tiles"),
    "a block's share counted twice": (
        "finish",
        "min(tile_rows, BLOCK), 2 * BLOCK",
        "min(tile_rows, BLOCK), BLOCK",
        "SwiGLU behind wide tiles",
    ),
    "raw rows in the ring one further": (
        "delta",
        "slot = (position + m) % ring.shape[0]",
        "slot = (position + m + 1) % ring.shape[0]",
        "delta, first token",
    ),
    "the convolution misses the first token": (
        "delta",
        "elif position + source >= 0:",
        "elif position + source > 0:",
        "delta, all rows committed",
    ),
    "a record of the log forgotten": (
        "delta",
        "cursor[LOG_LENGTH] if offset == 0 else 0",
        "cursor[LOG_LENGTH] - 1 if offset == 0 else 0",
        "delta, all rows committed",
    ),
    "the log applied to every part of a pass": (
        "delta",
        "cursor[LOG_LENGTH] if offset == 0 else 0",
        "cursor[LOG_LENGTH]",
        "delta, further rows of a pass",
    ),
    "a part of a pass not in the state": (
        "delta",
        "min(cursor[COMMIT] - offset, rows)",
        "cursor[COMMIT] - offset",
        "delta, further rows of a pass",
    ),
    "speculative rows in the state": (
        "delta",
        "if m == commit - 1:",
        "if m == rows - 1:",
        "delta, a round behind a replay",
    ),
    "decay after the update in the replay": (
        "delta",
        "mul(entries[i], gain) + added",
        "mul(entries[i] + added, gain)",
        "delta, all rows committed",
    ),
    "no barrier before the rows": (
        "delta",
        "    cuda.syncthreads()\n\n    for m in range(rows):",
        "    for m in range(rows):",
        "delta, first token",
    ),
    "a row does not see itself": (
        "attention",
        "at <= position + pair // shared:\n                    score",
        "at < position + pair // shared:\n                    score",
        "attention, across segments",
    ),
    "keys one position further": (
        "attention",
        "keys[head, at // KEY_BLOCK, i, at % KEY_BLOCK]",
        "keys[head, at // KEY_BLOCK, i, (at + 1) % KEY_BLOCK]",
        "attention, first token",
    ),
    "a segment's first position forgotten": (
        "attention",
        "segment * SEGMENT <= position +",
        "segment * SEGMENT < position +",
        "attention, across segments",
    ),
    "a tie goes to the highest id": (
        "sampling",
        "if values[i] > best:\n                best, entry = values[i], np.int32(first + i)",
        "if values[i] >= best:\n                best, entry = values[i], np.int32(first + i)",
        "greedy, with ties",
    ),
    "penalties miss the newest draft": (
        "sampling",
        "range(1, step + 1)",
        "range(1, step)",
        "greedy with penalties",
    ),
    "position and token exchanged in the noise": (
        "sampling",
        "np.uint64(token), np.uint64(position), np.uint64(0)",
        "np.uint64(position), np.uint64(token), np.uint64(0)",
        "temperature",
    ),
    "the noise of a draft's place for that of its token": (
        "sampling",
        "token = token_of(ids, first + i)",
        "token = np.int32(first + i)",
        "draft rows with ids, min p",
    ),
    "entries taken for places": (
        "sampling",
        "logit = logits[m, place_of(places, entry)]",
        "logit = logits[m, entry]",
        "draft rows with ids",
    ),
    "min-p of a chunk's best": (
        "sampling",
        "for other in range(cuda.gridDim.x):",
        "for other in range(cuda.blockIdx.x, cuda.blockIdx.x + 1):",
        "min p keeps the best alone",
    ),
    "min-p without those that just reach it": (
        "sampling",
        "exp(value - top) < reals[MIN_P]",
        "exp(value - top) <= reals[MIN_P]",
        "min p keeps ties of the best",
    ),
    "minus infinity taken for damage": (
        "sampling",
        "if not logit <= HIGHEST:",
        "if not abs(logit) <= HIGHEST:",
        "damaged logits, top p",
    ),
    "a digit of the key left out": (
        "sorting",
        "SHIFTS = (32, 40, 48, 56)",
        "SHIFTS = (32, 40, 40, 56)",
        "sort, different keys",
    ),
    "zeros of both signs apart": (
        "sorting",
        "if bits == NEGATIVE_ZERO:",
        "if False:",
        "top p keeps a few of many",
    ),
    "entries of a digit backwards": (
        "sorting",
        "moved[m, target + rank]",
        "moved[m, target + count - 1 - rank]",
        "sort, few keys",
    ),
    "tiles before a tile forgotten": (
        "sorting",
        "for tile_ in range(cuda.blockIdx.x):",
        "for tile_ in range(0):",
        "sort, different keys",
    ),
    "warps in the wrong order": (
        "sorting",
        "for warp in range(warps):\n            count",
        "for warp in range(warps - 1, -1, -1):\n            count",
        "sort, different keys",
    ),
    "a sum that ends with its first tile": (
        "ordered",
        "if changed[0] == ZERO:",
        "if changed[0] == ONE:",
        "top p, flat",
    ),
    "top-p without the one that reaches it": (
        "ordered",
        "else below + 1",
        "else below",
        "top p keeps a few of many",
    ),
    "a tie of noisy entries to the more likely": (
        "ordered",
        "noisy == best and entry < best_entry",
        "noisy == best and entry > best_entry",
        "noisy ties",
    ),
    "a draft judged by its own row": (
        "settle",
        "chosen[right] == tokens[1 + right]",
        "chosen[1 + right] == tokens[1 + right]",
        "settle, one pair waiting",
    ),
    "the next round one position early": (
        "settle",
        "cursor[POSITION] = position + 1 + right",
        "cursor[POSITION] = position + right",
        "settle what the head has drafted",
    ),
    "rows of pairs over those that wait": (
        "settle",
        "pair_hidden[first + m, k] = hidden[m, k]",
        "pair_hidden[m, k] = hidden[m, k]",
        "settle, one pair waiting",
    ),
    "more pairs than there is room for": (
        "settle",
        "            if first + m < room:\n                pair_tokens",
        "            if first + m <= room:\n                pair_tokens",
        "settle, hardly room for pairs",
    ),
}
"""Name -> (module of kestrel_cuda, its source, the faulty source, the check that must report it)."""


def plant(module: str, right: str, wrong: str) -> None:
    """Load a module with a fault, before anything imports it."""
    spec = importlib.util.find_spec(f"kestrel_cuda.{module}")
    source = Path(spec.origin).read_text()
    assert source.count(right) == 1, f"{module}: {source.count(right)} times: {right}"
    loaded = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    exec(compile(source.replace(right, wrong), spec.origin, "exec"), loaded.__dict__)


def found(module: str, right: str, wrong: str, check: str) -> str | None:
    """What the check says of the planted fault."""
    plant(module, right, wrong)
    import checks

    from kestrel_cuda.memory import make_memory
    from kestrel_cuda.operations import Operations

    function, arguments = checks.SMALL[check]
    try:
        function(Operations(make_memory()), **arguments)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def main(names: list[str]) -> None:
    for name, fault in FAULTS.items():
        if names and name not in names:
            continue
        child = os.fork()
        if child == 0:
            print(json.dumps({"name": name, "error": found(*fault)}), flush=True)
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            print(json.dumps({"name": name, "error": "the check itself broke"}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
