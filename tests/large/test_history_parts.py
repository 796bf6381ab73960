"""The history of a part is there before the part is given, or written while the next is rated: whole, and in order."""

import errno
import json
import os
import threading

import polars as pl
import pytest
from duel_rows import duels
from polars.testing import assert_frame_equal

import podium
from podium.errors import OutputError, ResultsError
from podium.large import streaming
from podium.large.streaming import RatedStream
from podium.support import part_files
from podium.systems import find

FRAMES = [duels(4, first=4 * number) for number in range(4)]
PARTS = 5  # the last event of a frame is in the next part
WAIT_S = 60.0  # for what comes at once, unless the code is at fault


@pytest.fixture(autouse=True)
def _no_thread_stays():
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) <= before


class Disk:
    """Where histories are written: it may be slow, and full where one comes."""

    def __init__(self, synchronise):
        self.ready = threading.Event()
        self.ready.set()
        self.full_at = None  # the number of a part
        self._synchronise = synchronise

    def synchronise(self, path):
        assert self.ready.wait(WAIT_S)
        if self.full_at is not None and path.name.startswith(f".part-{self.full_at:06}"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._synchronise(path)


@pytest.fixture
def disk(monkeypatch):
    made = Disk(part_files.synchronise)
    monkeypatch.setattr(part_files, "synchronise", made.synchronise)
    return made


@pytest.fixture
def rate_second(monkeypatch):
    """Do something where the second part would be rated."""
    rate_table = streaming.rate_table

    def put(instead):
        calls = []

        def rate(*arguments):
            calls.append(arguments)
            return rate_table(*arguments) if len(calls) != 2 else instead(rate_table, arguments)

        monkeypatch.setattr(streaming, "rate_table", rate)

    return put


def assert_whole(folder, count):
    """There are the histories of so many parts, with the bits of one run, and nothing else."""
    assert sorted(path.name for path in folder.iterdir()) == [f"part-{number:06}.parquet" for number in range(count)]
    whole = [part.history for part in podium.rate_stream(FRAMES)]
    for number, history in enumerate(whole[:count]):
        assert_frame_equal(pl.read_parquet(folder / f"part-{number:06}.parquet"), history, check_exact=True)


def overlapping(parts, **places):
    """A stream that does not wait for its histories."""
    return RatedStream(parts, find("elo")(), "event", None, waits=False, **places)


def test_a_history_is_there_before_its_part_is_given(tmp_path, disk):
    disk.full_at = 2
    stream = podium.rate_stream(FRAMES, history_to=tmp_path)
    for number in range(2):
        next(stream)
        assert_whole(tmp_path, number + 1)
    with pytest.raises(OutputError, match=r"part-000002\.parquet: cannot be written"):
        next(stream)
    assert_whole(tmp_path, 2)


def test_a_history_is_written_while_the_next_part_is_rated(tmp_path, rate_second, disk):
    def rate(rate_table, arguments):
        assert list(tmp_path.glob("part-*")) == []
        disk.ready.set()
        return rate_table(*arguments)

    rate_second(rate)
    disk.ready.clear()
    for number, _ in enumerate(overlapping(FRAMES, history_to=tmp_path)):
        assert {path.name for path in tmp_path.glob("part-*")} >= {f"part-{each:06}.parquet" for each in range(number)}
    assert_whole(tmp_path, PARTS)


@pytest.mark.parametrize("number", range(PARTS))
def test_a_history_that_cannot_be_written_ends_the_stream(tmp_path, disk, number):
    disk.full_at = number
    stream = overlapping(FRAMES, history_to=tmp_path)
    for _ in range(number + 1):
        next(stream)
    with pytest.raises(OutputError, match=rf"part-{number:06}\.parquet: cannot be written \(No space left on device\)"):
        next(stream)
    assert_whole(tmp_path, number)
    assert list(stream) == []


@pytest.mark.parametrize("number", range(PARTS))
def test_no_checkpoint_is_ahead_of_the_history(tmp_path, disk, monkeypatch, number):
    results, place = tmp_path / "results", {"history_to": tmp_path / "history", "checkpoint": tmp_path / "state"}
    results.mkdir()
    for name, frame in enumerate(FRAMES):
        frame.write_parquet(results / f"{name}.parquet")
    monkeypatch.setattr("podium.large.slices.FEW_ROWS", 5)
    disk.full_at = number
    with pytest.raises(OutputError, match="No space left on device"):
        list(overlapping(results, **place, every=1))
    state = json.loads((tmp_path / "state" / "state.json").read_text())
    assert state["number"] <= number
    assert not state["finished"]
    disk.full_at = None
    assert len(list(overlapping(results, **place, every=1))) >= PARTS - number
    assert_whole(tmp_path / "history", PARTS)


def test_a_stream_that_is_closed_has_written_what_it_gave(tmp_path, disk):
    stream = overlapping(FRAMES, history_to=tmp_path / "a")
    next(stream)
    stream.close()
    assert_whole(tmp_path / "a", 1)
    disk.full_at = 0
    stream = overlapping(FRAMES, history_to=tmp_path / "b")
    next(stream)
    with pytest.raises(OutputError, match="No space left on device"):
        stream.close()
    assert_whole(tmp_path / "b", 0)


def test_results_that_are_refused_leave_the_history_so_far(tmp_path, disk):
    wrong = [FRAMES[0], FRAMES[0]]
    stream = overlapping(wrong, history_to=tmp_path / "a")
    next(stream)
    with pytest.raises(ResultsError, match="does not follow"):
        next(stream)
    assert_whole(tmp_path / "a", 1)
    disk.full_at = 0
    stream = overlapping(wrong, history_to=tmp_path / "b")
    next(stream)
    with pytest.raises(OutputError, match=r"part-000000\.parquet: cannot be written"):  # what came first
        next(stream)
    assert_whole(tmp_path / "b", 0)


@pytest.mark.parametrize("fails", [False, True])
def test_an_interrupt_waits_for_the_history_at_hand(tmp_path, rate_second, disk, fails):
    def interrupt(rate_table, arguments):
        disk.full_at = 0 if fails else None
        disk.ready.set()
        raise KeyboardInterrupt

    rate_second(interrupt)
    disk.ready.clear()
    stream = overlapping(FRAMES, history_to=tmp_path)
    next(stream)
    with pytest.raises(KeyboardInterrupt):
        next(stream)
    assert_whole(tmp_path, 0 if fails else 1)
