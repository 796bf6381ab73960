"""The commands on a store, as an admin runs them."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest
import sqlalchemy as sa
from commands import run, streams
from earlier import make_earlier_database

import podium
from podium.cli.demo import season_path
from podium.store import Store


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_season_is_stored_corrected_and_verified(tmp_path):
    run("db", "init")
    run("pool", "create", "karts", "--system", "stk", "--set", "base_points_events=none")
    assert "karts,stk" in run("pool", "list", "--format", "csv")
    season = tmp_path / "karts.csv"
    rows = season_path().read_text(encoding="utf-8").splitlines()
    season.write_text("\n".join([rows[0], *(row for row in rows if row.startswith("karts-"))]) + "\n", encoding="utf-8")
    receipts = json.loads(run("ingest", season, "--pool", "karts", "--actor", "admin", "--format", "json"))
    assert len(receipts) == 120
    assert {row["status"] for row in receipts} == {"rated"}
    again = json.loads(run("ingest", season, "--pool", "karts", "--format", "json"))
    assert all(row["duplicate"] for row in again)
    (voided,) = json.loads(run("void", "--event", "karts-060", "--pool", "karts", "--format", "json"))
    assert voided["status"] == "voided"
    assert voided["rerated"] > 100
    run("unvoid", "--event", "karts-060", "--pool", "karts")
    right = tmp_path / "right.csv"
    right.write_text("\n".join([rows[0], *(row for row in rows if row.startswith("karts-007"))][:-1]), encoding="utf-8")
    run("amend", right, "--pool", "karts")
    assert "plays on as" not in run("merge", "--player", "nobody", "--into", "Jun", "--pool", "karts", status=2)
    assert "was never merged" in run("unmerge", "--player", "Jun", "--pool", "karts", status=2)
    assert "everything stored matches the log" in run("verify")
    run("db", "backup", "copy.db")
    (tmp_path / "podium.db").rename(tmp_path / "lost.db")
    assert "everything stored matches the log" in run("db", "restore", "copy.db")
    store = Store(str(tmp_path / "podium.db"))
    assert len(store.leaderboard("karts").players) > 20
    with store.engine.begin() as connection:
        connection.execute(sa.text("UPDATE witness SET digest = x'00'"))
    store.close()
    assert "a replay gives different changes from the stored ones" in run("verify", status=1)


def test_commands_cover_the_life_of_a_pool(tmp_path):
    run("pool", "create", "duels", "--system", "elo")
    results = tmp_path / "duels.csv"
    rows = [f"d{k},2025-01-0{1 + k % 5}T12:00:00Z,{'ab'[k % 2]},1\nd{k},2025-01-0{1 + k % 5}T12:00:00Z,{'ba'[k % 2]},2"
            for k in range(9)]  # fmt: skip
    results.write_text("\n".join(["event_id,started_at,player,position", *rows]) + "\n", encoding="utf-8")
    coming = json.loads(run("ingest", results, "--pool", "duels", "--dry-run", "--format", "json"))
    assert len(coming) == 18
    assert set(coming[0]) == {"event_id", "player", "rating_was", "rating"}
    run("ingest", results, "--pool", "duels")
    run("void", "--event", "d0", "--pool", "duels")
    run("season", "begin", "second", "--pool", "duels", "--starts", "2025-02-01", "--keep", "0.5")
    (season,) = json.loads(run("season", "list", "--pool", "duels", "--format", "json"))
    assert (season["name"], season["keep"]) == ("second", 0.5)
    assert len(json.loads(run("season", "board", "second", "--pool", "duels", "--format", "json"))) == 2
    assert "anna" in run("rename", "--player", "a", "--to", "anna", "--pool", "duels")
    assert "Copies made earlier" in run("anonymize", "--player", "anna", "--pool", "duels", "--dry-run")
    assert "is now called player" in run("anonymize", "--player", "anna", "--pool", "duels")
    assert "rated with glicko2" in run("pool", "configure", "duels", "--system", "glicko2")
    key = run("key", "create", "bot", "--rate", "5").strip()
    assert run("key", "rotate", "1", "--grace", "5").strip() not in ("", key)
    assert key not in run("key", "list")
    assert "everything stored matches the log" in run("verify")


def test_a_database_of_an_earlier_version_is_upgraded(tmp_path):
    """Reading does not change the database. The upgrade copies it first, and runs only once."""
    make_earlier_database(f"sqlite:///{tmp_path}/podium.db")
    results = tmp_path / "more.csv"
    results.write_text(
        "event_id,started_at,player,position\nd9,2025-06-01,ana,1\nd9,2025-06-01,ben,2\n", encoding="utf-8"
    )
    shutil.copyfile(tmp_path / "podium.db", tmp_path / "opened.db")
    opened = ("--db", "opened.db")
    assert "sixties,glicko" in run("pool", "list", "--format", "csv", *opened)
    lines = run("verify", *opened, status=1).splitlines()
    assert sum("must be rated again" in line for line in lines) == 2
    assert "podium: compared: 2 pools, 0 events, 0 changes" in lines
    for words in (("ingest", results), ("void", "--event", "d0"), ("season", "list")):
        assert "run podium db upgrade" in run(*words, "--pool", "sixties", *opened, status=2)

    output = run("db", "upgrade").splitlines()
    (copy,) = tmp_path.glob("podium-before-upgrade-*.db")
    assert output[0] == f"podium.db is copied to {copy.name}"
    assert output[1] == "pool modern: 2 events rated again, 0 rating changes affected"
    assert output[2].startswith("pool sixties: 5 events rated again, ")
    assert output[3:] == ["podium.db is up to date"]
    with closing(sqlite3.connect(copy)) as before:
        assert before.execute("SELECT DISTINCT arithmetic FROM pool").fetchall() == [(1,)]
    assert "everything stored matches the log" in run("verify")
    run("ingest", results, "--pool", "sixties")
    assert run("db", "upgrade") == "podium.db is up to date\n"
    assert list(tmp_path.glob("podium-before-upgrade-*")) == [copy]

    assert "copied to" in run("db", "upgrade", *opened)
    (tmp_path / "podium.db").unlink()
    assert "must be rated again" in run("db", "restore", copy, status=1)
    assert "pool sixties: 5 events rated again" in run("db", "upgrade")


def test_an_upgrade_of_postgresql_leaves_the_backup_to_you(empty_url):
    url = empty_url("postgresql")
    make_earlier_database(url)
    output = run("db", "upgrade", "--db", url)
    assert output.startswith("Podium does not copy PostgreSQL databases. Keep a pg_dump")
    assert "pool sixties: 5 events rated again" in output
    assert "pg_dump" not in run("db", "upgrade", "--db", url)
    assert "everything stored matches the log" in run("verify", "--db", url)


@pytest.mark.parametrize("command", [("db", "upgrade"), ("serve",)])
def test_an_upgrade_without_room_for_a_copy_changes_nothing(tmp_path, monkeypatch, command):
    path = tmp_path / "podium.db"
    make_earlier_database(f"sqlite:///{path}")
    before, size = path.read_bytes(), path.stat().st_size
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: SimpleNamespace(free=3 * size - 1))
    assert "Free some space, or move the database" in run(*command, status=2)
    assert path.read_bytes() == before
    assert [*tmp_path.glob("*before-upgrade*")] == []


def test_pools_that_cannot_be_upgraded_are_named(tmp_path):
    make_earlier_database(f"sqlite:///{tmp_path}/podium.db")
    with closing(sqlite3.connect(tmp_path / "podium.db")) as database, database:
        of_modern = "pool_id = (SELECT id FROM pool WHERE name = 'modern')"
        database.execute(f"UPDATE log SET body = x'00' WHERE kind = 'submit' AND {of_modern}")  # noqa: S608
    assert run("db", "upgrade", status=1).startswith("podium: pool modern is unchanged: ")
    assert run("verify", status=1).startswith("podium: modern: the pool must be rated again")


@pytest.mark.parametrize(
    "words",
    [
        ("ingest", "nothing.csv", "--pool", "main"),
        ("void", "--event", "e", "--pool", "main"),
        ("pool", "create", "x", "--system", "elos"),
        ("db", "backup", "podium.db"),
        ("db", "restore", "none.db"),
        ("db", "backup", "x.db", "--db", "postgresql://localhost/x"),
        ("season", "begin", "s", "--pool", "none", "--starts", "2025-01-01", "--keep", "0.5"),
        ("season", "begin", "s", "--pool", "none", "--starts", "soon", "--keep", "0.5"),
        ("rename", "--player", "a", "--to", "b", "--pool", "none"),
        ("key", "rotate", "9"),
        ("key", "create", "x", "--rate", "0"),
        ("verify", "--db", "no/such/folder/x.db"),
    ],
)
def test_mistakes_give_one_line_errors(words):
    message = run(*words, status=2)
    assert message.startswith("podium: ")


def test_a_pool_can_be_described(sqlite_store):
    described = ("--title", "Bikes", "--contact", "stewards@example.org", "--player-word", "rider", "--public")
    run("pool", "create", "bikes", "--system", "elo", *described)
    assert 'bikes,elo,open,Bikes,stewards@example.org,rider,"","","","",true' in run("pool", "list", "--format", "csv")
    assert run("pool", "set", "bikes", "--title", "", "--private") == (
        "pool bikes is private\ncontact: stewards@example.org\nplayer word: rider\n"
    )
    assert run("pool", "set", "bikes", "--private").startswith("pool bikes is private")  # a repeat, logged once
    assert run("pool", "log", "bikes", "--format", "csv").count("describe") == 2
    assert "nothing to change" in run("pool", "set", "bikes", status=2)
    for option, text, refusal in (
        ("--contact", "javascript:alert(1)", "neither an email address nor the address of a page"),
        ("--contact", "https://user:word@example.org", "neither an email address nor the address of a page"),
        ("--player-word", "x" * 41, "Use at most 40"),
        ("--title", "a\u202eb", "direction control"),
    ):
        assert refusal in run("pool", "set", "bikes", option, text, status=2)
    assert "is the address of a page of the service" in run("pool", "create", "admin", "--system", "elo", status=2)
    assert "all sessions have ended" in run("key", "end-sessions")
    with sqlite_store.engine.begin() as connection:
        connection.execute(sa.text("UPDATE pool SET is_public = true"))
    assert "the pool's is_public is stored as" in run("verify", status=1)


CLUB = "Datum;Sieger;Verlierer\n03.01.2025;Ana;Ben\n03.01.2025;Cleo;Dan\n13.01.2025;Ana;Cleo\n"


def test_a_corrected_sheet_can_be_sent_again(tmp_path):
    club = tmp_path / "club.csv"
    club.write_text(CLUB, encoding="utf-8")
    run("pool", "create", "club", "--system", "elo")
    run("ingest", club, "--pool", "club")
    club.write_text(
        CLUB.replace("Cleo;Dan", "Dan;Cleo").replace("13.01", "14.01") + "20.01.2025;Dan;Ben\n", encoding="utf-8"
    )
    words, listed = streams("ingest", club, "--pool", "club", "--amend", "--dry-run", "--format", "json")
    assert "club.csv: 1 new, 2 differ, 0 gone, 1 the same" in words
    assert "ratings of 4 players would change" in words
    assert [(each["is"], each["event_id"]) for each in json.loads(listed)] == [
        ("new", "2025-01-20 #1"),
        ("differs", "2025-01-03 #2"),
        ("differs", "2025-01-13 #1"),
    ]
    run("ingest", club, "--pool", "club", "--amend")
    words, _ = streams("ingest", club, "--pool", "club", "--amend")
    assert "0 new, 0 differ, 0 gone, 4 the same" in words
    assert json.loads(run("pool", "sheets", "club", "--format", "json")) == [
        {"sheet": "club.csv", "map": "", "events": 4}
    ]
    assert "Name the sheet with --sheet" in run("ingest", "-", "--pool", "club", "--amend", stdin=CLUB, status=2)
    assert "everything stored matches the log" in run("verify")


def test_events_missing_from_a_sheet_stay_and_are_named(tmp_path):
    league = tmp_path / "league.csv"
    rounds = [f"{number},{name},{place}\n" for number in "123" for place, name in enumerate("ab", start=1)]
    league.write_text("Race,Driver,Place\n" + "".join(rounds), encoding="utf-8")
    run("pool", "create", "club", "--system", "elo", "--order", "sequence")
    for _ in range(2):
        assert "before" not in streams("ingest", league, "--pool", "club")[0]
    league.write_text("Race,Driver,Place\n" + "".join(rounds[2:]), encoding="utf-8")
    words, _ = streams("ingest", league, "--pool", "club")
    assert "league.csv: 1 earlier event is missing" in words
    assert f"compare it with podium ingest {league} --pool club --amend --dry-run" in words
    assert "void" not in words
    assert "1 gone" in streams("ingest", league, "--pool", "club", "--amend")[0]
    assert "before" not in streams("ingest", league, "--pool", "club")[0]


def test_a_column_map_is_saved_and_reused(tmp_path):
    odd = tmp_path / "odd.csv"
    odd.write_text("a,b,c\nr1,Ana,1\nr1,Ben,2\n", encoding="utf-8")
    own = tmp_path / "own.toml"
    own.write_text('[columns]\nevent_id = "a"\nplayer = "b"\nposition = "c"\n', encoding="utf-8")
    run("pool", "create", "club", "--system", "elo", "--order", "sequence")
    run("ingest", odd, "--pool", "club", "--map", own)
    odd.write_text("a,b,c\nr1,Ana,2\nr1,Ben,1\n", encoding="utf-8")
    words, _ = streams("ingest", odd, "--pool", "club", "--amend")
    assert "odd.csv: read with the map that pool club saved for odd.csv" in words
    assert "0 new, 1 differs, 0 gone, 0 the same" in words


def test_a_saved_column_map_reads_no_other_file(tmp_path):
    """A pool's maps can come from another pool's export or from a browser."""
    odd, beside = tmp_path / "odd.csv", tmp_path / "beside.csv"
    odd.write_text("a,b,c\nr1,1,1\nr1,2,2\n", encoding="utf-8")
    beside.write_text("number,name\n1,Ana\n2,Ben\n", encoding="utf-8")
    own = tmp_path / "own.toml"
    own.write_text(
        '[join.who]\nfile = "beside.csv"\non = { here = "b", there = "number" }\n'
        '[columns]\nevent_id = "a"\nplayer = "who.name"\nposition = "c"\n',
        encoding="utf-8",
    )
    run("pool", "create", "club", "--system", "elo", "--order", "sequence")
    run("ingest", odd, "--pool", "club", "--map", own)
    refusal = run("ingest", odd, "--pool", "club", "--amend", status=2)
    assert "the map that pool club saved for odd.csv joins other files. Name a map with --map." in " ".join(
        refusal.split()
    )
    words, _ = streams("ingest", odd, "--pool", "club", "--amend", "--map", own)
    assert "0 new, 0 differ, 0 gone, 1 the same" in words


def test_results_of_another_pool_can_be_ingested(tmp_path):
    cup = tmp_path / "cup.csv"
    cup.write_text("event_id,player,position,pool\nr1,Ana,1,cup\nr1,Ben,2,cup\n", encoding="utf-8")
    for pool in ("cup", "club", "more"):
        run("pool", "create", pool, "--system", "elo", "--order", "sequence")
    assert "is not club, where the event was sent" in run("ingest", cup, "--pool", "club", status=2)
    run("ingest", cup, "--as", "club")
    run("ingest", cup, "--pool", "cup")
    assert "has no events of pool karts, only of cup" in run("ingest", cup, "--pool", "karts", "--as", "club", status=2)
    run("rename", "--player", "Ana", "--to", "Anna", "--pool", "cup")
    run("pool", "export", "cup", "--out", "cup.jsonl")
    refusal = run("ingest", "cup.jsonl", "--pool", "more", status=2)
    assert "Create a pool from it with podium pool import cup.jsonl" in refusal
    assert "podium ingest cup.jsonl --as more" in refusal
    run("ingest", "cup.jsonl", "--as", "more")
    with closing(Store("podium.db")) as store:
        cup_board, more_board = (
            [(row.player, row.rating) for row in store.leaderboard(pool).players] for pool in ("cup", "more")
        )
    assert cup_board == more_board
    assert cup_board[0][0] == "Anna"
    cup.write_text(cup.read_text(encoding="utf-8") + "r2,Ana,1,other\nr2,Ben,2,other\n", encoding="utf-8")
    assert "has events of cup, other. Name one with --pool." in run("ingest", cup, "--as", "club", status=2)


def test_an_exported_ledger_is_the_history_with_ranks(tmp_path):
    run("pool", "create", "karts", "--system", "glicko2")
    head, *rows = season_path().read_text(encoding="utf-8").splitlines()
    rows = [row for row in rows if row.startswith("karts-")][:200]
    (tmp_path / "karts.csv").write_text("\n".join([head, *rows]), encoding="utf-8")
    run("ingest", "karts.csv", "--pool", "karts")
    expected = podium.rate("karts.csv", "glicko2").history.drop("pool")
    assert f"{expected.height:,} changes are written to karts.parquet" in run(
        "pool", "ledger", "karts", "karts.parquet"
    )
    run("pool", "ledger", "karts", "ledger.csv")
    found = pl.read_parquet("karts.parquet")
    assert found.drop("pool", "sequence", "rank").equals(expected)
    assert found.columns.index("rank") == found.columns.index("player") + 1
    winners = found.filter(pl.col("rank") == 1)
    assert 0 < winners.height < found.height
    assert pl.read_csv("ledger.csv")["rating"].to_list() == expected["rating"].to_list()
    assert "the suffix must be one of" in run("pool", "ledger", "karts", "karts.txt", status=2)


def test_an_undated_pools_ledger_has_event_numbers(tmp_path):
    run("pool", "create", "duels", "--system", "elo", "--order", "sequence")
    (tmp_path / "duels.csv").write_text("event_id,player,position\n1,a,1\n1,b,2\n2,b,1\n2,a,2\n", encoding="utf-8")
    run("ingest", "duels.csv", "--pool", "duels")
    run("pool", "ledger", "duels", "ledger.csv")
    found = pl.read_csv("ledger.csv")
    assert found.select("event_id", "sequence", "player", "rank").rows() == [
        (1, 1, "a", 1), (1, 1, "b", 2), (2, 2, "b", 1), (2, 2, "a", 2)
    ]  # fmt: skip
    assert found["started_at"].null_count() == 4


def test_a_ledger_of_an_empty_pool_has_no_rows():
    run("pool", "create", "empty", "--system", "elo")
    assert run("pool", "ledger", "empty", "ledger.parquet").startswith("0 changes")
    assert pl.read_parquet("ledger.parquet").is_empty()


def test_every_recalculating_command_has_a_dry_run():
    run("db", "init")
    run("pool", "create", "main", "--system", "elo", "--order", "dated")
    with closing(Store("podium.db")) as store:
        for day, (winner, loser) in enumerate([("ana", "ben"), ("ben", "cleo"), ("dan", "ana")], start=1):
            start = f"2026-01-0{day}T12:00:00Z"
            rows = [{"player": winner, "position": 1}, {"player": loser, "position": 2}]
            store.submit("main", [{"event_id": f"e{day}", "started_at": start} | row for row in rows])
        before, version = store.leaderboard("main"), store.version("main")
        acts = [
            ("merge", "--player", "cleo", "--into", "dan", "--pool", "main"),
            ("season", "begin", "two", "--pool", "main", "--starts", "2026-01-02", "--keep", "0.5"),
            ("pool", "configure", "main", "--system", "glicko2"),
            ("pool", "start-ratings", "main", "--player", "ana", "--rating", "1700", "--deviation", "80"),
            ("pool", "start-ratings", "main", "starts.csv"),
        ]
        Path("starts.csv").write_text("player,rating,deviation\nana,1600,\nben,1400,90\n", "utf-8")
        for words in acts:
            moved = {row["player"]: row["after"] for row in json.loads(run(*words, "--dry-run", "--format", "json"))}
            assert moved
            assert (store.leaderboard("main"), store.version("main")) == (before, version)
            run(*words)
            after = {each.player: each.rating for each in store.leaderboard("main").players}
            assert {name: after.get(name) for name in moved} == moved
            before, version = store.leaderboard("main"), store.version("main")
        moved = json.loads(run("unmerge", "--player", "cleo", "--pool", "main", "--dry-run", "--format", "json"))
        assert "cleo" in [row["player"] for row in moved]
        assert store.version("main") == version
