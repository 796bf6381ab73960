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


@pytest.mark.parametrize(
    "words",
    [
        ("ingest", "nothing.csv", "--pool", "main"),
        ("void", "--event", "e", "--pool", "main"),
        ("pool", "create", "x", "--system", "elos"),
        ("db", "backup", "podium.db"),
        ("db", "restore", "none.db"),
        ("db", "backup", "x.db", "--db", "postgresql://localhost/x"),
        ("verify", "--db", "no/such/folder/x.db"),
    ],
)
def test_mistakes_are_told_in_a_line(run, words):
    told = run(*words, status=2)
    assert told.startswith("podium: ")
