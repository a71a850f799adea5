"""Facts about the machine that every measurement carries, and whether it did other work meanwhile."""

from __future__ import annotations

import os
import platform
import time
from pathlib import Path

from kestrel_engine.cpu.runtime import physical_cores

SHORTEST = 0.5
"""Seconds of a measurement of which can be told what else the machine did: it counts in hundredths."""
MUCH = 0.15
"""Of a core: more other work than this disturbs figures visibly. A system's own is some hundredths."""


class OtherWork:
    """What other processes did since this was made."""

    def __init__(self) -> None:
        self._begin = _seconds()

    def cores(self) -> float | None:
        """Cores that others kept busy, on average; None where that cannot be told."""
        return None if self._begin is None else between(self._begin, _seconds())


def between(begin: tuple[float, float, float], end: tuple[float, float, float]) -> float | None:
    """Cores that others kept busy between two moments: (time, busy time of all cores, own time), in seconds."""
    elapsed, busy, own = (after - before for before, after in zip(begin, end, strict=True))
    return max(0.0, round((busy - own) / elapsed, 2)) if elapsed >= SHORTEST else None


def _seconds() -> tuple[float, float, float] | None:
    """(time, busy time of all cores, own time with that of ended children); None where Linux does not tell."""
    try:
        words = Path("/proc/stat").read_text().split("\n", 1)[0].split()
        user, nice, system, _, _, irq, softirq, steal = map(int, words[1:9])
    except (OSError, ValueError):
        return None
    busy = (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")
    return time.monotonic(), busy, sum(os.times()[:4])


def machine_facts(threads: int) -> dict:
    """{"cpu": model name, "cores": physical cores, "threads": used, "gpu": None, "other_work": from now on}."""
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
        "other_work": OtherWork(),
    }
