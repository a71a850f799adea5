"""The GPU kernels in numba's CUDA simulator, bit-equal to the numpy reference on small odd shapes.

The simulator is chosen before numba is imported, so the checks run in a process of their own.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "gpu"))

import checks
import checks_wide


@pytest.mark.parametrize("name", checks.SMALL)
def test_kernel_has_the_bits_of_the_reference(name, simulated_kernels):
    assert simulated_kernels[name]["error"] is None


@pytest.mark.parametrize("name", checks_wide.WIDE)
def test_a_check_for_a_card_has_its_arguments(name):
    check, arguments = checks_wide.WIDE[name]
    inspect.signature(check).bind(None, **arguments)


@pytest.mark.slow
def test_answers_of_a_tiny_model_are_the_cpus(simulated_answers):
    """Ids, how each came about, drafts and log-probabilities, with accepted and with rejected drafts."""
    answers = simulated_answers
    assert len(answers) == 5
    for name, answer in answers.items():
        assert answer["gpu"] == answer["cpu"], name
    accepted = [t for answer in answers.values() for r in answer["gpu"] for t in r[0] if t[1] is not None]
    rejected = [r for answer in answers.values() for r in answer["gpu"] if r[2] is not None]
    assert accepted and rejected
