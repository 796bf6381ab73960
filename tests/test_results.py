"""The results table: what is read, and what is refused with words that mend it."""

import io

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import podium

GOOD = "event_id,player,position,time_s,status\na,ana,1,60.5,finished\na,ben,2,61,finished\n"


def refused(text):
    with pytest.raises(podium.ResultsError) as caught:
        podium.read_results(io.BytesIO(text.encode()), name="results.csv")
    return str(caught.value)


def test_every_kind_of_input_gives_the_same_table(tmp_path):
    frame = podium.read_results(io.BytesIO(GOOD.encode())).frame
    plain = frame.drop("pool")
    plain.write_parquet(tmp_path / "r.parquet")
    plain.write_ndjson(tmp_path / "r.jsonl")
    plain.write_json(tmp_path / "r.json")
    (tmp_path / "r.csv").write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    sources = [
        *(tmp_path / f"r.{suffix}" for suffix in ("parquet", "jsonl", "json", "csv")),
        plain,
        plain.lazy(),
        plain.to_dicts(),
        pd.DataFrame(plain.to_dicts()),
        pa.Table.from_pylist(plain.to_dicts()),
    ]
    for source in sources:
        assert podium.read_results(source).frame.equals(frame), source


BAD = [
    ("event_id,player,position\na,ana,x", "results.csv row 1, column position: 'x' must be a number above 0"),
    ("event_id,player,position\na,ana,0", "results.csv row 1, column position: '0' must be a number above 0"),
    ("event_id,player,time_s\na,ana,1\na,ben,nan", "row 2, column time_s: 'nan' must be a number above 0"),
    ("event_id,player,time_s\na,ana,-2", "row 1, column time_s: '-2' must be a number above 0"),
    ("event_id,player,score\na,ana,1e999", "row 1, column score: '1e999' must be a number"),
    ("event_id,player,played_s\na,ana,-1", "column played_s: '-1' must be a number of seconds, 0 or more"),
    ("event_id,player,status\na,ana,disconnected", "'disconnected' is not a status; did you mean 'quit'?"),
    ("event_id,player,status\na,ana,finnished", "did you mean 'finished'? (finished, quit, dnf"),
    ("event_id,player,ranked\na,ana,maybe", "row 1, column ranked: 'maybe' must be true or false"),
    (
        "event_id,player,posision\na,ana,1",
        "column posision: is not a column of a results table; did you mean position?",
    ),
    ("event_id,position\na,1", "column player: is missing"),
    ("event_id,player,position\na,,1", "row 1, column player: is empty"),
    ("event_id,player,started_at\na,ana,soon", "row 1, column started_at: 'soon' is not a date"),
    (
        "event_id,player,started_at\na,ana,2025-01-01\nb,ben,",
        "row 2, column started_at: is empty; give it on every row",
    ),
    ("event_id,player,position\na,ana,1\na,ana,2", "row 2, column player: 'ana' stands twice in one heat"),
    ("event_id,player,pool,position\na,ana,x,1\na,ben,y,2", "row 2, column pool: 'y' differs from 'x'"),
    (
        "event_id,player,started_at,position\na,ana,2025-01-01,1\na,ben,2025-01-02,2",
        "row 2, column started_at: '2025-01-02 00:00:00+00:00' differs",
    ),
    ("event_id,player,position,time_s\na,ana,1,70\na,ben,2,60", "row 2, column position: 2.0 contradicts time_s 60"),
    ("event_id,player,position\na,ana,1\na,ben,", "row 1: nothing compares the finishers of this heat of event a"),
    ("event_id,player,team,team_score\na,ana,r,1\na,ben,r,2", "row 2, column team_score: 2.0 differs"),
    ("event_id,player,mode,position\na,ana,x,1\na,ben,y,2", "row 2, column mode: 'y' differs"),
    ("", "results.csv: is empty"),
    ("event_id,player,player\na,b,c", "column player: stands twice in the header"),
    ('{"event_id": "a", "player": "b", "score": NaN}', "NaN is not a JSON number"),
    ("event_id,player\na,b,c,d,e\n", "is not well-formed CSV"),
]


@pytest.mark.parametrize(("text", "said"), BAD)
def test_a_bad_table_is_refused_with_where_and_how_to_mend_it(text, said):
    assert said in refused(text)


def test_twenty_faults_are_told_at_once_and_no_more():
    text = "event_id,player,position\n" + "".join(f"a,p{n},-1\n" for n in range(30))
    lines = refused(text).splitlines()
    assert len(lines) == 22
    assert lines[0].startswith("results.csv row 1, ")
    assert "more faults follow" in lines[-2]


def test_an_event_split_by_other_rows_is_one_event():
    rows = [("a", "ana", 1), ("b", "ana", 1), ("a", "ben", 2), ("b", "ben", 2)]
    frame = pl.DataFrame(rows, schema=["event_id", "player", "position"], orient="row")
    assert podium.rate(frame, "elo").history["event_id"].to_list() == ["a", "a", "b", "b"]


def test_an_empty_table_is_fine():
    rated = podium.rate(io.BytesIO(b"event_id,player,position\n"), "folyami")
    assert rated.ratings.height == rated.history.height == rated.leaderboard().height == 0


def test_times_are_utc_whatever_their_offset():
    text = "event_id,player,position,started_at\na,ana,1,2025-01-01T02:00+02:00\na,ben,2,2025-01-01 00:00:00\n"
    assert podium.read_results(io.BytesIO(text.encode())).frame["started_at"].n_unique() == 1
