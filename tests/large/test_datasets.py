"""A dataset holds what it was made of, in the order of rating; and what is not as it was written is refused."""

import sys
from pathlib import Path
from unittest import mock

import numpy as np
import polars as pl
import pyarrow.dataset
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from polars.testing import assert_frame_equal
from pool_rows import by_pool, duels
from strategies import histories

import podium
from podium.dataset import check, open_dataset, write
from podium.errors import MissingExtraError, OutputError, ParameterError, ResultsError
from podium.large import slices, writing

SYSTEMS = [("glicko2", "event"), ("elo", "1d"), ("stk", "event")]


@pytest.fixture
def small(monkeypatch):
    """Little is held, read, sorted and written at a time."""
    monkeypatch.setattr(slices, "SLICE_ROWS", 7)
    monkeypatch.setattr(slices, "FEW_ROWS", 5)
    monkeypatch.setattr(writing, "HELD_ROWS", 10)
    monkeypatch.setattr(writing, "SORTED_ROWS", 9)
    monkeypatch.setattr(writing, "SAMPLED", 2)
    monkeypatch.setattr(writing, "FILE_ROWS", 6)


def assert_same(rated, whole):
    """Every change and every state to the bit."""
    assert_frame_equal(rated.states, whole.states, check_exact=True)
    assert_frame_equal(by_pool(rated.history), by_pool(whole.history), check_exact=True)


@pytest.mark.parametrize(("system", "period"), SYSTEMS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=3)
@given(rows=histories(heats=2, most=12))
def test_a_dataset_is_rated_to_the_bits_of_its_source(small, tmp_path, system, period, rows):
    frame = podium.read_results(rows).frame
    dataset = write(frame.lazy(), tmp_path / "results", overwrite=True)
    assert dataset.rows == frame.height
    assert dataset.events == frame["event_id"].n_unique()
    assert_same(podium.rate(dataset, system, period=period), podium.rate(frame, system, period=period))


def test_a_source_that_is_larger_than_memory_and_in_no_order_gives_the_same_dataset(small, tmp_path):
    frame = duels(30)
    numbers = np.random.default_rng(1).permutation(30)
    shuffled = pl.concat([frame[int(2 * number) : int(2 * number) + 2] for number in numbers])
    shuffled.write_parquet(tmp_path / "shuffled.parquet")
    frame.write_csv(tmp_path / "whole.csv")
    sources = [frame, shuffled, tmp_path / "shuffled.parquet", tmp_path / "whole.csv", [frame[:21], frame[21:]]]
    datasets = [write(source, tmp_path / f"dataset-{number}") for number, source in enumerate(sources)]
    datasets.append(write(datasets[0], tmp_path / "again"))
    assert {dataset.digest for dataset in datasets} == {check(datasets[0]).digest}
    assert [pool.name for pool in datasets[0].pools] == ["east", "west"]
    assert [len(pool.files) for pool in datasets[0].pools] == [5, 5]
    for pool in datasets[1].pools:
        rows = pl.concat([pl.read_parquet(tmp_path / "dataset-1" / file.path) for file in pool.files])
        assert rows["started_at"].is_sorted()
    assert_same(podium.rate(datasets[2], "elo"), podium.rate(frame, "elo"))
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []  # nothing is left behind


@pytest.mark.parametrize("order", ["sequence", "file"])
def test_events_without_dates_keep_the_order_that_they_have(small, tmp_path, order):
    frame = duels(40).drop("started_at")
    if order == "sequence":
        frame = frame.with_columns(sequence=pl.Series(np.repeat(np.random.default_rng(2).permutation(40), 2)))
    dataset = write(frame.lazy(), tmp_path / "results")
    assert_same(podium.rate(dataset, "glicko"), podium.rate(frame, "glicko"))


def test_files_have_one_row_group_and_end_where_events_end(small, tmp_path):
    crowd = pl.DataFrame({"event_id": "crowd", "player": [f"p{k}" for k in range(20)], "position": range(1, 21)})
    rows = pl.concat([duels(5).drop("pool", "started_at"), crowd.with_columns(pl.col("position").cast(pl.Int64))])
    dataset = write(rows, tmp_path / "results")
    (pool,) = dataset.pools
    assert pool.name == "default"
    assert [file.rows for file in pool.files] == [6, 4, 20]
    assert [file.events for file in pool.files] == [3, 2, 1]
    for file in pool.files:
        metadata = pyarrow.parquet.ParquetFile(tmp_path / "results" / file.path).metadata
        assert (metadata.num_row_groups, metadata.num_rows) == (1, file.rows)


NAMES = ["a/b=c d", "..", "Łódź 雪 🏁", "%41", "2024", "__HIVE_DEFAULT_PARTITION__", "雪" * 90, "c" * 200]


def test_pools_of_any_name_come_back(tmp_path):
    frame = duels(len(NAMES), NAMES)
    dataset = write(frame, tmp_path / "results")
    assert [pool.name for pool in dataset.pools] == sorted(NAMES)
    assert sorted(podium.rate(dataset).ratings["pool"].unique()) == sorted(NAMES)
    short = [name for name in NAMES if len(name) < 90 and not name.startswith("__")]
    own = write(duels(len(short), short), tmp_path / "short")
    schema = pyarrow.schema([("pool", pyarrow.string())])
    hive = pyarrow.dataset.partitioning(schema, flavor="hive")
    tables = [
        pl.scan_parquet(f"{own.uri}/**/*.parquet", hive_schema={"pool": pl.String}).collect(),
        pl.from_arrow(pyarrow.dataset.dataset(own.uri, partitioning=hive).to_table()),
    ]
    for table in tables:
        assert sorted(table["pool"].unique().to_list()) == sorted(short)
    *_, last = podium.rate_stream(dataset.uri)  # as any folder of Parquet files
    assert last.states.equals(podium.rate(frame).states)


def test_what_is_there_is_not_replaced_unless_it_is_a_dataset(tmp_path):
    frame = duels(4)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(OutputError, match=r"is not empty \(it holds thesis.txt\)"):
        write(frame, tmp_path / "full")
    with pytest.raises(OutputError, match=r"has no _podium.json, so that nothing there is replaced"):
        write(frame, tmp_path / "full", overwrite=True)
    with pytest.raises(OutputError, match="is a file"):
        write(frame, tmp_path / "full" / "thesis.txt")
    with pytest.raises(OutputError, match="there is no folder"):
        write(frame, tmp_path / "no" / "where")
    (tmp_path / "empty").mkdir()
    first = write(frame, tmp_path / "empty")
    with pytest.raises(OutputError, match="overwrite"):
        write(duels(6), tmp_path / "empty")
    second = write(duels(6), tmp_path / "empty", overwrite=True)
    assert (first.events, second.events, check(tmp_path / "empty").events) == (4, 6, 6)


def test_results_that_are_refused_leave_nothing_and_keep_the_former(small, tmp_path):
    former = write(duels(4), tmp_path / "results")
    rows = duels(20).with_columns(pl.col("position").cast(pl.Int64))
    bad = rows.with_columns(position=pl.when(pl.int_range(pl.len()) == 25).then(-3).otherwise("position"))
    bad.write_parquet(tmp_path / "bad.parquet")
    with pytest.raises(ResultsError, match=r"bad.parquet row 26, column position: -3"):
        write(tmp_path / "bad.parquet", tmp_path / "results", overwrite=True)
    assert check(tmp_path / "results").digest == former.digest
    assert sorted(each.name for each in tmp_path.iterdir()) == ["bad.parquet", "results"]


def test_rows_that_contradict_each_other_far_apart_are_found(small, tmp_path):
    rows = duels(20, ["east"])
    twice = pl.concat([rows, rows[:2].with_columns(pl.lit("west").alias("pool"))])
    with pytest.raises(ResultsError, match=r"part 2 row 1, column event_id: is the id of an event that part 1, row 1"):
        write([twice[:40], twice[40:]], tmp_path / "results")
    same = pl.concat([rows, rows[2:3]])
    with pytest.raises(ResultsError, match=r"row (3|41), column player"):
        write(same.lazy(), tmp_path / "results")
    assert list(tmp_path.iterdir()) == []


def test_changed_and_missing_files_are_refused_and_named(tmp_path):
    dataset = write(duels(6), tmp_path / "results")
    east, west = (tmp_path / "results" / pool.files[0].path for pool in dataset.pools)
    content = bytearray(east.read_bytes())
    content[len(content) // 2] ^= 1
    east.write_bytes(content)
    with pytest.raises(ResultsError, match=r"pool=east.part-00000.parquet: is not as it was written"):
        podium.rate(dataset)
    west.unlink()
    (tmp_path / "results" / "stray.parquet").write_bytes(b"")
    with pytest.raises(ResultsError) as refused:
        check(tmp_path / "results")
    assert [fault.file for fault in refused.value.faults] == [
        "pool=east/part-00000.parquet",
        "pool=west/part-00000.parquet",
        "stray.parquet",
    ]


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ('"checks": 1', '"checks": 0', "whose rules were others; write the dataset anew"),
        ('"rows": 12', '"rows": 13', "contradicts itself"),
        ('"podium-dataset"', '"another"', "is not the manifest of a dataset"),
        ('{"format"', '{"for', "is damaged"),
        ('"name": "east"', '"nom": "east"', "is damaged .KeyError"),
    ],
)
def test_a_manifest_that_is_not_its_own_is_refused(tmp_path, before, after, says):
    write(duels(6), tmp_path / "results")
    path = tmp_path / "results" / "_podium.json"
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after, 1), encoding="utf-8")
    with pytest.raises(ResultsError, match=says):
        open_dataset(tmp_path / "results")


def test_what_is_no_dataset_is_said_to_be_none(tmp_path):
    with pytest.raises(
        ResultsError, match=r"is no dataset: _podium.json cannot be read .*podium dataset write makes one"
    ):
        open_dataset(tmp_path)
    with pytest.raises(ResultsError, match="is no dataset"):
        open_dataset("memory://nowhere")


def test_an_address_holds_a_dataset_as_a_folder_does(tmp_path):
    frame = duels(6)
    local, remote = write(frame, tmp_path / "results"), write(frame, "memory://league/results")
    assert check("memory://league/results").digest == local.digest
    assert_same(podium.rate("memory://league/results", "elo"), podium.rate(frame, "elo"))
    assert podium.rate(f"file://{tmp_path}/results").states.equals(podium.rate(frame).states)
    assert write(remote, tmp_path / "back").digest == local.digest
    with pytest.raises(OutputError, match="is not empty"):
        write(frame, "memory://league/results")
    assert write(duels(8), "memory://league/results", overwrite=True).events == 8
    with pytest.raises(ParameterError, match=r"nothing://here: Protocol not known"):
        podium.rate("nothing://here")


def test_an_address_says_what_it_needs():
    with mock.patch.dict(sys.modules, {"fsspec": None}), pytest.raises(MissingExtraError, match="extra 'remote'"):
        podium.rate("s3://bucket/results")


def test_a_dataset_without_a_row_is_one(tmp_path):
    dataset = write(duels(3).clear(), tmp_path / "results")
    assert (dataset.rows, dataset.pools) == (0, ())
    assert podium.rate(Path(dataset.uri)).ratings.is_empty()
    assert repr(dataset).endswith("results: 0 rows, 0 events, 0 pools)")
