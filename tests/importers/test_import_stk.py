"""SuperTuxKart's databases: versions of the table, races, games for points and between teams, and bad rows."""

import sqlite3

import pytest
from importing import import_text, refusal, stk_dump, stk_row, table

V2 = (
    "time TIMESTAMP, username TEXT, venue TEXT, reverse TEXT, mode TEXT, laps INTEGER, result REAL, "
    "visible INTEGER DEFAULT 1, is_quit INTEGER DEFAULT 0"
)
V1 = "time TIMESTAMP, username TEXT, venue TEXT, mode INTEGER, laps INTEGER, result REAL, PRIMARY KEY(time, username)"


def soccer(username, result, team, **changes):
    return stk_row(username, result, mode="soccer", team=team, **changes)


def test_a_race_starts_before_its_end_in_the_servers_time(tmp_path):
    rows = [
        stk_row("ana", 60.5, online_id=0),
        stk_row("* ben", 61.25, online_id=0, handicap=1),
        stk_row("cy", 30.0, is_not_full=1, when_left=30.0),
        stk_row("dee", -1, is_not_full=1, when_joined=-1),
    ]
    start = "home/2026-06-01 18:05:00/zengarden,2026-06-01T16:03:00Z,race,normal"
    assert table(tmp_path, "stk", stk_dump(*rows), timezone="Europe/Berlin") == [
        f"{start},* ana,60.5,finished,120,120,false",
        f"{start},* ben,61.25,finished,120,120,true",
        f"{start},cy,,quit,30,120,false",
        f"{start},dee,,quit,,120,false",
    ]


def test_the_first_versions_have_times_in_utc_and_fewer_columns(tmp_path):
    race: dict[str, object] = {"time": "2026-06-01 18:05:00", "venue": "lighthouse"}
    second = stk_dump(
        race | {"username": "ana", "mode": "time-trial", "result": 60.5},
        race | {"username": "ben", "mode": "time-trial", "result": 20.5, "is_quit": 1},
        table="v2_old_results",
        columns=V2,
    )
    start = "old/2026-06-01 18:05:00/lighthouse,2026-06-01T18:05:00Z,race"
    assert table(tmp_path, "stk", second, timezone="Europe/Berlin") == [
        f"{start},time-trial,ana,60.5,finished,",
        f"{start},time-trial,ben,,quit,20.5",
    ]
    rows = [race | {"username": name, "mode": 3, "result": 60.0} for name in ("zed", "ana")]
    first = stk_dump(*rows, table="v1_old_results", columns=V1).replace(
        "PRIMARY KEY(time, username));", "PRIMARY KEY(time, username)) WITHOUT ROWID;"
    )
    assert table(tmp_path, "stk", first) == [f"{start},3,{name},60,finished" for name in ("ana", "zed")]


def test_goals_count_for_the_scorers_team_and_own_goals_for_the_other(tmp_path):
    rows = [
        soccer("ana", 2, 0),
        soccer("ben", -1, 1, when_left=50.0),
        soccer("ben", 1, 1, when_joined=70.0),
        soccer("cy", 0, 1, when_left=90.0),
        *(soccer("ana", 1, 0, game_event=1) for _ in range(2)),
        soccer("ben", -1, 1, game_event=1),
        soccer("ben", 1, 1, game_event=1),
        soccer("eve", 9, 1, visible=0),
    ]
    imported = import_text(tmp_path, "stk", stk_dump(*rows))
    assert imported.table.select("player", "team", "score", "team_score", "status", "played_s").rows() == [
        ("ana", "red", 2.0, 3.0, "finished", 120.0),
        ("ben", "blue", 0.0, 1.0, "finished", 100.0),
        ("cy", "blue", 0.0, 1.0, "quit", 90.0),
    ]
    assert imported.table["pool"].unique().to_list() == ["soccer"]
    assert imported.dropped == {"hidden": 1, "game event": 4}


@pytest.mark.parametrize(("captures", "scores"), [([1, 1, -1], [2.0, 1.0]), ([], [0.0, 0.0])])
def test_captures_count_for_a_color_and_no_captures_are_a_draw(captures, scores, tmp_path):
    rows = [stk_row(name, 0, mode="ctf", team=team) for team, name in enumerate(("ana", "ben"))]
    rows += [stk_row("ana", each, mode="ctf", team=0, game_event=1) for each in captures]
    assert import_text(tmp_path, "stk", stk_dump(*rows)).table["team_score"].to_list() == scores


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"time": "2026-06-01T18:05"}, "column time: '2026-06-01T18:05' must be a time such as 2026-06-01 18:05:00"),
        ({"time": "2026-02-30 18:05:00"}, "column time: '2026-02-30 18:05:00' must be a time"),
        ({"result": 0}, "column result: 0.0 must be above 0"),
        ({"result": "fast"}, "column result: 'fast' must be a number"),
        ({"username": "ana"}, "column username: 'ana' appears twice in one race"),
        ({"username": ""}, "column username: '' must be the name of a player"),
        ({"when_joined": 130.0}, "column played_s: -10.0 must be a number of seconds, 0 or more"),
    ],
)
def test_a_bad_row_is_named_by_table_and_rowid_and_its_game_left_out(changes, fault, tmp_path):
    rows = [stk_row("ana"), stk_row(**{"username": "ben"} | changes)]
    good = [stk_row(name, time="2026-06-02 18:05:00") for name in ("ana", "ben")]
    dump = stk_dump(*rows, *good)
    assert f"stk.sql table v1_home_results, rowid 2, {fault}" in refusal(tmp_path, "stk", dump)
    imported = import_text(tmp_path, "stk", dump, skip_bad=True)
    assert imported.table["event_id"].unique().to_list() == ["home/2026-06-02 18:05:00/zengarden"]


def test_a_database_stays_unchanged_and_a_dump_cannot_reach_other_files(tmp_path):
    path = tmp_path / "games.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            stk_dump(stk_row(), stk_row("ben", 70.0)).replace("BEGIN TRANSACTION;", "").replace("COMMIT;", "")
        )
    connection.close()
    before = path.read_bytes()
    assert import_text(tmp_path, "stk", before).table["player"].to_list() == ["ana", "ben"]
    assert path.read_bytes() == before
    attach = f"ATTACH '{tmp_path}/other.db' AS other; CREATE TABLE other.x (a);"
    assert "not authorized" in refusal(tmp_path, "stk", stk_dump() + attach)
    assert not (tmp_path / "other.db").exists()
    endless = "CREATE TABLE x AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n;"
    assert "not authorized" in refusal(tmp_path, "stk", endless)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("CREATE TABLE v1_home_stats (a);", "has no table of results"),
        (
            "CREATE TABLE v1_home_results (time, venue, mode, username);",
            "v1_home_results without the column result",
        ),
        ("CREATE TABLE (", "cannot be read as an SQLite database"),
        ("hello", "is neither an SQLite database nor a dump"),
        (b"SQLite format 3\0" + b"x" * 200, "cannot be read as an SQLite database"),
    ],
)
def test_other_databases_are_rejected(content, reason, tmp_path):
    assert reason in refusal(tmp_path, "stk", content, skip_bad=True)
