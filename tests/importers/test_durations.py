"""Times in all forms are read exactly, and similar texts are not times."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import podium
from podium.importers.times import is_lapped, parse, parse_column, pl, status_word

TIMES = [
    ("1:33:56.736", 5636.736, ""),
    ("93:56.7", 5636.7, ""),
    ("2:42:7.900", 9727.9, ""),
    ("61.2", 61.2, ""),
    ("3600", 3600.0, ""),
    ("1h 33m 56.7s", 5636.7, ""),
    ("94h 33' 14''", 340394.0, ""),
    ("33\u2032 14\u2033", 1994.0, ""),
    ("90 min", 5400.0, ""),
    ("83512 ms", 83.512, ""),
    ("7ms", 0.007, ""),
    ("P0DT01H33M56.736S", 5636.736, ""),
    ("P1DT1H", 90000.0, ""),
    ("+11.987", 11.987, "+"),
    ("+1:05.478", 65.478, "+"),
    ("-0.5", 0.5, "-"),
]
NO_TIMES = [
    "", "1:60", "1:60:00", "1:99.9", "x", "1e3", "nan", "P", "PT", "P1DT24H", "1:33:56,736", "1::2", "٣", "9" * 65,
]  # fmt: skip


@pytest.mark.parametrize(("text", "seconds", "sign"), TIMES)
def test_a_time_is_read_in_any_form(text, seconds, sign):
    read = parse(text)
    assert read is not None
    assert (float(read.seconds), read.sign) == (seconds, sign)


@pytest.mark.parametrize("text", NO_TIMES)
def test_texts_similar_to_a_time_are_not_times(text):
    assert parse(text) is None


def test_a_comma_is_a_decimal_mark_only_if_the_table_says_so():
    assert parse("1:33:56,736", decimal=",") == parse("1:33:56.736")
    assert parse("1:33:56.736", decimal=",") is None


def test_a_column_gives_the_times_of_its_cells():
    texts = [text for text, _, _ in TIMES] + NO_TIMES
    table = parse_column(pl.Series([*texts, None]))
    alone = [parse(text) for text in texts]
    assert table["seconds"].to_list() == [None if each is None else float(each.seconds) for each in alone] + [None]
    assert [sign for sign in table["sign"].to_list() if sign] == ["+", "+", "-"]


@given(st.from_regex(r"[+-]?([0-9]{1,2}:){0,2}[0-9]{1,2}(\.[0-9]{0,11})?", fullmatch=True), st.sampled_from(".,"))
def test_columns_and_single_cells_always_agree(text, decimal):
    text = text.replace(".", decimal)
    each, column = parse(text, decimal=decimal), parse_column(pl.Series([text, "x"]), decimal=decimal)
    expected = (None, "") if each is None else (float(each.seconds), each.sign)
    assert column.row(0)[0] == expected[0]
    assert each is None or column.row(0)[1] == expected[1]


def test_sums_are_exact_decimal_sums():
    rows = [("5636.736", "+11.987"), ("0.1", "+0.2"), ("0.12345678901", "+0.1"), ("1e300", "+1")]
    table = [
        {"event_id": str(number), "player": player, "t": cell}
        for number, row in enumerate(rows)
        for player, cell in zip("ab", row, strict=True)
    ]
    for gap in ("leader", "previous"):
        read = podium.read_results(table, columns={"time_s": {"from": ["t"], "gap": gap}})
        assert read.frame["time_s"].to_list()[1::2] == [5648.723, 0.3, 0.22345678901, 1e300]
    assert 0.1 + 0.2 != 0.3  # in doubles


def test_laps_and_words_are_not_times():
    for text in ("+1 lap", "+2 laps", "+1 L", "1 lap(s) down", "+1 Rd.", "lapped"):
        assert is_lapped(text)
        assert parse(text) is None
    assert not is_lapped("1 L")
    assert [status_word(word) for word in ("DNF", "dns", "Dsq", "NC", "x")] == [
        "dnf", "did_not_start", "disqualified", "dnf", None,
    ]  # fmt: skip
