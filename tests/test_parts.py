"""Results in parts give exactly the ratings of the whole, after kills, with any executor, and with any files."""

import os
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from duel_rows import START, duels
from extent import several, times
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from probes import Mortal
from strategies import histories

import podium
from podium.errors import ExecutorError, OutputError
from podium.support import part_files
from podium.support.part_files import lock
from podium.systems import find, names

PERIODS = [*times([], [("elo", "event")]), ("elo", "1d"), ("glicko2", "1w"), ("stk", "event")]


def write_files(folder, *frames):
    """Write frames as `part-1.parquet`, `part-2.parquet` and so on."""
    folder.mkdir(parents=True)
    for number, frame in enumerate(frames, 1):
        frame.write_parquet(folder / f"part-{number}.parquet")
    return folder


def split(frame, *cuts):
    return [frame[a:b] for a, b in zip([0, *cuts], [*cuts, frame.height], strict=True)]


def contents(out):
    """Return the content of every file in an output folder."""
    return {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}


def assert_same(out, whole, board=None):
    """Check that every change and every state is exactly that of a single run."""
    history = pl.concat([pl.read_parquet(path) for path in sorted(out.rglob("history/*.parquet"))])
    by_pool = [frame.sort("pool", maintain_order=True) for frame in (history, whole.history)]
    assert_frame_equal(*by_pool, check_exact=True)
    states = pl.concat([pl.read_parquet(path) for path in sorted(out.rglob("ratings.parquet"))])
    assert_frame_equal(states, whole.states, check_exact=True)
    assert board is None or board.equals(whole.ratings)


@pytest.mark.parametrize(("name", "period"), PERIODS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=6)
@given(rows=histories(heats=2, most=12), data=st.data())
def test_parts_give_the_ratings_of_the_whole(tmp_path_factory, name, period, rows, data):
    frame, place = podium.read_results(rows).frame, tmp_path_factory.mktemp("parts")
    cuts = sorted(data.draw(st.lists(st.integers(0, frame.height), max_size=3)))
    files = write_files(place / "results", *split(frame, *cuts))
    board = podium.rate_parts(files, place / "out", name, period=period, rows=data.draw(st.integers(1, 20)))
    assert_same(place / "out", podium.rate(frame, name, period=period), board)


@pytest.mark.parametrize("name", several(names()))
def test_every_system_continues_from_part_to_part(tmp_path, name):
    frame = podium.read_results(history_of_all_kinds()).frame
    files = write_files(tmp_path / "results", frame)
    board = podium.rate_parts(files, tmp_path / "out", name, rows=20)
    assert_same(tmp_path / "out", podium.rate(frame, name), board)
    assert len(list((tmp_path / "out" / "history").iterdir())) > 3


def history_of_all_kinds():
    """Return rows of two pools, one with teams of two, with heats, ties and quits."""
    rng = np.random.default_rng(7)
    rows = []
    for number in range(14):
        field = rng.permutation(["ana", "ben", "cleo", "dov", "雪", "eva"])[:4]
        for heat in ("1", "2"):
            for k, player in enumerate(field):
                quits = rng.integers(6) == 0
                rows.append({
                    "event_id": f"e{number}",
                    "started_at": (START + timedelta(days=3 * number)).isoformat(),
                    "pool": "one" if number % 3 else "two",
                    "heat": heat,
                    "team": str(k % 2) if number % 4 == 0 else None,
                    "player": str(player),
                    "status": "quit" if quits else "finished",
                    "time_s": None if quits else float(60 + rng.integers(5)),
                    "score": None if quits else int(rng.integers(9)),
                    "played_s": 500.0,
                    "duration_s": 600.0,
                })  # fmt: skip
    return rows


def test_files_of_any_source_are_read_in_natural_order(tmp_path, monkeypatch):
    frame = duels(24)
    files = write_files(tmp_path / "results", *split(frame, *range(4, 48, 4)))
    whole, paths = podium.rate(frame), [files / f"part-{number}.parquet" for number in range(1, 13)]
    monkeypatch.chdir(tmp_path)
    for k, source in enumerate([files, f"{files}/*.parquet", "results/part-*.parquet", paths, paths[0].as_uri()]):
        board = podium.rate_parts(source, tmp_path / str(k), rows=10)
        if k < 4:
            assert_same(tmp_path / str(k), whole, board)
            assert podium.rate(source if k < 3 else files).states.equals(whole.states)
    assert board.equals(podium.rate(frame[:4]).ratings)


def test_folders_name_columns_like_hive(tmp_path):
    frame = duels(60, pools=3)
    for (name,), rows in frame.partition_by("pool", as_dict=True).items():
        write_files(tmp_path / "results" / f"pool={name.replace(' ', '%20')}", rows.drop("pool"))
    whole = podium.rate(frame)
    assert_same(tmp_path / "out", whole, podium.rate_parts(tmp_path / "results", tmp_path / "out", rows=15))
    assert podium.rate(tmp_path / "results").states.equals(whole.states)
    assert podium.evaluate(tmp_path / "results", "elo").scores.equals(podium.evaluate(frame, "elo").scores)


def test_a_part_never_splits_an_event_or_a_period(tmp_path):
    crowd = pl.DataFrame({"event_id": "crowd", "player": [f"p{k}" for k in range(20)], "position": range(1, 21)})
    frame = pl.concat([crowd.with_columns(pl.col("position").cast(pl.Int64)), duels(9).select(crowd.columns)])
    files = write_files(tmp_path / "crowd", frame)
    assert_same(tmp_path / "a", podium.rate(frame), podium.rate_parts(files, tmp_path / "a", rows=3))
    files = write_files(tmp_path / "days", duels(72))
    podium.rate_parts(files, tmp_path / "b", "glicko2", period="1d", rows=3)
    assert_same(tmp_path / "b", podium.rate(duels(72), "glicko2", period="1d"))
    assert len(list((tmp_path / "b" / "history").iterdir())) == 2


def test_simultaneous_events_keep_their_order(tmp_path):
    frame = duels(20).with_columns(started_at=START, sequence=pl.Series(np.repeat(np.arange(20, 0, -1), 2)))
    files = write_files(tmp_path / "results", frame)
    assert_same(tmp_path / "out", podium.rate(frame), podium.rate_parts(files, tmp_path / "out", rows=10))


class KilledError(BaseException):
    """An error that no code expects."""


@pytest.mark.parametrize(("system", "period"), [("glicko2", "1d"), ("adaptive", "event")])
def test_a_killed_run_continues_to_exactly_the_same_files(tmp_path, monkeypatch, system, period):
    frame = duels(120, pools=2)
    files = write_files(tmp_path / "results", *split(frame, 50, 130))
    podium.rate_parts(files, tmp_path / "one", system, period=period, rows=40)
    assert_same(tmp_path / "one", podium.rate(frame, system, period=period))
    synchronise, written, until, kills = part_files.synchronise, 0, 1, 0

    def count_and_kill(path):
        nonlocal written
        written += 1
        if written == until:
            raise KilledError
        synchronise(path)

    monkeypatch.setattr(part_files, "synchronise", count_and_kill)
    while True:
        written = 0
        try:
            podium.rate_parts(files, tmp_path / "killed", system, period=period, rows=40)
        except KilledError:
            kills, until = kills + 1, until + kills + 1
            continue
        break
    assert kills > 3
    assert contents(tmp_path / "killed") == contents(tmp_path / "one")


def test_files_added_at_the_end_are_rated(tmp_path):
    first, second = split(duels(30), 40)
    files = write_files(tmp_path / "results", first)
    podium.rate_parts(files, tmp_path / "out", "glicko2", rows=10)
    again = podium.rate_parts(files, tmp_path / "out", "glicko2", rows=10)
    assert again.equals(podium.rate(first, "glicko2").ratings)
    second.write_parquet(files / "part-10.parquet")
    board = podium.rate_parts(files, tmp_path / "out", "glicko2", rows=10)
    assert_same(tmp_path / "out", podium.rate(duels(30), "glicko2"), board)


def test_a_run_can_start_from_saved_ratings_and_save_its_own(tmp_path):
    before, after = split(duels(50, pools=2), 40)
    podium.rate(before, "adaptive").save(tmp_path / "spring.parquet")
    whole = podium.rate(after, "adaptive", start=tmp_path / "spring.parquet")
    files = write_files(tmp_path / "results", after)
    for k, start in enumerate((tmp_path / "spring.parquet", podium.rate(before, "adaptive"))):
        board = podium.rate_parts(files, tmp_path / str(k), "adaptive", start=start, rows=10)
        assert_same(tmp_path / str(k), whole, board)
    later = duels(3, first=90)
    goes_on = podium.rate(later, "adaptive", start=tmp_path / "1" / "ratings.parquet")
    assert goes_on.states.equals(podium.rate(later, "adaptive", start=whole).states)
    with pytest.raises(podium.ResultsError, match="is before the latest event of the saved ratings"):
        podium.rate_parts(write_files(tmp_path / "early", before), tmp_path / "2", "adaptive", start=whole)


def refused(message, kind, files, out, *arguments, **options):
    with pytest.raises(kind, match=message):
        podium.rate_parts(files, out, *arguments, rows=10, **options)


def test_a_run_continues_only_with_the_same_settings(tmp_path):
    files, out = write_files(tmp_path / "results", *split(duels(30), 30)), tmp_path / "out"
    podium.rate_parts(files, out, rows=10)
    refused("holds ratings of elo, not of glicko2", podium.ParameterError, files, out, "glicko2")
    refused("with k .*, but now it is 20", podium.ParameterError, files, out, k=20.0)
    refused("with the period event, not 1w", podium.ParameterError, files, out, period="1w")
    descriptor = lock(out)
    assert descriptor is not None
    refused("another process is writing here", OutputError, files, out)
    os.close(descriptor)
    duels(20).write_parquet(files / "part-1.parquet")
    refused("the files rated so far have changed", podium.ParameterError, files, out)
    (files / "part-1.parquet").unlink()
    refused("the files rated so far have changed", podium.ParameterError, files, out)
    (out / "ratings.parquet").write_bytes(b"PAR1 no more")
    refused("is not a Parquet file", podium.ResultsError, files, out)
    podium.rate(duels(3)).save(out / "ratings.parquet")
    refused("was not created by rate_parts. Choose a folder", OutputError, files, out)
    refused("is in the folder of the results", podium.ParameterError, files, files / "out")
    refused(r"holds other files, such as out\. Choose a folder", OutputError, files, tmp_path)
    (tmp_path / "file").touch()
    refused("cannot be written .* Choose another folder", OutputError, files, tmp_path / "file" / "out")
    with pytest.raises(podium.ParameterError, match="rows is 0"):
        podium.rate_parts(files, tmp_path / "new", rows=0)


def without_dates(frame):
    return frame.drop("started_at")


REPEATED = pl.col("event_id").replace("e12", "e9")
BAD_POSITION = pl.when(pl.int_range(pl.len()) == 11).then(-1).otherwise("position")


@pytest.mark.parametrize(
    ("frames", "system", "message"),
    [
        (split(duels(30), 40)[::-1], "elo", r"part-2\.parquet row 1, column started_at: .* is before the latest event"),
        ([duels(30).with_columns(event_id=REPEATED)], "elo", r"part-1.parquet row 25, column event_id: 'e9' is the ID"),
        ([duels(7), duels(9, first=7).with_columns(position=BAD_POSITION)], "elo", "part-2.parquet row 12, .* -1 must"),
        (
            [duels(7), without_dates(duels(7, first=7))],
            "elo",
            "started_at: is in only some of the files. Add it to all",
        ),
        (
            [duels(7).with_columns(time_s=1.0), duels(7, first=7)],
            "stk",
            "part-2.parquet row 1, column time_s: is empty",
        ),
        ([duels(7).drop("player")], "elo", "column player: is missing"),
        ([duels(7).drop("event_id")], "elo", "column event_id: is missing"),
    ],
)
def test_errors_name_their_files_and_rows(tmp_path, frames, system, message):
    refused(message, podium.ResultsError, write_files(tmp_path / "results", *frames), tmp_path / "out", system)


def test_files_without_a_column_use_its_default(tmp_path):
    first, second = duels(6), duels(6, first=6).with_columns(ranked=pl.lit(value=True), weight=2.0)
    files = write_files(tmp_path / "results", first, second)
    board = podium.rate_parts(files, tmp_path / "out", rows=16)
    assert_same(tmp_path / "out", podium.rate(pl.concat([first, second], how="diagonal")), board)


def test_results_without_rows_give_no_ratings(tmp_path):
    board = podium.rate_parts(write_files(tmp_path / "results", duels(3).clear()), tmp_path / "out")
    assert board.equals(podium.rate(duels(3).clear()).ratings)
    assert podium.rate(tmp_path / "results").ratings.is_empty()


def test_folders_and_files_without_results_are_rejected(tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    refused("has no Parquet file. Give a folder", podium.ResultsError, empty, tmp_path / "out")
    refused("has no Parquet file. Give a folder", podium.ResultsError, tmp_path / "nowhere", tmp_path / "out")
    (empty / "b.parquet").write_bytes(b"PAR1 no more")
    for read in (podium.rate, lambda path: podium.rate_parts(path, tmp_path / "out")):
        with pytest.raises(podium.ResultsError, match=r"b\.parquet: is not a Parquet file"):
            read(empty)
    with pytest.raises(podium.ResultsError, match="has no pools"):
        podium.rate_pools(empty, tmp_path / "out")


@pytest.fixture(scope="module")
def league(tmp_path_factory):
    """Return a folder of four pools, the same results as one table, and their ratings."""
    frame, folder = duels(160, pools=4), tmp_path_factory.mktemp("league")
    for (name,), rows in frame.partition_by("pool", as_dict=True).items():
        write_files(folder / name, *split(rows.drop("pool"), 33))
    return folder, podium.rate(frame)


@pytest.fixture(scope="module")
def marks(tmp_path_factory):
    """Return the folder in which each file kills one worker."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MORTAL", str(tmp_path_factory.mktemp("marks")))
        yield Path(os.environ["MORTAL"])


@pytest.fixture(scope="module")
def client(marks):
    """Start two Dask workers."""
    import distributed

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, memory_limit=0, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as own,
    ):
        yield own


def test_pools_are_rated_in_threads_and_can_continue(league, tmp_path):
    folder, whole = league
    for _ in range(2):
        with ThreadPoolExecutor(2) as executor:
            board = podium.rate_pools(folder, tmp_path / "out", rows=10, executor=executor)
        assert_same(tmp_path / "out", whole, board)


def test_a_killed_processs_pools_are_submitted_again(league, tmp_path, marks):
    (marks / "once").touch()
    board = podium.rate_pools(league[0], tmp_path / "out", Mortal(), rows=10)
    assert not (marks / "once").exists()
    assert_same(tmp_path / "out", league[1], board)
    with pytest.raises(podium.ResultsError, match=r"pool \d.part-1.parquet row 1, column time_s: stk needs it"):
        podium.rate_pools(league[0], tmp_path / "stk", "stk")


def test_a_killed_dask_workers_pools_are_submitted_again(league, tmp_path, client, marks):
    board = podium.rate_pools(league[0], tmp_path / "a", rows=10, executor=client.get_executor())
    assert_same(tmp_path / "a", league[1], board)
    (marks / "once").touch()
    board = podium.rate_pools(league[0], tmp_path / "b", Mortal(), rows=10, executor=client.get_executor())
    assert not (marks / "once").exists()
    assert_same(tmp_path / "b", league[1], board)


class Doomed(ThreadPoolExecutor):
    """An executor whose workers die after this many pools."""

    def __init__(self, pools):
        super().__init__(1)
        self.left = pools

    def submit(self, function, /, *task, **more):
        self.left -= 1
        if self.left >= 0:
            return super().submit(function, *task, **more)
        future = Future()
        future.set_exception(BrokenExecutor("died"))
        return future


def test_repeatedly_dying_workers_are_an_error_that_keeps_finished_pools(league, tmp_path):
    with Doomed(2) as executor, pytest.raises(ExecutorError, match="workers died 3 times"):
        podium.rate_pools(league[0], tmp_path / "out", executor=executor)
    assert len(list((tmp_path / "out").iterdir())) == 2
    with ThreadPoolExecutor(2) as executor:
        assert_same(tmp_path / "out", league[1], podium.rate_pools(league[0], tmp_path / "out", executor=executor))


def test_a_system_that_workers_cannot_import_is_rejected(league, tmp_path):
    kind = type("Own", (find("elo"),), {"__module__": "__main__"})
    with pytest.raises(podium.ParameterError, match="workers cannot import Own of __main__"):
        podium.rate_pools(league[0], tmp_path / "out", kind())


def test_constant_columns_are_texts_like_others():
    history = podium.rate(duels(3).drop("pool")).history
    assert history.schema["pool"] == pl.String
    assert pl.concat([history, podium.rate(duels(4, pools=2)).history])["pool"].n_unique() == 3
