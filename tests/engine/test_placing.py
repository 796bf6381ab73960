"""Places within heats: a table with all finishers in order keeps its positions, which are the calculated places."""

from unittest import mock

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import podium
from podium.engine.tables import placing
from podium.engine.tables.encoding import frozen, place_columns

HEATS = st.lists(
    st.integers(1, 5).flatmap(
        lambda size: st.one_of(
            st.just([float(place) for place in range(1, size + 1)]),
            st.lists(st.sampled_from([1.0, 2.0, 2.5, 4.0]), min_size=size, max_size=size),
        )
    ),
    min_size=1,
    max_size=6,
)
NOTHING = frozen(np.empty(0))


def placed(heats):
    offsets = np.cumsum([0, *map(len, heats)])
    reported = placing.Reported(
        heats=frozen(offsets, np.int64),
        finished=frozen(NOTHING, np.bool_),
        position=frozen(np.concatenate(heats)),
        score=NOTHING,
        time_s=NOTHING,
        team=frozen(NOTHING, np.int32),
        team_score=NOTHING,
    )
    return place_columns(placing.place_heats(reported, teams=False), reported)


@given(HEATS)
def test_positions_in_order_are_the_places(heats):
    in_general = placed(heats)
    with mock.patch.object(placing, "COMPILED_MIN_ENTRIES", 0):
        columns = placed(heats)
    for name, column in in_general.items():
        assert columns[name].dtype == column.dtype
        assert columns[name].tolist() == column.tolist(), name


def test_only_tables_in_order_keep_their_positions():
    offsets = np.array([0, 2, 5])
    assert placing._stand_in_order(offsets, np.array([1.0, 2.0, 1.0, 2.0, 3.0]))
    for at in range(5):
        position = np.array([1.0, 2.0, 1.0, 2.0, 3.0])
        position[at] = np.nan
        assert not placing._stand_in_order(offsets, position)


def test_other_events_with_teams_do_not_change_an_event_without():
    """Times come before team scores unless an event has teams."""
    results = {"time_s": [1.0, 2.0], "team_score": [0.0, 5.0]}
    alone = {"event_id": ["e", "e"], "player": ["a", "b"], "team": [None, None], **results}
    teams = {"event_id": ["f", "f"], "player": ["x", "y"], "team": ["red", "blue"], **results}
    for tables in ([alone], [alone, teams]):
        rows = [dict(zip(table, row, strict=True)) for table in tables for row in zip(*table.values(), strict=True)]
        history = podium.rate(podium.read_results(rows), "elo").history
        assert history.filter(event_id="e")["delta"].to_list() == [12.0, -12.0]
