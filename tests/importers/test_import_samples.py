"""Samples of all formats, and real histories written back in their producers' formats."""

import polars as pl
import pytest
from importing import write_input

from podium.cli.terminal.options import as_written
from podium.cli.terminal.show import as_text
from podium.importers import read_format

SAMPLES = {
    "xonstat": "xonstat_tdm.txt",
    "stk": "stk_schema_v3.sql",
    "zakstunts": "zakstunts.csv",
    "f1db": "f1db",
    "ergast": "ergast",
    "pgn": "games.pgn",
    "racetime": "racetime.json",
    "startgg": "startgg.json",
    "challonge": "challonge.json",
}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_gives_the_expected_table(name, shared):
    path = shared(f"formats/samples/{SAMPLES[name]}")
    expected = path.with_name(f"{path.stem}.expected.csv").read_text(encoding="utf-8")
    assert as_text(as_written(read_format(name, [path]).table)).write_csv() == expected


def test_zakstunts_gives_its_golden_history(shared, tmp_path):
    golden = pl.read_parquet(shared("data/zakstunts.parquet"))
    track = golden["event_id"].str.replace("^ZCT([0-9])", "C$1").str.strip_prefix("ZCT")
    ghost = (golden["status"] == "disqualified").cast(pl.Int64)
    raw = pl.DataFrame({"Track": track, "Racer": golden["player"], "Rank": golden["position"].cast(pl.Int64)})
    raw = raw.with_columns(Ghost=ghost, Status=pl.lit(""))
    imported = read_format("zakstunts", [write_input(tmp_path, "zakstunts", raw.write_csv())])
    columns = ["event_id", "pool", "player", "position", "status"]
    assert imported.table.select(columns).equals(golden.select(columns))


def test_f1db_gives_its_golden_history(shared, tmp_path):
    golden = pl.read_parquet(shared("data/f1.parquet")).filter(pl.col("pool") == "f1-race")
    race_id = golden["event_id"].str.extract("^([0-9]+)")
    words = {"dnf": "DNF", "disqualified": "DSQ", "did_not_start": "DNS"}
    places = golden["position"].cast(pl.Int64).cast(pl.String)
    text = pl.coalesce(places, golden["status"].replace_strict(words, default=None))
    rows = golden.select(
        raceId=race_id, positionText=text, driverId="player", constructorId="team",
        time=pl.lit(None), timeMillis=(pl.col("time_s") * 1000).round().cast(pl.Int64),
    )  # fmt: skip
    races = golden.select(id=race_id, date=pl.col("started_at").dt.strftime("%Y-%m-%d"), time=pl.lit(None)).unique("id")
    quoted = rows.write_csv(quote_style="non_numeric")
    files = {"f1db-races.csv": races.write_csv(), "f1db-races-race-results.csv": quoted}
    imported = read_format("f1db", [write_input(tmp_path, "f1db", files)])
    columns = ["event_id", "pool", "player", "team", "position", "time_s", "status"]
    assert imported.table.select(columns).equals(golden.select(columns))
