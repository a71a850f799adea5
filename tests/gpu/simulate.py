"""Run the kernel checks in this process, one JSON line each: {"name", "error", "seconds"}.

Meant for the CUDA simulator: NUMBA_ENABLE_CUDASIM=1 python tests/gpu/simulate.py [words of names…]
"""

from __future__ import annotations

import json
import sys
import time

import checks

from kestrel_cuda.memory import make_memory
from kestrel_cuda.operations import Operations


def run(operations: Operations, names: list[str]) -> None:
    for name, (check, arguments) in checks.SMALL.items():
        if names and name not in names:
            continue
        start, error = time.perf_counter(), None
        try:
            check(operations, **arguments)
        except Exception as problem:
            error = f"{type(problem).__name__}: {problem}"
        seconds = round(time.perf_counter() - start, 2)
        print(json.dumps({"name": name, "error": error, "seconds": seconds}), flush=True)


if __name__ == "__main__":
    run(Operations(make_memory()), sys.argv[1:])
