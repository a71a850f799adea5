"""Who comes last: blocks of threads count themselves in, and the last one goes on with what all have written.

So that what follows a product needs no launch of its own. Nobody waits: a block that is not the last ends.
"""

from __future__ import annotations

from numba import int32

from kestrel_cuda.target import cuda, device


@device
def arrive(counters, place, amount, expected):
    """Add `amount` to counters[place]; true, for every thread of the block, when that makes `expected`: then
    everything that the others wrote before they arrived can be read, and the counter is zero again.

    counters int32. Every thread of the block must call it. A fence on either side of the count, as in the CUDA
    sample threadFenceReduction: what a block has written is seen before its arrival is.
    """
    before = cuda.shared.array(1, int32)
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.threadfence()
        before[0] = cuda.atomic.add(counters, place, amount)
    cuda.syncthreads()
    is_last = before[0] + amount == expected
    if is_last:
        cuda.threadfence()
        if cuda.threadIdx.x == 0:
            counters[place] = 0
    return is_last
