"""How a round begins and ends on the device: it accepts what was drafted right, and moves its own cursors, so that
the next round goes on from there.
"""

from __future__ import annotations

from kestrel_cuda.cursor import LOG_LENGTH, MTP_POSITION, NEWEST_POSITION, NEWEST_ROW, POSITION
from kestrel_cuda.sampling import CLOCK_BITS, IN_ANSWER
from kestrel_cuda.target import clock_nanoseconds, cuda, kernel


@kernel
def begin_round(damaged, stamps):
    """Clear `damaged`, and note the time in stamps[0]. Launch: [1, any]."""
    if cuda.threadIdx.x == 0:
        stamps[0] = clock_nanoseconds() & CLOCK_BITS
    for place in range(cuda.threadIdx.x, damaged.shape[0], cuda.blockDim.x):
        damaged[place] = 0


@kernel
def settle(rows, has_drafted, tokens, chosen, hidden, cursor, pair_tokens, pair_hidden, flags):
    """Accept the longest run of drafts that the model has chosen itself, as `speculate.py` does.

    rows: of the round, tokens[0] the certain one and the drafts behind it; chosen [≥rows]: the model's own token of
    each; hidden [≥rows, H]: their trunk rows. has_drafted: the MTP head took all waiting pairs in this round.
    Afterwards `cursor` stands behind the accepted rows, cursor[LOG_LENGTH] is their number beside the first,
    tokens[0] the certain token behind them, `flags` know what was emitted, and the pairs that wait for the MTP head
    are pair_tokens and pair_hidden [ROWS, H] up to cursor[NEWEST_ROW], as far as there is room. Launch: [1, any].
    """
    thread, threads, room = cuda.threadIdx.x, cuda.blockDim.x, pair_hidden.shape[0]
    right = 0
    while right < rows - 1 and chosen[right] == tokens[1 + right]:
        right += 1
    position = cursor[POSITION]
    mtp_position = position if has_drafted else cursor[MTP_POSITION]
    first = position - mtp_position
    cuda.syncthreads()
    for m in range(min(1 + right, room - first)):
        for k in range(thread, hidden.shape[1], threads):
            pair_hidden[first + m, k] = hidden[m, k]
    if thread == 0:
        for m in range(1 + right):
            flags[chosen[m]] = flags[chosen[m]] | IN_ANSWER
            if first + m < room:
                pair_tokens[first + m] = chosen[m]
        tokens[0] = chosen[right]
        cursor[POSITION] = position + 1 + right
        cursor[LOG_LENGTH] = right
        cursor[MTP_POSITION] = mtp_position
        cursor[NEWEST_ROW] = first + right
        cursor[NEWEST_POSITION] = position + right
