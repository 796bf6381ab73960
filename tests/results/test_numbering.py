"""Texts numbered by their hashes have the same numbers as in a dictionary, even if hashes are equal."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.results import hashing

TEXTS = st.lists(
    st.sampled_from(["ana", "ben", "Ana", "雪", "é", "e\N{COMBINING ACUTE ACCENT}", "a name " * 9]), max_size=40
)
UNITS = st.lists(st.integers(0, 2), min_size=40, max_size=40)
number_hashes = hashing.number_hashes


def by_dictionary(keys):
    numbers, first = {}, []
    for row, key in enumerate(keys):
        if key not in numbers:
            numbers[key] = len(numbers)
            first.append(row)
    return [numbers[key] for key in keys], first


@pytest.fixture(
    params=["as they are", "compiled", "compiled, most hashes alike", "compiled, few slots"], scope="module"
)
def numbering(request):
    """Number as in small and in large tables, also with equal hashes and with too few slots."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param != "as they are":
            patch.setattr(hashing, "COMPILED_MIN_ROWS", 0)
            patch.setattr(hashing, "SMALL_TABLE_ROWS", -1)
            patch.setattr(hashing, "PART_ROWS", 7)
            patch.setattr(hashing, "SHARE_HASHES", 4)
        if "alike" in request.param:
            patch.setattr(hashing, "number_hashes", lambda hashes, kind: number_hashes(hashes & np.uint64(1), kind))
        if "slots" in request.param:
            patch.setattr(hashing, "FIRST_SLOTS", 2)
            patch.setattr(hashing, "MORE_SLOTS", 2)
        yield


@given(texts=TEXTS, units=UNITS)
def test_texts_are_numbered_by_first_appearance(numbering, texts, units):
    series, within = pl.Series(texts, dtype=pl.String), np.array(units[: len(texts)], np.int32)
    pairs = list(zip(texts, within.tolist(), strict=True))
    for numbered, keys in (
        (hashing.number_texts(series), texts),
        (hashing.number_runs(series), texts),
        (hashing.number_texts(series, within), pairs),
    ):
        assert (numbered.code.tolist(), numbered.first.tolist()) == by_dictionary(keys)


@given(st.lists(st.integers(-3, 2**41), max_size=40).map(lambda numbers: [*numbers, *numbers[::2]]))
def test_integers_are_numbered_by_first_appearance(numbering, numbers):
    series = pl.Series(numbers, dtype=pl.Int64)
    for numbered in (hashing.number_texts(series), hashing.number_runs(series)):
        assert (numbered.code.tolist(), numbered.first.tolist()) == by_dictionary(numbers)


@given(texts=TEXTS, units=UNITS)
def test_texts_are_called_distinct_exactly_if_they_are(numbering, texts, units):
    series = pl.Series(texts, dtype=pl.String)
    for within in (np.sort(units[: len(texts)]), np.array(units[: len(texts)])):
        pairs = list(zip(texts, within.tolist(), strict=True))
        assert hashing.surely_distinct_within(series, within.astype(np.int32)) == (len(set(pairs)) == len(pairs))
    assert hashing.surely_distinct(series) == (len(set(texts)) == len(texts))


def test_numbers_have_the_narrowest_possible_type():
    assert hashing.index_type(2**31 - 1) is np.int32
    assert hashing.index_type(2**31) is np.int64
