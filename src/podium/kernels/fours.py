"""Vectors of four numbers, in Python and in kernels, with the same bits as when computed one by one.

LLVM finds such vectors by itself only in loops over memory that provably does not overlap, and its search is slow.
"""

import operator
from collections.abc import Callable, Iterable
from typing import Any, Self

from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.core.datamodel import PrimitiveModel, register_default

from podium.kernels.compiled import in_kernels, kernel
from podium.kernels.exponential import (
    ALL_BITS,
    BIAS,
    FRACTION_BITS,
    LARGEST,
    PER_STEP,
    POWERS,
    ROUND,
    STEP_BITS,
    STEPS,
    as_bits,
    from_bits,
    series_of,
)

FOUR = 4


class Four(tuple[float, float, float, float]):
    """Four numbers. Operators act on each of them, and combine a single number with all four."""

    __slots__ = ()
    __array_ufunc__ = None  # so that NumPy numbers use these operators

    def __new__(cls, numbers: Iterable[float]) -> Self:
        return super().__new__(cls, tuple(map(float, numbers)))


def _operator(act: Callable[[Any, Any], Any], instruction: str, name: str) -> None:
    """Define an operator on `Four`, in Python and in kernels."""

    def numbers(value: Any) -> Any:
        return value if isinstance(value, Four) else (value,) * FOUR

    def forward(one: Any, other: Any) -> Four:
        return Four(map(act, one, numbers(other)))

    def backward(one: Any, other: Any) -> Four:
        return Four(map(act, numbers(other), one))

    setattr(Four, f"__{name}__", forward)
    setattr(Four, f"__r{name}__", backward)

    in_place = getattr(operator, f"i{name}")

    @in_kernels(lambda _, one, other: FOURS(one, other) if FOURS in (one, other) else None, act, in_place)
    def _(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        both = zip(args, signature.args, strict=True)
        vectors = [value if kind == FOURS else _spread(context, builder, value, kind) for value, kind in both]
        return getattr(builder, instruction)(*vectors)


class FourType(types.Type):  # type: ignore[misc]
    """The numba type of `Four`."""


FOURS = FourType("Four")
VECTOR = ir.VectorType(ir.DoubleType(), FOUR)
WHOLE = ir.VectorType(ir.IntType(64), FOUR)


@register_default(FourType)
class FourModel(PrimitiveModel):  # type: ignore[misc]
    """The data model of `Four`: an LLVM vector."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, VECTOR)


def _vector(builder: Any, numbers: Iterable[Any]) -> Any:
    vector = ir.Constant(VECTOR, ir.Undefined)
    for k, number in enumerate(numbers):
        vector = builder.insert_element(vector, number, ir.Constant(ir.IntType(32), k))
    return vector


def _spread(context: Any, builder: Any, value: Any, kind: Any) -> Any:
    return _vector(builder, [context.cast(builder, value, kind, types.float64)] * FOUR)


for _operation in (
    (operator.add, "fadd", "add"),
    (operator.sub, "fsub", "sub"),
    (operator.mul, "fmul", "mul"),
    (operator.truediv, "fdiv", "truediv"),
):
    _operator(*_operation)


def four(a: float, b: float, c: float, d: float) -> Any:
    return Four((a, b, c, d))


def number_of(numbers: Any, k: int) -> float:
    return numbers[k]


def four_at(table: Any, row: int, column: int) -> Any:
    """Return four adjacent numbers in a row."""
    return Four(table[row, column + k] for k in range(FOUR))


def put_four(table: Any, row: int, column: int, numbers: Any) -> None:
    for k, number in enumerate(numbers):
        table[row, column + k] = number


def powers_at(shifted: Any) -> Any:
    """Return the powers of two and the steps that are encoded in the low bits. See `split_exponential`."""
    parts = [(bits & (STEPS - 1), ((bits + BIAS) >> STEP_BITS) << FRACTION_BITS) for bits in map(as_bits, shifted)]
    return Four(POWERS[step] * from_bits(scale & ALL_BITS) for step, scale in parts)


def within(numbers: Any, limit: float) -> Any:
    """Return the four numbers, each limited to [-limit, limit]."""
    return Four(min(max(number, -limit), limit) for number in numbers)


def _cell(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Return a pointer to the first of four numbers in a row. Both ends are checked if numba checks indices."""
    table = context.make_array(signature.args[0])(context, builder, args[0])
    rows, columns = cgutils.unpack_tuple(builder, table.shape, 2)
    if config.BOUNDSCHECK:
        cgutils.do_boundscheck(context, builder, args[1], rows, 0)
        cgutils.do_boundscheck(context, builder, args[2], columns, 1)
        last = builder.add(args[2], context.get_constant(types.intp, FOUR - 1))
        cgutils.do_boundscheck(context, builder, last, columns, 1)
    offset = builder.add(builder.mul(args[1], columns), args[2])
    return builder.bitcast(builder.gep(table.data, [offset]), VECTOR.as_pointer())


@in_kernels(lambda _, table, row, column: FOURS(table, types.intp, types.intp), four_at)
def _(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return builder.load(_cell(context, builder, signature, args), align=8)


@in_kernels(lambda _, table, row, column, numbers: types.void(table, types.intp, types.intp, FOURS), put_four)
def _(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    builder.store(args[3], _cell(context, builder, signature, args), align=8)
    return context.get_dummy_value()


@in_kernels(lambda _, a, b, c, d: FOURS(*[types.float64] * FOUR), four)
def _(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return _vector(builder, args)


@in_kernels(lambda _, numbers, k: types.float64(FOURS, types.intp), number_of)
def _(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return builder.extract_element(*args)


@in_kernels(lambda _, numbers, limit: FOURS(FOURS, types.float64), within)
def _(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    high = _spread(context, builder, args[1], types.float64)
    low, x = builder.fneg(high), args[0]
    x = builder.select(builder.fcmp_ordered("<", x, low), low, x)
    return builder.select(builder.fcmp_ordered(">", x, high), high, x)


@in_kernels(lambda _, shifted: FOURS(FOURS), powers_at)
def _(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    def whole(number: int) -> Any:
        return ir.Constant(WHOLE, [number] * FOUR)

    bits = builder.bitcast(args[0], WHOLE)
    table = context.make_constant_array(builder, context.typing_context.resolve_value_type(POWERS), POWERS)
    data = context.make_array(context.typing_context.resolve_value_type(POWERS))(context, builder, table).data
    lowest = builder.and_(bits, whole(STEPS - 1))
    steps = [builder.extract_element(lowest, ir.Constant(ir.IntType(32), k)) for k in range(FOUR)]
    near = _vector(builder, [builder.load(builder.gep(data, [step])) for step in steps])
    scale = builder.lshr(builder.add(bits, whole(BIAS)), whole(STEP_BITS))
    return builder.fmul(near, builder.bitcast(builder.shl(scale, whole(FRACTION_BITS)), VECTOR))


@kernel
def logistics(log_odds: Any) -> Any:
    x = within(log_odds * -1.0, LARGEST)
    shifted = x * PER_STEP + ROUND
    near = powers_at(shifted)
    return 1.0 / (1.0 + (near + near * series_of(x, shifted - ROUND)))
