"""What `kestrel-bench` cannot measure, or nobody can read: one line, and nothing measured."""

from __future__ import annotations

import errno
import importlib.util
import io
import os
import subprocess
import sys

import pytest
from bench_runs import SHORT

from kestrel_engine.bench import perplexity, plot
from kestrel_engine.bench.cli import main
from kestrel_engine.model import Model


def test_without_matplotlib_nothing_is_measured(tiny_model, capsys, monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(
        plot.importlib.util, "find_spec", lambda name: None if name == "matplotlib" else real(name)
    )
    monkeypatch.setattr(Model, "forward", lambda *_: pytest.fail("measured"))
    assert main(["decode", str(tiny_model), "--plot", "x.png"]) == 2
    assert "pip install 'kestrel-chat[bench]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["speculate", "MODEL", "--speculate", "9"], "use auto and 1 to 8"),
        (["speculate", "MODEL", "--accept", "2"], "use rates from 0 to 1"),
        (["speculate", "MODEL", "--starts", "7"], "argument --starts: 7: use 1 to 6"),
        (["accept", "MODEL", "--text", "x", "--speculate", "auto"], "auto: use a whole number from 1 to 8"),
        (["speculate", "MODEL", "--tok", "4"], "unrecognized arguments: --tok 4"),
        (["speculate", "MODEL", "--repeat", "0"], "use 1 or more"),
        (["decode", "MODEL", "--plot", "x.jpg"], "ends in .png or .svg"),
        (["decode", "MODEL", "--plot", "/nowhere/x.png"], "folder does not exist"),
        (["decode", "MODEL", "--context-lengths", "10000000"], "the model's limit"),
        (["decode", "MODEL", "--context-lengths", "ten"], "see kestrel-bench decode --help"),
        (["decode", "MODEL", "--tokens", "1"], "use 2 or more"),
        (["schemes", "MODEL", "--speculate", "auto"], "fixed draft lengths"),
        (["accept", "MODEL", "--text", "/nowhere/x.txt"], "cannot be read"),
        (["accept", "MODEL"], "--text"),
        (["speculate", "MODEL", "--accept", ",".join(9 * ["0.5"])], "use at most 8 rates"),
        (
            ["compare", "MODEL", "--peer", "transformers", "--gguf", "x"],
            "--gguf is read by llama-cpp-python alone",
        ),
        (["compare", "MODEL"], "--peer"),
    ],
)
def test_bad_input_is_one_line(tiny_model, capsys, argv, message):
    status = main([str(tiny_model) if word == "MODEL" else word for word in argv])
    captured = capsys.readouterr()
    assert status == 2 and captured.out == ""
    assert message in captured.err
    assert captured.err.startswith("kestrel-bench: ") and captured.err.count("\n") == 1


class Full(io.StringIO):
    def flush(self):
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("stdout", "message"),
    [
        (Full(), "standard output cannot be written: No space left on device"),
        (None, "standard output is closed: redirect it to a file, or to /dev/null"),
    ],
)
def test_a_report_that_cannot_be_written_is_one_line(
    tiny_model, tmp_path, capsys, monkeypatch, stdout, message
):
    text = tmp_path / "text"
    text.write_text("Once upon a time there was a fox.")
    monkeypatch.setattr(sys, "stdout", stdout)
    assert main(["accept", str(tiny_model), "--text", str(text), "--speculate", "1"]) == 1
    assert capsys.readouterr().err == f"kestrel-bench: {message}\n"


def test_a_context_beyond_the_model_says_what_it_needs(capsys):
    assert main(["decode", "--repeat", "1", "--context-lengths", "4096"]) == 2
    err = capsys.readouterr().err
    assert "context 4178: the model's limit is 4096: use 4096 or less (with 82 for what is timed)" in err


def test_a_model_without_mtp_says_so(tmp_path, capsys):
    import checkpoints

    folder = checkpoints.write_checkpoint(tmp_path / "plain", mtp=False)
    text = tmp_path / "text.txt"
    text.write_text("The kestrel hangs in the wind. " * 3)
    for argv in (["schemes"], ["speculate"], ["accept", "--text", str(text)]):
        command, *rest = argv
        assert main([command, str(folder), *rest]) == 1
        err = capsys.readouterr().err
        assert "this model has no MTP head" in err and err.count("\n") == 1


@pytest.mark.parametrize("command", ["speculate", "schemes"])
def test_more_tokens_than_the_context_holds_are_refused(tiny_model, capsys, command):
    status = main([command, str(tiny_model), *SHORT, "--tokens", "5000"])
    captured = capsys.readouterr()
    assert status == 2 and captured.out == ""
    assert "--tokens 5000: the context holds " in captured.err and captured.err.count("\n") == 1


@pytest.mark.parametrize("values", ["x", "1.5", ""])
def test_a_number_that_is_none_is_named(tiny_model, capsys, values):
    assert main(["decode", str(tiny_model), "--threads", values]) == 2
    assert f"--threads: {values}: use a whole number, 1 or more" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "values", "advice"),
    [
        ("--temperature", "hot", "use a number"),
        ("--top-k", "1.5", "use a whole number"),
        ("--seed", "", "use a whole"),
    ],
)
def test_a_way_of_sampling_that_is_none_is_named(tiny_model, capsys, option, values, advice):
    assert main(["speculate", str(tiny_model), option, values]) == 2
    err = capsys.readouterr().err
    assert f"{option}: {values}: {advice}" in err and err.count("\n") == 1


def test_the_version_is_one_line(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    out, err = capsys.readouterr()
    assert (ended.value.code, err) == (0, "")
    assert out.startswith("kestrel-bench ") and out.count("\n") == 1


@pytest.mark.parametrize("command", ["accept", "perplexity"])
def test_a_text_without_end_is_refused(tiny_model, capsys, monkeypatch, command):
    monkeypatch.setattr(perplexity, "MOST_TEXT", 1 << 20)
    assert main([command, str(tiny_model), "--text", "/dev/zero"]) == 2
    assert capsys.readouterr().err == "kestrel-bench: /dev/zero has more than 1 MiB: give a part of it\n"


def test_a_reader_that_has_gone_ends_it_as_it_ends_the_chat(tiny_model):
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "kestrel_engine.bench.cli", "decode", str(tiny_model), *SHORT]
    argv = ("--tokens", "2", "--prefill-tokens", "4")
    done = subprocess.run([*command, *argv], stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")
