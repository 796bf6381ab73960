"""The results table: the kinds of input, and errors that name the place and the remedy."""

import io
import json

import polars as pl
import pytest

import podium

GOOD = "event_id,player,position,time_s,status\na,ana,1,60.5,finished\na,ben,2,61,finished\n"


def refused(text):
    with pytest.raises(podium.ResultsError) as caught:
        podium.read_results(io.BytesIO(text.encode()), name="results.csv")
    return str(caught.value)


def test_a_file_name_with_brackets_is_not_a_pattern(tmp_path):
    for name in ("[spring] league*.parquet", "s.parquet"):
        podium.read_results(io.BytesIO(GOOD.encode())).frame.write_parquet(tmp_path / name)
    assert podium.read_results(tmp_path / "[spring] league*.parquet").frame.height == 2
    with pytest.raises(podium.ResultsError, match="appears twice"):  # in both files of the pattern
        podium.read_results(tmp_path / "*.parquet")
    with pytest.raises(podium.ResultsError, match="none"):
        podium.read_results(tmp_path / "none*.parquet")


def test_every_kind_of_input_gives_the_same_table(tmp_path):
    import pandas as pd
    import pyarrow as pa

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
        pa.RecordBatch.from_pylist(plain.to_dicts()),
    ]
    for source in sources:
        assert podium.read_results(source).frame.equals(frame), source
    twice = pa.table([pa.array(["a"]), pa.array(["b"])], names=["player", "player"])
    for source in (twice, *twice.to_batches(), twice.to_pandas()):
        with pytest.raises(podium.ResultsError, match="two columns have the same name"):
            podium.read_results(source)


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
    ("event_id,player,position\na,ana,1\na,ana,2", "row 2, column player: 'ana' appears twice in one heat"),
    ("event_id,player,pool,position\na,ana,x,1\na,ben,y,2", "row 2, column pool: 'y' differs from 'x'"),
    (
        "event_id,player,started_at,position\na,ana,2025-01-01,1\na,ben,2025-01-02,2",
        "row 2, column started_at: '2025-01-02 00:00:00+00:00' differs",
    ),
    ("event_id,player,position,time_s\na,ana,1,70\na,ben,2,60", "row 2, column position: 2.0 contradicts time_s 60"),
    (
        "event_id,player,position\na,ana,1\na,ben,",
        "row 1: nothing determines the order of the finishers of this heat of event a",
    ),
    ("event_id,player,team,team_score\na,ana,r,1\na,ben,r,2", "row 2, column team_score: 2.0 differs"),
    ("event_id,player,mode,position\na,ana,x,1\na,ben,y,2", "row 2, column mode: 'y' differs"),
    ("", "results.csv: is empty"),
    ("event_id,player,player\na,b,c", "column player: appears twice in the header"),
    ('{"event_id": "a", "player": "b", "score": NaN}', "NaN is not a JSON number"),
    (
        "event_id,player\na,b,c,d,e\n",
        "results.csv row 1: has 5 cells, but the header has 2; put text that contains a comma",
    ),
    ("event_id,player,position\na,ana,1\na,ben\n", "results.csv row 2: has 2 cells, but the header has 3"),
    ('event_id,player,position\n"a","ana, of A",1\na,ben\n', "results.csv row 2: has 2 cells, but the header has 3"),
    ("event_id,player,position\na,ana,1\na,ben,2,3\n", "results.csv row 2: has 4 cells, but the header has 3"),
    (
        'event_id,player,position\na,ana,1\na,"ben,2\na,cy,3\n',
        "results.csv row 2: contains a quotation mark that is not",
    ),
    ('event_id,player,position\na,ana,1\na,"ben"x,2\n', "results.csv row 2: contains a quotation mark that is not"),
    ('event_id,player,position\na,ana,1\na,ben"x,2\n', "results.csv row 2: contains a quotation mark in the middle"),
    ("event_id,player,position, position\na,ana,1,2\n", "column position: appears twice in the header"),
    ("event_id,player,time_s\nr,Max,91.7\nr,Pia,+22.457\n", "row 2, column time_s: '+22.457' looks like a gap"),
    ("event_id,player,duration_s\nr,Max,+91.7\n", "row 1, column duration_s: '+91.7' looks like a gap"),
    (
        '{"event_id":"e","player":"a"}\n{"event_id":"e","player":"a","position":1,"position":3}',
        "row 2, column position",
    ),
    ('[{"event_id":"e","player":"a"},{"event_id":"e","event_id":"f","player":"b"}]', "row 2, column event_id: appears"),
    ('{"event_id":"e","player":{"name":"a","name":"b"}}', "row 1, column name: appears twice in one object"),
    ('{"event_id":"e","player":["a"]}\n{"event_id":"e","player":"b"}', "row 1, column player: ['a'] is not text"),
    ('{"event_id":"e","player":"b"}\n{"event_id":"e","player":true}', "row 2, column player: True is not text"),
    ('{"event_id":"e","player":"b","team":{"a":1}}', "row 1, column team: {'a': 1} is not text"),
    ('{"event_id":"e","player":"b","position":1}\n{"event_id":"e","player":"c","position":true}', "row 2, column pos"),
    ('{"event_id":"e","player":"b\\ud800"}', "row 1, column player: contains half of a surrogate pair"),
    ('{"event_id":"e","player":"b","\\ud800":1}', "column \\ud800: is not a column"),
    ("event_id,play\rer,position\na,ana,1\n", "has a header whose cells are unclear"),
    ("event_id,player,position\nPérez,ana,1\nPe\u0301rez,ben,2\n", "row 2, column event_id: 'Pe\u0301rez' looks like"),
]


def test_errors_of_a_wide_table_explain_how_to_ignore_columns():
    wide = pl.DataFrame({"player": ["ana"]} | {f"x{number}": [1] for number in range(78)})
    with pytest.raises(podium.ResultsError) as caught:
        podium.read_results(wide)
    *unknown, known, missing = caught.value.faults
    assert [each.column for each in unknown] == [f"x{number}" for number in range(18)]
    assert known.remedy.startswith("60 more columns are unknown; a results table's columns are event_id, ")
    assert known.remedy.endswith("; read_results(…, ignore='rest') ignores others")
    assert missing.column == "event_id"


@pytest.mark.parametrize(("text", "fault"), BAD)
def test_errors_of_an_invalid_table_name_place_and_remedy(text, fault):
    assert fault in refused(text)


@pytest.mark.parametrize(
    ("column", "first", "second"), [("position", -1, -1), ("pool", "x", "y"), ("title", "x", "y"), ("sequence", 1, 2)]
)
def test_at_most_twenty_errors_are_listed(column, first, second):
    rows = (f"a,p{n},{n}.5,{second if n else first}\n" for n in range(30))
    text = f"event_id,player,time_s,{column}\n" + "".join(rows)
    lines = refused(text).splitlines()
    assert len(lines) == 22
    assert lines[0].startswith(f"results.csv row {1 if first == second else 2}, column {column}: ")
    assert "there are more" in lines[-2]


def test_valid_rows_are_not_named():
    lines = refused("event_id,player,started_at\na,ana,2025-01-01\nb,ben,soon\n").splitlines()
    assert [line for line in lines if " row " in line] == lines[:1]
    assert lines[0].startswith("results.csv row 2, ")


def test_an_event_split_by_other_rows_is_one_event():
    rows = [("a", "ana", 1), ("b", "ana", 1), ("a", "ben", 2), ("b", "ben", 2)]
    frame = pl.DataFrame(rows, schema=["event_id", "player", "position"], orient="row")
    assert podium.rate(frame, "elo").history["event_id"].to_list() == ["a", "a", "b", "b"]


def test_an_empty_table_is_valid():
    rated = podium.rate(io.BytesIO(b"event_id,player,position\n"), "folyami")
    assert rated.ratings.height == rated.history.height == rated.leaderboard().height == 0


def test_times_with_any_offset_are_converted_to_utc():
    text = "event_id,player,position,started_at\na,ana,1,2025-01-01T02:00+02:00\na,ben,2,2025-01-01 00:00:00\n"
    assert podium.read_results(io.BytesIO(text.encode())).frame["started_at"].n_unique() == 1


FORMS = [
    ([7.5, 8], ["7.5", "8"]),
    ([7, "a"], ["7", "a"]),
    ([8.0, 9.0], ["8", "9"]),
    (["7.5", 8.0], ["7.5", "8"]),
    ([2**60, "a"], [str(2**60), "a"]),
]


@pytest.mark.parametrize(("players", "names"), FORMS)
@pytest.mark.parametrize("kind", ["records", "json", "pandas"])
def test_a_number_as_a_name_is_written_as_it_was_sent(players, names, kind):
    import pandas as pd

    rows = [{"event_id": "e", "player": player, "position": place} for place, player in enumerate(players, start=1)]
    sources = {
        "records": lambda: rows,
        "json": lambda: io.BytesIO(json.dumps(rows).encode()),
        "pandas": lambda: pd.DataFrame(rows).astype({"player": object}),
    }
    assert podium.read_results(sources[kind]()).frame["player"].to_list() == names


@pytest.mark.parametrize("player", [1e20, -1e16, float("inf")])
def test_an_id_too_large_for_a_double_is_rejected(player):
    rows = [{"event_id": "e", "player": player}, {"event_id": "e", "player": "b"}]
    for source in (rows, rows[:1], pl.DataFrame(rows[:1])):
        with pytest.raises(podium.ResultsError, match=r"row 1, column player: .* too large to be exact"):
            podium.read_results(source)


def test_lists_and_booleans_in_a_frame_are_not_names():
    import pandas as pd

    for values in (["a", ["b"]], ["a", True], [True, False], [["a"], ["b"]]):
        frame = pd.DataFrame({"event_id": ["e", "e"], "player": pd.Series(values, dtype=object), "position": [1, 2]})
        with pytest.raises(podium.ResultsError, match="column player"):
            podium.read_results(frame)


def test_a_wide_space_does_not_end_a_line_of_json():
    rows = [{"event_id": "e", "player": name, "position": 1} for name in ("a", "b")]
    text = "\n".join(json.dumps(row | {"mode": "x\u2003y"}, ensure_ascii=False) for row in rows)
    assert podium.read_results(io.BytesIO(text.encode())).frame.height == 2


def test_special_words_are_recognized_in_any_spelling():
    rows = [
        {"event_id": "e", "heat": heat, "player": player, "position": place, "time_s": 60.0 + place, "mode": mode}
        for heat, mode in (("1", "Time-Trial"), ("Overall", "time trial"))
        for place, player in enumerate("ab", start=1)
    ]
    frame = podium.read_results(rows).frame
    assert frame["heat"].to_list() == ["1", "1", "overall", "overall"]
    assert frame["mode"].to_list() == ["time-trial"] * 4
    plain = [row | {"heat": row["heat"].lower(), "mode": "time-trial"} for row in rows]
    for system in ("stk", "trials"):
        assert podium.rate(rows, system).history.equals(podium.rate(plain, system).history)


def test_an_empty_last_cell_is_not_a_missing_cell():
    text = 'event_id,player,status\na,"ana, of ""A""",\na,ben,dnf\n'
    assert podium.read_results(io.BytesIO(text.encode())).frame["status"].to_list() == ["finished", "dnf"]
