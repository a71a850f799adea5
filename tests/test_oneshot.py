"""`-p`: the three outputs, prompts from pipes, and what is kept."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from fake_engine import FakeEngine, isolate
from terminal import PROGRAM, Terminal, run_chat, start_chat

from kestrel_tui.cli import main

TOKEN_KEYS = ["id", "text", "kind", "round", "draft_index", "logprob"]
ROUND_KEYS = ["drafted", "accepted", "drafter", "rejected", "draft_ms", "verify_ms", "replay_ms", "reason"]
STATS_KEYS = [
    "load_ms", "prefill_ms", "decode_ms", "ms_per_token", "rounds", "drafted", "accepted", "acceptance_rate",
    "tokens_per_round", "acceptance_by_position", "accepted_histogram",
]  # fmt: skip


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name, value in isolate({}, tmp_path).items():
        monkeypatch.setenv(name, value)
    return tmp_path


def answer(capsys: pytest.CaptureFixture, *arguments: str) -> str:
    assert main(["-p", *arguments], FakeEngine) == 0
    return capsys.readouterr().out


def test_text_is_the_answer_and_a_line_end(home: Path) -> None:
    done = run_chat(home, "-p", "how are you")
    assert (done.returncode, done.stdout) == (0, b"You said: how are you\n")
    line = done.stderr.decode()
    assert line.count("\n") == 1 and "accepted" in line and "seed" in line


def test_no_second_line_end_and_no_stats_with_q(capsys: pytest.CaptureFixture) -> None:
    assert main(["-q", "-p", "ends\n"], FakeEngine) == 0
    assert capsys.readouterr() == ("You said: ends\n", "")


def test_an_empty_answer_is_an_empty_output(capsys: pytest.CaptureFixture) -> None:
    assert answer(capsys, "empty") == ""


def test_a_pipe_gets_control_characters_as_they_are(home: Path) -> None:
    assert run_chat(home, "-p", "escape").stdout == "\x1b[2J\x1b]52;c;aGk=\a\x9b31mok\t\n[/red]\n".encode()


def test_a_terminal_is_not_given_control_characters(home: Path) -> None:
    with Terminal(home, "-p", "escape", environ={"TERM": "xterm"}) as terminal:
        assert terminal.wait() == 0
    assert terminal.output.startswith("␛[2J␛]52;c;aGk=␇\\x9b31mok")
    assert "\x1b" not in terminal.output and "[/red]" in terminal.output


def test_json_is_one_object_of_the_contract(capsys: pytest.CaptureFixture) -> None:
    value = json.loads(answer(capsys, "wide", "--output", "json", "--seed", "7"))
    assert list(value) == [
        "schema", "model", "format", "device", "seed", "prompt_tokens", "text", "finish_reason", "tokens",
        "rounds", "stats",
    ]  # fmt: skip
    assert (value["schema"], value["model"], value["format"], value["device"]) == (
        1,
        "kestrel-fake",
        "bf16",
        "cpu",
    )
    assert (value["seed"], value["prompt_tokens"], value["finish_reason"]) == (7, 1, "stop")
    assert value["text"] == "日本🦅 e\u0301 שלום" == "".join(token["text"] for token in value["tokens"])
    assert all(list(token) == TOKEN_KEYS for token in value["tokens"])
    assert all(list(entry) == ROUND_KEYS for entry in value["rounds"])
    assert list(value["stats"]) == STATS_KEYS
    own = [token for token in value["tokens"] if token["kind"] == "own"]
    assert own and all(token["draft_index"] is None for token in own)
    assert value["rounds"][1] == {
        "drafted": 3, "accepted": 1, "drafter": "mtp", "rejected": [900, 901], "draft_ms": 1.0,
        "verify_ms": 2.0, "replay_ms": 0.5, "reason": "best of k",
    }  # fmt: skip


def test_jsonl_carries_the_same_objects_as_they_happen(capsys: pytest.CaptureFixture) -> None:
    whole = json.loads(answer(capsys, "wide", "--output", "json", "--seed", "7"))
    events = [
        json.loads(line) for line in answer(capsys, "wide", "--output", "jsonl", "--seed", "7").splitlines()
    ]
    kinds = [event.pop("event") for event in events]
    assert kinds == ["loading", "ready", "prefill", "round", "round", "round", "done"]
    rounds = [event for event, kind in zip(events, kinds, strict=True) if kind == "round"]
    assert [token for event in rounds for token in event.pop("tokens")] == whole["tokens"]
    assert rounds == whole["rounds"]
    assert events[-1] == {name: value for name, value in whole.items() if name not in ("tokens", "rounds")}


def test_jsonl_lines_are_written_at_once(home: Path) -> None:
    process = start_chat(home, "-p", "slow", "--output", "jsonl")
    events = [json.loads(process.stdout.readline())["event"] for _ in range(4)]
    assert events == ["loading", "ready", "prefill", "round"] and process.poll() is None
    process.kill()
    process.communicate()


def test_an_impossible_token_has_no_number(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    import fake_engine

    from kestrel_engine.events import Round, Token

    token = Token(1, "x", "own", 0, 0, None, float("-inf"))
    impossible = Round(0, (token,), 0, 0, "none", (), 0.0, 0.0, 0.0, "")
    monkeypatch.setattr(fake_engine, "rounds", lambda *_: [impossible])
    assert json.loads(answer(capsys, "x", "--output", "json"))["tokens"][0]["logprob"] is None


def test_failures_are_events_in_jsonl_and_nothing_in_json(capsys: pytest.CaptureFixture) -> None:
    for question in ("fail", "break"):
        assert main(["-p", question, "--output", "json"], FakeEngine) == 1
        captured = capsys.readouterr()
        assert captured.out == "" and captured.err.count("\n") == 1
        assert main(["-p", question, "--output", "jsonl"], FakeEngine) == 1
        last = json.loads(capsys.readouterr().out.splitlines()[-1])
        assert last["event"] == "error" and captured.err == f"kestrel-chat: {last['message']}\n"


def test_a_failure_in_mid_answer_keeps_the_text_on_its_own_line(capsys: pytest.CaptureFixture) -> None:
    assert main(["-p", "break"], FakeEngine) == 1
    captured = capsys.readouterr()
    assert captured.out == "word0 word1 word2 word3 word4 word5 \n"
    assert captured.err == "kestrel-chat: a kernel broke: ask again\n"


def test_a_model_that_cannot_be_loaded_has_its_own_status(capsys: pytest.CaptureFixture) -> None:
    assert main(["missing", "-p", "x", "--output", "jsonl"], FakeEngine) == 2
    assert json.loads(capsys.readouterr().out.splitlines()[-1]) == {
        "event": "error",
        "message": "missing: no such model: name a folder",
    }


@pytest.mark.parametrize("question", ["think", "tags"])
def test_reasoning_is_not_the_answer(capsys: pytest.CaptureFixture, question: str) -> None:
    text = answer(capsys, question)
    assert text == {"think": "The answer\n", "tags": "Yes\n"}[question]
    whole = json.loads(answer(capsys, question, "--output", "json"))
    assert "</think>" in whole["text"]  # exactly the tokens' texts


@pytest.mark.parametrize(("more", "told"), [([], True), (["-q"], False), (["--max-tokens", "100"], False)])
def test_a_limit_within_the_reasoning_is_told(
    capsys: pytest.CaptureFixture, more: list[str], told: bool
) -> None:
    assert main(["-p", "think", "--max-tokens", "1", *more], FakeEngine) == 0
    out, err = capsys.readouterr()
    assert (out == "") is (more != ["--max-tokens", "100"])
    assert ("while the model reasoned: raise --max-tokens, or use --no-think" in err) is told


def test_someone_at_a_terminal_sees_the_reasoning_on_standard_error(home: Path) -> None:
    with Terminal(home, "-p", "think") as terminal:
        assert terminal.wait() == 0
    assert terminal.output.startswith("Reasoning: I wonder\nThe answer\n[")


@pytest.mark.parametrize(
    ("arguments", "piped", "prompt"),
    [
        (["-p", "-"], b"from a pipe\n", "from a pipe"),
        (["-p", "question"], b"text\nof two lines\n", "text\nof two lines\n\nquestion"),
        (["-p", "question"], b"", "question"),
        (["-p", "question"], None, "question"),
        (["-p", ""], b"only this", "only this"),
        (["--raw", "-p", "-"], b"exact \n", "exact \n"),
        (["-p", "-"], b"\xef\xbb\xbfwith a mark", "with a mark"),
        (["-p", "-"], "日本".encode(), "日本"),
    ],
)
def test_where_the_prompt_comes_from(
    home: Path, arguments: list[str], piped: bytes | None, prompt: str
) -> None:
    done = run_chat(home, *arguments, "-q", "--output", "json", stdin=piped)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["text"] == f"You said: {prompt}"


def test_a_file_on_standard_input_is_piped_text(home: Path) -> None:
    (home / "file").write_text("from a file\n")
    with open(home / "file") as file:
        done = subprocess.run([*PROGRAM, "-q", "-p", "and this"], stdin=file, capture_output=True, text=True)
    assert done.stdout == "You said: from a file\n\nand this\n"


def test_bytes_that_are_no_text_are_replaced_and_said(home: Path) -> None:
    done = run_chat(home, "-q", "-p", "-", stdin=b"a\xffb")
    assert (done.returncode, done.stdout.decode()) == (0, "You said: a\ufffdb\n")
    assert b"not UTF-8" in done.stderr
    done = subprocess.run([*PROGRAM, "-q", "-p", b"a\xffb"], stdin=subprocess.DEVNULL, capture_output=True)
    assert done.stdout.decode() == "You said: a\ufffdb\n"


def test_a_pipe_that_stays_open_is_read_to_its_end_and_explained(home: Path) -> None:
    process = subprocess.Popen(
        [*PROGRAM, "-q", "-p", "x"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert b"waiting for standard input to end" in process.stderr.readline()
    process.stdin.write(b"late")
    out, _ = process.communicate(timeout=20)
    assert out == b"You said: late\n\nx\n"


def test_raw_prompts_have_no_template_and_are_not_kept(home: Path) -> None:
    assert main(["--raw", "-p", "once upon", "-q"], FakeEngine) == 0
    submit = FakeEngine.made.submits[0]
    assert (submit.raw, submit.messages) == ("once upon", ())
    assert not (home / "data").exists()


def test_the_seed_is_random_and_told(capsys: pytest.CaptureFixture) -> None:
    assert main(["-p", "x"], FakeEngine) == 0
    assert f"seed {FakeEngine.made.submits[0].sampling.seed}]" in capsys.readouterr().err


def test_answers_can_be_gone_on_with(capsys: pytest.CaptureFixture) -> None:
    answer(capsys, "think first", "--system", "Be kind.")
    answer(capsys, "second", "--continue")
    assert FakeEngine.made.submits[0].messages == (
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "think first"},
        {"role": "assistant", "content": "The answer", "reasoning_content": "I wonder"},
        {"role": "user", "content": "second"},
    )
    assert main(["--list"]) == 0
    assert capsys.readouterr().out.count("\n") == 1


def test_max_tokens_is_a_length_end(capsys: pytest.CaptureFixture) -> None:
    value = json.loads(answer(capsys, "one two three", "--max-tokens", "3", "--output", "json"))
    assert (value["finish_reason"], len(value["tokens"])) == ("length", 3)


def test_the_output_is_utf_8_even_where_the_locale_is_not(home: Path) -> None:
    environ = {"PYTHONIOENCODING": "ascii"}
    done = run_chat(home, "-p", "wide", "--output", "json", environ=environ)
    assert json.loads(done.stdout)["text"].startswith("日本")
    assert os.environ.get("PYTHONIOENCODING") is None


def test_an_input_without_end_is_refused(home: Path) -> None:
    done = run_chat(home, "-p", "-", stdin=b"x" * (64 * 1024 * 1024 + 1))
    assert (done.returncode, done.stdout) == (2, b"")
    said = "standard input goes on after 64 MiB, more than any model takes: shorten it"
    assert done.stderr.decode() == f"kestrel-chat: {said}\n"
