"""The table formats of ZakStunts, f1db and Ergast."""

import json
import zipfile

import pytest
from importing import ERGAST, F1DB, ZAKSTUNTS, import_text, refusal, table, write_input

from podium.errors import FormatError
from podium.importers import read_format

F1DB_SINGLE = {
    "races": [
        {
            "id": 31,
            "date": "2030-03-10",
            "time": "14:00",
            "qualifyingDate": "2030-03-09",
            "qualifyingTime": None,
            "raceResults": [
                {
                    "positionText": "1",
                    "driverId": "ana-a",
                    "constructorId": "x",
                    "time": "1:2:7.900",
                    "timeMillis": 3727900,
                },
                {"positionText": "2", "driverId": "ben-b", "constructorId": "y", "time": None, "timeMillis": None},
                {"positionText": "DNF", "driverId": "cy-c", "constructorId": "x"},
                {"positionText": "4", "driverId": "ana-a", "constructorId": "x"},
            ],
            "sprintRaceResults": None,
            "qualifyingResults": [
                {"positionText": "1", "driverId": "ben-b", "constructorId": "y"},
                {"positionText": "2", "driverId": "ana-a", "constructorId": "x"},
            ],
        }
    ]
}
F1_ROWS = [
    "31-f1-race,2030-03-10T14:00:00Z,f1-race,x,ana-a,1,3727.9,finished",
    "31-f1-race,2030-03-10T14:00:00Z,f1-race,y,ben-b,2,,finished",
    "31-f1-race,2030-03-10T14:00:00Z,f1-race,x,cy-c,,,dnf",
    "31-f1-qualifying,2030-03-09T00:00:00Z,f1-qualifying,y,ben-b,1,,finished",
    "31-f1-qualifying,2030-03-09T00:00:00Z,f1-qualifying,x,ana-a,2,,finished",
]
JOLPICA = {
    "MRData": {
        "RaceTable": {
            "Races": [
                {
                    "season": "2025",
                    "round": "3",
                    "date": "2025-04-06",
                    "time": "05:00:00Z",
                    "Results": [
                        {
                            "position": "1",
                            "positionText": "1",
                            "Driver": {"driverId": "ana"},
                            "Constructor": {"constructorId": "red"},
                            "Time": {"millis": "5000500", "time": "1:23:20.500"},
                        },
                        {
                            "position": "2",
                            "positionText": "R",
                            "Driver": {"driverId": "ben"},
                            "Constructor": {"constructorId": "red"},
                        },
                    ],
                }
            ]
        }
    }
}


def test_zakstunts_leaves_out_ghosts_and_unknown_codes(tmp_path):
    assert table(tmp_path, "zakstunts", ZAKSTUNTS) == [
        "ZCT9,zakstunts,Ana,1,finished",
        "ZCT9,zakstunts,Ben,2,finished",
        "ZCTP1,zakstunts,Ana,1,finished",
        "ZCTP1,zakstunts,Ben,1,disqualified",
    ]


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("C9,Cy,3,2,", "row 6, column status: '2' is not a status"),
        ("C9,Cy,3,0,EX9", "row 6, column status: '0 EX9' is not a status"),
        ("C9,Cy,0,0,", "row 6, column Rank: '0.0' must be a number above 0"),
        ("C9,Cy,1.5,0,", "row 6, column Rank: '1.5' must be a place"),
        ("C9,,3,0,", "row 6, column Racer: is empty"),
        ("C9,Ana,3,0,", "row 6, column Racer: 'Ana' appears twice in one heat of event ZCT9"),
    ],
)
def test_a_bad_row_of_zakstunts_leaves_out_its_race(row, fault, tmp_path):
    assert f"zakstunts.csv {fault}" in refusal(tmp_path, "zakstunts", ZAKSTUNTS + row + "\n")
    rows = table(tmp_path, "zakstunts", ZAKSTUNTS + row + "\n", skip_bad=True)
    assert [line.split(",")[0] for line in rows] == ["ZCTP1", "ZCTP1"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("Track,Racer,Rank,Ghost\nC1,a,1,0\n", "has no column Status"),
        ("Track,Racer,Rank,Ghost,Status\nC1,a,1,0\n", "row 2: has 4 cells, but the header has 5"),
        ('Track,Racer,Rank,Ghost,Status\nC1,"a,1,0,\n', "row 2: contains a quotation mark that is not closed"),
        (b"Track,Racer,Rank,Ghost,Status\nC1,M\xfc,1,0,\n", "is not UTF-8 text (byte 34)"),
    ],
)
def test_other_tables_are_rejected(content, reason, tmp_path):
    assert reason in refusal(tmp_path, "zakstunts", content, skip_bad=True)


@pytest.mark.parametrize("kind", ["folder", "zip", "single", "splitted"])
def test_f1db_in_all_its_forms(kind, tmp_path):
    """If a driver drove twice, the better result counts. Qualifying times are ignored, and a missing time gives no
    date.
    """
    if kind == "folder":
        imported = import_text(tmp_path, "f1db", F1DB)
    elif kind == "zip":
        with zipfile.ZipFile(tmp_path / "f1db-csv.zip", "w") as archive:
            for name, text in F1DB.items():
                archive.writestr(name, text)
        imported = read_format("f1db", [tmp_path / "f1db-csv.zip"])
    elif kind == "single":
        (tmp_path / "f1db.json").write_text(json.dumps(F1DB_SINGLE))
        imported = read_format("f1db", [tmp_path / "f1db.json"])
    else:
        (race,) = F1DB_SINGLE["races"]
        rows = {f"f1db-races-{name}.json": [row | {"raceId": 31} for row in race[key]] for name, key in (
            ("race-results", "raceResults"), ("qualifying-results", "qualifyingResults"))}  # fmt: skip
        files = {name: json.dumps(each) for name, each in (rows | {"f1db-races.json": [race]}).items()}
        imported = import_text(tmp_path, "f1db", files)
    from podium.cli.terminal.options import as_written
    from podium.cli.terminal.show import as_text

    assert as_text(as_written(imported.table)).write_csv().splitlines()[1:] == F1_ROWS
    assert imported.dropped == {"shared drive": 1}


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ('31,"DNF"', '32,"DNF"', "row 4, column raceId: '32' is not in f1db-races"),
        ('"DNF"', '"DNX"', "row 4, column positionText: 'DNX' is neither a place nor one of DNF"),
        ("3727900", "3727901", "row 2, column time: '1:2:7.900' differs from the 3727.901 seconds"),
        ("3727900", "3e6", "row 2, column timeMillis: '3e6' must be a whole number"),
        ('"cy-c"', "", "row 4, column player: is missing"),
        ('"2","ben-b","y","+1 lap",', '"2","ben-b","y",,1000', "row 3, column position: 2.0 contradicts time_s 1"),
    ],
)
def test_a_bad_result_of_f1db_leaves_out_its_session(before, after, fault, tmp_path):
    name = "f1db-races-race-results.csv"
    files = F1DB | {name: F1DB[name].replace(before, after)}
    assert f"f1db/{name} {fault}" in refusal(tmp_path, "f1db", files).replace("row 2, column position: 1", "")
    pools = import_text(tmp_path, "f1db", files, skip_bad=True).table["pool"].unique().to_list()
    assert pools == ["f1-qualifying"] or fault.endswith("f1db-races")


def test_a_session_of_f1db_without_a_date_also_reports_its_bad_rows(tmp_path):
    season = json.loads(json.dumps(F1DB_SINGLE))
    season["races"][0]["date"] = "9 May"
    season["races"][0]["raceResults"].append("a row")
    (tmp_path / "f1db.json").write_text(json.dumps(season))
    with pytest.raises(FormatError) as refused:
        read_format("f1db", [tmp_path / "f1db.json"])
    assert "'9 May 14:00' is not a date" in str(refused.value)
    assert "raceResults[4], column player: is missing" in str(refused.value)


def test_ergast_adds_gaps_exactly_to_the_leaders_time(tmp_path):
    assert table(tmp_path, "ergast", ERGAST) == [
        "8-f1-race,2010-05-09T12:00:00Z,f1-race,red,ana,1,5636.736,finished",
        "8-f1-race,2010-05-09T12:00:00Z,f1-race,red,ben,2,5648.723,finished",
        "8-f1-race,2010-05-09T12:00:00Z,f1-race,red,cy,,,dnf",
        "8-f1-sprint,2010-05-08T00:00:00Z,f1-sprint,red,ana,1,1200.5,finished",
        "8-f1-sprint,2010-05-08T00:00:00Z,f1-sprint,red,ben,,,did_not_start",
    ]


def test_json_of_ergasts_interface(tmp_path):
    path = tmp_path / "results.json"
    path.write_text(json.dumps(JOLPICA))
    rows = read_format("ergast", [path]).table.select("event_id", "player", "time_s", "status").rows()
    assert rows == [("2025-3-f1-race", "ana", 5000.5, "finished"), ("2025-3-f1-race", "ben", None, "dnf")]


@pytest.mark.parametrize(
    ("file", "before", "after", "fault"),
    [
        ("results.csv", '"R"', '"Q"', "row 4, column positionText: 'Q' is neither a place nor one of R"),
        ("results.csv", "3,8,3,", "3,8,4,", "row 4, column driverId: '4' is not in drivers.csv"),
        ("results.csv", "1,8,1,", "1,9,1,", "row 2, column raceId: '9' is not in races.csv"),
        ("results.csv", '"+11.987"', '"soon"', "row 3, column time_s: 'soon' must be a time"),
        ("races.csv", "2010-05-09", "9 May", "row 2, column started_at: '9 May 12:00:00' is not a date"),
    ],
)
def test_a_bad_result_of_ergast_leaves_out_its_session(file, before, after, fault, tmp_path):
    files = ERGAST | {file: ERGAST[file].replace(before, after)}
    assert f"ergast/results.csv {fault}" in refusal(tmp_path, "ergast", files)
    imported = import_text(tmp_path, "ergast", files, skip_bad=True)
    assert "f1-sprint" in imported.table["pool"].to_list()


@pytest.mark.parametrize(
    ("name", "files", "reason"),
    [
        ("f1db", {"x.csv": "a,b\n1,2\n"}, "has no results. Give the folder with f1db-races-race-results"),
        (
            "f1db",
            {"f1db-races.csv": F1DB["f1db-races.csv"]},
            "has no results. Give the folder with f1db-races-race-results",
        ),
        ("ergast", {"races.csv": ERGAST["races.csv"]}, "has no results. Give the folder with results.csv"),
        ("ergast", {"results.csv": ERGAST["results.csv"]}, "needs races.csv* in the same folder"),
    ],
)
def test_a_folder_without_the_tables_is_rejected(name, files, reason, tmp_path):
    assert reason in refusal(tmp_path, name, files, skip_bad=True)


def test_a_compressed_table_is_read(tmp_path):
    import gzip

    path = write_input(tmp_path, "zakstunts", ZAKSTUNTS)
    packed = path.with_suffix(".csv.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read_format("zakstunts", [packed]).table.equals(read_format("zakstunts", [path]).table)
