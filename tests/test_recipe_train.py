"""The trainer: exact resume, one-line errors, and files that are never half written."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from kestrel_assets.recipe.data import Corpus, Rows  # noqa: E402
from kestrel_assets.recipe.errors import RecipeError  # noqa: E402
from kestrel_assets.recipe.export import export_run  # noqa: E402
from kestrel_assets.recipe.model import load_checkpoint  # noqa: E402
from kestrel_assets.recipe.muon import orthogonalise  # noqa: E402
from kestrel_assets.recipe.train import (  # noqa: E402
    ANSWERS_MIX,
    FINAL_MIX,
    STABLE_MIX,
    Trainer,
    parse_options,
    train,
)

TINY = "hidden_size=64,num_hidden_layers=4,intermediate_size=64,num_attention_heads=2,num_key_value_heads=1"
TINY += ",head_dim=32,linear_num_key_heads=2,linear_num_value_heads=2,linear_key_head_dim=32,linear_value_head_dim=32"


def options(corpus, out, *more, steps=8):
    arguments = ["--corpus", corpus, "--out", out, "--steps", steps, "--rows", 2, "--row-length", 64]
    arguments += ["--model", TINY, "--warmup", 2, "--eval-every", 4, "--eval-documents", 2, *more]
    return parse_options([str(x) for x in arguments])


def final_weights(out):
    return torch.load(out / "checkpoint.pt", weights_only=True)["weights"]


@pytest.mark.parametrize("optimizer", ["muon", "adamw"])
def test_resume_is_bit_exact(corpus, tmp_path, optimizer):
    torch.set_num_threads(1)
    flags = ("--optimizer", optimizer)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    train(options(corpus, whole, *flags))
    for stop in (3, 7, 8):  # stops in the stable and in the final phase
        trainer = Trainer(options(corpus, parts, *flags))
        trainer.resume()
        trainer.run(stop_after=stop)
    expected, resumed = final_weights(whole), final_weights(parts)
    assert all(torch.equal(expected[name], resumed[name]) for name in expected)
    assert load_checkpoint(whole / "model").config.hidden_size == 64
    assert (whole / "stable-6.pt").exists()


def test_more_steps_prolong_the_stable_phase(corpus, tmp_path):
    train(options(corpus, tmp_path / "run", steps=4))
    trainer = Trainer(options(corpus, tmp_path / "run", steps=40))
    trainer.resume()
    assert trainer.step == 4 and not trainer.is_final and trainer.rate() == 1.0


def test_the_last_steps_count_assistant_turns_alone(corpus, tmp_path):
    trainer = Trainer(options(corpus, tmp_path / "run", steps=50))
    weights, mixes = [], []
    for trainer.step in range(50):
        weights.append(trainer.plan().others_weight)
        mixes.append(trainer.mix())
    assert weights == [1.0] * 38 + [0.25] * 10 + [0.0] * 2
    assert mixes == [STABLE_MIX] * 38 + [FINAL_MIX] * 10 + [ANSWERS_MIX] * 2
    assert not {"stories", "dialogue", "fairytale"} & set(ANSWERS_MIX)  # nobody in them is an assistant


def test_loss_falls(corpus, tmp_path, capsys):
    train(options(corpus, tmp_path / "run", "--log-every", "1", steps=40))
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("step ")]
    losses = [float(words[3]) for words in lines]
    assert losses[-1] < 0.7 * losses[0]


def test_rows_start_at_documents_and_cover_an_epoch(corpus):
    group = Corpus(corpus).train["generated"]
    rows = Rows({"generated": group}, seed=3).groups["generated"]
    whole = set()
    for _ in range(200):
        document, offset, epoch = rows._order[rows.index], rows.offset, rows.epoch
        if epoch:
            break
        ids, segments, _ = rows.next_row(64)
        assert ids[0] == group.ids[group.bounds[document] + offset]
        assert segments[0] == 0 and np.all(np.diff(segments) >= 0)
        whole.add(int(document))
    assert rows.epoch == 1 and len(whole) > 10


def test_orthogonalise_makes_singular_values_near_one():
    torch.manual_seed(0)
    values = torch.linalg.svdvals(orthogonalise(torch.randn(3, 32, 96)).float())
    assert values.min() > 0.6 and values.max() < 1.3


def test_one_line_errors_and_nothing_overwritten(corpus, tmp_path):
    out = tmp_path / "run"
    train(options(corpus, out, steps=2))
    checkpoint = out / "checkpoint.pt"
    before = checkpoint.read_bytes()

    with pytest.raises(RecipeError, match=r"another model"):
        train(options(corpus, out, "--model", TINY.replace("intermediate_size=64", "intermediate_size=96")))
    with pytest.raises(RecipeError, match=r"another seed"):
        train(options(corpus, out, "--seed", "2"))
    with pytest.raises(RecipeError, match="no corpus"):
        train(options(tmp_path / "nowhere", out))
    with pytest.raises(RecipeError, match="no checkpoint"):
        export_run(tmp_path / "nowhere", tmp_path / "model", "best")
    assert checkpoint.read_bytes() == before

    checkpoint.write_bytes(before[: len(before) // 2])
    with pytest.raises(RecipeError, match="cannot be read"):
        train(options(corpus, out))
    assert checkpoint.read_bytes() == before[: len(before) // 2]


def test_changed_corpus_is_refused_unless_accepted(corpus, tmp_path):
    import shutil

    out, changed = tmp_path / "run", tmp_path / "changed"
    train(options(corpus, out, steps=2))
    shutil.copytree(corpus, changed)
    ids = np.load(changed / "train-stories.npy")
    ids[0] += 1
    np.save(changed / "train-stories.npy", ids)
    with pytest.raises(RecipeError, match="another corpus"):
        train(options(changed, out, steps=4))
    train(options(changed, out, "--accept-corpus", steps=4))


def test_sigterm_saves_and_the_command_reports_errors(corpus, tmp_path):
    command = [sys.executable, "-m", "kestrel_assets.recipe.train", "--corpus", str(corpus)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    bad = subprocess.run(
        [*command, "--out", str(tmp_path / "x"), "--model", "vocab_size=96,hidden=1"],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert bad.returncode == 2 and bad.stderr.startswith("kestrel-nano: ") and bad.stderr.count("\n") == 1

    out = tmp_path / "run"
    arguments = ["--out", str(out), "--model", TINY, "--rows", "2", "--row-length", "64", "--log-every", "1"]
    process = subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout.readline().startswith("step 1")
    time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    rest, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and "the same command continues" in rest
    assert torch.load(out / "checkpoint.pt", weights_only=True)["step"] >= 1
