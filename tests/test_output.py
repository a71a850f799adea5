"""Both commands say the same, and end with the same status, when standard output does not take what they say."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

COMMANDS = {"kestrel-chat": "kestrel_tui", "kestrel-bench": "kestrel_engine.bench"}


@pytest.fixture(params=[True, False], ids=["buffered", "unbuffered"])
def environment(request) -> dict[str, str]:
    """What is buffered is written once more when the process ends."""
    return os.environ | {"PYTHONUNBUFFERED": "" if request.param else "1"}


def run(name: str, environment: dict[str, str], stdout: int) -> tuple[int, str]:
    command = [sys.executable, "-m", COMMANDS[name], "--help"]
    done = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, env=environment)
    return done.returncode, done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_a_reader_that_has_gone(name, environment):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        assert run(name, environment, writing) == (141, "")
    finally:
        os.close(writing)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk(name, environment):
    with open("/dev/full", "w") as full:
        found = run(name, environment, full.fileno())
    assert found == (1, f"{name}: standard output cannot be written: No space left on device\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_closed_output(name):
    command = f"{sys.executable} -m {COMMANDS[name]} --help >&-"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    message = "standard output is closed: redirect it to a file, or to /dev/null"
    assert (done.returncode, done.stderr) == (1, f"{name}: {message}\n")


def test_the_bench_measures_without_standard_error(tiny_model, tmp_path):
    text = tmp_path / "text"
    text.write_text("Once upon a time there was a fox.")
    command = (
        f"{sys.executable} -m {COMMANDS['kestrel-bench']} accept {tiny_model} --text {text} --threads 1 2>&-"
    )
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.returncode == 0 and "E[tokens/round]" in done.stdout
