"""A dataset on the command line: written, checked, rated, judged and audited."""

import json

import polars as pl
from commands import run

SEASON = "examples/season.csv"


def test_a_dataset_is_written_checked_rated_and_judged(tmp_path):
    league, history = tmp_path / "league", tmp_path / "history"
    written = run("dataset", "write", SEASON, league)
    assert "3,900 rows, 420 events, 6 pools, digest" in written
    assert run("dataset", "check", league).replace("all good", "written") == written
    refused = run("dataset", "write", SEASON, league, status=2)
    assert "is not empty (it holds _podium.json); name a new folder, or say --overwrite" in refused
    assert run("dataset", "write", league, league, "--overwrite") == written
    assert run("rate", league, "-f", "csv", "--history", history) == run("rate", SEASON, "-f", "csv")
    changes = pl.concat([pl.read_parquet(file, hive_partitioning=False) for file in sorted(history.rglob("*.parquet"))])
    assert changes.height == 2784
    assert run("leaderboard", league, "--top", "3") == run("leaderboard", SEASON, "--top", "3")
    systems = ("-s", "elo", "-s", "elo:k=40", "-f", "json")
    judged, table = (json.loads(run("evaluate", source, *systems))["systems"] for source in (league, SEASON))
    assert [round(each["log_loss"], 12) for each in judged] == [round(each["log_loss"], 12) for each in table]
    audited, alone = (json.loads(run("audit", source, "-s", "glicko2", "-f", "json")) for source in (league, SEASON))
    assert [row["events"] for row in audited["months"]] == [row["events"] for row in alone["months"]]


def test_an_engine_is_for_a_dataset():
    refused = run("rate", SEASON, "--engine", "local", status=2)
    assert "are for a dataset; podium dataset write makes one" in refused
