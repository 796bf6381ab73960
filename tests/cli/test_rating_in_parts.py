"""`podium rate` on a folder, as one table and in parts."""

import polars as pl
import pytest
from commands import run, streams
from duel_rows import duels
from polars.testing import assert_frame_equal


@pytest.fixture
def folder(tmp_path):
    rows = duels(40, pools=2)
    rows.write_parquet(tmp_path / "whole.parquet")
    (tmp_path / "seasons").mkdir()
    rows[:30].write_parquet(tmp_path / "seasons" / "1.parquet")
    rows[30:].write_parquet(tmp_path / "seasons" / "2.parquet")
    for (name,), own in rows.partition_by("pool", as_dict=True).items():
        (tmp_path / "pools" / f"pool={name}").mkdir(parents=True)
        own.drop("pool").write_parquet(tmp_path / "pools" / f"pool={name}" / "1.parquet")
    return tmp_path


def test_a_folder_is_rated_like_one_file(folder):
    whole = run("rate", folder / "whole.parquet", "-f", "csv", "--history", folder / "whole-history.parquet")
    assert run("rate", folder / "seasons", "-f", "csv") == whole
    for name in ("seasons", "pools"):
        for _ in range(2):  # the second run continues at the end of the first
            assert run("rate", folder / name, "--parts", folder / "out" / name, "-f", "csv") == whole
    parts = pl.read_parquet(folder / "out" / "seasons" / "history" / "part-000001.parquet")
    assert_frame_equal(parts, pl.read_parquet(folder / "whole-history.parquet"), check_exact=True)
    assert sorted(path.name for path in (folder / "out" / "pools").iterdir()) == ["pool=pool 0", "pool=pool 1"]
    for command in ("leaderboard", "audit", "evaluate"):
        first, second = (run(command, folder / name, "-f", "csv") for name in ("seasons", "whole.parquet"))
        assert first == second


def test_parts_can_start_from_saved_ratings(folder):
    run("rate", folder / "whole.parquet", "--ratings", folder / "spring.parquet")
    duels(9, first=40).write_parquet(folder / "summer.parquet")
    words = ("rate", folder / "summer.parquet", "--start", folder / "spring.parquet", "-f", "csv")
    assert run(*words, "--parts", folder / "out") == run(*words)


def test_options_that_contradict_parts_are_rejected(folder):
    for words, reason in (
        (["seasons", "--history", folder / "h.parquet"], "Leave out --ratings and --history"),
        (["whole.parquet", "-f", "racetime"], "--parts needs Parquet files of results. Make them with podium import"),
    ):
        assert reason in run("rate", folder / words[0], *words[1:], "--parts", folder / "out", status=2)


def test_a_folder_without_rateable_events_has_a_message(folder):
    (folder / "none").mkdir()
    duels(1)[:1].write_parquet(folder / "none" / "lone.parquet")
    assert "nothing here can be rated" in streams("rate", folder / "none")[0]
