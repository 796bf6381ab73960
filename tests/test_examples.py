"""The example season matches its generator."""

import runpy
import sys
from pathlib import Path

import polars as pl

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_the_season_matches_its_generator(tmp_path, monkeypatch):
    out = tmp_path / "season.csv"
    monkeypatch.setattr(sys, "argv", ["make_season.py", "--out", str(out)])
    runpy.run_path(str(EXAMPLES / "make_season.py"), run_name="__main__")
    assert out.read_bytes() == (EXAMPLES / "season.csv").read_bytes()


def test_the_season_has_every_kind_of_event():
    frame = pl.read_csv(EXAMPLES / "season.csv")
    assert set(frame["pool"]) == {"karts", "bikes", "stunts", "duel", "dm", "ctf"}
    assert {"quit", "dnf", "disqualified", "did_not_start"} <= set(frame["status"])
    assert frame["heat"].n_unique() == 5
    assert frame["team"].n_unique() == 3
    ties = frame.filter(pl.col("time_s").is_not_null()).group_by("event_id", "time_s").len()
    assert (ties["len"] > 1).any()
