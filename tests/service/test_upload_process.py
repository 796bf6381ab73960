"""A bad file can disturb only the process that reads uploads."""

import asyncio
import gc
import os
import tempfile
import threading
import time
import weakref
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from anyio import CapacityLimiter
from races import calling

from podium.errors import ParameterError, ResultsError
from podium.service.admin import uploads
from podium.service.admin.uploads import Turns, UploadProcess
from podium.service.http.errors import AccessError
from podium.service.http.requests import run_in
from podium.support.part_files import PREFIX, in_use, remove_left_over, temporary_folder

CSV = b"event_id,player,position\ne1,ana,1\ne1,ben,2\n"
MANY = b"event_id,player,position\n" + b"".join(b"e%d,p%d,1\n" % (k, k) for k in range(90_000))


@pytest.fixture(scope="module")
def shared():
    with ended(UploadProcess()) as process:
        yield process


@pytest.fixture
def process():
    with ended(UploadProcess()) as process:
        yield process


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert [*folder.iterdir()] == []  # every upload is deleted


@contextmanager
def ended(process):
    try:
        yield process
    finally:
        process.end()


def read(process, content, name="results.csv", form="results", left=None):
    return process.read(left or threading.Event(), content, name, form, "main")


def pid_of(process):
    return process._reader.process.pid


def is_alive(pid):
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def wait_for_end(pid):
    for _ in range(500):
        if not is_alive(pid):
            return
        time.sleep(0.02)
    raise AssertionError


def test_the_process_gives_the_same_rows_and_errors(shared):
    assert read(shared, CSV).rows["player"].to_list() == ["ana", "ben"]
    first = pid_of(shared)
    with pytest.raises(ResultsError) as refused:
        read(shared, b"event_id,player,position\ne1,ana,first\n", "my results.csv")
    assert (refused.value.source, refused.value.faults[0].column) == ("my results.csv", "position")
    with pytest.raises(ParameterError, match="not a format"):
        read(shared, CSV, form="nothing")
    assert (pid_of(shared), first != os.getpid()) == (first, True)


def test_a_file_over_the_memory_or_time_limit_ends_the_process(process, monkeypatch):
    for limit, value, what in (("MAX_RESIDENT", 10_000_000, "memory"), ("READING_S", 0.0, "more than 60 s")):
        read(process, CSV)
        first = pid_of(process)
        with monkeypatch.context() as limits:
            limits.setattr(uploads, limit, value)
            with pytest.raises(ParameterError, match=what):
                read(process, MANY)
        wait_for_end(first)
    assert len(read(process, CSV).rows) == 2


def test_a_files_memory_is_limited(shared):
    read(shared, CSV)
    pid = pid_of(shared)
    limits = dict(line.split("  ", 1) for line in Path(f"/proc/{pid}/limits").read_text().splitlines())
    most = int(limits["Max address space"].split()[0])
    used = int(Path(f"/proc/{pid}/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    assert 0 < most - used <= uploads.MORE_MEMORY


def test_an_error_does_not_keep_the_content_in_memory():
    """Otherwise the error, its traceback and the waiting task would keep each other alive."""

    class Content:
        pass

    def refuse(content):
        raise ParameterError

    async def send():
        content = Content()
        with suppress(ParameterError):
            await run_in(CapacityLimiter(1), refuse, content)
        return weakref.ref(content)

    async def find_kept():
        kept = await send()
        for _ in range(200):  # the thread releases it a moment later
            await asyncio.sleep(0.01)
            if kept() is None:
                break
        return kept()

    gc.disable()
    try:
        assert asyncio.run(find_kept()) is None
    finally:
        gc.enable()


def test_a_dead_process_is_replaced(process):
    read(process, CSV)
    os.kill(pid_of(process), 9)
    process._reader.process.wait(30.0)
    assert len(read(process, CSV).rows) == 2


def test_a_disconnected_sender_ends_the_work(process):
    read(process, CSV)
    first, left = pid_of(process), threading.Event()
    left.set()
    with pytest.raises(ParameterError, match="disconnected"):
        read(process, MANY, left=left)
    wait_for_end(first)


def take_turns(*names):
    """Return the order in which files are read. Each name is a pool and a key; the first file makes the others wait."""
    turns, order, all_wait = Turns(), [], asyncio.Event()

    async def send(name, is_first):
        pool, key = name
        async with turns.take(pool, int(key)):
            order.append(name)
            if is_first:
                await all_wait.wait()

    async def send_all():
        tasks = []
        for name in names:
            tasks.append(asyncio.create_task(send(name, not tasks)))
            await asyncio.sleep(0)
        all_wait.set()
        await asyncio.gather(*tasks)

    asyncio.run(send_all())
    assert not turns.are_wanted
    assert not turns._is_taken
    return order


def test_pools_take_turns():
    assert take_turns("a1", "a2", "a3", "a4", "b5", "c6", "b7") == ["a1", "a2", "b5", "c6", "a3", "b7", "a4"]


def test_each_key_has_one_waiting_file_for_a_limited_time(monkeypatch):
    monkeypatch.setattr(uploads, "WAITING_S", 0.01)

    async def send():
        turns = Turns()
        async with turns.take("main", 1):
            waiting = asyncio.create_task(turns.take("main", 1).__aenter__())
            await asyncio.sleep(0)
            with pytest.raises(AccessError, match="Another file sent with this key") as refused:
                await turns.take("other", 1).__aenter__()
            assert (refused.value.status, refused.value.retry_after_s) == (503, 10)
            with pytest.raises(AccessError, match="Other files are being read"):
                await waiting
            assert not turns.are_wanted
        async with turns.take("main", 1):
            pass

    asyncio.run(send())


def test_a_disconnected_sender_passes_its_turn_on():
    async def send():
        turns = Turns()
        first = turns.take("main", 1)
        await first.__aenter__()
        leaving = asyncio.create_task(turns.take("main", 2).__aenter__())
        await asyncio.sleep(0)
        await first.__aexit__(None, None, None)
        leaving.cancel()
        with suppress(asyncio.CancelledError):
            await leaving
        async with turns.take("main", 3):
            return turns.are_wanted

    assert not asyncio.run(send())


def test_a_slow_file_is_stopped_when_others_wait(process, monkeypatch):
    monkeypatch.setattr(uploads, "WAITING_S", 0.0)
    assert len(read(process, MANY).rows) == 90_000
    monkeypatch.setattr(Turns, "are_wanted", True)
    with pytest.raises(ParameterError, match="others are waiting"):
        read(process, MANY)


@pytest.mark.parametrize(
    "content", ["x" * 140_000 + ";Punkte\na;3\nb;2\n", '"Name;Punkte\n' + "x;y\n" * 50_000, '"' + "x" * 140_000]
)
def test_a_cell_that_is_too_long_is_named(shared, content):
    with pytest.raises(ResultsError, match="has a cell of more than 131,072 characters"):
        read(shared, content.encode())


def test_an_idle_process_ends(process, monkeypatch):
    monkeypatch.setattr(uploads, "IDLE_S", 0.05)
    read(process, CSV)
    reader = process._reader
    for _ in range(500):
        if process._reader is None:
            break
        time.sleep(0.02)
    assert (process._reader, reader is None) == (None, False)


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_the_next_start_removes_files_of_a_killed_process(store, folder):
    killed = folder / f"{PREFIX}1"
    killed.mkdir()
    (killed / "results of ana.csv").touch()
    with temporary_folder() as used, calling(store):
        assert (killed.exists(), used.exists()) == (False, True)


def test_a_folder_stays_while_a_worker_of_a_killed_process_uses_it(folder):
    killed = folder / f"{PREFIX}1"
    killed.mkdir()
    with in_use(killed), in_use(killed):
        remove_left_over()
        assert killed.exists()
    remove_left_over()
    assert not killed.exists()
