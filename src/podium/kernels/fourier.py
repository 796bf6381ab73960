"""Fourier transforms of eight complex sequences at once, with the same bits in Python and on every machine.

A table of sequences is a float64 array of shape (rows, 16), with eight real and eight imaginary parts per element. A
transform permutes the rows, and its inverse restores their order. This is enough for convolutions, which multiply
spectra row by row.
"""

import math
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from podium.kernels.compiled import in_kernels, kernel

SIDE_BY_SIDE = 8
COLUMNS = 2 * SIDE_BY_SIDE
BLOCK = 256  # rows that fit into a processor's first-level cache: 32 KB
QUARTERS = 4
ONE = 1 << 200  # fixed-point representation of 1


def roots_of_unity(size: int) -> Any:
    """Return cos and sin of 2 pi j / size for j below `size`, a power of two, as an array of shape (size, 2).

    If j is a power of two, the values are rounded to nearest. Other values are products of these, and their last digits
    may be wrong.
    """
    cosine, halves = -ONE, []  # half-angle values for pi, pi / 2, pi / 4, ...
    angle = 2
    while angle <= size:
        sine = isqrt(max(ONE * ONE - cosine * cosine, 0))
        halves.append((float(Fraction(cosine, ONE)), float(Fraction(sine, ONE))))
        cosine, angle = isqrt((ONE + cosine) * ONE // 2), 2 * angle
    roots = np.zeros((size, 2))
    roots[0, 0] = 1.0
    known = 1
    for c, s in reversed(halves):
        a, b = roots[:known, 0], roots[:known, 1]
        roots[known : 2 * known, 0] = a * c - b * s
        roots[known : 2 * known, 1] = a * s + b * c
        known *= 2
    return roots


def split_four(table: Any, row: int, step: int, roots: Any, at: int) -> None:
    """Apply the butterfly to four rows that are `step` apart.

    Then rotate the last three back by roots `at`, 2 `at`, 3 `at`.
    """
    half = SIDE_BY_SIDE
    for lane in range(half):
        (ar, ai), (br, bi), (cr, ci), (dr, di) = (
            (float(table[row + k * step, lane]), float(table[row + k * step, half + lane])) for k in range(QUARTERS)
        )
        sums = (ar + cr, ai + ci), (br + dr, bi + di)
        less = (ar - cr, ai - ci), (br - dr, bi - di)
        new = [
            (sums[0][0] + sums[1][0], sums[0][1] + sums[1][1]),
            (less[0][0] + less[1][1], less[0][1] - less[1][0]),
            (sums[0][0] - sums[1][0], sums[0][1] - sums[1][1]),
            (less[0][0] - less[1][1], less[0][1] + less[1][0]),
        ]
        for k, (x, y) in enumerate(new):
            c, s = (float(part) for part in roots[k * at])
            turned = (x, y) if k == 0 else (x * c + y * s, y * c - x * s)
            table[row + k * step, lane], table[row + k * step, half + lane] = turned


def join_four(table: Any, row: int, step: int, roots: Any, at: int) -> None:
    """Invert `split_four`, except for a factor of 4."""
    half = SIDE_BY_SIDE
    for lane in range(half):
        z = [(float(table[row + k * step, lane]), float(table[row + k * step, half + lane])) for k in range(QUARTERS)]
        for k in range(1, QUARTERS):
            (x, y), (c, s) = z[k], (float(part) for part in roots[k * at])
            z[k] = (x * c - y * s, y * c + x * s)
        sums, less = (z[0][0] + z[2][0], z[0][1] + z[2][1]), (z[0][0] - z[2][0], z[0][1] - z[2][1])
        d, v = (z[1][0] + z[3][0], z[1][1] + z[3][1]), (z[3][0] - z[1][0], z[3][1] - z[1][1])
        new = [(sums[0] + d[0], sums[1] + d[1]), (less[0] + v[1], less[1] - v[0]), (sums[0] - d[0], sums[1] - d[1])]
        new.append((less[0] - v[1], less[1] + v[0]))
        for k, value in enumerate(new):
            table[row + k * step, lane], table[row + k * step, half + lane] = value


class Row:
    """A row of a table in compiled kernels, as two vectors."""

    def __init__(self, builder: Any, table: Any, row: Any) -> None:
        vector = ir.VectorType(ir.DoubleType(), SIDE_BY_SIDE)
        first = builder.gep(table.data, [builder.mul(row, ir.IntType(64)(COLUMNS))])
        second = builder.gep(first, [ir.IntType(64)(SIDE_BY_SIDE)])
        self.builder = builder
        self.cells = [builder.bitcast(half, vector.as_pointer()) for half in (first, second)]

    def load(self) -> tuple[Any, ...]:
        """Load the numbers of both halves."""
        return tuple(self.builder.load(cell, align=8) for cell in self.cells)

    def store(self, values: tuple[Any, ...]) -> None:
        """Store numbers in both halves."""
        for cell, value in zip(self.cells, values, strict=True):
            self.builder.store(value, cell, align=8)


def _broadcast(builder: Any, number: Any) -> Any:
    """Return a vector with the number in every lane."""
    vector = ir.VectorType(ir.DoubleType(), SIDE_BY_SIDE)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), number, ir.IntType(32)(0))
    lanes = ir.Constant(ir.VectorType(ir.IntType(32), SIDE_BY_SIDE), [0] * SIDE_BY_SIDE)
    return builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), lanes)


def _four_rows(context: Any, builder: Any, signature: Any, args: Any) -> tuple[list[Row], list[tuple[Any, Any]]]:
    """Return the rows of a butterfly, and the roots that rotate the last three rows."""
    table = context.make_array(signature.args[0])(context, builder, args[0])
    roots = context.make_array(signature.args[3])(context, builder, args[3])
    integer = ir.IntType(64)
    rows = [Row(builder, table, builder.add(args[1], builder.mul(args[2], integer(k)))) for k in range(QUARTERS)]
    turns = []
    for k in range(1, QUARTERS):
        first = builder.gep(roots.data, [builder.mul(args[4], integer(2 * k))])
        pair = builder.load(first), builder.load(builder.gep(first, [integer(1)]))
        turns.append((_broadcast(builder, pair[0]), _broadcast(builder, pair[1])))
    return rows, turns


@in_kernels(
    lambda _, table, row, step, roots, at: types.void(table, types.intp, types.intp, roots, types.intp), split_four
)
def _(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    rows, turns = _four_rows(context, builder, signature, args)
    plus, minus, times = builder.fadd, builder.fsub, builder.fmul
    (ar, ai), (br, bi), (cr, ci), (dr, di) = (row.load() for row in rows)
    sr, si, tr, ti = plus(ar, cr), plus(ai, ci), plus(br, dr), plus(bi, di)
    lr, li, ur, ui = minus(ar, cr), minus(ai, ci), minus(br, dr), minus(bi, di)
    rows[0].store((plus(sr, tr), plus(si, ti)))
    new = (plus(lr, ui), minus(li, ur)), (minus(sr, tr), minus(si, ti)), (minus(lr, ui), plus(li, ur))
    for row, (x, y), (c, s) in zip(rows[1:], new, turns, strict=True):
        row.store((plus(times(x, c), times(y, s)), minus(times(y, c), times(x, s))))
    return context.get_dummy_value()


@in_kernels(
    lambda _, table, row, step, roots, at: types.void(table, types.intp, types.intp, roots, types.intp), join_four
)
def _(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    rows, turns = _four_rows(context, builder, signature, args)
    plus, minus, times = builder.fadd, builder.fsub, builder.fmul
    loaded = [row.load() for row in rows]
    zr, zi = loaded[0]
    (yr, yi), (xr, xi), (wr, wi) = (
        (minus(times(x, c), times(y, s)), plus(times(y, c), times(x, s)))
        for (x, y), (c, s) in zip(loaded[1:], turns, strict=True)
    )
    sr, si, tr, ti = plus(zr, xr), plus(zi, xi), minus(zr, xr), minus(zi, xi)
    dr, di, vr, vi = plus(yr, wr), plus(yi, wi), minus(wr, yr), minus(wi, yi)
    rows[0].store((plus(sr, dr), plus(si, di)))
    rows[1].store((plus(tr, vi), minus(ti, vr)))
    rows[2].store((minus(sr, dr), minus(si, di)))
    rows[3].store((minus(tr, vi), plus(ti, vr)))
    return context.get_dummy_value()


@kernel
def split_two(table: Any, row: int) -> None:
    """Replace two adjacent rows by their sum and difference. This is its own inverse, except for a factor of 2."""
    for column in range(COLUMNS):
        a, b = table[row, column], table[row + 1, column]
        table[row, column], table[row + 1, column] = a + b, a - b


@kernel
def transform(table: Any, size: int, roots: Any) -> None:
    """Transform the first `size` rows, a power of two, in place."""
    length = size
    while length > BLOCK:
        for begin in range(0, size, length):
            split(table, begin, length, roots)
        length //= QUARTERS
    for block in range(0, size, length):
        part = length
        while part >= QUARTERS:
            for begin in range(block, block + length, part):
                split(table, begin, part, roots)
            part //= QUARTERS
        if part > 1:
            for begin in range(block, block + length, 2):
                split_two(table, begin)


@kernel
def transform_back(table: Any, size: int, roots: Any) -> None:
    """Invert `transform`, except for a factor of `size`."""
    length = size
    while length > BLOCK:
        length //= QUARTERS
    smallest = length
    while smallest >= QUARTERS:
        smallest //= QUARTERS
    for block in range(0, size, length):
        if smallest > 1:
            for begin in range(block, block + length, 2):
                split_two(table, begin)
        part = QUARTERS * smallest
        while part <= length:
            for begin in range(block, block + length, part):
                join(table, begin, part, roots)
            part *= QUARTERS
    length *= QUARTERS
    while length <= size:
        for begin in range(0, size, length):
            join(table, begin, length, roots)
        length *= QUARTERS


@kernel
def split(table: Any, begin: int, length: int, roots: Any) -> None:
    """Split a transform of `length` rows into four transforms of a quarter of the length."""
    step, turn = length // QUARTERS, roots.shape[0] // length
    for k in range(step):
        split_four(table, begin + k, step, roots, k * turn)


@kernel
def join(table: Any, begin: int, length: int, roots: Any) -> None:
    """Invert `split`."""
    step, turn = length // QUARTERS, roots.shape[0] // length
    for k in range(step):
        join_four(table, begin + k, step, roots, k * turn)


def size_for(elements: int) -> int:
    """Return the smallest power of two that is not below `elements`."""
    return 1 << max(math.ceil(math.log2(max(elements, 1))), 0)
