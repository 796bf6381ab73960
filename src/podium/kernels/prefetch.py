"""Asks the processor for a row of a table before it is needed, so that memory is waited for only once."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from podium.kernels.linking import in_kernels

LINE_BYTES = 64  # of a cache: what is brought near together
WRITE, KEEP, DATA = 1, 3, 1  # for `llvm.prefetch`: the row will be written, is used often, and is data


def prefetch(table: Any, row: int) -> None:
    """Have a row of a table of numbers brought near; it changes nothing, and Python does without it."""


@in_kernels(prefetch)
def _(typing: Any, table: Any, row: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        stride = cgutils.unpack_tuple(builder, array.strides, table.ndim)[0]
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        address = builder.gep(builder.bitcast(array.data, byte), [builder.mul(args[1], stride)])
        takes = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        hint = cgutils.get_or_insert_function(builder.module, takes, "llvm.prefetch.p0")
        builder.call(hint, [address, number(WRITE), number(KEEP), number(DATA)])
        return context.get_dummy_value()

    return types.void(table, types.intp), generate
