"""The collector of cycles rests while it is paused, and what overlapping pauses leave behind does not pile up."""

import gc
import weakref

import pytest

from podium.support import collector
from podium.support.collector import paused_collection


class Cycle:
    """An object that only the collector frees."""

    def __init__(self):
        self.itself = self


@pytest.fixture
def _collecting():
    """The collector on, as in a service."""
    was_on = gc.isenabled()
    gc.enable()
    gc.freeze()  # what other tests left would be walked each time
    yield
    if not was_on:
        gc.disable()


@pytest.mark.usefixtures("_collecting")
def test_it_is_off_until_the_last_pause_ends():
    with paused_collection():
        with paused_collection():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


@pytest.mark.usefixtures("_collecting")
@pytest.mark.parametrize(("objects", "is_freed"), [(100, False), (5_000, True)])
def test_pauses_that_overlap_leave_no_heap_of_garbage(objects, is_freed, monkeypatch):
    monkeypatch.setattr(collector, "LEFT_OBJECTS", 2_000)
    with paused_collection():
        gc.collect()
        with paused_collection():
            left = weakref.ref(Cycle())
            in_use = [[] for _ in range(objects)]
        assert (left() is None) == is_freed
        assert len(in_use) == objects


@pytest.mark.usefixtures("_collecting")
def test_it_stays_off_where_it_was_off():
    gc.disable()
    with paused_collection():
        pass
    assert not gc.isenabled()
