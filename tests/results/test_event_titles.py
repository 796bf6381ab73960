"""An event has one title and one address, on any of its rows, with readable text and a valid web address."""

import io

import pytest
from races import rows

import podium

OF_PAGE = "is not the address of a page; write it in full, for example https://example.org/race-17, without spaces"


def test_title_and_address_may_be_on_one_row_or_all_rows():
    once = podium.read_results(io.BytesIO(b"event_id,player,position,title,url\ne,a,1, GP ,https://x.org/1\ne,b,2,,\n"))
    assert once.frame["title"].to_list() == ["GP", None]
    assert once.frame["url"].to_list() == ["https://x.org/1", None]
    every = [row | {"title": "GP", "url": "HTTP://x.org:8080/?v=1#t"} for row in rows(1, "ab")]
    assert podium.read_results(every).frame["url"].n_unique() == 1


@pytest.mark.parametrize(
    ("column", "value", "why"),
    [
        ("title", "a\u202eb", "contains a direction control, which is invisible (U+202E); leave it out"),
        ("title", "a\nb", "contains a control character (U+000A); leave it out"),
        ("title", "x" * 201, "has 201 characters; a name can have up to 200"),
        ("url", "javascript:alert(1)", OF_PAGE),
        ("url", "ftp://example.org/a", OF_PAGE),
        ("url", "https://ana:secret@example.org/", OF_PAGE),
        ("url", "https://example.org/a b", OF_PAGE),
        ("url", "https://example.org/\u200ba", OF_PAGE),
        ("url", "example.org/a", OF_PAGE),
        ("url", "https://example.org/" + "a" * 1981, "is too long; an address has up to 2,000 characters"),
    ],
)
def test_unreadable_titles_and_invalid_addresses_are_rejected(column, value, why):
    with pytest.raises(podium.ResultsError) as caught:
        podium.read_results([rows(1, "ab")[0], rows(1, "ab")[1] | {column: value}])
    (fault,) = caught.value.faults
    assert (fault.row, fault.column, fault.remedy) == (2, column, why)


@pytest.mark.parametrize(("column", "values"), [("title", "AB"), ("url", ["https://x.org/a", "https://x.org/b"])])
def test_an_event_has_one_title_and_one_address(column, values):
    table = [row | {column: value} for row, value in zip(rows(1, "ab"), values, strict=True)]
    with pytest.raises(podium.ResultsError, match=f"row 2, column {column}: .* differs from .* earlier in event e1"):
        podium.read_results(table)
    assert podium.read_results([table[0], *rows(1, "b")]).frame.height == 2
    others = [row | {column: values[1]} for row in rows(2, "ab")]
    assert podium.read_results([table[0], others[0], rows(1, "b")[0], others[1]]).frame.height == 4


def test_ratings_do_not_depend_on_titles_and_addresses():
    plain = [*rows(1, "abc"), *rows(2, "cab")]
    named = [row | {"title": row["event_id"], "url": "https://x.org"} for row in plain]
    assert podium.rate(named).history.equals(podium.rate(plain).history)


def test_lenient_reading_ignores_titles_of_players(tmp_path):
    chess, races = tmp_path / "chess.csv", tmp_path / "races.csv"
    chess.write_text("event,player,position,title\n1,Ana,1,GM\n1,Ben,2,IM\n2,Ben,1,IM\n2,Ana,2,GM\n")
    races.write_text("event,player,position,title\n1,Ana,1,Grand Prix\n1,Ben,2,Grand Prix\n")
    read = podium.read_results(chess, lenient=True)
    assert "title" not in read.frame.columns
    assert "several values in one event" in " ".join(read.notes)
    assert podium.read_results(races, lenient=True).frame["title"].to_list() == ["Grand Prix", "Grand Prix"]
