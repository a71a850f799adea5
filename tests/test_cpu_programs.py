"""What the CPU backend keeps ready: products outside a pass, and the passes of the MTP head."""

from __future__ import annotations

import checkpoints
import models
import numpy as np
import pytest
from bits import assert_same

from kestrel_engine.cpu import backend as cpu_backend
from kestrel_engine.cpu.backend import CpuBackend
from kestrel_engine.cpu.model import MOST_INPUT_ROWS
from kestrel_engine.numerics import to_bfloat16
from kestrel_engine.options import MAX_DRAFT
from kestrel_engine.reference import ReferenceBackend

FORMATS = ("bf16", "q8", "q4")


def numbers(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("format", FORMATS)
def test_a_kept_product_takes_new_rows_and_overwrites_no_old_result(format):
    backend, reference = CpuBackend(2), ReferenceBackend()
    bits = to_bfloat16(numbers(0, 50, 96))
    packed, plain = backend.pack(bits, format), reference.pack(bits, format)
    results = []
    for seed, rows in ((1, 1), (2, 3), (3, 1), (4, 1), (5, 3)):
        x = numbers(seed, rows, 2 * 96)[:, :96]  # rows of a wider array
        results.append((backend.matmul(x, packed), reference.matmul(x, plain)))
    for ours, expected in results:
        assert_same(ours, expected)
    assert len(backend._products) == 2


def test_few_products_are_kept_and_each_for_its_own_matrix(monkeypatch):
    monkeypatch.setattr(cpu_backend, "KEPT_PRODUCTS", 3)
    backend, reference = CpuBackend(1), ReferenceBackend()
    x = numbers(9, 1, 64)
    for seed in (*range(6), 4, 5, 0):
        bits = to_bfloat16(numbers(seed, 17, 64))
        assert_same(
            backend.matmul(x, backend.pack(bits, "q8")), reference.matmul(x, reference.pack(bits, "q8"))
        )
    assert len(backend._products) == 3


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = checkpoints.write_checkpoint(tmp_path_factory.mktemp("programs"), tokenizer=False)
    return models.load(folder, context=512)


@pytest.mark.parametrize("missed", [1, 2, MAX_DRAFT, MAX_DRAFT + 1, MAX_DRAFT + 2, 31, 64, 65, 150])
def test_the_draft_head_catches_up_in_few_sizes_with_the_same_bits(model, missed):
    tokens = models.random_tokens(model, missed + 1)
    whole = models.stepwise(model)
    found = []
    for each in (model, whole):
        state, _ = models.consume(each, tokens[:-1], chunk=len(tokens))
        row = each.mtp_row(state, tokens[-1])
        assert state.mtp.length == missed
        found.append((row, state.mtp.key_rows(missed), state.mtp.values[:, :missed], state))
    for ours, expected in zip(found[0][:3], found[1][:3], strict=True):
        assert_same(ours, expected)
    sizes = [key[1] for key in found[0][3].prepared if key[0] == "mtp input"]
    assert all(size & (size - 1) == 0 and size <= MOST_INPUT_ROWS for size in sizes)


def test_programs_do_not_grow_with_the_numbers_of_rows(model):
    state, _ = models.consume(model, models.random_tokens(model, 3))
    for missed in range(MAX_DRAFT + 2, 60):
        for token in models.random_tokens(model, missed, missed):
            if state.length < 480:
                model.forward(state, [token], 1)
        model.mtp_row(state, 5)
        if state.length >= 400:
            state.clear()
            model.forward(state, [1], 1)
    kinds = [key for key in state.prepared if key[0].startswith("mtp")]
    assert len(kinds) <= 2 * MOST_INPUT_ROWS.bit_length()
