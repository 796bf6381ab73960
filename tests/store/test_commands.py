"""The commands on a store, as an admin runs them."""

import json
import subprocess
import sys

import pytest
import sqlalchemy as sa

from podium.cli.demo import season_path
from podium.store import Store

PODIUM = [sys.executable, "-c", "from podium.cli import main; main()"]


@pytest.fixture
def run(tmp_path):
    def command(*words, status=0):
        done = subprocess.run([*PODIUM, *map(str, words)], capture_output=True, text=True, cwd=tmp_path, check=False)
        assert done.returncode == status, done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout if status == 0 else done.stderr

    return command


def test_a_season_goes_in_is_corrected_and_verified(run, tmp_path):
    run("db", "init")
    run("pool", "create", "karts", "--system", "stk", "--set", "base_points_events=none")
    assert "karts,stk" in run("pool", "list", "--format", "csv")
    season = tmp_path / "karts.csv"
    rows = season_path().read_text(encoding="utf-8").splitlines()
    season.write_text("\n".join([rows[0], *(row for row in rows if row.startswith("karts-"))]) + "\n", encoding="utf-8")
    told = json.loads(run("ingest", season, "--pool", "karts", "--actor", "admin", "--format", "json"))
    assert len(told) == 120
    assert {row["status"] for row in told} == {"rated"}
    again = json.loads(run("ingest", season, "--pool", "karts", "--format", "json"))
    assert all(row["duplicate"] for row in again)
    (voided,) = json.loads(run("void", "--event", "karts-060", "--pool", "karts", "--format", "json"))
    assert voided["status"] == "voided"
    assert voided["rerated"] > 100
    run("restore", "--event", "karts-060", "--pool", "karts")
    right = tmp_path / "right.csv"
    right.write_text("\n".join([rows[0], *(row for row in rows if row.startswith("karts-007"))][:-1]), encoding="utf-8")
    run("amend", right, "--pool", "karts")
    assert "plays on as" not in run("merge", "--player", "nobody", "--into", "Jun", "--pool", "karts", status=2)
    assert "everything is what the log says" in run("verify")
    run("db", "backup", "copy.db")
    (tmp_path / "podium.db").rename(tmp_path / "lost.db")
    assert "everything is what the log says" in run("db", "restore", "copy.db")
    store = Store(str(tmp_path / "podium.db"))
    assert len(store.leaderboard("karts")) > 20
    with store.engine.begin() as connection:
        connection.execute(sa.text("UPDATE standing SET rating = rating + 1, seq = 0"))
    store.close()
    assert "is not the last of the ledger" in run("verify", status=1)


def test_a_pool_over_the_years(run, tmp_path):
    run("pool", "create", "duels", "--system", "elo")
    results = tmp_path / "duels.csv"
    rows = [f"d{k},2025-01-0{1 + k % 5}T12:00:00Z,{'ab'[k % 2]},1\nd{k},2025-01-0{1 + k % 5}T12:00:00Z,{'ba'[k % 2]},2"
            for k in range(9)]  # fmt: skip
    results.write_text("\n".join(["event_id,started_at,player,position", *rows]) + "\n", encoding="utf-8")
    coming = json.loads(run("ingest", results, "--pool", "duels", "--dry-run", "--format", "json"))
    assert len(coming) == 18
    assert set(coming[0]) == {"event_id", "player", "rating_was", "rating"}
    run("ingest", results, "--pool", "duels")
    assert "players at 00:00 UTC of 2025-01-03" in run("snapshot", "--pool", "duels", "--day", "2025-01-03")
    assert "nothing to do" in run("snapshot", "--day", "2025-01-03")
    run("void", "--event", "d0", "--pool", "duels")
    assert "2025-01-03" in run("snapshot")  # it was spoilt
    run("season", "begin", "second", "--pool", "duels", "--starts", "2025-02-01", "--keep", "0.5")
    (season,) = json.loads(run("season", "list", "--pool", "duels", "--format", "json"))
    assert (season["name"], season["keep"]) == ("second", 0.5)
    assert len(json.loads(run("season", "board", "second", "--pool", "duels", "--format", "json"))) == 2
    assert "anna" in run("rename", "--player", "a", "--to", "anna", "--pool", "duels")
    assert "player" in run("pseudonymise", "--player", "anna", "--pool", "duels")
    assert "rated with glicko2" in run("pool", "configure", "duels", "--system", "glicko2")
    key = run("key", "create", "bot", "--rate", "5").strip()
    assert run("key", "rotate", "1", "--grace", "5").strip() not in ("", key)
    assert key not in run("key", "list")
    assert "everything is what the log says" in run("verify")


@pytest.mark.parametrize(
    "words",
    [
        ("ingest", "nothing.csv", "--pool", "main"),
        ("void", "--event", "e", "--pool", "main"),
        ("pool", "create", "x", "--system", "elos"),
        ("db", "backup", "podium.db"),
        ("db", "restore", "none.db"),
        ("db", "backup", "x.db", "--db", "postgresql://localhost/x"),
        ("snapshot", "--pool", "none"),
        ("snapshot", "--day", "yesterday"),
        ("season", "begin", "s", "--pool", "none", "--starts", "2025-01-01", "--keep", "0.5"),
        ("season", "begin", "s", "--pool", "none", "--starts", "soon", "--keep", "0.5"),
        ("rename", "--player", "a", "--to", "b", "--pool", "none"),
        ("key", "rotate", "9"),
        ("key", "create", "x", "--rate", "0"),
        ("verify", "--db", "no/such/folder/x.db"),
    ],
)
def test_mistakes_are_told_in_a_line(run, words):
    told = run(*words, status=2)
    assert told.startswith("podium: ")
