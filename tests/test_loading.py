"""Loading a model on the engine thread: what cannot be loaded is one line and ends it; what memory allows."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import checkpoints
import engines
import numpy as np
import pytest
from engines import Running

from kestrel_engine import loader
from kestrel_engine.config import load_config
from kestrel_engine.errors import KestrelError, UsageError
from kestrel_engine.events import Failed, Ready, Submit


def is_one_line(event: Failed) -> bool:
    return "\n" not in event.message and ": " in event.message and len(event.message) < 400


def cut_weights(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1000])


def wrong_tensor(folder: Path) -> None:
    def edit(tensors):
        tensors["mtp.norm.weight"] = tensors["mtp.norm.weight"][:-1]

    checkpoints.write_checkpoint(folder, edit_tensors=edit)


def other_model(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    config["model_type"] = config["text_config"]["model_type"] = "llama"
    (folder / "config.json").write_text(json.dumps(config))


def with_value(name: str, value: float):
    """Puts `value` into tensor `name`."""

    def damage(folder: Path) -> None:
        def edit(tensors):
            key = next(key for key in tensors if key.endswith(name))
            tensors[key] = tensors[key].copy()
            tensors[key].reshape(-1)[-1] = checkpoints.to_bfloat16(np.float32([value]))[0]

        checkpoints.write_checkpoint(folder, edit_tensors=edit)

    return damage


@pytest.mark.parametrize(
    ("damage", "options", "named"),
    [
        (lambda folder: (folder / "config.json").unlink(), {}, "config.json"),
        (lambda folder: (folder / "config.json").write_text("{"), {}, "config.json"),
        (other_model, {}, "llama"),
        (lambda folder: (folder / "model.safetensors").unlink(), {}, "safetensors"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b""), {}, "model.safetensors"),
        (cut_weights, {}, "model.safetensors"),
        (wrong_tensor, {}, "mtp.norm.weight"),
        (with_value("mlp.down_proj.weight", np.nan), {"quant": "bf16"}, "mlp.down_proj.weight"),
        (with_value("mlp.down_proj.weight", np.nan), {"quant": "q8"}, "mlp.down_proj.weight"),
        (with_value("mlp.down_proj.weight", -np.inf), {"quant": "q4"}, "mlp.down_proj.weight"),
        (with_value("mtp.fc.weight", np.nan), {"quant": "q8"}, "mtp.fc.weight"),
        (with_value("embed_tokens.weight", np.inf), {}, "embed_tokens.weight"),
        (with_value("input_layernorm.weight", np.nan), {}, "input_layernorm.weight"),
        (lambda folder: (folder / "tokenizer.json").unlink(), {}, "tokenizer.json"),
        (lambda folder: (folder / "tokenizer.json").write_text("{}"), {}, "tokenizer.json"),
        (lambda folder: None, {"context": 5000}, "context 5000"),
        (lambda folder: None, {"device": "cuda"}, "--device cpu"),
    ],
)
def test_models_that_cannot_be_loaded(tmp_path, damage, options, named):
    folder = checkpoints.write_checkpoint(tmp_path / "model")
    damage(folder)
    with Running(folder, **options) as running:
        failed = running.loading[-1]
        assert isinstance(failed, Failed) and failed.fatal and failed.exit_status == 2
        assert named in failed.message and is_one_line(failed), failed.message
        running.engine.join(engines.PATIENCE)
        assert not running.thread.is_alive()
        running.engine.send(Submit(raw="hello"))  # into the void


@pytest.mark.parametrize("name", ["missing/folder/of/a/model", "https://host:8000/v1", "/dev/null"])
def test_names_that_are_no_model(tmp_path, name):
    with Running(Path(name) if name.startswith("/") else name) as running:
        failed = running.loading[-1]
        assert isinstance(failed, Failed) and failed.fatal and is_one_line(failed)
        assert failed.exit_status == 2


def test_an_unexpected_error_while_loading(tiny_model, monkeypatch):
    def breaks(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(loader, "open_checkpoint", breaks)
    with Running(tiny_model) as running:
        failed = running.loading[-1]
        assert failed.fatal and is_one_line(failed) and "ZeroDivisionError" in failed.message


def test_what_a_model_without_the_draft_head_can(tmp_path):
    folder = checkpoints.write_checkpoint(tmp_path / "model", mtp=False)
    with Running(folder) as running:
        assert running.loading[-1].speculation_possible is False
        assert isinstance(running.ask(Submit(raw="hello", max_tokens=3))[-1].text, str)


@pytest.mark.parametrize("format", ["bf16", "q8", "q4"])
def test_options_reach_the_model(tiny_model, format):
    options = dict(quant=format, context=77, prefill_chunk=5, rollback="rerun", draft_vocab=100)
    with Running(tiny_model, **options) as running:
        ready = running.loading[-1]
        assert isinstance(ready, Ready) and (ready.format, ready.context) == (format, 77)
        session = running.session
        assert session.prefill_chunk == 5 and type(session.rollback).__name__ == "RerunRollback"
        ids = session.drafters["mtp"].head.ids
        assert ids[:100].tolist() == list(range(100))
        assert set(ids[100:]) == session.tokenizer.special_ids


@pytest.mark.parametrize(
    ("wanted", "weights", "memory", "expected"),
    [
        ("auto", 10_000_000, 10**12, "bf16"),
        ("auto", 800_000_000, 16 * 10**9, "q8"),
        ("auto", 27_000_000_000, 16 * 10**9, "q4"),
        ("auto", 27_000_000_000, 64 * 10**9, "q8"),
        ("bf16", 27_000_000_000, 1, "bf16"),
    ],
)
def test_the_format_that_fits(wanted, weights, memory, expected):
    assert loader.choose_format(wanted, weights, memory) == expected


def test_the_context_that_fits(tiny_model):
    config = load_config(tiny_model)
    row = 2 * 2 * config.kv_dim * 4  # two caches of keys and values
    assert loader.choose_context(None, config, 10**12) == config.max_position_embeddings == 4096
    assert loader.choose_context(None, config, 2 * 100 * row) == 100
    assert loader.choose_context(None, config, 0) == 16
    assert loader.choose_context(64, config, 2 * 100 * row) == 64
    with pytest.raises(UsageError, match="use 100 or less"):
        loader.choose_context(101, config, 2 * 100 * row)
    with pytest.raises(UsageError, match="the model's limit is 4096"):
        loader.choose_context(4097, config, 10**12)


@pytest.mark.parametrize(
    ("kind", "arguments", "offline", "complaint"),
    [
        (
            "LocalEntryNotFoundError",
            ("a paragraph\nof the library's",),
            False,
            "the Hugging Face hub cannot be reached: ",
        ),
        ("OfflineModeIsEnabled", (), True, "HF_HUB_OFFLINE forbids downloading it: unset that"),
        (
            "RepositoryNotFoundError",
            (),
            False,
            "neither a folder nor a model on the Hugging Face hub: check the name",
        ),
        ("GatedRepoError", (), False, "accept its terms: "),
        (
            OSError,
            (errno.ENOSPC, "No space left on device"),
            False,
            "cannot be stored (No space left on device): ",
        ),
        (TimeoutError, (), False, "cannot be reached"),
    ],
)
def test_a_model_that_cannot_be_downloaded_is_one_line(monkeypatch, kind, arguments, offline, complaint):
    import huggingface_hub.errors

    made = getattr(huggingface_hub.errors, kind) if isinstance(kind, str) else kind
    error = made(*arguments) if arguments else made.__new__(made)  # some want a whole answer of the hub

    def refuse(*_: object, **__: object):
        raise error

    monkeypatch.setattr(huggingface_hub, "snapshot_download", refuse)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", offline)
    with pytest.raises(KestrelError) as caught:
        loader.find_model("somebody/something", lambda event: None)
    message = str(caught.value)
    assert message.startswith("somebody/something ") and complaint in message
    assert "\n" not in message and "paragraph" not in message and len(message) < 160


def test_numba_without_its_compiler_is_told_in_one_line(tmp_path):
    """The bundled model, by the command itself."""
    command = [sys.executable, "-m", "kestrel_tui", "-p", "hi", "--no-save"]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "XDG_CONFIG_HOME": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=environment)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "kestrel-chat: NUMBA_DISABLE_JIT is set, and kernels cannot run uncompiled: unset it\n"
    )
