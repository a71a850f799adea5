"""Sorting rows of a whole vocabulary on the device: a stable radix sort, the least significant digit first.

An entry is one int64: a key in the high word, sorted as an unsigned number, and what has that key in the low word.
A pass moves every entry to where its digit belongs: behind all entries of lower digits, behind those of the same
digit that stand before it. A block takes a tile of a row, a warp of it a run of consecutive entries.
"""

from __future__ import annotations

import numpy as np
from numba import int32

from kestrel_cuda.target import cuda, device, kernel, warp_barrier, warp_rank

DIGITS = 256
SHIFTS = (32, 40, 48, 56)
"""Of the key's digits; an even number, so that the sorted entries are where the unsorted ones were."""
WORD = np.int64(32)
LOW_WORD = np.int64(0xFFFFFFFF)
FLIPPED = np.int32(0x7FFFFFFF)
NEGATIVE_ZERO = np.int32(-0x80000000)
LAST_KEY = np.int32(-1)
"""Above the key of every number."""


@device
def descending_key(bits):
    """The key of a float32 from its bits (int32), lower for larger numbers; zeros of both signs have the same.
    Applied to a key, it gives the bits."""
    if bits == NEGATIVE_ZERO:
        bits = np.int32(0)
    return np.int32(bits ^ FLIPPED) if bits >= 0 else bits


@device
def make_entry(key, item):
    return np.int64((np.int64(key) << WORD) | np.int64(item))


@device
def key_of(entry):
    return np.int32(entry >> WORD)


@device
def item_of(entry):
    return np.int32(entry & LOW_WORD)


@device
def _digit(entries, m, at, end, shift):
    """The digit of the entry at a place of row m; -1 from `end` on."""
    return np.int32((entries[m, at] >> shift) & np.int64(DIGITS - 1)) if at < end else np.int32(-1)


@device
def _count_run(entries, m, first, end, shift, counts, base):
    """Add how often each digit occurs from `first` to `end` to counts[base + digit], by one warp."""
    for start in range(first, end, 32):
        digit = _digit(entries, m, start + cuda.threadIdx.x % 32, end, shift)
        rank, count = warp_rank(digit)
        if digit >= 0 and rank == 0:
            cuda.atomic.add(counts, base + digit, count)


@device
def _run(entries, tile):
    """First entry of the calling warp's run, and the one behind its last."""
    run = tile // (cuda.blockDim.x // 32)
    first = cuda.blockIdx.x * tile + cuda.threadIdx.x // 32 * run
    return first, min(first + run, entries.shape[1])


@kernel
def count_digits(entries, shift, tile, counts):
    """How often each digit occurs in each tile of a row.

    entries [≥M, n] int64; counts [≥M, tiles, DIGITS] int32. Launch: [(tiles, M), warps], `tile` a multiple of 32
    times the warps.
    """
    m, thread, threads = cuda.blockIdx.y, cuda.threadIdx.x, cuda.blockDim.x
    found = cuda.shared.array(DIGITS, int32)
    for digit in range(thread, DIGITS, threads):
        found[digit] = 0
    cuda.syncthreads()
    first, end = _run(entries, tile)
    _count_run(entries, m, first, end, shift, found, 0)
    cuda.syncthreads()
    for digit in range(thread, DIGITS, threads):
        counts[m, cuda.blockIdx.x, digit] = found[digit]


@kernel
def move_entries(entries, moved, shift, tile, counts):
    """The entries [≥M, n] in the order of one digit, into `moved`; counts as `count_digits` has left them.

    Launch: as that, with 4 * DIGITS bytes of shared memory for each warp.
    """
    m, thread, threads = cuda.blockIdx.y, cuda.threadIdx.x, cuda.blockDim.x
    warps, base = threads // 32, thread // 32 * DIGITS
    targets = cuda.shared.array(0, int32)  # where the next entry of each digit goes, for each warp
    totals = cuda.shared.array(DIGITS, int32)
    for digit in range(thread, DIGITS, threads):
        total = 0
        for tile_ in range(cuda.gridDim.x):
            total += counts[m, tile_, digit]
        totals[digit] = total
        for warp in range(warps):
            targets[warp * DIGITS + digit] = 0
    cuda.syncthreads()
    first, end = _run(entries, tile)
    _count_run(entries, m, first, end, shift, targets, base)
    cuda.syncthreads()
    for digit in range(thread, DIGITS, threads):
        target = 0
        for lower in range(digit):
            target += totals[lower]
        for tile_ in range(cuda.blockIdx.x):
            target += counts[m, tile_, digit]
        for warp in range(warps):
            count = targets[warp * DIGITS + digit]
            targets[warp * DIGITS + digit] = target
            target += count
    cuda.syncthreads()
    for start in range(first, end, 32):
        at = start + thread % 32
        digit = _digit(entries, m, at, end, shift)
        rank, count = warp_rank(digit)
        target = 0
        if digit >= 0:
            target = targets[base + digit]
            moved[m, target + rank] = entries[m, at]
        warp_barrier()
        if digit >= 0 and rank == 0:
            targets[base + digit] = target + count
        warp_barrier()
