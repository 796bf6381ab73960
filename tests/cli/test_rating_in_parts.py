"""`podium rate` of a folder: in parts, with its history in parts, and on from a checkpoint."""

import polars as pl
import pytest
from commands import run, streams
from duel_rows import duels
from polars.testing import assert_frame_equal

from podium.large import slices


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(slices, "SLICE_ROWS", 14)
    monkeypatch.setattr(slices, "FEW_ROWS", 10)
    rows = duels(40)
    rows.write_parquet(tmp_path / "whole.parquet")
    (tmp_path / "seasons").mkdir()
    rows[:30].write_parquet(tmp_path / "seasons" / "1.parquet")
    rows[30:].write_parquet(tmp_path / "seasons" / "2.parquet")
    return tmp_path


def test_a_folder_is_rated_as_its_files_in_one(folder):
    whole = run("rate", folder / "whole.parquet", "-f", "csv", "--history", folder / "whole-history.parquet")
    words = ("--history", folder / "history", "--checkpoint", folder / "state", "--every", "2", "-f", "csv")
    for _ in range(2):  # the second goes on from where the first came to its end
        assert run("rate", folder / "seasons", "--ratings", folder / "ratings.parquet", *words) == whole
    parts = pl.concat([pl.read_parquet(path) for path in sorted((folder / "history").iterdir())])
    assert_frame_equal(parts, pl.read_parquet(folder / "whole-history.parquet"), check_exact=True)
    assert pl.read_parquet(folder / "ratings.parquet").height == 6
    assert run("rate", folder / "whole.parquet", "--checkpoint", folder / "other", "-f", "csv") == whole
    boards = [run("leaderboard", folder / name, "-f", "csv") for name in ("seasons", "whole.parquet")]
    assert boards[0] == boards[1]


def test_what_does_not_go_with_parts_is_refused(folder):
    for words, reason in (
        (["seasons", "--history", folder / "h.parquet"], "name a folder, which gets a file of each"),
        (["seasons", "--every", "2"], "--every says how often --checkpoint saves; name its folder"),
        (["whole.parquet", "-f", "racetime", "--checkpoint", folder / "state"], "only a results table as Parquet"),
    ):
        assert reason in run("rate", folder / words[0], *words[1:], status=2)


def test_a_folder_in_which_nothing_counts_says_so(folder):
    (folder / "none").mkdir()
    duels(1)[:1].write_parquet(folder / "none" / "lone.parquet")
    assert "nothing here can be rated" in streams("rate", folder / "none")[0]
