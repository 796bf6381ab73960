"""Store NamedTuples of floats as rows of a table or in lanes, in Python and in kernels.

Compiled code handles field after field without a loop, because a loop would keep the tuple in memory instead of
registers.
"""

import functools
import math
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils, config

from podium.kernels.compiled import in_kernels

ROWS_OF_FIELDS = 3  # dimensions of a table with rows of lanes
LANES = 16  # tables side by side, of shape (rows, fields, LANES), with the lanes of a number adjacent


def read(table: Any, row: int, prototype: Any) -> Any:
    """Return row `row` of a table as a NamedTuple of the prototype's type."""
    return type(prototype)(*(float(table[row, k]) for k in range(len(prototype))))


def write(table: Any, row: int, values: Any) -> None:
    """Write a NamedTuple into row `row` of a table."""
    for k, value in enumerate(values):
        table[row, k] = value


def write_column(table: Any, column: int, values: Any) -> None:
    """Write a NamedTuple into a column of a table of shape (fields, columns), in which each field is contiguous."""
    for k, value in enumerate(values):
        table[k, column] = value


def add(table: Any, row: int, values: Any) -> None:
    """Add a NamedTuple to row `row` of a table."""
    for k, value in enumerate(values):
        table[row, k] += value


def alike(values: Any, prototype: Any) -> Any:
    """Return the numbers as a NamedTuple of the prototype's type."""
    return type(prototype)(*values)


def after_row(numbers: Any, start: int, values: Any, prototype: Any) -> Any:
    """Return a NamedTuple of the prototype's type, from the numbers at `start` and after, followed by the values."""
    stop = start + len(prototype) - len(values)
    return type(prototype)(*map(float, numbers[start:stop]), *values)


def plus(totals: Any, values: Any) -> Any:
    """Return the sum of two NamedTuples of the same type, field by field."""
    return type(totals)(*(a + b for a, b in zip(totals, values, strict=True)))


def times(values: Any, factor: float) -> Any:
    """Return a NamedTuple with every field multiplied by the factor."""
    return type(values)(*(value * factor for value in values))


def total(values: Any) -> float:
    """Return the sum of a NamedTuple's fields."""
    summed: float = sum(values)
    return summed


def finite(values: Any) -> bool:
    """Return True if all fields of a NamedTuple are finite."""
    return all(math.isfinite(value) for value in values)


def read_lane(table: Any, row: int, lane: int, prototype: Any) -> Any:
    """Return row `row` of one of several tables side by side as a NamedTuple of the prototype's type."""
    return type(prototype)(*(float(table[row, k, lane]) for k in range(len(prototype))))


def write_lane(table: Any, row: int, lane: int, values: Any) -> None:
    """Write a NamedTuple into row `row` of one of several tables side by side."""
    for k, value in enumerate(values):
        table[row, k, lane] = value


def read_fields(table: Any, field: int, lane: int, prototype: Any) -> Any:
    """Return a lane's fields from `field` on, in a (fields, LANES) table, as a NamedTuple like the prototype."""
    return type(prototype)(*(float(table[field + k, lane]) for k in range(len(prototype))))


def write_fields(table: Any, field: int, lane: int, values: Any) -> None:
    """Write a NamedTuple into the fields of a lane from `field` on, in a (fields, LANES) table."""
    for k, value in enumerate(values):
        table[field + k, lane] = value


def _floats(context: Any, builder: Any, values: Any, kinds: Any) -> list[Any]:
    """Return the fields of a NamedTuple as floats."""
    numbers = zip(cgutils.unpack_tuple(builder, values, len(kinds)), kinds, strict=True)
    return [context.cast(builder, number, kind, types.float64) for number, kind in numbers]


def _lane_cells(context: Any, builder: Any, signature: Any, args: Any, count: int) -> list[Any]:
    """Return pointers to the fields of a lane. Only row and lane vary, so that LLVM can combine lanes.

    A table with rows is addressed by row, and a table without rows is addressed by field.
    """
    array = signature.args[0]
    table = context.make_array(array)(context, builder, args[0])
    number = context.get_constant
    step = count if array.ndim == ROWS_OF_FIELDS else 1
    first = builder.add(builder.mul(args[1], number(types.intp, step * LANES)), args[2])
    offsets = [builder.add(first, number(types.intp, k * LANES)) for k in range(count)]
    return [builder.gep(table.data, [offset], inbounds=True) for offset in offsets]


@in_kernels(
    lambda _, table, row, lane, prototype: prototype(table, types.intp, types.intp, prototype), read_fields, read_lane
)
def _(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    prototype = signature.args[3]
    cells = _lane_cells(context, builder, signature, args, len(prototype))
    return context.make_tuple(builder, signature.return_type, [builder.load(cell) for cell in cells])


@in_kernels(
    lambda _, table, row, lane, values: types.void(table, types.intp, types.intp, values), write_fields, write_lane
)
def _(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    values = _floats(context, builder, args[3], signature.args[3])
    for cell, value in zip(_lane_cells(context, builder, signature, args, len(values)), values, strict=True):
        builder.store(value, cell)
    return context.get_dummy_value()


def _cells(context: Any, builder: Any, signature: Any, args: Any, count: int) -> list[Any]:
    """Return pointers to the first `count` numbers in a row. The row index is checked if numba checks indices."""
    table = context.make_array(signature.args[0])(context, builder, args[0])
    if config.BOUNDSCHECK:
        rows = cgutils.unpack_tuple(builder, table.shape, 2)[0]
        cgutils.do_boundscheck(context, builder, args[1], rows, 0)
    stride = cgutils.unpack_tuple(builder, table.strides, 2)[0]
    start = builder.bitcast(table.data, ir.IntType(8).as_pointer())
    first = builder.bitcast(builder.gep(start, [builder.mul(args[1], stride)]), ir.DoubleType().as_pointer())
    return [builder.gep(first, [context.get_constant(types.intp, k)]) for k in range(count)]


def _column_cells(context: Any, builder: Any, signature: Any, args: Any, count: int) -> list[Any]:
    """Return pointers to the numbers in a column, which are one table row apart, with the same check as in `_cells`."""
    table = context.make_array(signature.args[0])(context, builder, args[0])
    columns = cgutils.unpack_tuple(builder, table.shape, 2)[1]
    if config.BOUNDSCHECK:
        cgutils.do_boundscheck(context, builder, args[1], columns, 0)
    rows = [builder.mul(columns, context.get_constant(types.intp, k)) for k in range(count)]
    return [builder.gep(table.data, [builder.add(row, args[1])]) for row in rows]


@in_kernels(lambda _, table, row, prototype: prototype(table, types.intp, prototype), read)
def _(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    prototype = signature.args[2]
    cells = _cells(context, builder, signature, args, len(prototype))
    return context.make_tuple(builder, signature.return_type, [builder.load(cell) for cell in cells])


@in_kernels(lambda _, values, prototype: prototype(values, prototype), alike)
def _(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    values, prototype = signature.args
    numbers = [
        context.cast(builder, number, kind, wanted)
        for number, kind, wanted in zip(
            cgutils.unpack_tuple(builder, args[0], len(values)), values, prototype, strict=True
        )
    ]
    return context.make_tuple(builder, prototype, numbers)


@in_kernels(lambda _, numbers, start, values, prototype: prototype(numbers, types.intp, values, prototype), after_row)
def _(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    numbers, _, values, prototype = signature.args
    data, number = context.make_array(numbers)(context, builder, args[0]).data, context.get_constant
    first = builder.gep(data, [args[1]])
    cells = [builder.gep(first, [number(types.intp, k)]) for k in range(len(prototype) - len(values))]
    rest = _floats(context, builder, args[2], values)
    return context.make_tuple(builder, prototype, [*(builder.load(cell) for cell in cells), *rest])


@in_kernels(lambda _, totals, values: totals(totals, values), plus)
def _(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    totals, values = signature.args
    sums, more = cgutils.unpack_tuple(builder, args[0], len(totals)), _floats(context, builder, args[1], values)
    summed = [builder.fadd(a, b) for a, b in zip(sums, more, strict=True)]
    return context.make_tuple(builder, totals, summed)


@in_kernels(lambda _, values, factor: values(values, types.float64), times)
def _(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    values = signature.args[0]
    numbers = cgutils.unpack_tuple(builder, args[0], len(values))
    scaled = [builder.fmul(number, args[1]) for number in numbers]
    return context.make_tuple(builder, values, scaled)


def _folding(function: Any, kind: Any, prepare: Any, finish: Any) -> None:
    """Compile `function` as a sum: `prepare` maps each number, and `finish` maps the sum."""

    @in_kernels(lambda _, values: kind(values), function)
    def fold(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        prepared = [prepare(builder, number) for number in _floats(context, builder, args[0], signature.args[0])]
        return finish(builder, functools.reduce(builder.fadd, prepared))


_folding(total, types.float64, lambda _builder, x: x, lambda _builder, x: x)
# x - x is 0 for finite x and NaN otherwise, so that one comparison checks all fields.
_folding(
    finite,
    types.boolean,
    lambda builder, x: builder.fsub(x, x),
    lambda builder, x: builder.fcmp_ordered("==", x, ir.DoubleType()(0.0)),
)


def _storing(function: Any, combine: Any, cells_of: Any = _cells) -> None:
    """Compile `function` so that it stores `combine(old, new)` in a row or column."""

    @in_kernels(lambda _, table, row, values: types.void(table, types.intp, values), function)
    def store(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        values = _floats(context, builder, args[2], signature.args[2])
        for cell, value in zip(cells_of(context, builder, signature, args, len(values)), values, strict=True):
            builder.store(combine(builder, cell, value), cell)
        return context.get_dummy_value()


def _replacement(_builder: Any, _cell: Any, value: Any) -> Any:
    return value


_storing(write, _replacement)
_storing(write_column, _replacement, _column_cells)
_storing(add, lambda builder, cell, value: builder.fadd(builder.load(cell), value))
