"""Commands write complete files or none."""

import math
import os
import sys

import polars as pl
import pytest

import podium
from podium.cli.terminal.options import check_output, unused_path, write_table, write_text
from podium.errors import MissingExtraError, OutputError
from podium.support.part_files import part_file
from podium.support.words import cell, column_texts


def fail_halfway(path):
    with part_file(path, OutputError) as part:
        part.write_text("half", encoding="utf-8")
        raise RuntimeError("halfway")


def test_a_failed_write_keeps_the_old_file_and_leaves_no_other(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text("before", encoding="utf-8")
    with pytest.raises(RuntimeError, match="halfway"):
        fail_halfway(path)
    assert path.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_an_unwritable_file_gives_one_error(tmp_path):
    frame = pl.DataFrame({"rating": [1500.0]})
    with pytest.raises(OutputError, match="there is no folder"):
        check_output(tmp_path / "absent" / "ratings.csv")
    with pytest.raises(OutputError, match="cannot be written"):
        write_table(frame, tmp_path / "absent" / "ratings.csv")
    (tmp_path / "taken.csv").mkdir()
    with pytest.raises(OutputError, match="cannot be written"):
        write_table(frame, tmp_path / "taken.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["taken.csv"]
    assert unused_path(tmp_path / "taken.csv").name == "taken-2.csv"


def test_a_workbook_has_the_tables_texts_and_numbers(tmp_path):
    path = tmp_path / "ratings.xlsx"
    names = ["=1+1", "https://example.org", "007", "Ελένη \U0001f3ce"]
    frame = pl.DataFrame({"player": names, "rating": [1500.1, None, math.nan, -1e300], "provisional": [True] * 4})
    check_output(path)
    write_table(frame, path)
    read = pl.read_excel(path)
    assert read["player"].to_list() == names
    assert read["rating"].cast(pl.Float64, strict=False).to_list() == [1500.1, None, None, -1e300]
    write_table(frame.clear(), path)
    assert pl.read_excel(path, raise_if_empty=False).height == 0


def test_a_workbook_needs_its_library_and_few_enough_rows(tmp_path, monkeypatch):
    path = tmp_path / "ratings.xlsx"
    monkeypatch.setattr("podium.cli.terminal.options.MAX_SHEET_ROWS", 2)
    with pytest.raises(OutputError) as refused:
        write_table(pl.DataFrame({"rating": [1.0, 2.0, 3.0]}), path)
    assert str(refused.value) == f"{path}: a sheet holds at most 2 rows. Write .csv or .parquet instead."
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'podium-ratings\[excel\]'"):
        check_output(path)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_keeps_the_old_ratings(tmp_path, monkeypatch):
    def write_half(frame, path, **options):
        path.write_text("half", encoding="utf-8")
        raise pl.exceptions.ComputeError("parquet: underlying IO error: No space left on device (os error 28)")

    path = tmp_path / "ratings.parquet"
    path.write_text("before", encoding="utf-8")
    rated = podium.rate([{"event_id": "r", "player": name, "position": 1} for name in "ab"], "elo")
    monkeypatch.setattr(pl.DataFrame, "write_parquet", write_half)
    with pytest.raises(OutputError, match=r"cannot be written \(parquet: .* No space left"):
        rated.save(path)
    assert [each.read_text(encoding="utf-8") for each in tmp_path.iterdir()] == ["before"]


def test_only_files_are_replaced_and_a_link_stays_a_link(tmp_path):
    pipe, link, linked = tmp_path / "pipe", tmp_path / "link", tmp_path / "linked"
    os.mkfifo(pipe)
    with pytest.raises(OutputError, match="it is not a file"):
        write_text("new", pipe)
    assert pipe.is_fifo()
    link.symlink_to(linked)
    write_text("new", link)
    assert (link.is_symlink(), linked.read_text(encoding="utf-8")) == (True, "new")
    linked.chmod(0o600)  # only the owner can read it
    write_text("newer", linked)
    assert (linked.stat().st_mode & 0o777, link.read_text(encoding="utf-8")) == (0o600, "newer")


def test_a_cell_is_a_readable_value():
    assert [cell(value) for value in (None, True, False, 0.25, 1234.567, 3, "ana")] == [
        "", "yes", "", "0.2500", "1,234.57", "3", "ana"
    ]  # fmt: skip
    assert cell(1234.567, decimals=1) == "1,234.6"
    assert [cell(-1e-9), *column_texts(pl.Series([-1e-9, 1.0]))] == ["0.0000", "0.0000", "1.0000"]  # zero has no sign
