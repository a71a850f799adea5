"""What Python cannot say to a GPU: exact products, integer dot products, wide loads, warp reductions."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import cuda, types
from numba.cuda import libdevice
from numba.cuda.extending import intrinsic

mul = libdevice.fmul_rn
float_from_bits = libdevice.int_as_float
bits_from_float = libdevice.float_as_int
sqrt = libdevice.fsqrt_rn

ALL_LANES = 0xFFFFFFFF

_i8, _i32, _i64, _f32 = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.FloatType()


@intrinsic
def dot4(typing, a, b, accumulator):
    """accumulator + the sum of four products of signed bytes, int32, exact (dp4a)."""

    def code(context, builder, signature, args):
        kind = ir.FunctionType(_i32, [_i32, _i32, _i32])
        assembly = ir.InlineAsm(kind, "dp4a.s32.s32 $0, $1, $2, $3;", "=r,r,r,r", side_effect=False)
        return builder.call(assembly, args)

    return types.int32(types.int32, types.int32, types.int32), code


def _address(context, builder, signature, args):
    """Of the byte at an offset into an array, as an int64: the first two arguments."""
    data = context.make_array(signature.args[0])(context, builder, value=args[0]).data
    return builder.ptrtoint(builder.gep(builder.bitcast(data, _i8.as_pointer()), [args[1]]), _i64)


def _wide_load(instruction: str, item, numba_type, side_effect: bool = False):
    """An intrinsic (array, byte offset) -> four 4-byte items, by one 16-byte load."""

    def load(typing, array, offset):
        result = types.UniTuple(numba_type, 4)

        def code(context, builder, signature, args):
            four = ir.LiteralStructType([item] * 4)
            kind = ir.FunctionType(four, [_i64])
            letter = "f" if item == _f32 else "r"
            constraint = ",".join([f"={letter}"] * 4 + ["l"])
            text = f"{instruction} {{$0, $1, $2, $3}}, [$4];"
            assembly = ir.InlineAsm(kind, text, constraint, side_effect)
            loaded = builder.call(assembly, [_address(context, builder, signature, args)])
            return context.make_tuple(builder, result, [builder.extract_value(loaded, n) for n in range(4)])

        return result(array, types.int64), code

    return load


@intrinsic
def stream_words(typing, array, offset):
    """Four int32 at a byte offset that is a multiple of 16: read once, so not kept in the first cache."""
    return _wide_load("ld.global.nc.L1::no_allocate.v4.b32", _i32, types.int32)(typing, array, offset)


@intrinsic
def load_words(typing, array, offset):
    """Four int32 at a byte offset that is a multiple of 16; nothing writes there while the kernel runs."""
    return _wide_load("ld.global.nc.v4.b32", _i32, types.int32)(typing, array, offset)


@intrinsic
def load_floats(typing, array, offset):
    """Four float32 at a byte offset that is a multiple of 16; nothing writes there while the kernel runs."""
    return _wide_load("ld.global.nc.v4.f32", _f32, types.float32)(typing, array, offset)


@intrinsic
def read_floats(typing, array, offset):
    """Four float32 at a byte offset that is a multiple of 16, as other blocks have left them before a fence."""
    return _wide_load("ld.global.v4.f32", _f32, types.float32, True)(typing, array, offset)


@intrinsic
def load_word(typing, array, offset):
    """An int32 at a byte offset that is a multiple of 4; nothing writes there while the kernel runs."""

    def code(context, builder, signature, args):
        kind = ir.FunctionType(_i32, [_i64])
        assembly = ir.InlineAsm(kind, "ld.global.nc.b32 $0, [$1];", "=r,l")
        return builder.call(assembly, [_address(context, builder, signature, args)])

    return types.int32(array, types.int64), code


@intrinsic
def store_words(typing, array, offset, first, second, third, fourth):
    """Four int32 to a byte offset that is a multiple of 16, by one 16-byte store."""

    def code(context, builder, signature, args):
        kind = ir.FunctionType(ir.VoidType(), [_i64, _i32, _i32, _i32, _i32])
        text = "st.global.v4.b32 [$0], {$1, $2, $3, $4};"
        assembly = ir.InlineAsm(kind, text, "l,r,r,r,r,~{memory}", side_effect=True)
        builder.call(assembly, [_address(context, builder, signature, args), *args[2:]])
        return context.get_dummy_value()

    return types.void(array, types.int64, *[types.int32] * 4), code


@intrinsic
def dot_tile(typing, a0, a1, a2, a3, b0, b1):
    """Products of 16 rows of 32 signed bytes with 8 columns of 32, int32, exact: a tensor core's
    mma.m16n8k32 (PTX ISA, "Matrix Fragments for mma.m16n8k32"). Lane 4g + t holds words t (a0) and t + 4 (a2)
    of row g, those of row g + 8 (a1, a3) and of column g (b0, b1). -> columns 2t, 2t + 1 of row g, then of
    row g + 8."""
    result = types.UniTuple(types.int32, 4)

    def code(context, builder, signature, args):
        four = ir.LiteralStructType([_i32] * 4)
        kind = ir.FunctionType(four, [_i32] * 6)
        text = (
            "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9},"
            " {0, 0, 0, 0};"
        )
        # It exchanges values between lanes: it must not be moved into a branch.
        assembly = ir.InlineAsm(kind, text, ",".join(["=r"] * 4 + ["r"] * 6), side_effect=True)
        out = builder.call(assembly, list(args))
        return context.make_tuple(builder, result, [builder.extract_value(out, n) for n in range(4)])

    return result(*[types.int32] * 6), code


@intrinsic
def clock_nanoseconds(typing):
    """The device's own clock, int64."""

    def code(context, builder, signature, args):
        kind = ir.FunctionType(_i64, [])
        return builder.call(ir.InlineAsm(kind, "mov.u64 $0, %globaltimer;", "=l", side_effect=True), [])

    return types.int64(), code


@cuda.jit(device=True)
def warp_sum(value):
    """numerics.lane_sum's halving tree over the 32 lanes; every lane gets the sum."""
    value = value + cuda.shfl_xor_sync(ALL_LANES, value, 16)
    value = value + cuda.shfl_xor_sync(ALL_LANES, value, 8)
    value = value + cuda.shfl_xor_sync(ALL_LANES, value, 4)
    value = value + cuda.shfl_xor_sync(ALL_LANES, value, 2)
    return value + cuda.shfl_xor_sync(ALL_LANES, value, 1)


@cuda.jit(device=True)
def warp_max(value):
    """The largest of the 32 lanes; every lane gets it."""
    value = max(value, cuda.shfl_xor_sync(ALL_LANES, value, 16))
    value = max(value, cuda.shfl_xor_sync(ALL_LANES, value, 8))
    value = max(value, cuda.shfl_xor_sync(ALL_LANES, value, 4))
    value = max(value, cuda.shfl_xor_sync(ALL_LANES, value, 2))
    return max(value, cuda.shfl_xor_sync(ALL_LANES, value, 1))


@cuda.jit(device=True)
def warp_best(value, index):
    """The largest value of the warp's (value, index) pairs, the lowest index among equals; for every lane."""
    distance = 16
    while distance > 0:
        other = cuda.shfl_xor_sync(ALL_LANES, value, distance)
        other_index = cuda.shfl_xor_sync(ALL_LANES, index, distance)
        if other > value or (other == value and other_index < index):
            value, index = other, other_index
        distance = distance // 2
    return value, index


@cuda.jit(device=True)
def warp_rank(value):
    """Of the warp's lanes with the same int32: how many come before this one, and how many there are."""
    same = cuda.match_any_sync(ALL_LANES, value)
    before = same & ((1 << (cuda.threadIdx.x % 32)) - 1)
    return cuda.popc(np.int32(before)), cuda.popc(same)


@cuda.jit(device=True)
def warp_barrier():
    """What the warp's lanes have written is seen by all of them behind it."""
    cuda.syncwarp()
