"""The byte counts of the GPU backend: against sums done by hand, and what the design asks of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kestrel_cuda import sampling
from kestrel_cuda.buffers import ROWS
from kestrel_cuda.cost import BANDWIDTH, SHAPES, Shape, tables
from kestrel_cuda.model import _groups, _wide_groups
from kestrel_cuda.operations import FUSED_NORM_ROWS, WIDE_SIZES
from kestrel_cuda.warm import compile_kernels

WAYS = (sampling.GREEDY, sampling.NOISY, sampling.ABOVE, sampling.FEW, sampling.ORDERED)
DOCUMENT = Path(__file__).parents[1] / "docs" / "gpu.md"


@pytest.fixture(scope="module")
def large() -> Shape:
    return Shape("27B", "q4", context=4096)


def test_a_plain_step_of_the_27b_moves_its_weights_once(large):
    """By hand: 4.5 bits a weight of every matrix but the beta/decay projections' 16."""
    c = SHAPES["27B"]
    h, ff, query, kv = c.hidden_size, c.intermediate_size, 24 * 256, 4 * 256
    feed_forward = 3 * h * ff
    delta = h * (c.conv_dim + c.value_dim) + h * c.value_dim + feed_forward
    attention = h * (2 * query + 2 * kv) + h * query + feed_forward
    weights = 48 * delta + 16 * attention + c.vocab_size * h
    beta_a = 48 * 96 * h * 2
    kernels = large.round(0).by_kernel
    read = kernels["q4_rows"][1] + kernels["q4_two_rows"][1] - beta_a
    assert read == pytest.approx(weights * 4.5 / 8, rel=0.003)  # and the rows


def test_the_state_is_read_and_written_once_and_the_cache_read_once(large):
    plain = large.round(0).by_kernel
    state = 48 * 128 * 128 * 4
    assert plain["delta_rows"][1] == pytest.approx(48 * 2 * state, rel=0.13)  # and rings, logs, rows
    assert plain["scores_rows"][1] == plain["values_rows"][1] == 16 * 4 * 256 * 4096 * 4


def test_launches_follow_from_the_layers(large):
    """5 of a recurrent layer, 6 of an attention layer, and 7 around them; a norm apart for many rows."""
    assert large.round(0).launches == large.verify(FUSED_NORM_ROWS - 1).launches == 48 * 5 + 16 * 6 + 7
    assert large.verify(8).launches == large.round(0).launches + 2 * 64
    chained = large.round(3).launches - large.round(2).launches
    assert large.round(8).launches - large.round(7).launches == chained


def test_only_what_has_to_be_in_order_is_sorted(large):
    """A byte of the keys in a pass over all entries, which reads them twice and writes them once."""
    launches = {mode: large.round(0, mode).launches for mode in WAYS}
    plain = launches[sampling.GREEDY]
    assert launches[sampling.NOISY] == launches[sampling.FEW] == plain
    assert launches[sampling.ABOVE] == plain + 1 and launches[sampling.ORDERED] == plain + 8
    kernels, entries = large.round(3, sampling.ORDERED).by_kernel, 4 * SHAPES["27B"].vocab_size * 8
    read, moved = (kernels[name][1] for name in ("count_digits", "move_entries"))
    assert 4 * entries < read < 4.2 * entries and 8 * entries < moved < 8.2 * entries


def test_more_rows_read_no_more_weights(large):
    products = [large.verify(drafts).by_kernel["q4_two_rows"] for drafts in (0, 3, 8)]
    assert len({launches for launches, _ in products}) == 1
    assert products[2][1] < 1.02 * products[0][1]  # the rows themselves


def test_a_wide_chunk_reads_the_matrices_once(large):
    """All but the logits' matrix and the tiny projections of betas and decays."""
    plain, wide = large.round(0).by_kernel, large.wide(64).by_kernel
    logits = SHAPES["27B"].vocab_size * SHAPES["27B"].hidden_size * 4.5 / 8
    products = plain["q4_rows"][1] + plain["q4_two_rows"][1] - logits
    assert products < wide["q4_tiles"][1] < 1.1 * products  # and 64 rows of results
    assert wide["delta_rows"][0] == 8 * plain["delta_rows"][0]


@pytest.mark.parametrize(
    "rows, commit", [(1, 1), (9, 1), (6, 6), (70, 70), (64, 64), (100, 92), (17, 16), (30, 29), (9, 9)]
)
def test_passes_take_every_row_once_and_speculative_rows_together(rows, commit):
    wide = _wide_groups(rows, commit)
    left, left_commit = rows - sum(wide), commit - sum(wide)
    narrow = _groups(left, left_commit, ROWS)
    assert sum(narrow) == left and all(count <= ROWS for count in narrow)
    assert set(wide) <= set(WIDE_SIZES) and left < min(WIDE_SIZES) + ROWS
    if commit < rows:
        assert left_commit >= 1 and narrow[-1] > rows - commit


@pytest.mark.parametrize("card", BANDWIDTH)
def test_the_design_estimate(large, card):
    """Plain decoding near the card's bandwidth, a round of three drafts near a plain step."""
    plain, three = large.round(0), large.round(3)
    assert three.estimate_ms(card) <= 1.2 * plain.estimate_ms(card)
    assert plain.estimate_ms(card) <= 1.25 * plain.floor_ms(card)


def test_a_round_copies_its_tokens_and_rows_back_and_nothing_there(large):
    """Some hundred numbers, and the hidden rows in use: what the graph copies does not depend on who drafted."""
    size, row = large.host_bytes(0), 4 * SHAPES["27B"].hidden_size
    assert size - row < 2000
    assert large.host_bytes(3) == size + 3 * row


def test_the_host_sends_what_the_device_does_not_have(large):
    """Settings and cursors in one small copy, and rows of waiting pairs only when they are put."""
    post, row = large.model.post, 4 * SHAPES["27B"].hidden_size

    def sent() -> int:
        large.memory.copied = 0
        post.send()
        return large.memory.copied

    post.put("cursor", [7, 0, 1, 5, 1, 6])
    assert 0 < sent() < 1000
    post.put("cursor", [7, 0, 1, 5, 1, 6])
    assert sent() == 0
    post.put_pairs([3, 4], np.zeros((2, SHAPES["27B"].hidden_size), np.float32))
    assert 2 * row < sent() < 2 * row + 1000 and sent() == 0
    with pytest.raises(MemoryError), post.moving():
        raise MemoryError  # in a round: nobody knows where the device stands
    assert not post.has("cursor", [7, 0, 1, 5, 1, 6]) and sent() > 0


def test_every_kernel_of_a_round_is_compiled_before(large):
    """What rounds with 0 to 8 drafts and prefill launch, `compile_kernels` has launched, with progress."""
    kernels, fractions = large.memory.kernels, []
    kernels.clear()
    compile_kernels(large.model, fractions.append)
    compiled = set(kernels)
    kernels.clear()
    for drafts in range(9):
        for mode in WAYS:
            large.round(drafts, mode)
    large.model.wide.trunk(large.state, min(WIDE_SIZES))
    large.model.passes.mtp_input(large.state, ROWS)
    assert len(kernels) > 50 and kernels <= compiled
    assert fractions == sorted(fractions) and fractions[0] == 0 and fractions[-1] == 1


def test_the_document_has_the_tables():
    assert tables() in DOCUMENT.read_text()
