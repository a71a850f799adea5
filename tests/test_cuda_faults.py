"""The checks of the GPU kernels can fail: every planted fault (tests/gpu/faults.py) is reported."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "gpu"))

import faults


@pytest.mark.parametrize("name", faults.FAULTS)
def test_a_planted_fault_is_reported(name, simulated_faults):
    report = simulated_faults[name]["error"] or "no difference"
    assert report.startswith(("AssertionError", "OverflowError")), report  # an int8 takes no NaN
