"""Rounds on the device that go on from each other, or have to be told where: ids and state are the CPU's, and no
trunk row goes to the device while it goes on by itself.

In numba's CUDA simulator, in a process of their own (tests/gpu/turns.py).
"""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.slow
ROUNDS = ("round", "stop")
NAMES = ("drafts all right", "penalties")


@pytest.mark.parametrize("name", NAMES)
def test_every_step_leaves_what_the_cpu_leaves(name, simulated_turns):
    """What came of it (tokens, drafts, log-probabilities), and all that the state remembers."""
    case = simulated_turns[name]
    for step, cpu, gpu in zip(case["steps"], case["cpu"], case["gpu"], strict=True):
        assert gpu == cpu, step


@pytest.mark.parametrize("name", NAMES)
def test_a_round_sends_what_the_device_does_not_have(name, simulated_turns):
    """Nothing when it goes on by itself, and trunk rows only when it has to be told where the state stands."""
    case = simulated_turns[name]
    for index, (step, sent) in enumerate(zip(case["steps"], case["sent"], strict=True)):
        assert sent == step[-1] or step[0] not in ROUNDS, (index, step, sent)


def test_there_were_accepted_and_cut_runs(simulated_turns):
    outcomes = [came for case in simulated_turns.values() for came, _ in case["gpu"] if came]
    assert any(accepted == len(drafts) > 1 for _, drafts, accepted, *_ in outcomes)
    assert any(accepted < len(drafts) for _, drafts, accepted, *_ in outcomes)
    cut = simulated_turns["drafts all right"]
    stops = [came for step, (came, _) in zip(cut["steps"], cut["gpu"], strict=True) if step[0] == "stop"]
    assert all(len(tokens) == 1 and tokens[0][1] == 0 for tokens, *_ in stops)  # a right draft ended them


def test_cursors_that_have_moved_by_themselves_are_an_error(simulated_turns):
    assert "the device's cursors" in simulated_turns["drafts all right"]["moved"]
