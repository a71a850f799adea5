"""`kestrel-bench compare`: other engines beside ours, and those that cannot be had."""

from __future__ import annotations

import importlib.util
import sys
import types

import pytest
from bench_runs import bench

from kestrel_engine.bench import compare, peers
from kestrel_engine.bench.cli import main
from kestrel_engine.bench.compare import common_prefix
from kestrel_engine.errors import KestrelError


def test_compare_with_transformers(tiny_model, capsys):
    pytest.importorskip("transformers")
    argv = ("--peer", "transformers", "--tokens", "5", "--starts", "1", "--quant", "bf16", "--threads", "1")
    status, report = bench(capsys, "compare", tiny_model, *argv, "--repeat", "1")
    assert status == 0 and report["peer"] == "transformers" and report["peer_version"]
    engines = {run["engine"]: run for run in report["runs"]}
    assert engines.keys() == {"kestrel, plain", "kestrel, speculative", "transformers"}
    assert engines["transformers"]["ratio"] == 1.0 and report["compared_tokens"] == 5
    assert "greedy, 1 start of at most 9 tokens (5 in all), 1 repeat\n" in compare.text(
        report | {"tokens": 9}
    )


def test_llama_cpp_is_fed_token_by_token(monkeypatch, tmp_path):
    class Llama:
        def __init__(self, path, **options):
            self.evaluated, self.options = [], options

        def reset(self):
            self.evaluated = []

        def eval(self, tokens):
            self.evaluated.append(list(tokens))

        def sample(self, temp):
            assert temp == 0.0
            return self.evaluated[-1][-1] + 1

    monkeypatch.setitem(sys.modules, "llama_cpp", types.SimpleNamespace(Llama=Llama))
    monkeypatch.setattr(peers.importlib.metadata, "version", lambda name: "0.0")
    peer = peers.open_peer("llama-cpp-python", tmp_path, str(tmp_path / "tiny-q8_0.gguf"), 2, 512)
    ids, milliseconds = peer.decode([5, 6, 7], 3)
    assert ids == [8, 9, 10] and milliseconds >= 0 and peer.format == "tiny-q8_0"
    assert peer._model.evaluated == [[5, 6], [7], [8], [9]] and peer._model.options["n_ctx"] == 512


def test_the_common_prefix():
    assert common_prefix([1, 2, 3], [1, 2, 4]) == 2 and common_prefix([1], [1, 2]) == 1
    assert common_prefix([], [1]) == 0


@pytest.mark.parametrize(
    ("missing", "argv", "message"),
    [
        ("llama_cpp", ("--peer", "llama-cpp-python"), "pip install llama-cpp-python"),
        ("transformers", ("--peer", "transformers"), "pip install transformers"),
    ],
)
def test_a_missing_peer_is_one_line(tiny_model, capsys, monkeypatch, missing, argv, message):
    real = importlib.util.find_spec
    monkeypatch.setattr(
        peers.importlib.util, "find_spec", lambda name: None if name == missing else real(name)
    )
    assert main(["compare", str(tiny_model), *argv]) == 2
    err = capsys.readouterr().err
    assert message in err and err.count("\n") == 1


@pytest.mark.parametrize(("name", "module"), [("llama-cpp-python", "llama_cpp"), ("transformers", "torch")])
def test_a_peer_whose_library_does_not_fit_the_system_is_one_line(monkeypatch, tmp_path, name, module):
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr(peers.importlib.metadata, "version", lambda name: "0.0")
    with pytest.raises(KestrelError, match=f"^{name} cannot load .*{module}.*: update it$"):
        peers.open_peer(name, tmp_path, str(tmp_path / "tiny.gguf"), 2, 512)


def test_llama_cpp_needs_a_file(tiny_model, capsys, monkeypatch):
    monkeypatch.setattr(peers, "_require", lambda module, package: None)
    assert main(["compare", str(tiny_model), "--peer", "llama-cpp-python"]) == 2
    assert "--gguf FILE" in capsys.readouterr().err
