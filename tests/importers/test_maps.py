"""Tables with a map: each rule, invalid maps, and errors with their place in the written table."""

import gzip
import io
import json
import sqlite3
import zipfile
from contextlib import closing

import polars as pl
import pytest
import zstandard
from workbooks import TIME, write_ods, write_xlsx

import podium
from podium.importers import Options, read_format
from podium.importers.tables.maps import build_map, tomllib, write_map

SAMPLES = "formats/samples"
LONG = {"event_id": "Race", "player": "Driver"}


def imported(tmp_path, text, document, name="table.csv", **options):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_format("csv", [str(path)], Options(map=document, **options))


def rows(tmp_path, text, document, *columns, **options):
    return imported(tmp_path, text, document, **options).table.select(columns).rows()


@pytest.mark.parametrize("name", ["season", "crosstable"])
def test_samples_give_the_expected_tables(name, shared):
    table = read_format("csv", [shared(f"{SAMPLES}/{name}.csv")], Options(map=shared(f"{SAMPLES}/{name}.toml"))).table
    expected = pl.read_csv(shared(f"{SAMPLES}/{name}.expected.csv"), infer_schema=False)
    numbers = [each for each, kind in table.schema.items() if kind.is_float()]
    assert table.equals(expected.with_columns(pl.col(numbers).cast(pl.Float64)))


CELLS = [  # the cell in `x` (`y` is 1), a rule, the column, and its result
    ("7", {"value": "liga"}, "pool", "liga"),
    ("7", "{x}-{y}-{row}-{file}", "team", "7-1-2-table"),
    ("7", {"from": ["x", "y"]}, "pool", "7 1"),
    ("", {"first": ["x", "y"]}, "pool", "1"),
    ("C12", {"from": "x", "regex": ["^C?(.*)$", "ZCT$1"]}, "pool", "ZCT12"),
    ("a", {"from": "x", "map": {"a": "b"}}, "pool", "b"),
    ("c", {"from": "x", "map": {"a": "b"}, "default": "z"}, "pool", "z"),
    ("", {"from": "x", "map": {"a": "b"}, "default": "z", "null": "n"}, "pool", "n"),
    ("1", {"from": "x", "equals": "y", "then": 1, "other": 2}, "position", 1.0),
    ("5", {"from": "x", "equals": "y", "then": 1, "other": 2}, "position", 2.0),
    ("T2", {"from": "x", "as": "place"}, "position", 2.0),
    ("3rd", {"from": "x", "as": "place"}, "position", 3.0),
    ("CUT", {"from": "x", "as": "number", "else": "null"}, "position", None),
    ("1:01.5", {"from": "x", "as": "duration"}, "time_s", 61.5),
    ("6105", {"from": "x", "scale": 0.01}, "time_s", 61.05),
    ("1:01.5", "x", "time_s", 61.5),
    ("1e2", "x", "time_s", 100.0),
    ("yes", "x", "handicap", "yes"),
    ("20240311", "x", "started_at", "2024-03-11 00:00:00"),
    ("3.11.2024 14:30", {"from": "x", "format": "%d.%m.%Y %H:%M"}, "started_at", "2024-11-03 14:30:00"),
    ("1903", {"from": "x", "format": "%Y"}, "started_at", "1903-01-01 00:00:00"),
    ("1700000000.5", {"from": "x", "epoch": "s"}, "started_at", "2023-11-14 22:13:20.500000"),
    ("45599.75", {"from": "x", "epoch": "excel"}, "started_at", "2024-11-03 18:00:00"),
    ("2024-11-03T18:00+01:00", "x", "started_at", "2024-11-03 17:00:00"),
]


@pytest.mark.parametrize(("cell", "rule", "column", "expected"), CELLS)
def test_a_rule_makes_a_cell(cell, rule, column, expected, tmp_path):
    document = {"columns": {"event_id": {"value": "e"}, "player": "p", "score": "s", column: rule}}
    text = f"x,y,p,s\n{cell},1,ana,1\n{cell},1,ben,2\n"
    value = imported(tmp_path, text, document).table[column][0]
    assert (str(value.replace(tzinfo=None)) if column == "started_at" else value) == expected


def test_gaps_are_to_the_leader_or_to_the_entrant_ahead(tmp_path):
    text = "Race,Driver,T\n1,a,1:33:56.736\n1,b,+11.987\n1,c,+1 lap\n1,d,+20\n"
    for gap, last in (("leader", 5656.736), ("previous", 5668.723)):
        document = {"columns": {**LONG, "time_s": {"from": "T", "gap": gap}, "score": {"value": 1}}}
        assert rows(tmp_path, text, document, "time_s") == [(5636.736,), (5648.723,), (None,), (last,)]


def test_the_map_sets_the_unit_of_laps_and_words_are_statuses(tmp_path):
    document = {"columns": {**LONG, "position": "P", "time_s": {"from": "T", "lapped": "Ru", "gap": "leader"}}}
    text = "Race,Driver,P,T\n1,a,1,60\n1,b,2,+2 Ru\n1,c,DSQ,\n1,d,,dnf\n"
    expected = [(1.0, 60.0, None), (2.0, None, None), (None, None, "disqualified"), (None, None, "dnf")]
    assert rows(tmp_path, text, document, "position", "time_s", "status") == expected


def test_numbers_with_other_marks(tmp_path):
    document = {"source": {"decimal": ",", "thousands": "."}, "columns": {**LONG, "score": "S"}}
    assert rows(tmp_path, "Race;Driver;S\n1;a;1.234,5\n1;b;-2\n", document, "score") == [(1234.5,), (-2.0,)]
    with pytest.raises(podium.ResultsError, match=r"row 3, column S: '1.5' must be a number"):
        imported(tmp_path, "Race;Driver;S\n1;a;1,5\n1;b;1.5\n", document)


def test_a_repeated_local_hour_uses_the_earlier_offset(tmp_path):
    document = {"source": {"timezone": "Europe/Berlin"}, "columns": {**LONG, "position": "P", "started_at": "T"}}
    text = "Race,Driver,P,T\n1,a,1,2024-10-27 02:30\n1,b,2,2024-10-27 02:30\n2,a,1,2024-07-01\n2,b,2,2024-07-01\n"
    result = imported(tmp_path, text, document)
    assert result.table["started_at"].dt.strftime("%d %H:%M").to_list() == ["27 00:30"] * 2 + ["30 22:00"] * 2
    assert any("Europe/Berlin" in note for note in result.notes)


def test_dropped_rows_are_counted_by_reason(tmp_path):
    where = {
        "drop": [
            {"column": "V", "equals": "0", "reason": "hidden"},
            {"column": "P", "null": True, "reason": "no place"},
        ],
        "keep": [
            {"column": "Driver", "matches": "[a-z]", "reason": "no letter"},
            {"column": "V", "in": ["1"], "reason": "x"},
        ],
    }
    text = "Race,Driver,P,V\n1,a,1,1\n1,b,2,1\n1,c,3,0\n1,d,,1\n1,ee,4,1\n2,a,1,1\n"
    result = imported(tmp_path, text, {"where": where, "columns": {**LONG, "position": "P"}})
    assert result.table["player"].to_list() == ["a", "b"]
    assert result.dropped == {"hidden": 1, "no place": 1, "no letter": 1, "too few": 1}


def test_side_tables_are_joined_with_one_row_each(tmp_path):
    document = {"join": {"r": {"file": "r.csv", "on": {"here": "Race", "there": "id"}}},
                "columns": {**LONG, "event_id": "r.name", "position": "P"}}  # fmt: skip
    text = "Race,Driver,P\n1,a,1\n1,b,2\n"
    (tmp_path / "r.csv").write_text("id;name\n1;Spa\n2;Monza\n")
    assert rows(tmp_path, text, document, "event_id") == [("Spa",), ("Spa",)]
    with pytest.raises(podium.ResultsError, match=r"row 4, column Race: '3' has no row in .*r\.csv"):
        imported(tmp_path, text + "3,c,1\n", document)
    (tmp_path / "r.csv").write_text("id;name\n1;Spa\n1;Monza\n")
    with pytest.raises(podium.ResultsError, match=r"row 3, column id: '1' appears twice"):
        imported(tmp_path, text, document)


def test_an_incomplete_crosstable_is_rejected_with_its_cell(tmp_path):
    document = {
        "layout": {"kind": "crosstable", "rows": "P"},
        "columns": {"event_id": "{row_name}{column}", "score": "cell"},
    }
    with pytest.raises(podium.ResultsError, match="row 3, column A: is empty, but the opponent's cell is not"):
        imported(tmp_path, "P,A,B\nA,,1\nB,,\n", document)
    with pytest.raises(podium.ResultsError, match="row 3: 'C' is a line but not a column"):
        imported(tmp_path, "P,A,B\nA,,1\nC,0,\n", document)


def test_rows_of_an_event_are_grouped_in_the_order_of_first_rows(tmp_path):
    text = "Race,Driver,P\n2,a,1\n1,a,1\n2,b,2\n1,b,2\n"
    document = {"columns": {**LONG, "position": "P"}}
    assert rows(tmp_path, text, document, "event_id", "player") == [("2", "a"), ("2", "b"), ("1", "a"), ("1", "b")]


BAD = "Race,Driver,P\n1,a,1\n1,b,x\n2,a,1\n2,b,2\n3,a,x\n3,b,1\n4,a,1\n4,a,2\n"


def test_errors_are_grouped_by_value_and_bad_events_are_left_out(tmp_path):
    document = {"columns": {**LONG, "position": "P"}}
    with pytest.raises(podium.ResultsError) as caught:
        imported(tmp_path, BAD, document)
    lines = str(caught.value).splitlines()
    remedy = (
        "'x' must be a number. Type podium import table.csv --set 'columns.status.map.\"x\"=dnf' (did not finish), or "
    )
    assert f"table.csv: column P, 2 rows (3, 6): {remedy}" in lines[0]
    assert lines[1].endswith("table.csv row 9, column Driver: 'a' appears twice in one heat of event 4")
    result = imported(tmp_path, BAD, document, skip_bad=True)
    assert (result.table["event_id"].unique().to_list(), result.skipped, len(result.bad)) == (["2"], 3, 2)


def test_several_files_are_one_table(tmp_path):
    paths = [tmp_path / name for name in ("a.csv", "b.csv")]
    paths[0].write_text("Race,Driver,P\n1,a,1\n1,b,2\n")
    paths[1].write_text("Race,Driver,P\n2,a,1\n2,b,2\n")
    options = Options(map={"columns": {**LONG, "event_id": "{file}-{Race}", "position": "P"}})
    assert read_format("csv", paths, options).table["event_id"].to_list() == ["a-1", "a-1", "b-2", "b-2"]
    paths[1].write_text("Race,Driver,P\n1,a,1\n1,b,2\n")
    with pytest.raises(podium.ResultsError, match="all files together row 3, column player: 'a' appears twice"):
        read_format("csv", paths, Options(map={"columns": {**LONG, "position": "P"}}))
    with zipfile.ZipFile(tmp_path / "none.zip", "w"):
        pass
    with pytest.raises(podium.ResultsError, match="has no files to read"):
        read_format("csv", [tmp_path / "none.zip"], options)


REFUSED = [
    ({}, "columns: is missing or empty"),
    ({"colums": {}}, "'colums' is not known; did you mean 'columns'?"),
    ({"columns": {"positon": "x"}}, "'positon' is not known; did you mean 'position'?"),
    ({"columns": {"position": {"from": "x", "as": "numbr"}}}, "did you mean 'number'?"),
    ({"columns": {"player": "Drivr"}}, "table.csv has no column 'Drivr'; did you mean 'Driver'?"),
    ({"columns": {"player": "{driver}"}}, "has no column 'driver'; did you mean 'Driver'?"),
    ({"columns": {"status": {"from": "P", "map": {"x": "dnff"}}}}, "did you mean 'dnf'?"),
    ({"columns": {"pool": {"from": "P", "regex": ["(?=a)", "b"]}}}, "is not a pattern (look-around"),
    ({"columns": {"pool": {"from": "P", "regex": [r"(a)\1", "b"]}}}, "is not a pattern (backreferences"),
    ({"columns": {"pool": {"from": "P", "gap": "leader"}}}, "gap: is only for time_s"),
    ({"columns": {"pool": {"from": "P", "default": "x"}}}, "default: applies to words that are not in map"),
    ({"columns": {"pool": {"value": "x", "from": "P"}}}, "give one of value, from and first"),
    ({"columns": {"pool": {"from": "P", "count": "no"}}}, "columns.pool.count: 'no' must be true or false"),
    ({"columns": {"pool": {"from": "P", "map": 1}}}, "columns.pool.map: 1 must be a table of keys and values"),
    ({"columns": {"pool": {"from": []}}}, "[] must be the name of a column, or a list of names"),
    ({"columns": {"pool": {"value": []}}}, "[] must be text, a number, true or false"),
    ({"columns": {"pool": {"from": "P", "regex": ["a"]}}}, "must be a pattern and its replacement, such as"),
    ({"columns": {"pool": {"from": "P", "scale": 0}}}, "columns.pool.scale: 0 must be a number above 0"),
    ({"columns": {"pool": {"from": "P", "then": 1}}}, "then and other need equals. Write the column to"),
    ({"columns": {"pool": {"from": "P", "equals": "Q"}}}, "equals needs then or other: the values to use if the two"),
    ({"columns": {"pool": {"from": "P", "epoch": "s"}}}, "format and epoch are only for started_at"),
    (
        {"columns": {"pool": {"from": "P", "started": "Q"}}},
        "pool.started: is only for status. It names columns that show",
    ),
    ({"source": {"delimiter": "ab"}, "columns": LONG}, "'ab' must be a single ASCII character, such as , or ;"),
    ({"source": {"header": -1}, "columns": LONG}, "-1 must be the line number of the header, or 0 if there is"),
    ({"source": {"timezone": ""}, "columns": LONG}, "source.timezone: '' must be text"),
    ({"where": {"drop": "x"}, "columns": LONG}, "where.drop: 'x' must be a list, in square brackets"),
    (
        {"where": {"once": "x"}, "columns": LONG},
        "where.once: 'x' must name the columns of the player and the opponent",
    ),
    ({"columns": {"pool": {"from": "P", "map": {str(n): "x" for n in range(101)}}}}, "a map can have up to 100"),
    ({"source": {"decimal": ";"}, "columns": LONG}, "source.decimal: ';' is not known"),
    ({"source": {"thousands": "."}, "columns": LONG}, "is also the decimal mark"),
    ({"source": {"timezone": "Europe/Berln"}, "columns": LONG}, "there is no time zone 'Europe/Berln'"),
    ({"layout": {"kind": "wide", "sides": [LONG]}, "columns": LONG}, "write at least two sides"),
    ({"layout": {"kind": "matrix"}, "columns": LONG}, "layout.rows: is missing"),
    ({"layout": {"rows": "x"}, "columns": LONG}, "is not a key of the layout long"),
    (
        {"where": {"drop": [{"column": "P", "reason": "x"}]}, "columns": LONG},
        "give one of equals, in, matches and null",
    ),
]


@pytest.mark.parametrize(("document", "message"), REFUSED)
def test_an_invalid_map_is_rejected_with_its_key(document, message, tmp_path):
    with pytest.raises(podium.PodiumError) as caught:
        imported(tmp_path, "Race,Driver,P\n1,a,1\n1,b,2\n", document)
    assert message in str(caught.value)


def test_a_written_map_reads_back_the_same():
    document = {
        "source": {"null": ["", "\\N"], "header": 2},
        "join": {"a b": {"file": "x.csv", "on": "k"}},
        "layout": {"kind": "wide", "sides": [{"player": "A", "position": 1}, {"player": 'B "q"', "position": 2}]},
        "columns": {"event_id": "{row}", "status": {"from": ["S"], "map": {"a\tb": "dnf"}, "default": "finished"}},
    }
    assert build_map(tomllib.loads(write_map(document))).rules() == build_map(document).rules()


def test_every_file_type_gives_the_same_rows(tmp_path):
    table = [["Race", "Driver", "T"], ["007", "1e5", "1:33:56.736"], ["007", "b", "2:00:00.000"]]
    text = "\n".join(",".join(row) for row in table) + "\n"
    plain = {"columns": {**LONG, "time_s": "T"}}
    records = [dict(zip(table[0], row, strict=True)) for row in table[1:]]
    write_xlsx(tmp_path / "t.xlsx", A=[[], *table[:2], [], ["007", "b", (1 / 12, TIME)]], Empty=[])
    write_ods(tmp_path / "t.ods", [*table[:1], ["007", "1e5", ("time", "PT01H33M56.736S")], table[2]])
    with closing(sqlite3.connect(tmp_path / "t.db")) as base, base:
        base.execute("CREATE TABLE v1_x (Race TEXT, Driver TEXT, T TEXT)")
        base.executemany("INSERT INTO v1_x VALUES (?, ?, ?)", table[1:])
    pl.DataFrame(records).write_parquet(tmp_path / "t.parquet")
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("t.csv", text)
    files = {
        "t.csv": text.encode(),
        "t.csv.gz": gzip.compress(text.encode(), mtime=0),
        "t.csv.zst": b"".join(map(zstandard.compress, (text[:20].encode(), text[20:].encode()))),
        "t.tsv": text.replace(",", "\t").encode("utf-16"),
        "t.json": json.dumps(records).encode(),
        "t.jsonl": "\n".join(map(json.dumps, records)).encode(),
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    expected = [("007", "1e5", 5636.736), ("007", "b", 7200.0)]
    for path in sorted(tmp_path.glob("t.*")):
        result = read_format("csv", [path], Options(map=plain))
        assert result.table.select("event_id", "player", "time_s").rows() == expected, path.name
    header = {"source": {"header": 0}, "columns": {"event_id": "c1", "player": "c2", "time_s": "c3"}}
    assert rows(tmp_path, text.split("\n", 1)[1], header, "event_id", "player", "time_s") == expected
    titled = {"source": {"header": 3}, **plain}
    assert rows(tmp_path, "A title; and more\n\n" + text, titled, "event_id", "player", "time_s") == expected


def test_nested_rows_in_json_can_use_values_of_outer_objects(tmp_path):
    both = [{"u": {"n": player}, "k": score} for player, score in (("a", 1.50), ("b", 2))]
    races = {"races": [{"id": number, "goal": {"name": "g"}, "rows": both} for number in (7, 8)]}
    document = {"source": {"records": "races[].rows[]"},
                "columns": {"event_id": "^id", "pool": "^goal.name", "player": "u.n", "score": "k"}}  # fmt: skip
    result = rows(tmp_path, json.dumps(races), document, "event_id", "pool", "player", "score", name="x.json")
    assert result[2:] == [("8", "g", "a", 1.5), ("8", "g", "b", 2.0)]
    broken = json.dumps(races)[::-1].replace("2", '"x"', 1)[::-1]
    with pytest.raises(podium.ResultsError, match=r"races\[1\]\.rows\[1\], column k: 'x' must be a number"):
        imported(tmp_path, broken, document, name="x.json")


UNREADABLE = [
    ("x.csv", b"a,b;c\n1,2;3\n", "cells may be separated by a comma or a semicolon"),
    (
        "x.csv",
        "Race,Driver,P\n1,\xe9,1\n".encode("latin-1"),
        "is not UTF-8 text (byte 16). Save it as CSV UTF-8, or name",
    ),
    ("x.csv", b"Race,Driver,P\n1,a\0,1\n", "contains a NUL character (byte 17)"),
    ("x.csv", b"Race;Driver;P\n1;a;1;2\n", "row 2: has 4 cells, but the header has 3"),
    ("x.csv", b"Race,Race,P\n1,a,1\n", "column Race: appears twice in the header"),
    ("x.csv", b"", "is empty"),
    ("x.csv.gz", gzip.compress(b"0" * 10**6, mtime=0), "expands to more than 100 times its size"),
    ("x.csv.gz", gzip.compress(b"Race,Driver,P\n" * 9, mtime=0)[:-9], "is compressed and damaged"),
    ("x.csv.zst", zstandard.compress(b"0" * 10**6), "expands to more than 100 times its size"),
    ("x.csv.zst", zstandard.compress(b"Race,Driver,P\n" * 9)[:-3], "is compressed and damaged (the file ends within"),
    ("x.csv.zst", b"\x28\xb5\x2f\xfd" + b"junk" * 9, "is compressed and damaged"),
    ("x.xlsx", b"PK\x03\x04junk", "is not a readable workbook"),
    ("x.parquet", b"PAR1junk", "is not a Parquet file"),
    ("x.db", b"SQLite format 3\0junk", "cannot be read as an SQLite database"),
    ("x.json", b'{"races": [NaN]}', "NaN is not a JSON number"),
    ("x.jsonl", b'{"Race": 1}\n{"Race": }\n', "line 2: is not JSON"),
    ("x.zip", b"junk", "is not a zip archive"),
]


@pytest.mark.parametrize(("name", "content", "message"), UNREADABLE)
def test_unreadable_tables_are_rejected_with_the_place(name, content, message, tmp_path):
    with pytest.raises(podium.ResultsError) as caught:
        imported(tmp_path, content, {"columns": {**LONG, "position": "P"}}, name=name)
    assert message in str(caught.value)


def test_several_sheets_and_long_times_in_a_workbook_are_rejected(tmp_path):
    write_xlsx(tmp_path / "x.xlsx", One=[["a"]], Two=[["b"]])
    write_ods(tmp_path / "x.ods", [["a"], [("time", "PT94H33M14S")]])
    for name, message in (
        ("x.xlsx", r"has 2 sheets with different headings.*source.sheet=One"),
        ("x.ods", "times of 24 hours or more"),
    ):
        with pytest.raises(podium.ResultsError, match=message):
            read_format("csv", [tmp_path / name], Options(map={"columns": {"player": "a"}}))


def test_python_names_columns_and_reads_matches():
    frame = pl.DataFrame({"Track": ["A", "A"], "Driver": ["x", "y"], "position": [2, 1], "Laps": [50, 50]})
    columns = {"event_id": "Track", "player": "Driver"}
    results = podium.read_results(frame, columns=columns, ignore="rest")
    assert results.frame.select("event_id", "player", "position").rows() == [("A", "x", 2.0), ("A", "y", 1.0)]
    assert podium.read_results(frame.to_pandas(), columns=columns, ignore=["Laps"]).frame.equals(results.frame)
    with pytest.raises(podium.ResultsError, match=r"column Laps: is not a column(.|\n)*ignore="):
        podium.read_results(frame, columns=columns)
    with pytest.raises(podium.ParameterError, match="no column 'Trak'; did you mean 'Track'"):
        podium.read_results(frame, columns={"event_id": "Trak"}, ignore="rest")
    matches = pl.DataFrame(
        {"t": ["q"], "n": [1], "w": ["Iga"], "l": ["Ons"], "w2": ["Ann"], "l2": ["Bo"], "d": [20230102]}
    )
    single = podium.from_matches(matches, winner="w", loser="l", event=["t", "n"], date="d")
    assert single.frame.select("event_id", "player", "position").rows() == [("q-1", "Iga", 1.0), ("q-1", "Ons", 2.0)]
    assert single.frame["started_at"].dt.strftime("%Y-%m-%d").to_list() == ["2023-01-02"] * 2
    double = podium.from_matches(matches, winner=["w", "w2"], loser=["l", "l2"], pool={"value": "doubles"})
    assert double.frame["team"].to_list() == ["winners", "winners", "losers", "losers"]
    assert podium.rate(double, "elo").ratings["player"].to_list()[:2] == ["Ann", "Iga"]


def test_ignored_columns_of_standard_input_are_named(monkeypatch, capsys):
    from podium.cli.commands import build

    text = "Race,Driver,Pos,Laps\n1,a,1,9\n1,b,2,9\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    build()(["rate", "-", "--system", "elo", "--format", "csv"], standalone_mode=False)
    shown = capsys.readouterr()
    assert shown.out.splitlines()[1].startswith("default,1,a,")
    assert shown.err == "standard input: read Race as event_id, Driver as player, Pos as position; ignored Laps\n"


def test_repeated_rows_count_once_if_the_map_says_so(tmp_path):
    text = "Race,Driver,P,Stint\n1,Ana,1,a\n1,Ben,2,a\n1,Ana,1,b\n"
    document = {"columns": {"event_id": "Race", "player": "Driver", "position": "P"}}
    with pytest.raises(podium.ResultsError, match="'Ana' appears twice"):
        imported(tmp_path, text, document)
    table = imported(tmp_path, text, document | {"where": {"distinct": True}}).table
    assert table["player"].to_list() == ["Ana", "Ben"]
