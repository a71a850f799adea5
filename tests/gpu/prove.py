# ruff: noqa: E402
"""Prove and measure the GPU backend on a card: one run, one JSON.

    python tests/gpu/prove.py OUT.json [--seconds 420]

1. every kernel compiled, by several processes at once;
2. every kernel bit-equal to the numpy reference, on small odd shapes and on a 27B's widths; last blocks that come
   to the same result hundreds of times;
3. whole answers equal to the CPU's, greedy and sampled, with 0 to 8 drafts a round and toggled; rounds that go on
   from the device's own cursors, or have to be told where they stand, with all that the state remembers;
4. what a launch costs, alone and replayed in a graph; the bandwidth that each kernel reaches;
5. milliseconds of rounds on the 0.8B, 4B and 27B shapes in q4 and q8, weights random and made on the card, per
   token for scripted acceptances, and of a wide chunk of a prompt, beside the byte model's.

A part that does not fit into the time is left out and says so. `NUMBA_ENABLE_CUDASIM=1 … --dry` runs a few
pieces of everything in the simulator, so that the script itself is known to work.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import traceback
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1])]

import checkpoints
import checks
import generate
import measure
import models
import turns
from checks_wide import WIDE

from kestrel_cuda import cost
from kestrel_cuda.backend import CudaBackend
from kestrel_cuda.cursor import round_cursor
from kestrel_cuda.memory import make_memory
from kestrel_cuda.model import CudaModel
from kestrel_cuda.operations import Operations
from kestrel_cuda.target import SIMULATOR
from kestrel_cuda.warm import make_works
from kestrel_engine.options import SamplingOptions

MODELS = (("27B", "q4"), ("4B", "q4"), ("0.8B", "q4"), ("27B", "q8"), ("0.8B", "q8"), ("4B", "q8"))
COMPILE_SECONDS = 120
SHARES = 4
"""Processes that compile the kernels of one format."""
TINY = replace(
    cost.SHAPES["0.8B"],
    hidden_size=32,
    num_hidden_layers=2,
    layer_types=cost.SHAPES["0.8B"].layer_types[2:4],
    intermediate_size=32,
    vocab_size=64,
    num_attention_heads=1,
    num_key_value_heads=1,
    head_dim=32,
    rotary_dim=8,
    linear_num_key_heads=1,
    linear_num_value_heads=1,
    linear_key_head_dim=32,
    linear_value_head_dim=32,
)


class Proof:
    """Runs parts within a time limit and keeps what they found in a JSON file, after each of them."""

    def __init__(self, path: Path, seconds: float, dry: bool):
        self.path, self.end, self.dry = path, time.monotonic() + seconds, dry
        self.found: dict = {"dry": dry, "environment": environment()}

    def part(self, name: str, work) -> None:
        if time.monotonic() > self.end:
            self.found[name] = "left out: no time"
        else:
            start = time.monotonic()
            try:
                self.found[name] = work()
            except Exception:
                self.found[name] = {"error": traceback.format_exc(limit=6)}
            self.found.setdefault("seconds", {})[name] = round(time.monotonic() - start, 1)
        self.path.write_text(json.dumps(self.found, indent=1))


def environment() -> dict:
    import numba
    import numba_cuda

    versions = {"numba": numba.__version__, "numba-cuda": numba_cuda.__version__}
    if SIMULATOR:
        return versions | {"card": "simulator"}
    import torch

    return versions | {
        "card": torch.cuda.get_device_name(),
        "capability": torch.cuda.get_device_capability(),
        "torch": torch.__version__,
        "CUDA": torch.version.cuda,
    }


def precompile() -> dict:
    """Compile into numba's cache, in several processes at once: one after the other it would take minutes."""
    script = [sys.executable, __file__, "unused", "--compile"]
    shares = [(format, str(n)) for format in ("q4", "q8", "bf16") for n in range(SHARES)]
    running = [subprocess.Popen([*script, *share], stderr=subprocess.PIPE, text=True) for share in shares]
    errors, late = {}, []
    end = time.monotonic() + COMPILE_SECONDS
    for share, process in zip(shares, running, strict=True):
        try:
            said = process.communicate(timeout=max(0.1, end - time.monotonic()))[1]
        except subprocess.TimeoutExpired:
            process.kill()  # what is missing is compiled when it is needed
            late.append(" ".join(share))
            continue
        if process.returncode:
            errors[" ".join(share)] = said[-1000:]
    return {"processes": len(shares), "late": late, "wrong": errors}


def compile_share(format: str, share: int) -> None:
    operations = Operations(make_memory())
    model = CudaModel(TINY, measure.RandomMaker(operations, TINY, format).weights(), None, 256, operations)
    for work in make_works(model, model.make_state(128))[share::SHARES]:
        model.post.put("cursor", round_cursor(1, 0, 0))  # where all that they read is there
        model.post.send()
        with model.post.moving():
            work()
    operations.memory.wait()


# --- bits -------------------------------------------------------------------------------------------------


def kernels(operations: Operations, which: dict) -> dict:
    wrong = {}
    for name, (check, arguments) in which.items():
        try:
            check(operations, **arguments)
        except Exception as error:
            wrong[name] = f"{type(error).__name__}: {error}"
    return {"checked": len(which), "wrong": wrong}


def repeats(operations: Operations, dry: bool) -> dict:
    """How often the norm and SwiGLU behind a 27B's products come out with other bits than the first time."""
    memory, maker, wrong = operations.memory, measure.RandomMaker(operations, None, "q4"), {}
    hidden, inner, count, times = (64, 32, 1, 2) if dry else (5120, 17408, 4, 300)
    x, scale = memory.upload(checks.draw(1, count, hidden)), memory.upload(checks.draw(2, hidden))
    operand, normed = (operations.operand(count, hidden, {"q4"}) for _ in range(2))
    activated, gate_up = (
        operations.operand(count, inner, {"q4"}),
        memory.empty((count, 2 * inner), np.float32),
    )
    operations.to_operand(x, count, operand)
    square, gates, out = (
        maker.matrix(hidden, hidden),
        maker.matrix(2 * inner, hidden),
        memory.empty(x.shape, np.float32),
    )
    works = {
        "norm": (
            normed,
            lambda: operations.matmul_norm(operand, count, square, out, False, scale, 1e-6, normed),
        ),
        "SwiGLU": (
            activated,
            lambda: operations.matmul_swiglu(operand, count, gates, gate_up, activated),
        ),
    }
    for name, (result, work) in works.items():
        work()
        first = result.values.host(), result.scales.host()
        other = 0
        for _ in range(times):
            work()
            now = result.values.host(), result.scales.host()
            other += not all(np.array_equal(a, b, equal_nan=True) for a, b in zip(first, now, strict=True))
        if other:
            wrong[name] = f"{other} of {times}"
    return {"times": times, "wrong": wrong}


def answers(dry: bool) -> dict:
    """The CPU's plain answer is the truth for every draft length and for toggling."""
    options = dict(generate.SHAPE) if dry else {"num_hidden_layers": 8}
    samplings = {
        "greedy": SamplingOptions(),
        "sampled": SamplingOptions(temperature=0.8, top_k=20, seed=3),
        "min-p": SamplingOptions(temperature=1.1, min_p=0.05, seed=4),
        "top-p": SamplingOptions(temperature=0.9, top_p=0.9, seed=5),
    }
    lengths = (
        {"2": [2]} if dry else {str(k): [k] * 12 for k in range(9)} | {"toggled": [3, 0, 8, 1, 0, 2] * 3}
    )
    wrong, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for echo in (False,) if dry else (False, True):
            path = checkpoints.write_checkpoint(
                Path(folder, str(echo)), tokenizer=False, echo=echo, **options
            )
            for format in ("q4",) if dry else ("bf16", "q8", "q4"):
                cpu, gpu = models.load(path, format), models.load(path, format, CudaBackend())
                prompt = models.random_tokens(cpu, 3 if dry else 40)
                for name, sampling in samplings.items() if not dry else [("greedy", SamplingOptions())]:
                    few = {name: lengths[name] for name in ("0", "3", "toggled") if name in lengths}
                    for length, rounds in (lengths if dry or format == "q4" else few).items():
                        both = [generate.answer(model, prompt, sampling, rounds) for model in (cpu, gpu)]
                        count += 1
                        if both[0] != both[1]:
                            wrong.append([echo, format, name, length])
    return {"answers": count, "wrong": wrong}


def chats(dry: bool) -> dict:
    """The steps of turns.py whose outcome or state is not the CPU's, or which sent something else than expected."""
    wrong, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for name, (format, echo, sampling, steps) in list(turns.CASES.items())[-1 if dry else 0 :]:
            path = checkpoints.write_checkpoint(
                Path(folder, name), tokenizer=False, echo=echo, **generate.SHAPE
            )
            cpu, gpu = (models.load(path, format, b, context=64) for b in (None, CudaBackend()))
            steps = steps[:3] if dry else steps
            expected, _ = turns.play(cpu, cpu, sampling, steps)
            found, sent = turns.play(gpu, cpu, sampling, steps)
            for number, (step, *both, what) in enumerate(zip(steps, expected, found, sent, strict=True)):
                count += 1
                if both[0] != both[1] or step[-1] not in (what, None):
                    wrong.append([name, number, step, what])
            if "cursors" not in turns.moved(gpu):
                wrong.append([name, "a cursor that has moved by itself was not noticed"])
    return {"steps": count, "wrong": wrong}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--seconds", type=float, default=420)
    parser.add_argument("--compile", nargs=2, metavar=("FORMAT", "SHARE"), help="compile a share and end")
    parser.add_argument("--dry", action="store_true", help="a few pieces of everything")
    options = parser.parse_args()
    if options.compile:
        compile_share(options.compile[0], int(options.compile[1]))
        return 0
    proof, operations = Proof(options.out, options.seconds, options.dry), Operations(make_memory())
    small = dict(list(checks.SMALL.items())[:2]) if options.dry else checks.SMALL
    if not options.dry:
        proof.part("compile", precompile)
    proof.part("small kernels", lambda: kernels(operations, small))
    proof.part("wide kernels", lambda: kernels(operations, {} if options.dry else WIDE))
    proof.part("repeats", lambda: repeats(operations, options.dry))
    proof.part("answers", lambda: answers(options.dry))
    proof.part("chats", lambda: chats(options.dry))
    proof.part("launches", lambda: measure.launches(operations, options.dry))
    proof.part("bandwidth, GB/s", lambda: measure.bandwidth(operations, options.dry))
    shapes = [("tiny", "q4")] if options.dry else MODELS
    for name, format in shapes:
        config = TINY if options.dry else cost.SHAPES[name]
        part = f"rounds, {name} {format}"
        proof.part(part, lambda c=config, f=format: measure.rounds(operations, c, f, options.dry))
        if not options.dry:
            card = proof.found["environment"]["card"]
            proof.part(
                f"expected, {name} {format}", lambda n=name, f=format, c=card: measure.expected(n, f, c)
            )
    failed = [n for n, f in proof.found.items() if isinstance(f, dict) and (f.get("error") or f.get("wrong"))]
    print(json.dumps({"wrong": failed, "seconds": proof.found["seconds"]}))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
