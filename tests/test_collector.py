"""Python's garbage collector pauses and resumes, and overlapping pauses leave little garbage."""

import gc
import os
import weakref
from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest

from podium.support import collector
from podium.support.collector import paused_collection


class Cycle:
    """An object that only the collector frees."""

    def __init__(self):
        self.itself = self


@pytest.fixture
def _collecting():
    """Turn the collector on, as in a service."""
    was_on = gc.isenabled()
    gc.enable()
    gc.freeze()  # otherwise it would walk objects of other tests each time
    yield
    if not was_on:
        gc.disable()


@pytest.mark.usefixtures("_collecting")
def test_the_collector_is_off_until_the_last_pause_ends():
    with paused_collection():
        with paused_collection():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


@pytest.mark.usefixtures("_collecting")
@pytest.mark.parametrize(("objects", "is_freed"), [(100, False), (5_000, True)])
def test_overlapping_pauses_leave_little_garbage(objects, is_freed, monkeypatch):
    monkeypatch.setattr(collector, "LEFT_OBJECTS", 2_000)
    with paused_collection():
        gc.collect()
        with paused_collection():
            left = weakref.ref(Cycle())
            in_use = [[] for _ in range(objects)]
        assert (left() is None) == is_freed
        assert len(in_use) == objects


@pytest.mark.usefixtures("_collecting")
def test_a_disabled_collector_stays_off():
    gc.disable()
    with paused_collection():
        pass
    assert not gc.isenabled()


GROUPS = {
    "v2, the container's own group": ("0::/", {"v2/memory.max": 5_000}, 5_000),
    "v2, a group above": ("0::/a/b", {"v2/a/b/memory.max": "max", "v2/a/memory.max": 7_000}, 7_000),
    "v1, no limit": ("4:cpu,memory:/a", {"v1/a/memory": 2**63 - 4096, "v1/memory": 2**63 - 4096}, None),
    "v1, a limit": ("4:memory:/a\n3:cpuset:/", {"v1/a/memory": 6_000}, 6_000),
    "none": ("", {}, None),
}


@pytest.mark.parametrize("name", GROUPS)
def test_the_container_limit_caps_the_memory(name, tmp_path, monkeypatch):
    lines, files, limit = GROUPS[name]
    paths = {"": f"{tmp_path}/v2{{}}/memory.max", "memory": f"{tmp_path}/v1{{}}/memory"}
    monkeypatch.setattr(collector, "GROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(collector, "GROUP_FILES", paths)
    (tmp_path / "cgroup").write_text(lines)
    for path, content in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(f"{content}\n")
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert collector.allowed_memory() == (machine if limit is None else limit)


@dataclass
class Line:
    text: str
    values: tuple[float, ...]


def test_a_values_size_is_estimated_well():
    array = np.zeros(1000)
    assert collector.size_of(array) == pytest.approx(8_000, rel=0.1)
    assert collector.size_of(pl.DataFrame({"a": array})) == pytest.approx(8_000, rel=0.1)
    assert collector.size_of({"a": [array, array[:500]]}) == pytest.approx(12_000, rel=0.1)
    line = Line("x" * 1000, (1.0,) * 100)
    assert 1_000 + 8 * 100 < collector.size_of(line) < 6_000
    assert collector.size_of([line] * 10_000) == pytest.approx(10_000 * collector.size_of(line), rel=0.1)
    assert collector.size_of([]) < 100
    assert collector.size_of(None) < 100
