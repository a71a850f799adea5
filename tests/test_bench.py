"""`kestrel-bench`: verdicts, output shapes, and that a broken engine is found out."""

from __future__ import annotations

import json

import pytest

from kestrel_engine.bench.cli import main
from kestrel_engine.model import Model


def run(capsys, *argv: str) -> tuple[int, str, str]:
    status = main(list(argv))
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def exact(capsys, folder, *argv: str) -> tuple[int, dict]:
    status, out, _ = run(
        capsys, "exact", str(folder), "--quant", "q8", "--tokens", "9", "--output", "json", *argv
    )
    return status, json.loads(out)


def test_exact_finds_every_mode_identical(echo_model, capsys):
    status, report = exact(capsys, echo_model)
    assert status == 0
    assert report["schema"] == 1 and report["machine"]["threads"] >= 1
    assert report["modes"] == report["identical"] >= 50
    assert report["differences"] == []


def test_exact_on_a_model_without_recurrent_layers(attention_model, capsys):
    status, report = exact(capsys, attention_model)
    assert status == 0 and report["modes"] == report["identical"] >= 50


def test_exact_drafts_in_every_mode_that_speculates(tiny_model, capsys):
    _, out, _ = run(capsys, "exact", str(tiny_model), "--quant", "q8", "--tokens", "6")
    idle = [row for row in out.splitlines() if "/0 " in row and "threads 2, off" not in row]
    assert idle == []


def test_exact_notices_a_rollback_that_forgets_the_log(echo_model, capsys, monkeypatch):
    monkeypatch.setattr(Model, "_replay", lambda self, layer: None)
    status, report = exact(capsys, echo_model)
    assert status == 1
    assert report["identical"] < report["modes"]
    wrong = {row["mode"] for row in report["differences"]}
    assert "speculate 3" in wrong and "rollback snapshot" not in wrong
    assert all("differs from the plain run" in row["difference"] for row in report["differences"])


def test_exact_text_ends_with_a_verdict(tiny_model, capsys):
    status, out, _ = run(capsys, "exact", str(tiny_model), "--quant", "bf16", "--tokens", "4")
    machine, _, columns, *rows, verdict = out.splitlines()
    assert status == 0 and len(rows) >= 50
    assert machine.startswith("kestrel-bench exact · tiny · bf16 · ") and "cores" in machine
    assert columns.split() == ["format", "sampling", "mode", "accepted", "verdict"]
    assert verdict == f"tiny: {len(rows)} of {len(rows)} modes identical to plain decoding, tokens and state"


def test_perplexity_of_each_format(tiny_model, tmp_path, capsys):
    text = tmp_path / "text.txt"
    text.write_text("The kestrel hangs in the wind above the field. " * 6)
    status, out, _ = run(capsys, "perplexity", str(tiny_model), "--text", str(text), "--output", "json")
    results = json.loads(out)["results"]
    assert status == 0 and [row["format"] for row in results] == ["bf16", "q8", "q4"]
    assert len({row["tokens"] for row in results}) == 1
    assert all(row["perplexity"] > 1 and row["bits_per_byte"] > 0 for row in results)


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["perplexity", "MODEL", "--text", "/nowhere/x.txt"], "cannot be read"),
        (["exact", "/nowhere"], "does not exist"),
        (["exact", "MODEL", "--tokens", "0"], "use 1 or more"),
        (["exact", "MODEL", "--tokens", "many"], "see kestrel-bench exact --help"),
        (["nothing"], "see kestrel-bench --help"),
    ],
)
def test_bad_input_is_one_line(tiny_model, capsys, argv, message):
    status, out, err = run(capsys, *(str(tiny_model) if word == "MODEL" else word for word in argv))
    assert status == 2 and out == ""
    assert message in err and err.startswith("kestrel-bench: ") and err.count("\n") == 1
