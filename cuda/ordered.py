"""Choosing a token where the order of many entries decides: top-k of more than a block can pick out, and top-p of a
whole vocabulary. Every entry is sorted (sorting.py), so that sums run over exactly the weights, in exactly the
order, that kestrel_engine/sampling.py names.

Weights descend, and so does what one of them can add to a sum: once a sum has not changed, it never will again.
"""

from __future__ import annotations

from numba import float32, int32

from kestrel_cuda.cursor import POSITION
from kestrel_cuda.functions import ONE, ZERO, exp
from kestrel_cuda.sampling import (
    LOWEST,
    MIN_P,
    NOTHING,
    SEED_HIGH,
    SEED_LOW,
    TOP_K,
    TOP_P,
    block_best,
    gumbel,
    scaled_logit,
    store_choice,
    token_of,
)
from kestrel_cuda.sorting import LAST_KEY, descending_key, item_of, key_of, make_entry
from kestrel_cuda.target import (
    bits_from_float,
    cuda,
    device,
    float_from_bits,
    kernel,
    mul,
    warp_max,
    warp_sum,
)


@kernel
def make_entries(logits, ids, places, flags, tokens, first_step, reals, entries, damaged):
    """The entries to be sorted of each row: the larger a scaled logit, the lower its key; without a token the last.

    Arguments as of `find_candidates`; entries [≥M, n] int64. Launch: [(blocks, M), any].
    """
    m, entry = cuda.blockIdx.y, cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if entry < logits.shape[1]:
        step = first_step + m
        value = scaled_logit(logits, m, entry, ids, places, flags, tokens, step, reals, damaged)
        key = descending_key(bits_from_float(value)) if token_of(ids, entry) >= 0 else LAST_KEY
        entries[m, entry] = make_entry(key, entry)


@device
def _value(entry):
    return float_from_bits(descending_key(key_of(entry)))


@device
def _weight(entries, m, rank, count, largest):
    """e**(value - largest) of the entry of a rank; 0 from `count` on and without a token."""
    if rank >= count or key_of(entries[m, rank]) == LAST_KEY:
        return ZERO
    return exp(_value(entries[m, rank]) - largest)


@device
def _lane_sum(entries, m, count, largest, weights):
    """numerics.lane_sum of the first `count` weights, for every thread; weights: shared, a place per thread."""
    thread, threads = cuda.threadIdx.x, cuda.blockDim.x
    changed = cuda.shared.array(1, float32)
    total = ZERO
    for first in range(0, count, threads):
        weights[thread] = _weight(entries, m, first + thread, count, largest)
        cuda.syncthreads()
        if thread < 32:
            before = total
            for i in range(thread, threads, 32):
                total = total + weights[i]
            any_changed = warp_max(ONE if total != before else ZERO)
            if thread == 0:
                changed[0] = any_changed
        cuda.syncthreads()
        if changed[0] == ZERO:
            break
    if thread < 32:
        total = warp_sum(total)
        if thread == 0:
            weights[0] = total
    cuda.syncthreads()
    total = weights[0]
    cuda.syncthreads()
    return total


@device
def _nucleus(entries, m, count, largest, top_p, weights):
    """How many of the first `count` entries top-p keeps, for every thread: to the first at which the running sum
    reaches its share of the whole. top_p is infinite when it is off."""
    if top_p >= ONE:
        return count
    thread, threads = cuda.threadIdx.x, cuda.blockDim.x
    result = cuda.shared.array(2, int32)  # how many are kept; whether more could be
    threshold = mul(top_p, _lane_sum(entries, m, count, largest, weights))
    running, below = ZERO, 0
    for first in range(0, count, threads):
        weights[thread] = _weight(entries, m, first + thread, count, largest)
        cuda.syncthreads()
        if thread == 0:
            before = running
            for i in range(min(threads, count - first)):
                running = running + weights[i]
                below += 1 if running < threshold else 0
            result[0] = count if running < threshold else below + 1
            result[1] = 1 if running < threshold and running != before else 0
        cuda.syncthreads()
        if result[1] == 0:
            break
    return result[0]


@kernel
def choose_ordered(
    logits,
    ids,
    places,
    tokens,
    first_step,
    is_draft,
    cursor,
    settings,
    reals,
    entries,
    outcome,
    stamps,
):
    """The token of each row from its sorted entries, as `store_choice` leaves it.

    Launch: [M, warps] with 4 * threads bytes of shared memory.
    """
    m, thread, threads = cuda.blockIdx.x, cuda.threadIdx.x, cuda.blockDim.x
    step = first_step + m
    position = cursor[POSITION] + 1 + step
    weights = cuda.shared.array(0, float32)
    # One a line: the simulator tells shared arrays apart by it.
    warp_values = cuda.shared.array(32, float32)
    warp_entries = cuda.shared.array(32, int32)
    count = logits.shape[1]
    if settings[TOP_K] > 0:
        count = min(count, settings[TOP_K])
    largest = _value(entries[m, 0])
    kept = _nucleus(entries, m, count, largest, reals[TOP_P], weights)
    best, best_entry = LOWEST, NOTHING
    for rank in range(thread, kept, threads):
        weight = _weight(entries, m, rank, count, largest)
        if weight > ZERO and weight >= reals[MIN_P]:
            entry = item_of(entries[m, rank])
            noise = gumbel(settings[SEED_LOW], settings[SEED_HIGH], position, token_of(ids, entry))
            noisy = _value(entries[m, rank]) + noise
            if noisy > best or (noisy == best and entry < best_entry and best > LOWEST):
                best, best_entry = noisy, entry
    best, best_entry = block_best(best, best_entry, warp_values, warp_entries)
    if thread == 0:
        store_choice(logits, m, step, best_entry, ids, places, tokens, is_draft, outcome, stamps)
