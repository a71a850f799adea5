"""The team of threads that runs a pass: whoever comes when, every item is done once."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from kestrel_engine.cpu.operation import share
from kestrel_engine.cpu.team import BEHIND, PART_BITS, SPARE
from kestrel_engine.options import MAX_THREADS

EARLY_HELPER = """
import threading, time
import numpy as np
from kestrel_engine.bench.bandwidth import sum_rows
from kestrel_engine.cpu.program import Program
from kestrel_engine.cpu.team import Team, lead, publish, work

data = np.arange(64 * 512, dtype=np.int32).reshape(64, 512)
sums = np.zeros((64, 1), np.int32)
program = Program(1, 2)
program.add(sum_rows, 64, 1, (data, sums))
program.seal()
team = Team()
for _ in range(3):
    sums[:] = 0
    publish(team._address, program._steps_address, len(program._steps))
    helper = threading.Thread(target=work, args=(team._address, 1))
    helper.start()
    time.sleep(0.05)
    lead(team._address)
    helper.join()
    assert np.array_equal(sums[:, 0], data.sum(axis=1, dtype=np.int32))
"""


def test_a_helper_may_come_before_the_pass_has_begun():
    """To the very first pass too. In a process of its own: what is at stake is a segmentation fault."""
    done = subprocess.run([sys.executable, "-c", EARLY_HELPER], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("threads", [2, 64, MAX_THREADS])
def test_parts_of_an_operation_can_be_counted(threads: int) -> None:
    """On both ends of the ticket, with as many threads that come too late."""
    for items in (1, 1000, 15520, 10**6):
        borders = share(items, threads, 1)
        assert borders[0] == 0 and borders[-1] == items and (np.diff(borders) > 0).all()
        parts = len(borders) - 1
        assert parts + threads < BEHIND - SPARE and threads < SPARE
        assert (parts + threads // 2) * BEHIND < 1 << PART_BITS
