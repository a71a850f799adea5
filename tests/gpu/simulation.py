"""Running a script of this folder in the CUDA simulator, in a process of its own: numba asks for the simulator
when it is imported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path


def simulate(script: str, *arguments: str) -> list[dict]:
    """The JSON lines that the script prints."""
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(Path(__file__).parent / script), *arguments]
    completed = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600)
    assert completed.returncode == 0, completed.stderr[-2000:]
    return [json.loads(line) for line in completed.stdout.splitlines()]
