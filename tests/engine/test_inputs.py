"""The columns of the kernels: their levels, and the defaults of missing columns."""

import numpy as np

from podium.engine.inputs import (
    ABSENT,
    ENTRANT_COLUMNS,
    ENTRY_COLUMNS,
    HEAT_COLUMNS,
    SHARED_COLUMNS,
    UPDATE_COLUMNS,
    Columns,
    Entry,
    entries_of,
    entry_at,
    finisher,
    heats_of,
)

OFFSETS = ("entrants", "heats", "entries")
THREE_EVENTS = Columns(**dict.fromkeys(Columns._fields, ABSENT))._replace(entrants=np.array([0, 2, 5, 7]))


def test_every_column_has_one_level():
    levels = (*OFFSETS, *ENTRANT_COLUMNS, *HEAT_COLUMNS, *ENTRY_COLUMNS, *UPDATE_COLUMNS, *SHARED_COLUMNS)
    assert sorted(levels) == sorted(Columns._fields)


def test_without_heat_offsets_an_update_is_one_heat():
    assert heats_of(THREE_EVENTS, 1) == (1, 2)
    assert entries_of(THREE_EVENTS, 1) == (2, 5)


def test_offsets_give_the_heats_and_entries():
    columns = THREE_EVENTS._replace(heats=np.array([0, 2, 3, 5]), entries=np.array([0, 2, 4, 7, 9, 11]))
    assert heats_of(columns, 2) == (3, 5)
    assert entries_of(columns, 3) == (7, 9)


def test_unknown_fields_of_a_finisher_are_not_numbers():
    first = finisher(1.0, 61.5)
    assert first._replace(score=0.0, played_s=0.0, duration_s=0.0) == Entry(
        1.0, 1.0, 1.0, 61.5, 0.0, 0.0, 0.0, 0.0, 1.0
    )
    assert np.isnan([first.score, first.played_s, first.duration_s]).all()
    columns = THREE_EVENTS._replace(place=np.array([1.0, 2.0]), time_s=np.array([61.5, 62.0]))
    np.testing.assert_array_equal(entry_at(columns, 0, 2.0), first)
