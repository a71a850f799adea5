"""Acceptance canaries: checkpoints whose drafts are always right, as long as the MTP head is fed right.

A head that is fed the wrong rows costs acceptance and never a bit of the text, so only these tests notice.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import checkpoints
import models
import numpy as np
import pytest
import rounds
from rounds import GREEDY

from kestrel_engine.draft_head import make_draft_head
from kestrel_engine.drafter import MtpDrafter
from kestrel_engine.model import Model
from kestrel_engine.options import SamplingOptions

TOKENS = 64
"""Vocabulary and width of a cycle checkpoint."""
NORM_SIGNS, MTP_SIGNS = 37, 21
"""Rows of the Hadamard matrix that are the signs of the final norm and of the MTP head's."""


def hadamard() -> np.ndarray:
    """Orthogonal rows of ±1; the elementwise product of rows i and j is row i ^ j."""
    rows = np.ones((1, 1), np.float32)
    while len(rows) < TOKENS:
        rows = np.block([[rows, rows], [rows, -rows]])
    return rows


def write_cycle(folder: Path, reads: str) -> Path:
    """A checkpoint that counts: token t is followed by t + 1 (mod 64), and its MTP head knows.

    reads: "token" — the head looks at the embedding alone; "hidden row" — at the trunk's row alone. The
    signs of the norms turn a row that did not pass them into another token's row.
    """
    rows = hadamard()
    ids = np.arange(TOKENS)
    following = (ids + 1) % TOKENS

    def edit(tensors):
        def store(name, values):
            assert tensors[name].shape == values.shape
            tensors[name] = checkpoints.to_bfloat16(values)

        store("model.language_model.embed_tokens.weight", rows)
        store("model.language_model.norm.weight", rows[NORM_SIGNS] - 1)
        head = np.empty_like(rows)
        head[following] = rows[ids ^ NORM_SIGNS]
        store("lm_head.weight", head)
        store("mtp.pre_fc_norm_embedding.weight", np.zeros(TOKENS, np.float32))
        store("mtp.pre_fc_norm_hidden.weight", np.zeros(TOKENS, np.float32))
        nothing, identity = np.zeros_like(rows), np.eye(TOKENS, dtype=np.float32)
        if reads == "token":
            store("mtp.fc.weight", np.concatenate([identity, nothing], axis=1))
            store("mtp.norm.weight", rows[NORM_SIGNS] - 1)
        else:
            step = rows[following ^ NORM_SIGNS ^ MTP_SIGNS].T @ rows[ids ^ NORM_SIGNS] / TOKENS
            store("mtp.fc.weight", np.concatenate([nothing, step], axis=1))
            store("mtp.norm.weight", rows[MTP_SIGNS] - 1)

    return checkpoints.write_checkpoint(
        folder,
        hidden_size=TOKENS,
        vocab_size=TOKENS,
        tie=False,
        echo=True,
        tokenizer=False,
        edit_tensors=edit,
    )


@pytest.fixture(scope="module")
def cycle_folders(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("cycle")
    return {reads: write_cycle(folder / reads, reads) for reads in ("token", "hidden row")}


def acceptance(model: Model, sampling: SamplingOptions = GREEDY, length: int = 3, prompt=(5, 6, 7, 8)):
    """Acceptance per depth over 40 rounds of `length` drafts, each depth over the drafts tested there."""
    state = model.new_state()
    rounds.prefill(model, state, prompt[:-1], 16)
    drafter = MtpDrafter(model, make_draft_head(model, "all", ()))
    running: Iterator = rounds.rounds(model, state, prompt, sampling, itertools.repeat(length), drafter)
    accepted, tested = np.zeros(length), np.zeros(length)
    for result in itertools.islice(running, 40):
        accepted[: result.accepted] += 1
        tested[: result.accepted + 1] += 1
    return [float(a / t) if t else None for a, t in zip(accepted, tested, strict=True)]


# --- fed right --------------------------------------------------------------------------------------------


def test_the_golden_acceptance_of_the_echo_is_all(echo_model):
    model = models.load(echo_model)
    assert acceptance(model) == [1, 1, 1]


@pytest.mark.parametrize("format", rounds.FORMATS)
@pytest.mark.parametrize("reads", ["token", "hidden row"])
def test_the_golden_acceptance_of_the_cycle_is_all(cycle_folders, reads, format):
    model = models.load(cycle_folders[reads], format, context=512)
    assert rounds.plain_ids(model, [5, 6], GREEDY, 4) == [7, 8, 9, 10]
    assert acceptance(model, length=8) == [1] * 8
    assert acceptance(model, SamplingOptions(temperature=1.0, seed=1)) == [1, 1, 1]


@pytest.mark.parametrize("length", [1, 2, 31, 40])
def test_a_chain_is_the_head_run_over_all_its_pairs(tiny_model, length):
    """Each step's output and position are those of one call over every pair: of the trunk's rows, then of its
    own. The head of this checkpoint attends to all of them."""
    model = models.load(tiny_model)
    tokens = models.random_tokens(model, length + 8)
    state, rows = models.consume(model, tokens[:length])
    hidden, chained = model.mtp_row(state, tokens[length]), []
    outputs = [hidden]
    for step, token in enumerate(tokens[length + 1 :], start=1):
        chained.append(hidden)
        hidden = model.mtp_chain(state, token, hidden, step)
        outputs.append(hidden)
    assert state.mtp.length == length
    for step, expected in enumerate(outputs):
        fresh = model.new_state()
        fresh.tokens = tokens[: length + step]
        fresh.hidden_tail = np.concatenate([rows, *chained[:step]])
        assert np.array_equal(model.mtp_row(fresh, tokens[length + step]), expected)


def test_asked_again_with_another_token(tiny_model):
    """The newest pair is taken anew; the pairs before it stay."""
    model = models.load(tiny_model)
    tokens = models.random_tokens(model, 20)
    (state, _), (fresh, _) = models.consume(model, tokens), models.consume(model, tokens)
    model.mtp_row(state, 1)
    assert np.array_equal(model.mtp_row(state, 2), model.mtp_row(fresh, 2))
    assert state.mtp.length == fresh.mtp.length == len(tokens)
    assert np.array_equal(state.mtp.key_rows(20), fresh.mtp.key_rows(20))


# --- fed wrong --------------------------------------------------------------------------------------------


def feed_rows_before_the_norm(monkeypatch) -> None:
    """A row divided by the norm's scale is the row before the norm, but for its length, which the head's own
    norm takes away."""
    original = Model.mtp_row

    def mtp_row(self, state, next_token):
        state.hidden_tail = state.hidden_tail / self.weights.norm
        return original(self, state, next_token)

    monkeypatch.setattr(Model, "mtp_row", mtp_row)


def recycle_rows_before_the_norm(monkeypatch) -> None:
    original = Model.mtp_chain

    def mtp_chain(self, state, token, hidden, step):
        return original(self, state, token, hidden / self.weights.mtp.norm, step)

    monkeypatch.setattr(Model, "mtp_chain", mtp_chain)


def feed_the_same_position(monkeypatch) -> None:
    """(token p, hidden p) instead of (token p+1, hidden p)."""
    original = Model._mtp_projection

    def projection(self, tokens, hidden):
        return original(self, [(token - 1) % TOKENS for token in tokens], hidden)

    monkeypatch.setattr(Model, "_mtp_projection", projection)


def swap_the_halves(monkeypatch) -> None:
    """Hidden first, embedding second."""

    def projection(self, tokens, hidden):
        backend, eps, mtp = self.backend, self.config.rms_norm_eps, self.weights.mtp
        embedded = backend.rms_norm(self.embed(tokens), mtp.embedding_norm, eps)
        hidden = backend.rms_norm(np.ascontiguousarray(hidden), mtp.hidden_norm, eps)
        return backend.matmul(np.concatenate([hidden, embedded], axis=1), mtp.projection)

    monkeypatch.setattr(Model, "_mtp_projection", projection)


@pytest.mark.parametrize(
    ("reads", "damage", "first", "second"),
    [
        ("hidden row", feed_rows_before_the_norm, 0, None),
        ("hidden row", recycle_rows_before_the_norm, 1, 0),
        ("token", feed_the_same_position, 0, None),
        ("token", swap_the_halves, 0, None),
        ("hidden row", swap_the_halves, 0, None),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_a_head_that_is_fed_wrong_is_noticed(cycle_folders, monkeypatch, reads, damage, first, second):
    """Acceptance collapses from all to nothing, at the first draft or at the second; the text does not change."""
    model = models.stepwise(models.load(cycle_folders[reads]))
    damage(monkeypatch)
    found = acceptance(model)
    assert found[0] == pytest.approx(first, abs=0.1)
    assert found[1] is second or found[1] == pytest.approx(second, abs=0.1)


# --- sampling ---------------------------------------------------------------------------------------------


class OtherNoise(MtpDrafter):
    """Draws its drafts with noise of its own, as an engine does that does not couple them."""

    def draft(self, state, next_token, count, sampler):
        other = type(sampler)(
            SamplingOptions(temperature=sampler.options.temperature, seed=sampler.options.seed + 1),
            sampler.backend,
        )
        return super().draft(state, next_token, count, other)


class Greedy(MtpDrafter):
    """Drafts the likeliest token whatever the temperature."""

    def draft(self, state, next_token, count, sampler):
        return super().draft(state, next_token, count, type(sampler)(GREEDY, sampler.backend))


def sampled_acceptance(model, kind, temperature) -> float:
    prompt, state = models.random_tokens(model, 8), model.new_state()
    rounds.prefill(model, state, prompt[:-1], 16)
    drafter = kind(model, make_draft_head(model, "all", ()))
    sampling = SamplingOptions(temperature=temperature, seed=17)
    running = rounds.rounds(model, state, prompt, sampling, itertools.repeat(2), drafter)
    results = list(itertools.islice(running, 75))
    return sum(result.accepted > 0 for result in results) / len(results)


@pytest.fixture(scope="module")
def flat_echo(tmp_path_factory) -> Model:
    """An echo whose head agrees with it, but neither is sure: many tokens are likely."""
    folder = tmp_path_factory.mktemp("flat") / "echo"
    return models.load(checkpoints.write_checkpoint(folder, echo=True, embedding_std=0.06))


@pytest.mark.parametrize("temperature", [0.6, 1.0])
def test_the_same_noise_keeps_drafts_right(flat_echo, temperature):
    """Drafts drawn with the tokens' own noise mostly hit; likeliest ones and ones with other noise mostly miss."""
    coupled, other, greedy = (
        sampled_acceptance(flat_echo, kind, temperature) for kind in (MtpDrafter, OtherNoise, Greedy)
    )
    assert coupled > 0.8
    assert other < 0.25 and greedy < 0.5
