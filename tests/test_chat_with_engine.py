"""The command with the real engine and a small random model: what the two must agree on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fake_engine import isolate

from kestrel_tui.cli import main


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name, value in isolate({}, tmp_path).items():
        if "CACHE" not in name:  # compiled kernels are kept
            monkeypatch.setenv(name, value)
    return tmp_path


def answer(capsys: pytest.CaptureFixture, model: Path, *arguments: str) -> dict:
    common = ["--threads", "1", "--seed", "3", "--temperature", "1", "--max-tokens", "24", "-q"]
    assert main([str(model), *common, "--output", "json", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


def test_text_and_tokens_are_the_same_however_drafted(
    capsys: pytest.CaptureFixture, echo_model: Path
) -> None:
    plain = answer(capsys, echo_model, "-p", "hello", "--speculate", "off")
    drafted = answer(capsys, echo_model, "-p", "hello", "--speculate", "3")
    for value in (plain, drafted):
        assert value["text"] == "".join(token["text"] for token in value["tokens"])
        assert value["stats"]["rounds"] == len(value["rounds"])
        assert {round(token["logprob"], 6) <= 0 for token in value["tokens"]} == {True}
    assert plain["text"] == drafted["text"]
    assert [token["id"] for token in plain["tokens"]] == [token["id"] for token in drafted["tokens"]]
    assert {token["kind"] for token in plain["tokens"]} == {"own"}
    assert drafted["stats"]["accepted"] == sum(entry["accepted"] for entry in drafted["rounds"]) > 0


def test_a_saved_chat_goes_on(capsys: pytest.CaptureFixture, tiny_model: Path) -> None:
    first = answer(capsys, tiny_model, "-p", "hello")
    second = answer(capsys, tiny_model, "-p", "and then", "--continue")
    assert second["prompt_tokens"] > first["prompt_tokens"] + len(first["tokens"]) // 2
    assert main(["--list"]) == 0
    assert "2 turns  hello" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "status", "complaint"),
    [
        (
            ["--context", "16", "-p", "far too long for so little"],
            1,
            "or raise --context (to 4096 at most)\n",
        ),
        (["--context", "4096", "--raw", "-p", "a b " * 4096], 1, "shorten it or start a new chat\n"),
        (["--device", "cuda", "-p", "x"], 2, "--device cpu"),
    ],
)
def test_what_the_engine_refuses_is_one_line(
    capsys: pytest.CaptureFixture, tiny_model: Path, arguments: list[str], status: int, complaint: str
) -> None:
    assert main([str(tiny_model), "--threads", "1", *arguments]) == status
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1 and complaint in captured.err


def test_no_model_there(capsys: pytest.CaptureFixture, tmp_path: Path) -> None:
    assert main([str(tmp_path / "nothing"), "-p", "x"]) == 2
    assert "does not exist" in capsys.readouterr().err
