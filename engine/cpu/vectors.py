"""A numba type of 16 float32 lanes, so that kernels can say what must be held in vector registers.

Loops over arrays are vectorised by LLVM where it can prove that they do not overlap; kernels with many arrays
or with sums that must stay in registers use these. Every operation is the IEEE one on each lane, so a lane has
the bits of the scalar functions. LLVM splits the lanes over as many registers as the CPU needs.
"""

from __future__ import annotations

import operator

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.extending import intrinsic, lower_builtin, models, register_model
from numba.core.typing import signature
from numba.core.typing.templates import ConcreteTemplate, infer_global

from kestrel_engine.cpu.functions import (
    E0,
    E1,
    E2,
    E3,
    E4,
    E5,
    HIGHEST,
    LN2_HIGH,
    LN2_LOW,
    LOG2_E,
    LOWEST,
    ONE,
)
from kestrel_engine.cpu.jit import f32, i32, inlined

LANES = 16
i8, i16 = ir.IntType(8), ir.IntType(16)
f32x16, i32x16 = ir.VectorType(f32, LANES), ir.VectorType(i32, LANES)


class Float32x16(types.Type):
    def __init__(self) -> None:
        super().__init__(name="float32x16")


vector = Float32x16()


@register_model(Float32x16)
class _Model(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, f32x16)


def _place(context, builder, signature, args):
    """Pointer to the 16 items from index args[1] of the 1-D float32 array args[0]."""
    array = context.make_array(signature.args[0])(context, builder, value=args[0])
    return builder.bitcast(builder.gep(array.data, [args[1]]), f32x16.as_pointer())


@intrinsic
def load(typing, array, index):
    """array[index : index + 16] of a contiguous 1-D float32 array."""

    def code(context, builder, signature, args):
        return builder.load(_place(context, builder, signature, args), align=4)

    return vector(array, types.intp), code


@intrinsic
def store(typing, array, index, value):
    """array[index : index + 16] = value."""

    def code(context, builder, signature, args):
        builder.store(args[2], _place(context, builder, signature, args), align=4)
        return context.get_dummy_value()

    return types.void(array, types.intp, vector), code


@intrinsic
def prefetch(typing, array, index):
    """Fetch the cache line of array[index] from memory, but not into the nearest cache."""

    def code(context, builder, signature, args):
        place = builder.bitcast(_place(context, builder, signature, args), i8.as_pointer())
        hints = [ir.Constant(i32, n) for n in (0, 2, 1)]
        _call(builder, "llvm.prefetch.p0", ir.VoidType(), [place, *hints])
        return context.get_dummy_value()

    return types.void(array, types.intp), code


@intrinsic
def splat(typing, scalar):
    """16 times the same float32."""

    def code(context, builder, signature, args):
        return _splat(builder, args[0], f32x16)

    return vector(types.float32), code


@intrinsic
def broadcast(typing, array, index):
    """16 times array[index] of a contiguous 1-D float32 array, index >= 0."""

    def code(context, builder, signature, args):
        array = context.make_array(signature.args[0])(context, builder, value=args[0])
        return _splat(builder, builder.load(builder.gep(array.data, [args[1]]), align=4), f32x16)

    return vector(array, types.intp), code


def _splat(builder, scalar, kind):
    undefined = ir.Constant(kind, ir.Undefined)
    one = builder.insert_element(undefined, scalar, ir.Constant(i32, 0))
    return builder.shuffle_vector(one, undefined, ir.Constant(i32x16, [0] * LANES))


def _infix(symbol, name: str) -> None:
    """Teach numba `one symbol other` of two vectors. Not as an overload: to compile those takes far longer."""
    template = type(f"_{name}", (ConcreteTemplate,), {"cases": [signature(vector, vector, vector)]})
    infer_global(symbol)(template)

    @lower_builtin(symbol, vector, vector)
    def code(context, builder, signature, args):
        return getattr(builder, name)(*args)


for _symbol, _name in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _infix(_symbol, _name)


@intrinsic
def greater(typing, one, other):
    """Lane by lane: one if one > other else other."""

    def code(context, builder, signature, args):
        return builder.select(builder.fcmp_ordered(">", *args), *args)

    return vector(vector, vector), code


@intrinsic
def any_greater(typing, value, limit):
    """Whether any lane is greater than the float32 `limit`."""

    def code(context, builder, signature, args):
        found = builder.fcmp_ordered(">", args[0], _splat(builder, args[1], f32x16))
        return builder.icmp_unsigned("!=", builder.bitcast(found, i16), ir.Constant(i16, 0))

    return types.boolean(vector, types.float32), code


@intrinsic
def lesser(typing, one, other):
    """Lane by lane: one if one < other else other."""

    def code(context, builder, signature, args):
        return builder.select(builder.fcmp_ordered("<", *args), *args)

    return vector(vector, vector), code


@intrinsic
def negative(typing, value):
    def code(context, builder, signature, args):
        return builder.fneg(args[0])

    return vector(vector), code


def _call(builder, name: str, result, arguments):
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


@intrinsic
def rounded(typing, value):
    """To the nearest whole number, ties to even."""

    def code(context, builder, signature, args):
        return _call(builder, "llvm.rint.v16f32", f32x16, args)

    return vector(vector), code


@intrinsic
def power_of_two(typing, exponent):
    """2**exponent for whole exponents in the range of normal numbers."""

    def code(context, builder, signature, args):
        bias, shift = (_splat(builder, ir.Constant(i32, n), i32x16) for n in (127, 23))
        biased = builder.add(builder.fptosi(args[0], i32x16), bias)
        return builder.bitcast(builder.shl(biased, shift), f32x16)

    return vector(vector), code


@inlined
def exp16(x):
    """functions.exp of each lane: the same operations."""
    x = greater(x, splat(LOWEST))
    x = lesser(x, splat(HIGHEST))
    n = rounded(x * splat(LOG2_E))
    r = x - n * splat(LN2_HIGH)
    r = r - n * splat(LN2_LOW)
    polynomial = splat(E0) * r + splat(E1)
    polynomial = polynomial * r + splat(E2)
    polynomial = polynomial * r + splat(E3)
    polynomial = polynomial * r + splat(E4)
    polynomial = polynomial * r + splat(E5)
    y = polynomial * (r * r)
    y = y + r
    y = y + splat(ONE)
    return y * power_of_two(n)


@inlined
def sigmoid16(x):
    return splat(ONE) / (splat(ONE) + exp16(negative(x)))


@intrinsic
def halving_sum(typing, value):
    """The sum of the lanes by a halving tree: 8, 4, 2, 1."""

    def code(context, builder, signature, args):
        total, width = args[0], LANES // 2
        while width:
            low, high = (
                ir.Constant(ir.VectorType(i32, width), list(range(first, first + width)))
                for first in (0, width)
            )
            undefined = ir.Constant(total.type, ir.Undefined)
            total = builder.fadd(
                builder.shuffle_vector(total, undefined, low), builder.shuffle_vector(total, undefined, high)
            )
            width //= 2
        return builder.extract_element(total, ir.Constant(i32, 0))

    return types.float32(vector), code


@intrinsic
def quantize_block(typing, x, start, inverse, values):
    """values [32] int8 = round(x[start : start + 32] * inverse) of a 1-D x; returns their sum."""

    def code(context, builder, signature, args):
        source = context.make_array(signature.args[0])(context, builder, value=args[0])
        target = context.make_array(signature.args[3])(context, builder, value=args[3])
        i8x16 = ir.VectorType(ir.IntType(8), LANES)
        total = ir.Constant(i32x16, [0] * LANES)
        for half in range(2):
            here = ir.Constant(args[1].type, LANES * half)
            at = builder.add(args[1], here)
            part = builder.load(builder.bitcast(builder.gep(source.data, [at]), f32x16.as_pointer()), align=4)
            scaled = builder.fmul(part, _splat(builder, args[2], f32x16))
            whole = builder.fptosi(_call(builder, "llvm.rint.v16f32", f32x16, [scaled]), i32x16)
            place = builder.bitcast(builder.gep(target.data, [here]), i8x16.as_pointer())
            builder.store(builder.trunc(whole, i8x16), place, align=1)
            total = builder.add(total, whole)
        return _call(builder, "llvm.vector.reduce.add.v16i32", i32, [total])

    return types.int32(x, types.intp, types.float32, values), code


@intrinsic
def largest_magnitude(typing, x, start):
    """The bits of the largest |x[start : start + 32]|: without their sign, floats are ordered as their bits."""

    def code(context, builder, signature, args):
        source = context.make_array(signature.args[0])(context, builder, value=args[0])
        mask = _splat(builder, ir.Constant(i32, 0x7FFFFFFF), i32x16)
        halves = []
        for half in range(2):
            at = builder.add(args[1], ir.Constant(args[1].type, LANES * half))
            place = builder.bitcast(builder.gep(source.data, [at]), i32x16.as_pointer())
            halves.append(builder.and_(builder.load(place, align=4), mask))
        top = builder.select(builder.icmp_signed(">", *halves), *halves)
        return _call(builder, "llvm.vector.reduce.smax.v16i32", i32, [top])

    return types.int32(x, types.intp), code
