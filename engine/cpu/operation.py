"""One step of a pass as native code sees it: a kernel, how its items are shared out, and its arguments.

An operation is a row of 64-bit words. Kernels have the signature `kernel(operation, run, first, last)`: they
do the items first..last-1, and read their arguments with `f32_2d(operation, 0)` and the like. `run` points to
what changes from pass to pass (`RUN_…`). Items are independent: results do not depend on who does which.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.extending import intrinsic
from numba.np.arrayobj import populate_array

from kestrel_engine.cpu.jit import address_of, f32, i32, i64, kernel

KERNEL, PARTS, BORDERS = range(3)
"""Words of an operation: the kernel's address, the number of parts, and a pointer to their borders (part p is
items borders[p]..borders[p+1]-1)."""
HEADER, ARGUMENT = 3, 5
"""Words before the arguments, and words of each: an array's address and its dimensions, or one number."""
MAX_ARGUMENTS = 12
WORDS = HEADER + ARGUMENT * MAX_ARGUMENTS

OPERATION, RUN, TICKS = range(3)
STEP_WORDS = 3
"""Words of a step: pointers to the operation and to what changes from pass to pass, and when it was over."""

RUN_POSITION, RUN_COMMIT, RUN_LOG, RUN_TARGET, RUN_DRAFT = range(5)
"""Words of a run: position of the first row, rows to commit, log records to apply, position of the first token to
be chosen, and place among the drafts of a token to be drafted."""
RUN_TOKENS = 8
"""First of the token ids, one a row."""
RUN_WORDS = RUN_TOKENS + 16
"""Words of a run of few rows, where runs follow each other: a draft becomes the token of the next one."""


def operation(function: Callable):
    """Decorator of operation kernels."""
    compiled = kernel("void(intp, intp, intp, intp)")(function)
    compiled.address = address_of(compiled)
    return compiled


def _argument(builder, operation, index, place: int):
    first = builder.mul(index, ir.Constant(i64, ARGUMENT))
    at = builder.add(first, ir.Constant(i64, HEADER + place))
    return builder.load(builder.gep(builder.inttoptr(operation, i64.as_pointer()), [at]), align=8)


def _array_reader(item, dimensions: int):
    """Argument `index` as a contiguous array; the last dimension of 2-D rows is the distance of two rows."""
    array_type = types.Array(item, dimensions, "C")

    @intrinsic
    def read(typing, operation, index):
        def code(context, builder, signature, args):
            array = context.make_array(array_type)(context, builder)
            size = context.get_abi_sizeof(context.get_data_type(item))
            shape = [_argument(builder, *args, 1 + n) for n in range(dimensions)]
            strides = [ir.Constant(i64, size)]
            for length in reversed(shape[1:]):
                strides.insert(0, builder.mul(strides[0], length))
            data = builder.inttoptr(_argument(builder, *args, 0), array.data.type)
            populate_array(array, data, shape, strides, ir.Constant(i64, size), None)
            return array._getvalue()

        return array_type(types.intp, types.intp), code

    return read


f32_1d, f32_2d = _array_reader(types.float32, 1), _array_reader(types.float32, 2)
f32_3d, f32_4d = _array_reader(types.float32, 3), _array_reader(types.float32, 4)
i64_1d, i64_2d = _array_reader(types.int64, 1), _array_reader(types.int64, 2)
u16_2d, u16_3d = _array_reader(types.uint16, 2), _array_reader(types.uint16, 3)
u8_3d, i8_2d = _array_reader(types.uint8, 3), _array_reader(types.int8, 2)
i32_1d, i32_2d = _array_reader(types.int32, 1), _array_reader(types.int32, 2)


@intrinsic
def integer(typing, operation, index):
    """Argument `index` as an int64."""

    def code(context, builder, signature, args):
        return _argument(builder, *args, 0)

    return types.int64(types.intp, types.intp), code


@intrinsic
def number(typing, operation, index):
    """Argument `index` as a float32."""

    def code(context, builder, signature, args):
        return builder.bitcast(builder.trunc(_argument(builder, *args, 0), i32), f32)

    return types.float32(types.intp, types.intp), code


def encode(address: int, borders: np.ndarray, arguments: tuple) -> list[int]:
    """An operation's words. Arrays must outlive it; row arrays may be slices of wider ones."""
    words = [address, len(borders) - 1, borders.ctypes.data]
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            own = _array_words(argument)
        elif isinstance(argument, float | np.float32):
            own = [int(np.float32(argument).view(np.int32))]
        else:
            own = [int(argument)]
        words += own
        words += [0] * (ARGUMENT - len(own))
    words += [0] * (WORDS - len(words))
    return words


def _array_words(array: np.ndarray) -> list[int]:
    """The address, and the dimensions of the contiguous array that the kernel takes `array` for: rows of its row
    distance."""
    address, shape, strides = array.ctypes.data, array.shape, array.strides
    assert strides[-1] == array.itemsize or shape[-1] == 1 or array.size == 0
    if len(shape) == 1 or array.size == 0:
        return [address, *shape]
    return [address, shape[0], *[longer // shorter for longer, shorter in itertools.pairwise(strides)]]


MOST_PARTS = 1024
"""Of an operation: the team counts them in a few bits (`team.BEHIND`)."""


@functools.cache
def share(items: int, threads: int, grain: int) -> np.ndarray:
    """Borders of at most MOST_PARTS parts for `threads`, which take them from both ends: large ones there, so that all
    end together, and none below `grain`."""
    left, sizes, grain = items, [], max(grain, -(-items // MOST_PARTS))
    while left:
        size = left if threads == 1 else max(grain, 3 * left // (4 * threads), 1)
        for _ in range(threads):
            sizes += [min(size, left)] if left else []
            left -= min(size, left)
    return np.cumsum([0, *sizes[::2], *sizes[1::2][::-1]], dtype=np.int64)


def argument_word(place: int) -> int:
    """The word of an operation that holds the address of argument `place`."""
    return HEADER + ARGUMENT * place
