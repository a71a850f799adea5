"""Facts about the machine that every measurement carries."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from kestrel_engine.cpu.runtime import physical_cores


def machine_facts(threads: int) -> dict:
    """{"cpu": model name, "cores": physical cores, "threads": used, "gpu": None}."""
    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        name = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), name)
    except OSError:
        pass
    return {
        "cpu": name,
        "cores": physical_cores(),
        "logical_cpus": os.cpu_count(),
        "threads": threads,
        "gpu": None,
        "python": platform.python_version(),
        "system": platform.system(),
    }
