"""The team of threads that runs a pass: whoever comes when, every item is done once."""

from __future__ import annotations

import subprocess
import sys

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
