"""What Python cannot say to a GPU: exact products, integer dot products, wide loads, warp reductions."""

from __future__ import annotations

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


def _wide_load(instruction: str, item, numba_type):
    """An intrinsic (array, byte offset) -> four 4-byte items, by one 16-byte load."""

    def load(typing, array, offset):
        result = types.UniTuple(numba_type, 4)

        def code(context, builder, signature, args):
            data = context.make_array(signature.args[0])(context, builder, value=args[0]).data
            address = builder.gep(builder.bitcast(data, _i8.as_pointer()), [args[1]])
            four = ir.LiteralStructType([item] * 4)
            kind = ir.FunctionType(four, [_i64])
            letter = "f" if item == _f32 else "r"
            constraint = ",".join([f"={letter}"] * 4 + ["l"])
            assembly = ir.InlineAsm(kind, f"{instruction} {{$0, $1, $2, $3}}, [$4];", constraint)
            loaded = builder.call(assembly, [builder.ptrtoint(address, _i64)])
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
