"""Choosing tokens from rows of logits: the largest entries, noise, and the whole of `sampling.Sampler` but for
penalties and top-p without top-k."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.extending import intrinsic

from kestrel_engine.cpu.functions import HALF, ONE, ZERO, exp, log
from kestrel_engine.cpu.jit import inlined, kernel, word
from kestrel_engine.cpu.operation import (
    RUN_DRAFT,
    RUN_POSITION,
    RUN_TARGET,
    RUN_TOKENS,
    RUN_WORDS,
    f32_1d,
    f32_2d,
    i64_1d,
    integer,
    operation,
)
from kestrel_engine.cpu.reductions import log_sum_exp
from kestrel_engine.cpu.vectors import LANES, any_greater, greater, load, vector
from kestrel_engine.numerics import LANES as SUM_LANES
from kestrel_engine.numerics import PHILOX_MULTIPLIERS, PHILOX_ROUNDS, PHILOX_WEYL
from kestrel_engine.options import SamplingOptions
from kestrel_engine.sampling import LARGEST_NOISE, LEAST_WEIGHT, MARGIN, RELATIVE_MARGIN, SMALL_TOP_K

PHILOX_M0, PHILOX_M1 = PHILOX_MULTIPLIERS
PHILOX_W0, PHILOX_W1 = np.uint64(PHILOX_WEYL[0]), np.uint64(PHILOX_WEYL[1])
NOISE_STEP = np.float32(2.0**-23)
STRIDE = 4 * LANES
DAMAGED = -1
"""In place of a token: the logits are not finite."""

# Settings of a sampler: float32 and int64 words.
TEMPERATURE, TOP_P, MIN_P = range(3)
SEED, TOP_K = range(2)


class Settings:
    """The words that the operations of choice read, for whichever sampling options were taken last."""

    def __init__(self) -> None:
        self.numbers, self.integers = np.zeros(3, np.float32), np.zeros(2, np.int64)
        self._options: SamplingOptions | None = None

    def take(self, options: SamplingOptions) -> bool:
        """False when these operations cannot choose in this way."""
        if options is self._options:
            return True
        if options.repetition_penalty != 1 or options.presence_penalty != 0:
            return False
        if not options.is_greedy and not (
            0 < options.top_k <= SMALL_TOP_K or (options.top_k == 0 and options.top_p == 1)
        ):
            return False
        temperature = 0.0 if options.is_greedy else options.temperature
        self.numbers[:] = temperature, options.top_p, options.min_p
        self.integers[:] = options.seed, 0 if options.is_greedy else options.top_k
        self._options = options
        return True


# --- the largest entries ----------------------------------------------------------------------------------


@inlined
def _insert(scaled, places, filled, value, place):
    """Puts a value among the first `filled`, largest first; the last one falls out when there is no more room."""
    at = filled if filled < len(places) else len(places) - 1
    while at > 0 and value > scaled[at - 1]:
        scaled[at], places[at] = scaled[at - 1], places[at - 1]
        at -= 1
    scaled[at], places[at] = value, place


@inlined
def _largest_of_stretch(x, i):
    """The largest of x[i : i + STRIDE], lane by lane."""
    top, rest = (
        greater(load(x, i), load(x, i + LANES)),
        greater(load(x, i + 2 * LANES), load(x, i + 3 * LANES)),
    )
    return greater(top, rest)


@kernel("void(float32[::1], float32, float32[::1], int64[::1])")
def largest_scaled(x, divisor, scaled, places):
    """The largest entries of x / divisor, largest first, ties to the lower index; and their places.

    Division keeps the order but may make equals of what was not: whatever is not above the entry that the last
    one was made of is not above the last one either.
    """
    count, whole = len(places), len(x) // STRIDE * STRIDE
    for i in range(count):
        _insert(scaled, places, i, x[i] / divisor, i)
    i = count
    while i < len(x):
        end = min(len(x), (i // STRIDE + 1) * STRIDE)
        # Most stretches hold nothing that is large enough: one look tells.
        whole_stretch = i % STRIDE == 0 and i < whole
        if not whole_stretch or any_greater(_largest_of_stretch(x, i), x[places[count - 1]]):
            for n in range(i, end):
                if x[n] > x[places[count - 1]] and x[n] / divisor > scaled[count - 1]:
                    _insert(scaled, places, count, x[n] / divisor, n)
        i = end


def top_k_indices(x: np.ndarray, out: np.ndarray) -> None:
    """numerics.top_k: the len(out) largest entries of x, largest first, ties to the lower index."""
    largest_scaled(x, ONE, np.empty(len(out), np.float32), out)


@intrinsic
def _any_nan(typing, value):
    """Whether any lane is no number."""

    def code(context, builder, signature, args):
        found = builder.bitcast(builder.fcmp_unordered("uno", args[0], args[0]), ir.IntType(LANES))
        return builder.icmp_unsigned("!=", found, ir.Constant(found.type, 0))

    return types.boolean(vector), code


@kernel
def _holds_nan(x):
    whole = len(x) // LANES * LANES
    for k in range(0, whole, LANES):
        if _any_nan(load(x, k)):
            return True
    rest = False
    for k in range(whole, len(x)):
        rest |= np.isnan(x[k])
    return rest


# --- noise ------------------------------------------------------------------------------------------------


@kernel("void(uint64, uint64, int64[::1], float32[::1])")
def gumbel_noise(seed, position, ids, out):
    """numerics.gumbel for token ids."""
    low = np.uint64(0xFFFFFFFF)
    for n in range(len(ids)):
        c0, c1, c2, c3 = np.uint64(ids[n]), position, np.uint64(0), np.uint64(0)
        key0, key1 = seed & low, seed >> np.uint64(32)
        for _ in range(PHILOX_ROUNDS):
            product0, product1 = PHILOX_M0 * c0, PHILOX_M1 * c2
            c0 = (product1 >> np.uint64(32)) ^ c1 ^ key0
            c2 = (product0 >> np.uint64(32)) ^ c3 ^ key1
            c1, c3 = product1 & low, product0 & low
            key0, key1 = (key0 + PHILOX_W0) & low, (key1 + PHILOX_W1) & low
        u = (np.float32(c0 >> np.uint64(9)) + HALF) * NOISE_STEP
        out[n] = -log(-log(u))


# --- a token ----------------------------------------------------------------------------------------------


@kernel
def _lane_sum(x):
    """numerics.lane_sum of a few numbers."""
    lanes = np.zeros(SUM_LANES, np.float32)
    for n in range(len(x)):
        lanes[n % SUM_LANES] += x[n]
    width = SUM_LANES // 2
    while width > 0:
        for lane in range(width):
            lanes[lane] += lanes[lane + width]
        width //= 2
    return lanes[0]


@kernel
def _filter(scaled, places, top_p, min_p):
    """What top-p and then min-p keep of the largest entries, moved to the front; returns their number."""
    weights = np.empty(len(scaled), np.float32)
    for n in range(len(scaled)):
        weights[n] = exp(scaled[n] - scaled[0])
    kept = len(scaled)
    if top_p < ONE:
        threshold, total = top_p * _lane_sum(weights), ZERO
        for n in range(kept):
            total += weights[n]
            if total >= threshold:
                kept = n + 1
                break
    count = 0
    for n in range(kept):
        if min_p == ZERO or weights[n] >= min_p:
            scaled[count], places[count] = scaled[n], places[n]
            count += 1
    return count


@kernel
def _candidates(x, temperature, best, top, min_p, scaled, places):
    """Entries of x / temperature, of which `top` is the largest, that noise can lift above `best` and that min-p
    keeps; returns their number."""
    bound = best - (np.float32(LARGEST_NOISE + MARGIN) + np.float32(MARGIN * RELATIVE_MARGIN) * abs(best))
    low = bound * temperature
    low -= abs(low) * np.float32(RELATIVE_MARGIN) + np.float32(LEAST_WEIGHT)
    count = start = 0
    while start < len(x):
        end = min(start + STRIDE, len(x))
        if end - start < STRIDE or any_greater(_largest_of_stretch(x, start), low):
            for n in range(start, end):
                value = x[n] / temperature
                if value >= bound and (min_p == ZERO or exp(value - top) >= min_p):
                    scaled[count], places[count] = value, n
                    count += 1
        start = end
    return count


@kernel
def _tokens(places, ids):
    out = np.empty(len(places), np.int64)
    for n in range(len(places)):
        out[n] = ids[places[n]] if len(ids) > 0 else places[n]
    return out


@kernel
def _winner(scaled, tokens, seed, position):
    """The token of the largest noisy entry, ties to the lowest id, and that entry."""
    noise = np.empty(len(scaled), np.float32)
    gumbel_noise(seed, position, tokens, noise)
    best, token = scaled[0] + noise[0], tokens[0]
    for n in range(1, len(scaled)):
        noisy = scaled[n] + noise[n]
        if noisy > best or (noisy == best and tokens[n] < token):
            best, token = noisy, tokens[n]
    return token, best


@kernel("int64(float32[::1], int64[::1], int64, float32[::1], int64[::1])")
def choose(x, ids, position, numbers, integers):
    """sampling.Sampler's token at an absolute position from the logits x [n] of `ids` [n], ascending (empty: all);
    DAMAGED when they are not finite."""
    temperature, top_k = numbers[TEMPERATURE], integers[TOP_K]
    greedy = temperature == ZERO
    count = 1 if greedy or top_k == 0 else min(top_k, len(x))
    scaled, places = np.empty(count, np.float32), np.empty(count, np.int64)
    if _holds_nan(x):
        return DAMAGED
    largest_scaled(x, ONE if greedy else temperature, scaled, places)
    if not np.isfinite(x[places[0]]):
        return DAMAGED
    if greedy:
        return ids[places[0]] if len(ids) > 0 else places[0]
    seed, target = np.uint64(integers[SEED]), np.uint64(position)
    if top_k > 0:
        count = _filter(scaled, places, numbers[TOP_P], numbers[MIN_P])
    else:
        _, best = _winner(scaled, _tokens(places, ids), seed, target)
        top = scaled[0]
        scaled, places = np.empty(len(x), np.float32), np.empty(len(x), np.int64)
        count = _candidates(x, temperature, best, top, numbers[MIN_P], scaled, places)
    token, _ = _winner(scaled[:count], _tokens(places[:count], ids), seed, target)
    return token


# --- operations -------------------------------------------------------------------------------------------


@operation
def choose_draft(op, run, first, last):
    """The draft RUN_DRAFT, for position RUN_TARGET; it becomes the token of the next draft's run, whose positions
    follow, and one of the verify pass.

    Arguments: logits [1, ≥n], n, ids [n] or none, numbers and integers of `Settings`, drafts, the runs of all
    drafts, the run of the verify pass. Items: 1.
    """
    logits, count, ids = f32_2d(op, 0), integer(op, 1), i64_1d(op, 2)
    numbers, integers, drafts = f32_1d(op, 3), i64_1d(op, 4), i64_1d(op, 5)
    runs, verify, place = i64_1d(op, 6), i64_1d(op, 7), word(run, RUN_DRAFT)
    token = choose(logits[0, :count], ids, word(run, RUN_TARGET), numbers, integers)
    drafts[place] = token
    token = max(token, 0)
    following = (place + 1) * RUN_WORDS
    runs[following + RUN_TOKENS] = token
    runs[following + RUN_TARGET] = word(run, RUN_TARGET) + 1
    runs[following + RUN_POSITION] = word(run, RUN_TARGET) - 1
    verify[RUN_TOKENS + 1 + place] = token


@operation
def choose_rows(op, run, first, last):
    """The tokens from position RUN_TARGET on, row by row to the first that differs from its draft, the next row's
    token, and their log-probabilities.

    Arguments: logits [M, ≥V], V, numbers and integers of `Settings`, chosen [1+M]: how many, and which; their
    log-probabilities [M+1], the last that of the draft that differed. Items: 1.
    """
    logits, count = f32_2d(op, 0), integer(op, 1)
    numbers, integers, chosen, logprobs = f32_1d(op, 2), i64_1d(op, 3), i64_1d(op, 4), f32_1d(op, 5)
    every, rows = np.empty(0, np.int64), logits.shape[0]
    for m in range(rows):
        row = logits[m, :count]
        token = choose(row, every, word(run, RUN_TARGET) + m, numbers, integers)
        chosen[0], chosen[1 + m] = m + 1, token
        if token == DAMAGED:
            break
        whole = log_sum_exp(row)
        logprobs[m] = row[token] - whole
        if m + 1 < rows:
            draft = word(run, RUN_TOKENS + 1 + m)
            if token != draft:
                logprobs[rows] = row[draft] - whole
                break


@operation
def in_order(op, run, first, last):
    """out[0, n] = x[places[n]]. Arguments: x, places, out [1, N]. Items: 1."""
    x, places, out = f32_1d(op, 0), i64_1d(op, 1), f32_2d(op, 2)
    for n in range(len(places)):
        out[0, n] = x[places[n]]
