"""The kernels that begin and end a round, with every number of drafts and of right ones (see checks.py)."""

from __future__ import annotations

import numpy as np
from compare import F, assert_same, cursor_of, draw

from kestrel_cuda import cursor as places
from kestrel_cuda.arrays import Settings
from kestrel_cuda.buffers import ROWS
from kestrel_cuda.cursor import round_cursor
from kestrel_cuda.operations import Operations
from kestrel_cuda.sampling import IN_ANSWER, IN_PROMPT

WIDTH, VOCABULARY, GARBAGE = 40, 64, 0x7F7F7F7F


def begin(kernels: Operations) -> None:
    damaged, stamps = kernels.memory.empty((40,), np.int32), kernels.memory.empty((2,), np.int32)
    kernels.begin_round(damaged, stamps)
    assert not damaged.host().any()
    assert 0 <= stamps.host()[0] != GARBAGE == stamps.host()[1]


def settle(kernels: Operations, has_drafted: bool, waiting: int) -> None:
    """Rounds of up to 8 drafts, from none right to all, with so many pairs waiting before."""
    for rows in range(1 + has_drafted, ROWS + 1):
        for right in range(rows):
            _settle(kernels, rows, right, has_drafted, waiting)


def _settle(kernels: Operations, rows: int, right: int, has_drafted: bool, waiting: int) -> None:
    memory, random, length = kernels.memory, np.random.default_rng((rows, right)), 50
    here = {name: np.full(16, GARBAGE, np.int32) for name in ("tokens", "chosen", "pair_tokens")}
    here |= {name: np.full((ROWS, WIDTH), np.nan, F) for name in ("hidden", "pair_hidden")}
    here["tokens"][:rows] = random.integers(0, VOCABULARY, rows)
    here["chosen"][:rows] = [*here["tokens"][1:rows], 3]
    if right < rows - 1:  # what is right behind a wrong one is not accepted
        here["chosen"][right] = (here["chosen"][right] + 1) % VOCABULARY
    here["hidden"][:rows] = draw((rows, right), rows, WIDTH)
    kept = min(waiting, ROWS)
    here["pair_tokens"][:kept], here["pair_hidden"][:kept] = 5, draw(7, kept, WIDTH)
    here["flags"] = random.choice(np.array([0, IN_PROMPT, IN_ANSWER], np.uint8), VOCABULARY)
    there = {name: memory.upload(array) for name, array in here.items()}
    cursor = cursor_of(kernels, position=length, commit=1, mtp_position=length - waiting)
    unused = cursor.host()[places.NEWEST_POSITION + 1 :]
    settings = Settings(cursor, None, None, there["tokens"], there["flags"], None)
    pairs = there["pair_tokens"], there["pair_hidden"]
    kernels.settle(rows, has_drafted, there["chosen"], there["hidden"], pairs, settings)

    mtp_length, emitted = length if has_drafted else length - waiting, here["chosen"][: 1 + right]
    expected = np.array(round_cursor(length + 1 + right, right, mtp_length), np.int32)
    expected[places.NEWEST_POSITION + 1 :] = unused
    assert_same(cursor.host(), expected, ("cursor", rows, right))
    first = length - mtp_length
    new = slice(first, min(ROWS, first + 1 + right))
    count = max(0, new.stop - first)
    here["pair_tokens"][new], here["pair_hidden"][new] = emitted[:count], here["hidden"][:count]
    here["flags"][emitted] |= IN_ANSWER
    here["tokens"][0] = emitted[-1]
    for name, array in here.items():
        assert_same(there[name].host(), array, (name, rows, right))


SMALL = {
    "a round begins": (begin, {}),
    "settle what the head has drafted": (settle, dict(has_drafted=True, waiting=2)),
    "settle, one pair waiting": (settle, dict(has_drafted=False, waiting=1)),
    "settle, hardly room for pairs": (settle, dict(has_drafted=False, waiting=ROWS - 3)),
    "settle, no room for pairs": (settle, dict(has_drafted=False, waiting=ROWS + 4)),
}
"""As checks.SMALL."""
