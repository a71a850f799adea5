"""The schemes of `kestrel-bench schemes`: one text under all of them, each doing what its source describes."""

from __future__ import annotations

import json

import models
import numpy as np
import pytest
import rounds

from kestrel_engine.bench.cli import main
from kestrel_engine.bench.schemes import base, kestrel32
from kestrel_engine.bench.schemes.chapter14 import Chapter14
from kestrel_engine.bench.schemes.command import Kestrel32Script
from kestrel_engine.bench.schemes.cursor import Cursor
from kestrel_engine.bench.schemes.kestrel32 import Kestrel32, Mark
from kestrel_engine.bench.schemes.snapshot import SnapshotPerPosition
from kestrel_engine.draft_head import make_draft_head
from kestrel_engine.options import SamplingOptions
from kestrel_engine.rollback import SnapshotRollback

PROMPT = [17, 4, 230, 9, 77]
TOKENS = 30


@pytest.fixture(scope="module")
def model(tiny_model):
    return models.load(tiny_model, "q8")


@pytest.fixture(scope="module")
def plain(model):
    return rounds.plain_ids(model, PROMPT, SamplingOptions(), TOKENS)


def decode(scheme: base.Scheme, tokens: int = TOKENS) -> tuple[list[int], list[base.SchemeRound]]:
    scheme.begin(PROMPT)
    ids, found = [], []
    while len(ids) < tokens:
        found.append(scheme.round(tokens - len(ids)))
        ids += found[-1].tokens
    return ids, found


def kestrel(model, plain, length: int, rates=None, force_accept: bool = False) -> Kestrel32:
    script = None
    if rates is not None:
        script = Kestrel32Script(model.config.vocab_size, rates)
        script.stream = [*PROMPT, *plain]
    return Kestrel32(model, length, make_draft_head(model, "all", ()), script, force_accept)


class Passes:
    """Rows of every pass of the trunk."""

    def __init__(self, model, monkeypatch):
        self.rows: list[int] = []
        real = model.forward

        def forward(state, tokens, commit, slots=None):
            self.rows.append(len(tokens))
            return real(state, tokens, commit, slots) if slots is not None else real(state, tokens, commit)

        monkeypatch.setattr(model, "forward", forward)


@pytest.mark.parametrize("rates", [None, [0.71, 0.51, 0.36], [1.0], [0.0], [1.0, 0.0]])
@pytest.mark.parametrize("length", [1, 2, 3])
def test_every_scheme_says_what_plain_decoding_says(model, plain, length, rates):
    assert decode(kestrel(model, plain, length, rates))[0] == plain
    for kind in (Cursor, SnapshotPerPosition, Chapter14):
        right = (lambda n: 0) if rates is None else (lambda n: (5 * n + 1) % 4)
        drafter = rounds.KnowingDrafter([*PROMPT, *plain], model.config.vocab_size, right)
        assert decode(kind(model, length, drafter))[0] == plain, kind.__name__


@pytest.mark.parametrize("rates", [[0.71, 0.51, 0.36], [0.0], [1.0]])
def test_kestrel_32_leaves_the_state_of_plain_decoding(model, plain, rates):
    scheme = kestrel(model, plain, 3, rates)
    ids, _ = decode(scheme)
    twin = rounds.Twin(model).at([*PROMPT, *ids])
    state = scheme.state
    assert state.tokens == [*PROMPT, *ids]
    for n, layer in enumerate(state.delta_layers):
        assert np.array_equal(layer.state, twin[f"recurrent state {n}"])
        assert np.array_equal(layer.ring[kestrel32._window(state.length)], twin[f"convolution window {n}"])
    for n, cache in enumerate(state.caches):
        assert np.array_equal(cache.key_rows(state.length), twin[f"keys {n}"])


def test_kestrel_32_emits_accepted_drafts_or_one_own_token_and_consumes_as_much(model, plain):
    scheme = kestrel(model, plain, 3, [0.71, 0.51, 0.36])
    scheme.begin(PROMPT)
    left = TOKENS
    while left >= 3:
        before = scheme.state.length
        found = scheme.round(left)
        assert len(found.tokens) == max(1, found.accepted) == scheme.state.length - before
        assert scheme.state.mtp.length == scheme.state.length - 1
        left -= len(found.tokens)
    assert sum(scheme.histogram.values()) and set(scheme.histogram) <= {0, 1, 2, 3}
    assert scheme.round(left).drafted == 0  # the tail is not speculated


@pytest.mark.parametrize(
    ("rates", "passes"),
    [
        ([0.0], [3, 1]),  # nothing right: the batch, then the own token
        ([1.0, 0.0], [3, 1]),
        ([1.0, 1.0, 0.0], [3, 1, 1]),  # two right: each runs again by itself
        ([1.0], [3]),  # all right: kept as they are
    ],
)
def test_kestrel_32_replays_row_by_row_through_the_whole_model(model, plain, rates, passes, monkeypatch):
    scheme = kestrel(model, plain, 3, rates)
    scheme.begin(PROMPT)
    counted = Passes(model, monkeypatch)
    scheme.round(TOKENS)
    assert counted.rows == passes


def test_kestrel_32_feeds_the_head_token_and_row_of_the_same_position(model, plain, monkeypatch):
    scheme = kestrel(model, plain, 2)
    scheme.begin(PROMPT)
    fed = []
    real = model.mtp_row

    def spy(state, token):
        fed.append((token, state.length, state.mtp.length, state.hidden_tail[-1].copy()))
        return real(state, token)

    monkeypatch.setattr(model, "mtp_row", spy)
    newest = scheme.state.hidden_tail[-1].copy()
    scheme.round(TOKENS)
    ((token, length, mtp_length, hidden),) = fed
    assert token == PROMPT[-1] and (length, mtp_length) == (len(PROMPT), len(PROMPT) - 1)
    assert np.array_equal(hidden, newest)


def test_forced_acceptance_only_observes(model, plain):
    free, forced = (kestrel(model, plain, 3, [0.71, 0.51, 0.36], force) for force in (False, True))
    assert decode(free)[0] == decode(forced)[0] == plain
    assert forced.histogram == free.histogram and not free.forced
    assert forced.forced["kept"] == forced.histogram[3]
    assert forced.forced.total() == forced.histogram.total()


def test_a_mark_is_used_up(model):
    state, _ = models.consume(model, PROMPT)
    mark = Mark(state)
    model.forward(state, [3, 4], commit=2)
    mark.rollback(state)
    assert state.tokens == PROMPT
    with pytest.raises(AssertionError, match="once"):
        mark.rollback(state)


def test_chapter_14_runs_again_on_a_miss_alone(model, plain, monkeypatch):
    for right, passes in ((lambda n: 1, [2]), (lambda n: 0, [2, 1])):
        drafter = rounds.KnowingDrafter([*PROMPT, *plain], model.config.vocab_size, right)
        scheme = Chapter14(model, 1, drafter)
        scheme.begin(PROMPT)
        with monkeypatch.context() as patch:
            counted = Passes(model, patch)
            scheme.round(TOKENS)
        assert counted.rows == passes


def test_bytes_copied_and_kept(model, plain):
    config, layers = model.config, 3
    states = (
        layers * config.linear_num_value_heads * config.linear_key_head_dim * config.linear_value_head_dim * 4
    )
    window = layers * 3 * config.conv_dim * 4
    record = layers * 4 * (config.linear_num_value_heads + config.key_dim + config.value_dim)

    def of(kind, right: int):
        drafter = rounds.KnowingDrafter([*PROMPT, *plain], config.vocab_size, lambda n: right)
        scheme = kind(model, 3, drafter)
        scheme.begin(PROMPT)
        return scheme.round(TOKENS).copied, scheme.state_bytes

    rings = sum(layer.ring.nbytes for layer in model.new_state().delta_layers)
    assert of(SnapshotPerPosition, 3) == (4 * states, 5 * states + rings)
    assert of(SnapshotPerPosition, 1)[0] == 5 * states
    assert of(Chapter14, 3) == (states, 2 * states + rings)
    assert of(Chapter14, 0)[0] == 2 * states
    assert of(Cursor, 1) == of(Cursor, 3) == (3 * record, states + rings + 8 * record)

    scheme = kestrel(model, plain, 3, [0.0])
    scheme.begin(PROMPT)
    assert scheme.round(TOKENS).copied == 2 * (states + window)
    assert scheme.state_bytes == 2 * states + rings + window
    kept = kestrel(model, plain, 3, [1.0])
    kept.begin(PROMPT)
    assert kept.round(TOKENS).copied == states + window


def test_the_snapshots_are_as_many_as_counted(model, plain):
    rollback = SnapshotRollback()
    drafter = rounds.KnowingDrafter([*PROMPT, *plain], model.config.vocab_size, lambda n: 1)
    scheme = SnapshotPerPosition(model, 3, drafter)
    scheme.rollback = rollback
    scheme.begin(PROMPT)
    scheme.round(TOKENS)
    held = sum(slots.nbytes for slots in rollback._slots)
    assert scheme.state_bytes == scheme.recurrent_bytes + scheme.ring_bytes + held


def bench(capsys, folder, *argv: str) -> tuple[int, dict]:
    argv = ("--quant", "q8", "--threads", "1", "--repeat", "1", "--output", "json", *argv)
    status = main(["schemes", str(folder), *argv])
    return status, json.loads(capsys.readouterr().out)


def test_the_command_puts_all_schemes_side_by_side(tiny_model, capsys):
    argv = ("--tokens", "40", "--starts", "2", "--accept", "0.71,0.51,0.36", "--force-accept")
    status, report = bench(capsys, tiny_model, *argv)
    runs = {(run["scheme"], run["speculate"]): run for run in report["runs"]}
    pairs = [(scheme, k) for scheme in ("kestrel-32", "ch14", "snapshot", "cursor") for k in (2, 3)]
    assert status == 0 and report["acceptance"] == "scripted"
    assert runs.keys() == {*pairs, ("ch14", 1)}
    assert all(run["identical"] for run in report["runs"])
    for run in report["runs"]:
        assert {"ms_per_token", "speedup", "replay_ms_per_round"} <= run.keys()
        assert run["bytes_copied_per_round"] > 0 and run["state_bytes"] > 0
        assert sum(run["accepted_histogram"]) == run["rounds"]
    for scheme in ("ch14", "snapshot", "cursor"):
        assert runs[scheme, 3]["acceptance_by_position"] == runs["cursor", 3]["acceptance_by_position"]
    kestrel_run = runs["kestrel-32", 3]
    assert kestrel_run["force_accept"]["kept"] == kestrel_run["accepted_histogram"][3]
    assert kestrel_run["tokens_per_round"] < runs["cursor", 3]["tokens_per_round"]
    copied = [runs[scheme, 3]["bytes_copied_per_round"] for scheme in ("cursor", "ch14", "snapshot")]
    assert copied == sorted(copied)


def test_the_command_on_a_model_without_recurrent_layers(attention_model, capsys):
    argv = ("--tokens", "24", "--starts", "1", "--accept", "0.71,0.51,0.36")
    status, report = bench(capsys, attention_model, *argv)
    assert status == 0 and all(run["identical"] for run in report["runs"])
    assert {run["state_bytes"] for run in report["runs"]} == {0}


def test_the_command_as_text(echo_model, capsys):
    argv = ("--quant", "q8", "--threads", "1", "--repeat", "1", "--tokens", "12", "--starts", "1")
    assert main(["schemes", str(echo_model), *argv, "--force-accept"]) == 0
    out = capsys.readouterr().out
    assert (
        out.startswith("kestrel-bench schemes · ")
        and "acceptance natural; 1 start of 12 tokens, 1 repeat; " in out
    )
    assert "replay ms/round" in out and out.count("kestrel-32, k ") == 2


def test_the_command_finds_out_a_scheme_that_changes_the_text(tiny_model, capsys, monkeypatch):
    """A rollback that restores nothing."""
    monkeypatch.setattr(Mark, "rollback", lambda self, state: state.rewind(state.length - self._length))
    status, report = bench(capsys, tiny_model, "--tokens", "24", "--starts", "1", "--accept", "0.5")
    wrong = {run["scheme"] for run in report["runs"] if not run["identical"]}
    assert status == 1 and wrong == {"kestrel-32"}
