"""The fast JSON reader gives exactly the same values and errors as the standard library."""

import json
import math
import struct
from decimal import Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.service.http.json import NONCHARACTER, RefusedError, loads, parse, parse_quickly

NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**63) + 1, 2**63 - 1)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")).filter(
    lambda text: not NONCHARACTER.search(text)
)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda each: st.lists(each, max_size=4) | st.dictionaries(TEXTS, each, max_size=4),
    max_leaves=12,
)
MARKS = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"',
    "\\",
    "\\u",
    "d83d",
    "\\ud83d",
    "\x01",
    "\x7f",
    "é",
    "\ufeff",
    "\x0b",
    "\xa0",
]
WORDS = ["-", "+", ".", "e", "E4", "0", "1", "9" * 25, "9" * 5000, "null", "NaN", "Infinity", "//", " ", "\n"]
PIECES = st.sampled_from([*MARKS, *WORDS])


def exact(value):
    """Return the value with its types and the exact bits of its numbers."""
    if isinstance(value, dict):
        return {key: exact(each) for key, each in value.items()}
    if isinstance(value, list):
        return [exact(each) for each in value]
    return struct.pack("<d", value) if type(value) is float else (type(value), value)


def outcome(read, *given):
    """Return the value that a reader finds in a text, or its error."""
    try:
        return exact(read(*given))
    except RefusedError as error:
        return str(error)


@given(VALUES, st.booleans())
def test_a_value_survives_writing_and_reading(value, escapes):
    assert exact(loads(json.dumps(value, ensure_ascii=escapes).encode())) == exact(value)


@given(VALUES, st.lists(st.tuples(st.integers(0, 200), st.integers(0, 3), PIECES), max_size=4))
def test_the_fast_reader_agrees_with_the_standard_library(value, edits):
    text = json.dumps(value)
    for at, removed, piece in edits:
        text = text[:at] + piece + text[at + removed :]
    assert outcome(parse_quickly, text.encode(), text) == outcome(parse, text)


@given(st.floats(1e-300, 1e300), st.sampled_from([-1, 0, 1]), st.integers(17, 60))
def test_numbers_halfway_between_two_floats_are_rounded_equally(low, off, digits):
    with localcontext(prec=1200):
        middle = (Decimal(low) + Decimal(math.nextafter(low, math.inf))) / 2
        text = format(middle + off * Decimal(10) ** (middle.adjusted() - digits), "e")
    assert outcome(parse_quickly, text.encode(), text) == outcome(parse, text)


NONCHARACTERS = ["\ufdd0", "\ufdef", "\ufffe", "\uffff", "\U0001fffe", "\U000fffff", "\U0010ffff"]


@pytest.mark.parametrize("escapes", [True, False])
@pytest.mark.parametrize("character", NONCHARACTERS)
def test_noncharacters_are_rejected_everywhere(character, escapes):
    for value, field in (({"a": [{"b": f"x{character}"}]}, "a[0].b"), ({f"k{character}": 1}, "k")):
        with pytest.raises(RefusedError, match="noncharacter") as caught:
            loads(json.dumps(value, ensure_ascii=escapes).encode())
        assert caught.value.field.startswith(field)


@pytest.mark.parametrize("character", ["\ufdcf", "\ufdf0", "\ufffd", "\U0001fffd", "\U00020000", "\u7fbf", "\u7ffe"])
def test_neighbours_of_noncharacters_are_accepted(character):
    assert loads(json.dumps([character], ensure_ascii=False).encode()) == [character]
