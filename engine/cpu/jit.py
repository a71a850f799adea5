"""How kernels are compiled, and the few machine operations that numba has no name for."""

from __future__ import annotations

import functools
import platform

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils, config
from numba.core.extending import intrinsic

from kestrel_engine.errors import KestrelError

if config.DISABLE_JIT:
    raise KestrelError("NUMBA_DISABLE_JIT is set, and kernels cannot run uncompiled: unset it")

kernel = functools.partial(njit, nogil=True, cache=True, error_model="numpy")
"""Decorator of every kernel. Division is IEEE's, as in numpy: a check for zero would keep loops scalar."""
inlined = functools.partial(njit, inline="always", error_model="numpy")
"""Decorator of functions that kernels call in loops: a call would keep the loop scalar."""

MACHINE = platform.machine().lower()
i32, i64, f32 = ir.IntType(32), ir.IntType(64), ir.FloatType()


def address_of(compiled) -> int:
    """Address of a kernel that has exactly one signature, for `call_kernel`."""
    (result,) = compiled.overloads.values()
    return result.library.get_pointer_to_function(result.fndesc.llvm_func_name)


@intrinsic
def call_kernel(typing, address, operation, run, first, last):
    """Call the operation kernel at `address`. Kernels raise nothing, so its status is not looked at."""
    kinds = (types.intp,) * 4

    def code(context, builder, signature, args):
        function_type = context.call_conv.get_function_type(types.void, kinds)
        function = builder.inttoptr(args[0], function_type.as_pointer())
        context.call_conv.call_function(builder, function, types.void, kinds, args[1:])
        return context.get_dummy_value()

    return types.void(address, *kinds), code


@intrinsic
def call_plain(typing, address):
    """Call the C function `int f(void)` at `address`."""

    def code(context, builder, signature, args):
        function = builder.inttoptr(args[0], ir.FunctionType(i32, []).as_pointer())
        builder.call(function, [])
        return context.get_dummy_value()

    return types.void(types.intp), code


def _word(builder, base, index):
    return builder.gep(builder.inttoptr(base, i64.as_pointer()), [index])


@intrinsic
def word(typing, base, index):
    """The int64 at `base` + 8 * `index`."""

    def code(context, builder, signature, args):
        return builder.load(_word(builder, *args), align=8)

    return types.int64(types.intp, types.intp), code


@intrinsic
def atomic_load(typing, base, index):
    def code(context, builder, signature, args):
        return builder.load_atomic(_word(builder, *args), "seq_cst", 8)

    return types.int64(types.intp, types.intp), code


@intrinsic
def atomic_store(typing, base, index, value):
    def code(context, builder, signature, args):
        builder.store_atomic(args[2], _word(builder, *args[:2]), "seq_cst", 8)
        return context.get_dummy_value()

    return types.void(types.intp, types.intp, types.int64), code


@intrinsic
def atomic_add(typing, base, index, value):
    """Adds and returns what was there before."""

    def code(context, builder, signature, args):
        return builder.atomic_rmw("add", _word(builder, *args[:2]), args[2], "seq_cst")

    return types.int64(types.intp, types.intp, types.int64), code


@intrinsic
def pause(typing):
    """Tell the core that this is a waiting loop."""

    def code(context, builder, signature, args):
        nothing = ir.FunctionType(ir.VoidType(), [])
        if MACHINE in ("x86_64", "amd64"):
            builder.call(cgutils.get_or_insert_function(builder.module, nothing, "llvm.x86.sse2.pause"), [])
        elif MACHINE in ("aarch64", "arm64"):
            builder.call(ir.InlineAsm(nothing, "yield", "", side_effect=True), [])
        return context.get_dummy_value()

    return types.void(), code


@intrinsic
def ticks(typing):
    """A counter of constant frequency, the same on every core; 0 where the machine has none for programs."""

    def code(context, builder, signature, args):
        counter = ir.FunctionType(i64, [])
        if MACHINE in ("x86_64", "amd64"):
            function = cgutils.get_or_insert_function(builder.module, counter, "llvm.readcyclecounter")
            return builder.call(function, [])
        if MACHINE in ("aarch64", "arm64"):
            return builder.call(ir.InlineAsm(counter, "mrs $0, cntvct_el0", "=r", side_effect=True), [])
        return ir.Constant(i64, 0)

    return types.int64(), code


@intrinsic
def float_from_bits(typing, bits):
    """Reinterpret an int32 as a float32."""

    def code(context, builder, signature, args):
        return builder.bitcast(args[0], f32)

    return types.float32(types.int32), code


@intrinsic
def bits_from_float(typing, value):
    """Reinterpret a float32 as an int32."""

    def code(context, builder, signature, args):
        return builder.bitcast(args[0], i32)

    return types.int32(types.float32), code
