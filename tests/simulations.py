"""What the scripts of tests/gpu print in numba's CUDA simulator.

Each runs in a process of its own, because numba asks for the simulator when it is imported; and on one core: of a
simulated block one thread works at a time, and to wake the next on another core takes longer than its work.
So there is a core for another script: all that the chosen tests need begin with the first of these tests.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

GPU = Path(__file__).parent / "gpu"
SCRIPTS = {
    "simulated_turns": "turns.py",
    "simulated_answers": "generate.py",
    "simulated_kernels": "simulate.py",
    "simulated_faults": "faults.py",
}
"""Fixture -> its script. What takes longest begins first."""


def _simulate(script: str) -> list[dict]:
    """The JSON lines that the script prints."""
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(GPU / script)]
    completed = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600)
    assert completed.returncode == 0, completed.stderr[-2000:]
    return [json.loads(line) for line in completed.stdout.splitlines()]


def _executor() -> ThreadPoolExecutor:
    """A thread for each core, to which what it starts keeps."""
    if not hasattr(os, "sched_setaffinity"):
        return ThreadPoolExecutor(os.cpu_count())
    cores = list(os.sched_getaffinity(0))
    return ThreadPoolExecutor(len(cores), initializer=lambda: os.sched_setaffinity(0, {cores.pop()}))


@pytest.fixture(scope="session")
def simulations(request: pytest.FixtureRequest) -> Iterator[dict[str, Future]]:
    """What the fixtures of the chosen tests wait for."""
    needed = {name for item in request.session.items for name in getattr(item, "fixturenames", ())}
    with _executor() as executor:
        yield {name: executor.submit(_simulate, SCRIPTS[name]) for name in SCRIPTS if name in needed}
        executor.shutdown(cancel_futures=True)


def _fixture(name: str) -> Callable:
    @pytest.fixture(scope="session", name=name)
    def lines(simulations: dict[str, Future]) -> dict[str, dict]:
        """name -> its line of what the script prints."""
        return {line["name"]: line for line in simulations[name].result()}

    return lines


simulated_turns, simulated_answers, simulated_kernels, simulated_faults = map(_fixture, SCRIPTS)
