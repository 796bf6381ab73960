"""Number strings by their hashes.

This is faster than comparing strings. As a safety check, the strings are compared once at the end.
"""

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.kernels.compiled import compile_kernel
from podium.support.arrays import Integers, Mask

SMALL_TABLE_ROWS = 1000  # up to this many rows, strings are compared directly
COMPILED_MIN_ROWS = 100_000  # below this number, Polars is faster than loading a kernel
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio; multiplying by it spreads adjacent numbers
SMALL_UNIT_ROWS = 32  # in units of up to this many rows, each row is compared with all rows before it
PART_ROWS = 1 << 17  # number of rows hashed or compared at a time, so that only a few strings are copied
SHARE_HASHES = 1 << 12  # approximate number of hashes in a share; hashes are compared only within shares
SHARE_SLOTS = 1 << 14  # number of slots per share, which fit into a processor's cache
FIRST_SLOTS = 1 << 14
MORE_SLOTS = 8  # factor by which the number of slots grows if there were too few


def index_type(size: int) -> type[Any]:
    """Return the smallest integer type for numbers below `size`."""
    return np.int32 if size <= np.iinfo(np.int32).max else np.int64


def as_indices(rows: Integers) -> pl.Series:
    """Convert row numbers to the index type that Polars uses, sharing memory if the sizes match."""
    return pl.Series(rows.view(np.uint32) if rows.dtype == np.int32 else rows)


def surely_distinct(texts: pl.Series, rows: Integers | None = None) -> bool:
    """Return True if no two of `rows` (default: all) have the same string, and False if some might."""
    if (texts.len() if rows is None else rows.size) <= SMALL_TABLE_ROWS:
        values = (texts if rows is None else texts.gather(rows)).to_list()
        return len(set(values)) == len(values)
    return hashes_differ(hashes_of(texts, rows))


def surely_distinct_within(texts: pl.Series, unit: Integers) -> bool:
    """Return True if no two rows of the same `unit` have the same string, and False if some might."""
    if texts.len() <= SMALL_TABLE_ROWS:
        pairs = list(zip(unit.tolist(), texts.to_list(), strict=True))
        return len(set(pairs)) == len(pairs)
    hashes = hashes_of(texts)
    if unit.size >= COMPILED_MIN_ROWS and _compiled_differ_within(hashes, unit):
        return True
    return hashes_differ(hashes ^ (unit.astype(np.uint64) * SPREAD))


def hashes_differ(hashes: npt.NDArray[np.uint64]) -> bool:
    """Return True if no two hashes are equal, and False if some might be."""
    if hashes.size < COMPILED_MIN_ROWS:
        ordered = np.sort(hashes)
        return not bool((ordered[1:] == ordered[:-1]).any())
    bits = max(1, (hashes.size // SHARE_HASHES).bit_length())
    ends = np.zeros((1 << bits) + 1, np.int64)
    slots = np.empty(SHARE_SLOTS, np.uint64)
    hashes = np.ascontiguousarray(hashes)
    return bool(_compiled_differ(hashes, np.uint64(64 - bits), ends, np.empty_like(hashes), slots))


def run_bounds(number: Integers) -> Mask:
    """Return a mask of shape (rows + 1,), which marks the start of each run of equal numbers and the last run's end."""
    bounds = np.ones(number.size + 1, np.bool_)
    bounds[1:-1] = number[1:] != number[:-1]
    return bounds


def runs(texts: pl.Series) -> tuple[Integers, Integers]:
    """Return for each row the number (from 0) of its run of equal strings, and for each run its first row."""
    changed = np.ones(texts.len(), np.bool_)
    changed[1:] = (texts[1:] != texts[:-1]).to_numpy()
    kind = index_type(texts.len())
    number = np.cumsum(changed, dtype=kind)
    number -= 1
    return number, np.flatnonzero(changed).astype(kind)


class Numbered(NamedTuple):
    """Strings numbered by first appearance."""

    code: Integers  # (rows): the number of each row's string, from 0
    first: Integers  # (numbers): the first row with each number


def number_runs(texts: pl.Series) -> Numbered:
    """Number strings as `number_texts` does, but faster if equal strings are consecutive."""
    if texts.len() <= SMALL_TABLE_ROWS:
        return number_names(texts.to_list())
    number, starts = runs(texts)
    if surely_distinct(texts, starts):
        return Numbered(number, starts)
    code, first = number_texts(texts.gather(starts))
    return Numbered(code[number], starts[first])


def number_names(names: Sequence[Hashable]) -> Numbered:
    """Number a small number of names by first appearance."""
    numbers: dict[Hashable, int] = {}
    code = np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int32)
    return Numbered(code, np.unique(code, return_index=True)[1].astype(np.int32))


def number_texts(texts: pl.Series, within: Integers | None = None) -> Numbered:
    """Number non-null strings, or integers, by first appearance.

    Strings with different numbers in `within`, an array of shape (rows,), count as different.
    """
    if texts.len() <= SMALL_TABLE_ROWS:
        names = texts.to_list()
        return number_names(names if within is None else list(zip(names, within.tolist(), strict=True)))
    kind = index_type(texts.len())
    if texts.dtype.is_integer() and within is None:
        _, first, code = np.unique(texts.to_numpy(), return_index=True, return_inverse=True)
        order = np.argsort(first)
        return Numbered(np.argsort(order).astype(kind)[code], first[order].astype(kind))
    if texts.len() >= COMPILED_MIN_ROWS:
        hashes = hashes_of(texts)
        if within is not None:
            hashes = hashes ^ (within.astype(np.uint64) * SPREAD)
        code, first = number_hashes(hashes, kind)
        names_alike, parts = texts.gather(first), parts_of(texts.len())
        are_texts = all((names_alike.gather(code[part]) == texts[part]).all() for part in parts)
        if are_texts and (within is None or np.array_equal(within[first][code], within)):
            return Numbered(code, first)
    keys = {"text": texts} if within is None else {"text": texts, "within": within}
    firsts = pl.DataFrame(keys).with_row_index("row").select(pl.col("row").first().over(*keys)).to_series().to_numpy()
    first = np.unique(firsts)
    return Numbered(np.searchsorted(first, firsts).astype(kind), first.astype(kind))


def hashes_of(texts: pl.Series, rows: Integers | None = None) -> npt.NDArray[np.uint64]:
    """Return a hash of the string in each of `rows` (default: all).

    Within a process, equal strings have equal hashes.
    """
    hashes = np.empty(texts.len() if rows is None else rows.size, np.uint64)
    for part in parts_of(hashes.size):
        hashes[part] = (texts[part] if rows is None else texts.gather(rows[part])).hash().to_numpy()
    return hashes


def parts_of(rows: int) -> Iterator[slice]:
    return (slice(first, first + PART_ROWS) for first in range(0, rows, PART_ROWS))


def number_hashes(hashes: npt.NDArray[np.uint64], kind: type[Any] = np.int32) -> Numbered:
    """Number hashes by first appearance."""
    slots = FIRST_SLOTS
    while True:
        code, first = np.empty(hashes.size, kind), np.empty(slots // 2 + 1, kind)
        found = _compiled_number(hashes, np.empty(slots, np.uint64), np.full(slots, -1, kind), code, first)
        if found >= 0:
            return Numbered(code, first[:found].copy())
        slots = min(slots * MORE_SLOTS, 1 << (2 * hashes.size).bit_length())


def _number(hashes: Any, keys: Any, slots: Any, code: Any, first: Any) -> int:
    """Fill `code` and `first`. Return the number of distinct hashes, or -1 if there are too few slots."""
    found = 0
    mask = np.uint64(slots.size - 1)
    for i in range(hashes.size):
        key = hashes[i]
        at = (key ^ (key >> np.uint64(29))) & mask
        while slots[at] >= 0 and keys[at] != key:
            at = (at + np.uint64(1)) & mask
        if slots[at] < 0:
            if 2 * found >= slots.size:
                return -1
            slots[at] = found
            keys[at] = key
            first[found] = i
            found += 1
        code[i] = slots[at]
    return found


def _differ(hashes: Any, shift: Any, ends: Any, shares: Any, slots: Any) -> bool:
    for i in range(hashes.size):
        ends[((hashes[i] * SPREAD) >> shift) + np.uint64(1)] += 1
    for k in range(1, ends.size):
        ends[k] += ends[k - 1]
    for i in range(hashes.size):  # each share's end starts at its beginning, and moves
        share = (hashes[i] * SPREAD) >> shift
        shares[ends[share]] = hashes[i]
        ends[share] += 1
    mask = np.uint64(slots.size - 1)
    first = 0
    for k in range(ends.size - 1):
        if 2 * (ends[k] - first) > slots.size:
            return False
        slots[:] = np.uint64(0)
        for i in range(first, ends[k]):
            key = shares[i] | np.uint64(1)  # differs from an empty slot
            at = (key ^ (key >> np.uint64(29))) & mask
            while slots[at] != np.uint64(0):
                if slots[at] == key:
                    return False
                at = (at + np.uint64(1)) & mask
            slots[at] = key
        first = ends[k]
    return True


def _differ_within(hashes: Any, unit: Any) -> bool:
    """Return True if no unit contains equal hashes. Units must be in order, with only a few rows each."""
    first = 0
    for i in range(1, hashes.size):
        if unit[i] != unit[i - 1]:
            first = i
        if unit[i] < unit[i - 1] or i - first >= SMALL_UNIT_ROWS:
            return False
        for k in range(first, i):
            if hashes[k] == hashes[i]:
                return False
    return True


_compiled_number = compile_kernel(_number)
_compiled_differ = compile_kernel(_differ)
_compiled_differ_within = compile_kernel(_differ_within)
