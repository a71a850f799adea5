"""Choosing tokens on the device: the rules of kestrel_engine/sampling.py as kernels, and log-sum-exp.

`find_candidates` takes the best few of every part of the vocabulary, `choose_tokens` the best of those and,
when the logits are filtered, the token among them. Where more than a few have to be in order, ordered.py chooses.

Entry n of a vocabulary is the n-th of its tokens, which ascend, so that equal values are in the order of their
tokens: `ids` [n] int32 says which token it is (negative: none, at the end), `places` [n] int32 where its logit
stands; either is [1] when that is n itself.
"""

from __future__ import annotations

import numpy as np
from numba import float32, int32

from kestrel_cuda.cursor import POSITION
from kestrel_cuda.functions import HALF, ZERO, exp, log
from kestrel_cuda.target import clock_nanoseconds, cuda, device, kernel, mul, warp_best, warp_max, warp_sum
from kestrel_engine.numerics import PHILOX_MULTIPLIERS, PHILOX_ROUNDS, PHILOX_WEYL

GREEDY, NOISY, ABOVE, FEW, ORDERED = range(5)
"""Ways of choosing: the largest logit; the largest of logits and noise; the same among those that min-p keeps;
among what top-p and min-p keep of up to MOST_TOP_K; and of more than that (ordered.py)."""
TOP_K, SEED_LOW, SEED_HIGH = range(3)
"""Places in the settings [SETTINGS] int32."""
SETTINGS = 8
TEMPERATURE, TOP_P, MIN_P, PRESENCE, REPETITION = 0, 1, 2, 3, 4
"""Places in the settings [SETTINGS] float32."""
IN_PROMPT, IN_ANSWER = 1, 2
"""Flags of a token id."""
CLOCK_BITS = 0x7FFFFFFF
"""Nanoseconds of a clock that are kept: those of two seconds."""
MOST_TOP_K = 64
"""Entries that a block picks out one by one."""
NOTHING = np.int32(0x7FFFFFFF)
LOWEST = np.float32(-np.inf)
HIGHEST = np.float32(np.finfo(np.float32).max)
NOISE_STEP = np.float32(2.0**-23)
M0, M1 = PHILOX_MULTIPLIERS
W0, W1 = np.uint64(PHILOX_WEYL[0]), np.uint64(PHILOX_WEYL[1])
LOW = np.uint64(0xFFFFFFFF)
WORD = np.uint64(32)
NOISE_SHIFT = np.uint64(9)


@device
def gumbel(seed_low, seed_high, position, token):
    """numerics.gumbel for one token id."""
    c0, c1, c2, c3 = np.uint64(token), np.uint64(position), np.uint64(0), np.uint64(0)
    key0, key1 = np.uint64(seed_low) & LOW, np.uint64(seed_high) & LOW
    for _ in range(PHILOX_ROUNDS):
        product0, product1 = M0 * c0, M1 * c2
        c0 = (product1 >> WORD) ^ c1 ^ key0
        c2 = (product0 >> WORD) ^ c3 ^ key1
        c1, c3 = product1 & LOW, product0 & LOW
        key0, key1 = (key0 + W0) & LOW, (key1 + W1) & LOW
    u = mul(np.float32(c0 >> NOISE_SHIFT) + HALF, NOISE_STEP)
    return -log(-log(u))


@device
def place_of(places, entry):
    return places[entry] if places.shape[0] > 1 else entry


@device
def token_of(ids, entry):
    return ids[entry] if ids.shape[0] > 1 else np.int32(entry)


@device
def scaled_logit(logits, m, entry, ids, places, flags, tokens, step, reals, damaged):
    """The logit of an entry of row m after repetition and presence penalties, over the temperature; drafts 1..step
    count as emitted. Without a token the lowest. Sets damaged[step] for NaN and infinity."""
    token = token_of(ids, entry)
    if token < 0:
        return LOWEST
    logit = logits[m, place_of(places, entry)]
    if not logit <= HIGHEST:
        damaged[step] = 1
    seen = np.int32(flags[token])
    for draft in range(1, step + 1):
        if tokens[draft] == token:
            seen = seen | np.int32(IN_ANSWER)
    if reals[REPETITION] != np.float32(1) and seen != 0:
        logit = logit / reals[REPETITION] if logit > ZERO else mul(logit, reals[REPETITION])
    if seen & IN_ANSWER:
        logit = logit - reals[PRESENCE]
    return logit / reals[TEMPERATURE]


@device
def block_best(value, index, values, indexes):
    """The best of the block's (value, index), for every thread. values, indexes: shared, a place per warp."""
    value, index = warp_best(value, index)
    warps = cuda.blockDim.x // 32
    if warps > 1:
        if cuda.threadIdx.x % 32 == 0:
            values[cuda.threadIdx.x // 32] = value
            indexes[cuda.threadIdx.x // 32] = index
        cuda.syncthreads()
        value, index = values[0], indexes[0]
        for warp in range(1, warps):
            if values[warp] > value or (values[warp] == value and indexes[warp] < index):
                value, index = values[warp], indexes[warp]
        cuda.syncthreads()
    return value, index


@kernel
def find_candidates(
    logits,
    ids,
    places,
    flags,
    tokens,
    first_step,
    mode,
    cursor,
    settings,
    reals,
    chunk,
    largest,
    found,
    entries,
    damaged,
):
    """The best entries of each chunk of a row's logits: settings[TOP_K] of them when FEW, else one.

    logits [≥M, n] float32; found [M, chunks, ≥1] float32 and entries int32 take values and entries; largest
    [M, chunks, 1] float32, the best of each chunk without noise, is read when ABOVE; damaged[step] int32 is set where
    a logit is NaN or infinite. Row m is step first_step + m of the round.
    Launch: [(chunks, M), warps] with 4 * chunk bytes of shared memory.
    """
    m, thread, threads = cuda.blockIdx.y, cuda.threadIdx.x, cuda.blockDim.x
    first = cuda.blockIdx.x * chunk
    count = min(chunk, logits.shape[1] - first)
    step = first_step + m
    position = cursor[POSITION] + 1 + step
    values = cuda.shared.array(0, float32)
    # One a line: the simulator tells shared arrays apart by it.
    warp_values = cuda.shared.array(32, float32)
    warp_entries = cuda.shared.array(32, int32)
    top = LOWEST
    if mode == ABOVE:
        for other in range(cuda.gridDim.x):
            top = max(top, largest[m, other, 0])
    for i in range(thread, count, threads):
        value = scaled_logit(logits, m, first + i, ids, places, flags, tokens, step, reals, damaged)
        if mode == ABOVE and exp(value - top) < reals[MIN_P]:
            value = LOWEST
        elif mode in (ABOVE, NOISY):
            token = token_of(ids, first + i)
            value = value + gumbel(settings[SEED_LOW], settings[SEED_HIGH], position, token)
        values[i] = value
    cuda.syncthreads()
    wanted = settings[TOP_K] if mode == FEW else 1
    for rank in range(wanted):
        best, entry = LOWEST, NOTHING
        for i in range(thread, count, threads):
            if values[i] > best:
                best, entry = values[i], np.int32(first + i)
        best, entry = block_best(best, entry, warp_values, warp_entries)
        if thread == 0:
            found[m, cuda.blockIdx.x, rank], entries[m, cuda.blockIdx.x, rank] = best, entry
        if entry != NOTHING and (entry - first) % threads == thread:
            values[entry - first] = LOWEST
        cuda.syncthreads()


@kernel
def choose_tokens(
    logits,
    ids,
    places,
    tokens,
    first_step,
    is_draft,
    mode,
    cursor,
    settings,
    reals,
    chunks,
    found,
    entries,
    outcome,
    stamps,
):
    """The token of each row from what `find_candidates` has found, as `store_choice` leaves it.

    Launch: [M, warps] with 4 * (chunks * MOST_TOP_K) bytes of shared memory.
    """
    m, thread, threads = cuda.blockIdx.x, cuda.threadIdx.x, cuda.blockDim.x
    step = first_step + m
    wanted = settings[TOP_K] if mode == FEW else 1
    values = cuda.shared.array(0, float32)
    # One a line: the simulator tells shared arrays apart by it.
    warp_values = cuda.shared.array(32, float32)
    warp_entries = cuda.shared.array(32, int32)
    top_values = cuda.shared.array(MOST_TOP_K, float32)
    top_entries = cuda.shared.array(MOST_TOP_K, int32)
    for i in range(thread, chunks * wanted, threads):
        values[i] = found[m, i // wanted, i % wanted]
    cuda.syncthreads()
    for rank in range(wanted):
        best, place = LOWEST, NOTHING
        for i in range(thread, chunks * wanted, threads):
            # Candidates lie in the order of (chunk, rank): the first of equal ones has the lowest index.
            if values[i] > best:
                best, place = values[i], np.int32(i)
        best, place = block_best(best, place, warp_values, warp_entries)
        if thread == 0:
            top_values[rank] = best
            top_entries[rank] = place if place == NOTHING else entries[m, place // wanted, place % wanted]
        if place != NOTHING and place % threads == thread:
            values[place] = LOWEST
        cuda.syncthreads()
    if thread == 0:
        entry = top_entries[0]
        if mode == FEW:
            count = min(wanted, logits.shape[1])
            position = cursor[POSITION] + 1 + step
            entry = _among_kept(top_values, top_entries, count, ids, position, settings, reals, values)
        store_choice(logits, m, step, entry, ids, places, tokens, is_draft, outcome, stamps)


@device
def _among_kept(top_values, top_entries, count, ids, position, settings, reals, lanes):
    """The entry of the best noisy value among those that top p and min p keep of the `count` best.

    lanes: shared, at least 32 floats.
    """
    largest = top_values[0]
    for lane in range(32):
        lanes[lane] = ZERO
    for rank in range(count):
        lanes[rank % 32] = lanes[rank % 32] + exp(top_values[rank] - largest)
    width = 16
    while width > 0:
        for lane in range(width):
            lanes[lane] = lanes[lane] + lanes[lane + width]
        width = width // 2
    threshold = mul(reals[TOP_P], lanes[0])
    cumulated, open_ = ZERO, True
    best, best_entry = LOWEST, NOTHING
    for rank in range(count):
        weight = exp(top_values[rank] - largest)
        entry = top_entries[rank]
        if open_ and weight >= reals[MIN_P] and entry != NOTHING:
            token = token_of(ids, entry)
            noisy = top_values[rank] + gumbel(settings[SEED_LOW], settings[SEED_HIGH], position, token)
            if noisy > best or (noisy == best and entry < best_entry):
                best, best_entry = noisy, entry
        cumulated = cumulated + weight
        if cumulated >= threshold:
            open_ = False
    return best_entry


@device
def store_choice(logits, m, step, entry, ids, places, tokens, is_draft, outcome, stamps):
    """By one thread: row m's token, into chosen[step] (and tokens[1 + step] for a draft), its own logit, and the
    logit of the draft that the row judges (tokens[1 + step]) when the rows are not drafts themselves; the time of a
    draft into stamps[1]. outcome: chosen int32, its logits float32, those of judged drafts float32, damaged int32,
    which is set when there is no entry (NOTHING): no logit is a number."""
    chosen, chosen_logits, draft_logits, damaged = outcome
    if entry == NOTHING:
        damaged[step] = 1
        entry = np.int32(0)
    token = token_of(ids, entry)
    chosen[step] = token
    chosen_logits[step] = logits[m, place_of(places, entry)]
    if is_draft:
        tokens[1 + step] = token
        stamps[1] = clock_nanoseconds() & CLOCK_BITS
    else:
        draft_logits[step] = logits[m, tokens[1 + step]]


@kernel
def log_sum_exp(logits, out):
    """numerics.log_sum_exp of rows [≥M, n]. Launch: [M, warps] with 4 * threads bytes of shared memory."""
    m, thread, threads = cuda.blockIdx.x, cuda.threadIdx.x, cuda.blockDim.x
    count = logits.shape[1]
    powers = cuda.shared.array(0, float32)
    largest = LOWEST
    for i in range(thread, count, threads):
        largest = max(largest, logits[m, i])
    powers[thread] = warp_max(largest)
    cuda.syncthreads()
    for warp in range(threads // 32):
        largest = max(largest, powers[warp * 32])
    cuda.syncthreads()
    total = ZERO
    for first in range(0, count, threads):
        powers[thread] = exp(logits[m, first + thread] - largest) if first + thread < count else ZERO
        cuda.syncthreads()
        if thread < 32:
            for i in range(thread, threads, 32):
                total = total + powers[i]
        cuda.syncthreads()
    if thread < 32:
        total = warp_sum(total)
        if thread == 0:
            out[m] = largest + log(total)
