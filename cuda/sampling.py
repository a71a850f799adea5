"""Choosing tokens on the device: the rules of kestrel_engine/sampling.py as kernels, and log-sum-exp.

`find_candidates` takes the best few of every part of the vocabulary, `choose_tokens` the best of those and,
when the logits are filtered, the token among them. Both order by (value descending, index ascending).
"""

from __future__ import annotations

import numpy as np
from numba import float32, int32

from kestrel_cuda.cursor import POSITION
from kestrel_cuda.functions import HALF, ZERO, exp, log
from kestrel_cuda.target import clock_nanoseconds, cuda, device, kernel, mul, warp_best, warp_max, warp_sum
from kestrel_engine.numerics import PHILOX_MULTIPLIERS, PHILOX_ROUNDS, PHILOX_WEYL

GREEDY, NOISY, FILTERED = 0, 1, 2
"""Modes: the largest logit; the largest of logits and noise; noise among the top k, top p and min p."""
MODE, TOP_K, SEED_LOW, SEED_HIGH, MARK_COUNT = 0, 1, 2, 3, 4
"""Places in the settings [SETTINGS] int32."""
SETTINGS = 8
TEMPERATURE, TOP_P, MIN_P, PRESENCE, REPETITION = 0, 1, 2, 3, 4
"""Places in the settings [SETTINGS] float32."""
IN_PROMPT, IN_ANSWER = 1, 2
"""Flags of a token id."""
CLOCK_BITS = 0x7FFFFFFF
"""Nanoseconds of a clock that are kept: those of two seconds."""
MOST_TOP_K = 64
"""Filters that keep more are left to the host."""
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
def _penalised(logit, token, flags, tokens, step, reals):
    """The logit after repetition and presence penalties; drafts 1..step count as emitted."""
    seen = np.int32(flags[token])
    for draft in range(1, step + 1):
        if tokens[draft] == token:
            seen = seen | np.int32(IN_ANSWER)
    if reals[REPETITION] != np.float32(1) and seen != 0:
        logit = logit / reals[REPETITION] if logit > ZERO else mul(logit, reals[REPETITION])
    if seen & IN_ANSWER:
        logit = logit - reals[PRESENCE]
    return logit


@kernel
def begin_round(flags, ids, settings, damaged, stamps):
    """Flag the first settings[MARK_COUNT] of `ids` as emitted, clear `damaged`, and note the time in stamps[0].
    Launch: [1, any]."""
    if cuda.threadIdx.x == 0:
        stamps[0] = clock_nanoseconds() & CLOCK_BITS
    for place in range(cuda.threadIdx.x, settings[MARK_COUNT], cuda.blockDim.x):
        flags[ids[place]] = flags[ids[place]] | IN_ANSWER
    for place in range(cuda.threadIdx.x, damaged.shape[0], cuda.blockDim.x):
        damaged[place] = 0


@device
def _block_best(value, index, values, indexes):
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
    logits, ids, flags, tokens, first_step, cursor, settings, reals, chunk, found, places, damaged
):
    """The best entries of each chunk of a row's logits: settings[TOP_K] of them when FILTERED, else one.

    logits [≥M, n] float32; ids [n] int32, negative for no token,
    or [1] when an entry's id is its index; found [M, chunks, MOST_TOP_K]
    float32 and places int32 take values and indexes; damaged[step] int32 is set where a logit is NaN
    or infinite. Row m is step first_step + m of the round. Launch: [(chunks, M), warps] with 4 * chunk bytes of
    shared memory.
    """
    m, thread, threads = cuda.blockIdx.y, cuda.threadIdx.x, cuda.blockDim.x
    first = cuda.blockIdx.x * chunk
    count = min(chunk, logits.shape[1] - first)
    step = first_step + m
    position = cursor[POSITION] + 1 + step
    mode = settings[MODE]
    values = cuda.shared.array(0, float32)
    # One a line: the simulator tells shared arrays apart by it.
    warp_values = cuda.shared.array(32, float32)
    warp_places = cuda.shared.array(32, int32)
    for i in range(thread, count, threads):
        logit = logits[m, first + i]
        token = ids[first + i] if ids.shape[0] > 1 else np.int32(first + i)
        if token < 0:
            values[i] = LOWEST
            continue
        if not abs(logit) <= HIGHEST:
            damaged[step] = 1
        logit = _penalised(logit, token, flags, tokens, step, reals)
        if mode != GREEDY:
            logit = logit / reals[TEMPERATURE]
        if mode == NOISY:
            logit = logit + gumbel(settings[SEED_LOW], settings[SEED_HIGH], position, token)
        values[i] = logit
    cuda.syncthreads()
    wanted = settings[TOP_K] if mode == FILTERED else 1
    for rank in range(wanted):
        best, place = LOWEST, NOTHING
        for i in range(thread, count, threads):
            if values[i] > best:
                best, place = values[i], np.int32(first + i)
        best, place = _block_best(best, place, warp_values, warp_places)
        if thread == 0:
            found[m, cuda.blockIdx.x, rank], places[m, cuda.blockIdx.x, rank] = best, place
        if place != NOTHING and (place - first) % threads == thread:
            values[place - first] = LOWEST
        cuda.syncthreads()


@kernel
def choose_tokens(
    logits,
    ids,
    tokens,
    first_step,
    is_draft,
    cursor,
    settings,
    reals,
    chunks,
    found,
    places,
    chosen,
    chosen_logits,
    draft_logits,
    stamps,
):
    """The token of each row, into chosen[step] (and tokens[1 + step] for a draft), its own logit, and the logit
    of the draft that the row judges (tokens[1 + step]) when the rows are not drafts themselves; the time of a
    draft into stamps[1].

    Launch: [M, warps] with 4 * (chunks * MOST_TOP_K) bytes of shared memory.
    """
    m, thread, threads = cuda.blockIdx.x, cuda.threadIdx.x, cuda.blockDim.x
    step = first_step + m
    position = cursor[POSITION] + 1 + step
    filtered = settings[MODE] == FILTERED
    wanted = settings[TOP_K] if filtered else 1
    values = cuda.shared.array(0, float32)
    # One a line: the simulator tells shared arrays apart by it.
    warp_values = cuda.shared.array(32, float32)
    warp_places = cuda.shared.array(32, int32)
    top_values = cuda.shared.array(MOST_TOP_K, float32)
    top_places = cuda.shared.array(MOST_TOP_K, int32)
    for i in range(thread, chunks * wanted, threads):
        values[i] = found[m, i // wanted, i % wanted]
    cuda.syncthreads()
    for rank in range(wanted):
        best, place = LOWEST, NOTHING
        for i in range(thread, chunks * wanted, threads):
            # Candidates lie in the order of (chunk, rank): the first of equal ones has the lowest index.
            if values[i] > best:
                best, place = values[i], np.int32(i)
        best, place = _block_best(best, place, warp_values, warp_places)
        if thread == 0:
            top_values[rank] = best
            top_places[rank] = place if place == NOTHING else places[m, place // wanted, place % wanted]
        if place != NOTHING and place % threads == thread:
            values[place] = LOWEST
        cuda.syncthreads()
    if thread == 0:
        place = top_places[0]
        if filtered:
            count = min(wanted, logits.shape[1])
            place = _among_kept(top_values, top_places, count, ids, position, settings, reals, values)
        place = 0 if place == NOTHING else place  # of a damaged row: any
        token = ids[place] if ids.shape[0] > 1 else place
        chosen[step] = token
        chosen_logits[step] = logits[m, place]
        if is_draft:
            tokens[1 + step] = token
            stamps[1] = clock_nanoseconds() & CLOCK_BITS
        else:
            draft_logits[step] = logits[m, tokens[1 + step]]


@device
def _among_kept(top_values, top_places, count, ids, position, settings, reals, lanes):
    """The place of the best noisy value among those that top p and min p keep of the `count` best.

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
    best, best_place, best_token = LOWEST, top_places[0], NOTHING
    for rank in range(count):
        weight = exp(top_values[rank] - largest)
        if open_ and weight >= reals[MIN_P] and top_places[rank] != NOTHING:
            place = top_places[rank]
            token = ids[place] if ids.shape[0] > 1 else place
            noisy = top_values[rank] + gumbel(settings[SEED_LOW], settings[SEED_HIGH], position, token)
            if noisy > best or (noisy == best and token < best_token):
                best, best_place, best_token = noisy, place, token
        cumulated = cumulated + weight
        if reals[TOP_P] < np.float32(1) and cumulated >= threshold:
            open_ = False
    return best_place


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
