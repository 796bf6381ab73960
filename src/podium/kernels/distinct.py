"""Whether numbers next to each other all differ, looked at several at once and without a branch."""

import functools
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils, config

from podium.kernels.compiled import in_kernels
from podium.kernels.records import LANES

PAIR = 2
VECTOR = 8  # numbers that are compared at once
HALF = VECTOR // 2


def are_disjoint(pairs: Any, start: int) -> bool:
    """Whether the numbers of the `LANES` pairs from `start` on all differ.

    Args:
        pairs: int32 (rows, 2), with so many rows from `start` on.
    """
    return bool(np.unique(pairs[start : start + LANES]).size == PAIR * LANES)


@in_kernels(are_disjoint)
def _(typing: Any, pairs: Any, start: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        if config.BOUNDSCHECK:
            rows = cgutils.unpack_tuple(builder, array.shape, 2)[0]
            last = builder.add(args[1], context.get_constant(types.intp, LANES - 1))
            cgutils.do_boundscheck(context, builder, last, rows, 0)
        vector = ir.VectorType(ir.IntType(32), VECTOR)
        first = builder.gep(array.data, [builder.mul(args[1], context.get_constant(types.intp, PAIR))])
        parts = [
            builder.load(
                builder.bitcast(builder.gep(first, [context.get_constant(types.intp, at)]), vector.as_pointer()),
                align=4,
            )
            for at in range(0, PAIR * LANES, VECTOR)
        ]
        # A part against itself, rotated by up to half, meets each of its pairs; against another, by all places.
        equal = [
            builder.icmp_signed("==", part, rotate(builder, other, by))
            for k, part in enumerate(parts)
            for other in parts[k:]
            for by in (range(1, HALF + 1) if other is part else range(VECTOR))
        ]
        found = builder.bitcast(functools.reduce(builder.or_, equal), ir.IntType(VECTOR))
        return builder.icmp_unsigned("==", found, ir.IntType(VECTOR)(0))

    return types.boolean(pairs, types.intp), generate


def rotate(builder: Any, vector: Any, by: int) -> Any:
    """Move the elements of a vector `by` places towards its beginning, the first of them to its end."""
    if by == 0:
        return vector
    order = ir.Constant(ir.VectorType(ir.IntType(32), VECTOR), [(k + by) % VECTOR for k in range(VECTOR)])
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), order)
