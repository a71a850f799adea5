"""How kernels are compiled, and how threads share one."""

from __future__ import annotations

import functools

from numba import njit, types
from numba.core import cgutils
from numba.core.extending import intrinsic

kernel = functools.partial(njit, nogil=True, cache=True, error_model="numpy")
"""Decorator of every kernel. Division is IEEE's, as in numpy: a check for zero would keep loops scalar."""


def address_of(compiled) -> int:
    """Address of a kernel that has exactly one signature, for `call_range`."""
    (result,) = compiled.overloads.values()
    return result.library.get_pointer_to_function(result.fndesc.llvm_func_name)


@intrinsic
def call_range(typing, address, arguments, first, last):
    """Call the kernel at `address` as kernel(*arguments, first, last); the argument types must be its own.

    Numba would link a kernel that is called by name into every layer of a parallel loop and compile it anew
    in each.
    """

    def code(context, builder, signature, args):
        kinds = (*signature.args[1], types.intp, types.intp)
        function_type = context.call_conv.get_function_type(types.void, kinds)
        function = builder.inttoptr(args[0], function_type.as_pointer())
        values = [*cgutils.unpack_tuple(builder, args[1]), *args[2:]]
        status, _ = context.call_conv.call_function(builder, function, types.void, kinds, values)
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return context.get_dummy_value()

    return types.void(address, arguments, types.intp, types.intp), code
