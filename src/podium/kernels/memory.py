"""Prefetch rows of a table, gather rows into lanes as vectors, and test whether adjacent numbers all differ.

Reading several numbers at once is slow if they were stored one by one: a processor can forward one store to a load
before it reaches the cache, but it cannot combine several stores for one load.
"""

import functools
from collections.abc import Iterable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils, config

from podium.kernels.compiled import in_kernels
from podium.kernels.records import LANES

VECTOR = 4  # numbers combined before they are stored
PAIR = 2
AT_ONCE = 8  # pairs handled together, and numbers compared at once


def gather_rows(
    source: Any, pairs: Any, start: int, side: int, table: Any, field: int, begin: int, prototype: Any
) -> None:
    """Fill fields of a (fields, LANES) table with rows: `AT_ONCE` lanes from `begin` on, one row in each lane.

    Args:
        source: A float64 table whose rows have at least as many numbers as the prototype has fields.
        pairs: The rows, by pair: non-negative 32-bit integers of shape (pairs, 2). Pairs from `start` on are used.
        side: Row to take from each pair, 0 or 1.
        field: The first field to fill.
    """
    for lane in range(AT_ONCE):
        for k in range(len(prototype)):
            table[field + k, begin + lane] = source[pairs[start + lane, side], k]


@in_kernels(
    lambda _, source, pairs, start, side, table, field, begin, prototype: types.void(
        source, pairs, types.intp, types.intp, table, types.intp, types.intp, prototype
    ),
    gather_rows,
)
def _(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    prototype = signature.args[7]
    origin, index, lanes = (context.make_array(signature.args[k])(context, builder, args[k]) for k in (0, 1, 4))
    height = cgutils.unpack_tuple(builder, origin.shape, 2)[0]
    stride = cgutils.unpack_tuple(builder, origin.strides, 2)[0]
    begin = builder.bitcast(origin.data, ir.IntType(8).as_pointer())
    begin_pair = builder.mul(args[2], context.get_constant(types.intp, PAIR))
    numbers = builder.gep(index.data, [builder.add(begin_pair, args[3])])
    row_of_field = builder.mul(args[5], context.get_constant(types.intp, LANES))
    target = builder.gep(lanes.data, [builder.add(row_of_field, args[6])], inbounds=True)
    vector = ir.VectorType(ir.DoubleType(), VECTOR)
    for lane in range(0, AT_ONCE, VECTOR):
        columns = [ir.Constant(vector, ir.Undefined) for _ in prototype]
        for at in range(VECTOR):
            number = builder.load(builder.gep(numbers, [context.get_constant(types.intp, PAIR * (lane + at))]))
            row = builder.zext(number, ir.IntType(64))
            if config.BOUNDSCHECK:
                cgutils.do_boundscheck(context, builder, row, height, 0)
            first = builder.bitcast(builder.gep(begin, [builder.mul(row, stride)]), ir.DoubleType().as_pointer())
            for k in range(len(prototype)):
                value = builder.load(builder.gep(first, [context.get_constant(types.intp, k)]))
                columns[k] = builder.insert_element(columns[k], value, ir.IntType(32)(at))
        for k, column in enumerate(columns):
            cell = builder.gep(target, [context.get_constant(types.intp, k * LANES + lane)], inbounds=True)
            builder.store(column, builder.bitcast(cell, vector.as_pointer()), align=8)
    return context.get_dummy_value()


LINE_BYTES = 64  # bytes of a cache line
WRITE, KEEP, DATA = 1, 3, 1  # for `llvm.prefetch`: the row is data that will be written and is used often


def prefetch(table: Any, row: int, prototype: Any) -> None:
    """Prefetch a row that is as long as the prototype and may span two cache lines. In plain Python, do nothing."""


@in_kernels(lambda _, table, row, prototype: types.void(table, types.intp, prototype), prefetch)
def _(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    table, _, prototype = signature.args
    array = context.make_array(table)(context, builder, args[0])
    stride = cgutils.unpack_tuple(builder, array.strides, table.ndim)[0]
    byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    begin = builder.gep(builder.bitcast(array.data, byte), [builder.mul(args[1], stride)])
    takes = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
    hint = cgutils.get_or_insert_function(builder.module, takes, "llvm.prefetch.p0")
    for at in (0, 8 * len(prototype) - 8) if len(prototype) > PAIR else (0,):
        address = builder.gep(begin, [context.get_constant(types.intp, at)])
        builder.call(hint, [address, number(WRITE), number(KEEP), number(DATA)])
    return context.get_dummy_value()


HALF = AT_ONCE // 2


def are_disjoint(pairs: Any, start: int) -> bool:
    """Return True if the numbers in the `AT_ONCE` pairs from `start` on are all different.

    Args:
        pairs: An int32 array of shape (rows, 2), with at least `AT_ONCE` rows from `start` on.
    """
    return bool(np.unique(pairs[start : start + AT_ONCE]).size == PAIR * AT_ONCE)


@in_kernels(lambda _, pairs, start: types.boolean(pairs, types.intp), are_disjoint)
def _(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    parts = parts_of_pairs(context, builder, signature.args[0], args[0], args[1])
    # Within a vector, rotations by up to half its length compare all pairs. Between two vectors, all rotations are
    # needed.
    compared = [
        (part, other, by)
        for k, part in enumerate(parts)
        for other in parts[k:]
        for by in (range(1, HALF + 1) if other is part else range(AT_ONCE))
    ]
    return none_equal(builder, compared)


def are_apart(pairs: Any, start: int, later: int) -> bool:
    """Return True if the `AT_ONCE` pairs from `start` on and those from `later` on have no number in common.

    Args:
        pairs: An int32 array of shape (rows, 2), with at least `AT_ONCE` rows from each of these positions on.
    """
    return not np.isin(pairs[start : start + AT_ONCE], pairs[later : later + AT_ONCE]).any()


@in_kernels(lambda _, pairs, start, later: types.boolean(pairs, types.intp, types.intp), are_apart)
def _(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    parts, others = (parts_of_pairs(context, builder, signature.args[0], args[0], start) for start in args[1:])
    return none_equal(builder, [(part, other, by) for part in parts for other in others for by in range(AT_ONCE)])


def parts_of_pairs(context: Any, builder: Any, kind: Any, pairs: Any, start: Any) -> list[Any]:
    """Return the numbers in the `AT_ONCE` pairs from `start` on, as vectors."""
    array = context.make_array(kind)(context, builder, pairs)
    if config.BOUNDSCHECK:
        rows = cgutils.unpack_tuple(builder, array.shape, 2)[0]
        last = builder.add(start, context.get_constant(types.intp, AT_ONCE - 1))
        cgutils.do_boundscheck(context, builder, last, rows, 0)
    vector = ir.VectorType(ir.IntType(32), AT_ONCE)
    first = builder.gep(array.data, [builder.mul(start, context.get_constant(types.intp, PAIR))])
    places = [builder.gep(first, [context.get_constant(types.intp, at)]) for at in range(0, PAIR * AT_ONCE, AT_ONCE)]
    return [builder.load(builder.bitcast(place, vector.as_pointer()), align=4) for place in places]


def none_equal(builder: Any, compared: Iterable[tuple[Any, Any, int]]) -> Any:
    """Return True if no element of a vector equals the element at its place in the other vector, for any rotation."""
    equal = [builder.icmp_signed("==", part, rotate(builder, other, by)) for part, other, by in compared]
    found = builder.bitcast(functools.reduce(builder.or_, equal), ir.IntType(AT_ONCE))
    return builder.icmp_unsigned("==", found, ir.IntType(AT_ONCE)(0))


def rotate(builder: Any, vector: Any, by: int) -> Any:
    """Rotate a vector by `by` places towards its beginning."""
    if by == 0:
        return vector
    order = ir.Constant(ir.VectorType(ir.IntType(32), AT_ONCE), [(k + by) % AT_ONCE for k in range(AT_ONCE)])
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), order)
