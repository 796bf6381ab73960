"""The fast reader of rows gives the same contents as Polars, or leaves the rows to Polars."""

import math
from datetime import UTC, datetime, timedelta, timezone

import polars as pl
import pytest
from extent import times
from hypothesis import given, settings
from hypothesis import strategies as st
from races import rows as race

from podium.errors import ResultsError
from podium.log.content import check_results, contents_in, contents_of
from podium.results.columns import none_known
from podium.results.hashing import number_names
from podium.results.plain_rows import read_plainly
from podium.results.reading import frame_of, read_table

MOMENTS = [
    "2025-01-31", "2025-01-31T18:00:00Z", "2025-01-31 18:00", "2025-01-31T18:00:00.1234567+02:30", "1950-06-01T00:00Z",
    "2025-01-31T18:00:00-0330", "2025-01-31T24:00:00Z", "2025-02-30", "31.1.2025", "", 20250131,
    "2025-01-31+02:00", "2025-01-31 0230", "2025-01-31T18:00.5", "2025-01-31T18:00:00.25 UTC",
    datetime(2025, 1, 31, 18, tzinfo=UTC), datetime(1951, 1, 31, 18, 0, 0, 250, tzinfo=UTC),
    datetime(2025, 1, 31, 18, tzinfo=timezone(timedelta(hours=2))), datetime(2025, 1, 31, 18),  # noqa: DTZ001
]  # fmt: skip
NAMES = [
    "ana", "Ben O'Neil", 'q"uote\\', "x" * 200, "x" * 201, " ana", "ana ", "", "雪", "e\u0301", "a\tb", "a\u200bb",
    7, True,
]  # fmt: skip
NUMBERS = [1, 2, 3, 1.5, 0.1, 61.25, 0, -1, -0.0, 1e-300, 1e300, 2**53, 2**70, math.nan, math.inf, "2", "x", True]
CELLS: dict[str, list] = {
    "heat": ["", "1", "2", "overall", "Overall"],
    "mode": ["time-trial", "Time_Trial", "duel", "grass"],
    "team": ["red", "blue"],
    "status": ["finished", "quit", "dnf", "did_not_start", "left", ""],
    "ranked": [True, False, "true", 1],
    "handicap": [True, False, 2.5, -1, "yes"],
    "title": ["Round 1", "Round 2", " Round", ""],
    "url": ["https://example.org/1", "https://example.org/ä", "ftp://x", "https://example.org/" + "x" * 2000],
    "pool": ["main", "default", "other"],
    "sequence": [1, 2],
    "team_score": [1.0, 2.0],
}


@st.composite
def tables(draw):
    """Draw a few rows, most of them valid, with any values that a row may have."""
    size, odd = draw(st.integers(1, 6)), draw(st.booleans())
    names = st.sampled_from(NAMES if odd else NAMES[:3])
    numbers = st.sampled_from(NUMBERS if odd else NUMBERS[:6])
    columns: dict[str, st.SearchStrategy] = {
        "event_id": st.sampled_from(["e1", "e2"]),
        "player": st.one_of(st.sampled_from("abcdef"), names),
    }
    starts = draw(st.lists(st.sampled_from(MOMENTS if odd else MOMENTS[:5]), min_size=2, max_size=2))
    for name in draw(
        st.lists(st.sampled_from(["position", "time_s", "score", "played_s", "duration_s", "weight"]), unique=True)
    ):
        columns[name] = st.one_of(numbers, st.none()) if draw(st.booleans()) else st.just(draw(numbers))
    for name in draw(st.lists(st.sampled_from(sorted(CELLS)), unique=True, max_size=3)):
        columns[name] = st.sampled_from([*CELLS[name], None])
    rows = draw(st.lists(st.fixed_dictionaries(columns), min_size=size, max_size=size))
    for row in rows:
        row["started_at"] = (
            starts[row["event_id"] == "e2"] if not odd or draw(st.integers(0, 9)) else draw(st.sampled_from(MOMENTS))
        )
    return rows


@settings(max_examples=times(200, 2000), deadline=None)
@given(tables())
def test_fast_reader_gives_the_contents_of_polars(rows):
    undated = [{name: value for name, value in row.items() if name != "started_at"} for row in rows]
    for some in (rows, undated):
        plain = read_plainly(some)
        if plain is None:
            continue
        results, events = read_table(some, None, none_known)
        frame = frame_of(plain.columns)
        assert results.sent is None
        assert frame.schema == results.frame.schema
        assert frame.equals(results.frame)
        code, first = number_names(plain.columns["event_id"])
        assert (code.tolist(), first.tolist()) == (events.code.tolist(), events.first.tolist())
        if "started_at" in frame.columns:
            assert contents_in([plain.columns]) == contents_of(results)


def test_fast_reader_accepts_rows_as_servers_send_them():
    rows = [row | {"time_s": 60 + row["position"], "status": "finished", "pool": "main"} for row in race(1, "abcdefgh")]
    quitter = {name: rows[0][name] for name in ("event_id", "started_at")} | {
        "player": "x",
        "status": "quit",
        "pool": "main",
    }
    plain = read_plainly([*rows, quitter])
    assert plain is not None
    assert plain.columns["time_s"][0] == 61.0
    assert plain.pools == {"main"}


def test_fast_reader_accepts_small_frames():
    rows = [row | {"player": name, "time_s": 60} for row, name in zip(race(1, "abc"), ("雪", "ä", "c"), strict=True)]
    frame = pl.DataFrame(rows).with_columns(pl.col("started_at").str.to_datetime(time_zone="UTC"))
    for kind in ("us", "ms"):
        small = frame.with_columns(pl.col("started_at").dt.cast_time_unit(kind))
        plain = read_plainly(small)
        assert plain is not None
        assert frame_of(plain.columns).equals(read_table(small, None, none_known)[0].frame)
    assert read_plainly(frame.with_columns(pl.col("started_at").dt.cast_time_unit("ns"))) is None


@pytest.mark.parametrize(
    "more",
    [
        {"position": 0}, {"position": True}, {"time_s": math.nan}, {"weight": 101}, {"status": "left"},
        {"player": " a"}, {"player": "a\u200b"}, {"player": ""}, {"heat": "Overall"}, {"started_at": "yesterday"},
        {"surprise": 1}, {"sequence": 1},
    ],
)  # fmt: skip
def test_unusual_values_are_left_to_polars(more):
    rows = race(1, "abc")
    assert read_plainly([rows[0], rows[1] | more, rows[2]]) is None


def test_contradictory_rows_are_left_to_polars():
    twice, slow = race(1, "aba"), [row | {"time_s": 70.0 - row["position"]} for row in race(1, "abc")]
    bare = [{name: value for name, value in row.items() if name != "position"} for row in race(1, "abc")]
    for rows in (twice, slow, bare, [race(1, "a")[0], race(1, "b", 5)[0]]):
        assert read_plainly(rows) is None
        with pytest.raises(ResultsError):
            check_results(rows, "main", lambda _column, _names: set())
