"""Fixtures: models to test with, and the settings of hypothesis."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import checkpoints
import pytest
from hypothesis import settings

from kestrel_engine.cpu import runtime
from kestrel_engine.tokenizer import Tokenizer

# Before any library reads them: no network in tests, no warnings about forks.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

# Keyed by the kernels' sources: numba's own cache does not notice a changed callee.
runtime.prepare()

pytest_plugins = ["small_corpus", "packed_place", "simulations"]

settings.register_profile("kestrel", deadline=None, print_blob=True)
settings.load_profile("kestrel")

SHARED = Path(__file__).resolve().parents[2] / "shared"
"""Tools and texts beside the checkout; only some have it."""


def shared_path(relative: str) -> Path:
    """A path under `shared/`; the test is skipped where there is none."""
    path = SHARED / relative
    if not path.exists():
        pytest.skip(f"needs ../shared/{relative} beside the repository")
    return path


def run_tool(name: str, *arguments: str) -> None:
    """Run a script of `shared/tools`; it must succeed."""
    command = [sys.executable, str(shared_path(f"tools/{name}")), *arguments]
    completed = subprocess.run(command, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr


@pytest.fixture(scope="session")
def make_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """make_checkpoint("tiny", "--echo", …) → folder of a random checkpoint by shared/tools/make_ckpt.py."""
    made: dict[tuple[str, ...], Path] = {}

    def make(size: str, *flags: str) -> Path:
        if (size, *flags) not in made:
            folder = tmp_path_factory.mktemp(size)
            run_tool("make_ckpt.py", size, str(folder), *flags)
            made[size, *flags] = folder
        return made[size, *flags]

    return make


@pytest.fixture(scope="session")
def real_tokenizer_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real Qwen3.5 tokenizer with the official chat template, by shared/tools/make_tokenizer.py."""
    shared_path("data/qwen3.5/chat_template.jinja")
    folder = tmp_path_factory.mktemp("real-tokenizer")
    run_tool("make_tokenizer.py", str(folder))
    return folder


@pytest.fixture(scope="session")
def real_tokenizer(real_tokenizer_folder: Path) -> Tokenizer:
    return Tokenizer(real_tokenizer_folder)


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a small random checkpoint with tokenizer and template. Not to be changed."""
    return checkpoints.write_checkpoint(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def echo_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Like tiny_model, but its drafts are always right. Not to be changed."""
    return checkpoints.write_checkpoint(tmp_path_factory.mktemp("models") / "echo", echo=True)


@pytest.fixture(scope="session")
def attention_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model without recurrent layers: nothing is undone but cursors. Not to be changed."""
    folder = tmp_path_factory.mktemp("models") / "attention"
    return checkpoints.write_checkpoint(folder, num_hidden_layers=2, full_attention_interval=1)
