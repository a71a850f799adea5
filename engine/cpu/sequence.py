"""Several operations of the same items as one: whoever has done an item of the first goes on with its next ones.

Between two operations everybody waits for the last part, and what one core has written travels to the other. Where
an item reads only what the same item has made before, neither is needed.
"""

from __future__ import annotations

from kestrel_engine.cpu.jit import atomic_add, call_kernel, ticks, word
from kestrel_engine.cpu.operation import KERNEL, i64_1d, integer, operation

MEMBERS = 8
"""Most operations of a sequence."""


@operation
def in_sequence(op, run, first, last):
    """Arguments: pointers to the operations [n], the time spent on each [n], which it adds to. Items: theirs."""
    members, spent = i64_1d(op, 0), integer(op, 1)
    before = ticks()
    for n in range(len(members)):
        call_kernel(word(members[n], KERNEL), members[n], run, first, last)
        now = ticks()
        atomic_add(spent, n, now - before)
        before = now
