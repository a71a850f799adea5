"""What a stranger needs to read `kestrel-bench`: every option and every column is explained where it is seen."""

from __future__ import annotations

import argparse

import pytest
from bench_runs import SHORT

from kestrel_engine.bench import cli, decode


def commands() -> dict[str, argparse.ArgumentParser]:
    return next(
        action.choices for action in cli._parser()._actions if isinstance(action, argparse._SubParsersAction)
    )


@pytest.mark.parametrize("name", commands())
def test_every_option_says_what_it_is(name):
    parser = commands()[name]
    assert [action.dest for action in parser._actions if not action.help] == []
    assert parser.description.startswith(f"`kestrel-bench {name}`: ")


RUNS = {
    "decode": (("--tokens", "2", "--prefill-tokens", "2"), ("rows: ", "delta: ", "python: ")),
    "speculate": (
        ("--speculate", "2,auto", "--tokens", "4", "--starts", "1"),
        (
            "k: ",
            "x plain: ",
            "draft, verify and replay ms: ",
            "round/plain: ",
            "by position: ",
            "histogram: ",
        ),
    ),
    "schemes": (
        ("--speculate", "2", "--tokens", "4", "--starts", "1"),
        (
            "kestrel-32: ",
            "ch14: ",
            "snapshot: ",
            "cursor: ",
            "k: ",
            "x plain: ",
            "by position: ",
            "histogram: ",
        ),
    ),
    "accept": (("--text", "TEXT", "--speculate", "2"), ("alpha: ", "p: ", "E[tokens/round]: ")),
}


@pytest.mark.parametrize("name", RUNS)
def test_every_column_is_explained(name, tiny_model, tmp_path, capsys):
    text = tmp_path / "text"
    text.write_text("The kestrel hangs in the wind.")
    argv, words = RUNS[name]
    argv = [str(text) if word == "TEXT" else word for word in argv]
    short = SHORT if name != "accept" else SHORT[:4]
    assert cli.main([name, str(tiny_model), *short, *argv]) == 0
    out = capsys.readouterr().out
    assert [word for word in words if word not in out] == []


def test_where_a_start_gained_least(tiny_model, capsys):
    argv = ("--speculate", "2", "--tokens", "4", "--starts", "1")
    assert cli.main(["speculate", str(tiny_model), *SHORT, *argv]) == 0
    assert " at k = 2 (story: bird)" in capsys.readouterr().out


def test_one_context_has_no_slope():
    row = {
        "context": 8, "fill": "synthetic", "ms": 1.0, "four_rows_ms": 2.0, "phases_ms": {"matrix": 1.0},
        "kv_bytes": 1, "recurrent_bytes": 1, "resident_growth_bytes": 1,
    }  # fmt: skip
    report = {"contexts": [row], "context_slope_us_per_token": 0.0}
    assert "slope" not in decode._contexts_text(report)
    assert "slope 0.250 microseconds" in decode._contexts_text(
        {"contexts": [row, row], "context_slope_us_per_token": 0.25}
    )
