"""All executors give the bits of one process, also where workers die; and errors say which pool they are of."""

import os
import pickle
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from extent import in_turn
from polars.testing import assert_frame_equal
from pool_rows import by_pool, duels
from probes import Probe, count_tries, die, refuse_task, stumble, wait_for_ever

import podium
from podium.dataset import write
from podium.errors import ExecutorError, ParameterError, PodiumError, ResultsError
from podium.large import executors as running
from podium.large.executors import Processes, chosen_engine, executor
from podium.systems import find

POOLS = ["east", "north", "south", "west"]


@pytest.fixture(scope="module")
def league(tmp_path_factory):
    """A dataset of four pools, the first the largest, and the same rated as one table."""
    rest = duels(500, ["east"])[320:].with_columns(pl.format("{} more", "event_id").alias("event_id"))
    frame = pl.concat([duels(160, POOLS), rest])
    return write(frame, tmp_path_factory.mktemp("league") / "results"), frame


@pytest.fixture(scope="module")
def cluster():
    """Two workers of Dask, as `--engine dask` starts them; they work also while nobody asks for anything."""
    from podium.large.executors import dask_workers

    with dask_workers(None, None) as workers:
        yield workers.client


def rated_by(engine, dataset, room, **how):
    """The states and the written history."""
    rated = podium.rate(dataset, "glicko2:tau=0.6", engine=engine, history_to=room / "history", **how)
    files = sorted((room / "history").rglob("*.parquet"))
    return rated, pl.concat([pl.read_parquet(file, hive_partitioning=False) for file in files])


@pytest.mark.parametrize("engine", ["local", "processes", "dask"])
def test_every_executor_gives_the_bits_of_the_whole_table(engine, league, tmp_path, request):
    dataset, frame = league
    whole = podium.rate(frame, "glicko2:tau=0.6")
    known = request.getfixturevalue("cluster") if engine == "dask" else engine
    rated, history = rated_by(known, dataset, tmp_path)
    assert_frame_equal(rated.states, whole.states, check_exact=True)
    assert_frame_equal(by_pool(history), by_pool(whole.history), check_exact=True)
    assert rated.leaderboard().equals(whole.leaderboard())
    event, player = frame.row(7)[0], frame.row(7)[3]
    assert rated.explain(event, player).summary == whole.explain(event, player).summary
    assert {each.process == os.getpid() for each in rated.spent.values()} == {engine == "local"}


def test_ratings_go_on_from_where_players_stood_in_every_executor(league, cluster, tmp_path):
    dataset, frame = league
    middle = frame["started_at"].sort()[frame.height // 2]
    earlier, later = frame.filter(pl.col("started_at") <= middle), frame.filter(pl.col("started_at") > middle)
    before = podium.rate(earlier, "elo")
    whole = podium.rate(frame, "elo")
    dataset = write(later, tmp_path / "later")
    for engine, workers in (("local", 2), ("processes", 2), (cluster, None)):
        rated = podium.rate(dataset, "elo", start=before, engine=engine, workers=workers)
        assert_frame_equal(rated.states, whole.states, check_exact=True)
    with pytest.raises(ResultsError, match=r"pool east.*is before the newest event of the saved ratings"):
        podium.rate(write(earlier, tmp_path / "earlier"), "elo", start=before)


def test_a_worker_that_dies_is_replaced_and_its_task_done_again(tmp_path):
    tasks = [Probe(name, running.BATCH_ROWS, str(tmp_path)) for name in POOLS]
    done = []
    with Processes(2) as processes:
        results = processes.map(count_tries, tasks, done.append)
        assert [tries for _, tries in results] == [1, 1, 1, 1]
        assert done == [1, 2, 3, 4]
        with pytest.raises(ExecutorError, match=r"east: its process ended with signal 9, 3 times; .* fewer workers"):
            processes.map(die, tasks[:1])


def test_a_worker_of_dask_that_dies_is_replaced_and_its_task_done_again(cluster, league, tmp_path):
    from podium.large.executors import DaskWorkers

    tasks = [Probe(name, running.BATCH_ROWS, str(tmp_path)) for name in POOLS]
    results = DaskWorkers(cluster).map(count_tries, tasks[:1])
    assert [tries for _, tries in results] == [1]
    # What only a worker held that is lost after it is done once more: the two that die here may hold each other's.
    results = DaskWorkers(cluster).map(count_tries, tasks[1:3])
    assert all(1 <= tries <= 3 for _, tries in results)


@pytest.mark.parametrize("engine", ["processes", "dask"])
def test_what_a_worker_raises_comes_back_with_its_pool(engine, request, tmp_path, capfd):
    known = request.getfixturevalue("cluster") if engine == "dask" else engine
    tasks = [Probe(name, running.BATCH_ROWS, str(tmp_path)) for name in POOLS[:2]]
    rows = [task.rows for task in tasks]
    with executor(known, rows) as run, pytest.raises(ParameterError, match=r"^(east|north): is not like this$"):
        run.map(refuse_task, tasks)
    with executor(known, rows) as run, pytest.raises(KeyError, match="nowhere") as stumbled:
        run.map(stumble, tasks)
    assert "in the worker:" in "".join(stumbled.value.__notes__)


def test_faults_of_results_come_back_whole(league, tmp_path):
    dataset, _ = league
    with pytest.raises(ResultsError, match=r"pool east: pool=east.part-00000.parquet row 1, column time_s") as refused:
        podium.rate(dataset, "stk", engine="processes", workers=1)
    assert refused.value.faults[0].column == "time_s"
    with pytest.raises(ResultsError, match="pool east: ") as alone:
        podium.rate(dataset, "stk", engine="local")
    assert str(alone.value) == str(refused.value)


def test_an_interrupt_ends_the_workers(tmp_path, request):
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts behind itself ignores it
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, handler))
    tasks = [Probe(name, running.BATCH_ROWS, str(tmp_path)) for name in POOLS]

    def interrupt():
        while len(list(tmp_path.iterdir())) < 2:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt), Processes(2) as processes:
        processes.map(wait_for_ever, tasks)
    for each in tmp_path.iterdir():
        with pytest.raises(ProcessLookupError):
            os.kill(int(each.name), 0)


def test_small_tasks_travel_together_the_largest_first():
    sizes = [10, 150_000, 60_000, 50_000, 90_000, 5]
    tasks = [Probe(str(number), size, "") for number, size in enumerate(sizes)]
    assert running.batches(tasks) == [[1], [4, 2], [3, 0, 5]]


def test_a_system_that_workers_cannot_import_is_rated_here(league):
    dataset, frame = league
    kind = type("Own", (find("elo"),), {"__module__": "__main__"})
    assert podium.rate(dataset, kind(k=20.0)).states.equals(podium.rate(frame, "elo:k=20").states)
    with pytest.raises(
        ParameterError, match="workers cannot import Own of __main__; put the class at the top of a module"
    ):
        podium.rate(dataset, kind(k=20.0), engine="processes", workers=1)


def test_a_system_in_a_file_goes_to_workers_by_its_file(tmp_path):
    from podium.systems import load
    from podium.systems._outside import PortableSystem

    source = Path(__file__).parents[2] / "src/podium/systems/elo.py"
    text = source.read_text(encoding="utf-8").replace("SYSTEM = Elo", "").replace('"elo"', '"own"')
    (tmp_path / "own.py").write_text(text, encoding="utf-8")
    system = load(str(tmp_path / "own.py"))
    sent = pickle.dumps(PortableSystem(system(k=20.0)))
    del sys.modules[system.__module__]  # as in a process that has not read the file
    arrived = pickle.loads(sent).system  # noqa: S301  (its own)
    assert (arrived.name, arrived.k, type(arrived).__name__) == ("own", 20.0, "Elo")


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"engine": "spark"}, "'spark' is not an engine .local, processes, dask, or a client of Dask"),
        ({"engine": 3}, "a int is not an engine"),
        ({"workers": 0}, "workers is 0; it must be at least 1"),
        ({"engine": "local", "scheduler": "tcp://127.0.0.1:1"}, "a scheduler's address is for the engine dask"),
        ({"scheduler": "tcp://127.0.0.1:1", "workers": 2}, "a scheduler has its own workers"),
    ],
)
def test_what_does_not_go_together_is_refused(league, how, says):
    dataset, frame = league
    with pytest.raises(ParameterError, match=says):
        podium.rate(dataset, **how)
    with pytest.raises(ParameterError, match="are for a dataset; podium dataset write makes one"):
        podium.rate(frame, engine="local")


def test_the_default_is_worth_its_start():
    assert chosen_engine(None, [10, 10], None, 4) == "local"
    assert chosen_engine(None, [10_000_000], None, 4) == "local"
    assert chosen_engine(None, [10_000_000] * 2, None, 1) == "local"
    assert chosen_engine(None, [10_000_000] * 2, None, 4) == "processes"
    assert chosen_engine(None, [1], "tcp://somewhere:8786", None) == "dask"


def test_the_extra_is_named_where_dask_is_missing(league, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(podium.PodiumError, match="needs the extra 'dask'"):
        podium.rate(league[0], engine="dask")


def test_errors_travel_as_they_are():
    error = ResultsError("a.csv", [podium.Fault(3, "player", None, "is empty")])
    error.add_note("noted")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301  (its own)
    assert (type(again), str(again), again.faults, again.__notes__) == (
        ResultsError,
        str(error),
        error.faults,
        ["noted"],
    )
    assert isinstance(again, PodiumError)


@pytest.fixture
def elsewhere(request):
    """An engine beside this process: processes of its own, or the cluster that there is."""
    return request.getfixturevalue("cluster") if request.param == "dask" else request.param


SYSTEMS = ["elo", "glicko2"]


@pytest.mark.parametrize(
    ("weight", "elsewhere"), in_turn(["pair", "event"], ["processes", "dask"]), indirect=["elsewhere"]
)
def test_evaluation_has_the_same_bits_whoever_does_it(league, weight, elsewhere):
    dataset, frame = league
    window = podium.Window(since="2025-01-02", min_events=2)
    table = podium.evaluate(frame, SYSTEMS, window=window, weight=weight)
    here, there = (
        podium.evaluate(dataset, SYSTEMS, window=window, weight=weight, engine=engine)
        for engine in ("local", elsewhere)
    )
    for name in ("scores", "differences", "reliability"):
        assert getattr(here, name).equals(getattr(there, name))
    assert_frame_equal(here.scores, table.scores, rel_tol=1e-12)
    assert_frame_equal(here.reliability, table.reliability, rel_tol=1e-12)
    assert np.allclose(here.differences["log_loss"], table.differences["log_loss"], rtol=1e-9)


@pytest.mark.parametrize(
    ("system", "elsewhere"),
    in_turn(["elo", "openskill-pl"], ["processes", "dask"]),  # candidates share a pass, and are judged one by one
    indirect=["elsewhere"],
)
def test_a_search_has_the_same_bits_whoever_does_it(system, league, elsewhere):
    dataset, frame = league
    found = [
        podium.tune(dataset, system, "60%", trials=2, engine=engine, workers=1 if engine == "processes" else None)
        for engine in ("local", elsewhere)
    ]
    assert found[0].system == found[1].system
    assert found[0].fitted == found[1].fitted
    assert found[0].test.scores.equals(found[1].test.scores)
    table = podium.tune(frame, system, "60%", trials=2)
    assert found[0].fitted_defaults == pytest.approx(table.fitted_defaults, rel=1e-12)
    assert found[0].fitted == pytest.approx(table.fitted, rel=1e-12)


def test_a_search_needs_dates_and_events_on_both_sides(league, tmp_path):
    dataset, frame = league
    with pytest.raises(ParameterError, match="needs started_at"):
        podium.tune(write(frame.drop("started_at"), tmp_path / "undated"), "elo", "60%", trials=1)
    with pytest.raises(ParameterError, match="leaves no events on one side; they go from 2025-01-01 to 2025-01-21"):
        podium.tune(dataset, "elo", "2030-01-01", trials=1)


def test_an_audit_has_the_same_bits_whoever_does_it(league, cluster):
    dataset, frame = league
    here, *elsewhere = (podium.audit(dataset, "folyami", engine=engine) for engine in ("local", "processes", cluster))
    table = podium.audit(frame, "folyami")
    for name in ("months", "unbalanced", "farming", "isolated_groups", "newcomers", "quitters"):
        assert all(getattr(here, name).equals(getattr(there, name)) for there in elsewhere)
    assert_frame_equal(here.months, table.months, rel_tol=1e-12)
    keys = ("pool", "player", "opponents")
    assert here.farming.select(keys).sort(keys[:2]).equals(table.farming.select(keys).sort(keys[:2]))
