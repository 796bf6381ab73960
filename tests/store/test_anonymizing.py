"""An anonymized player's names are gone everywhere; results under them still count for the player."""

import pytest

import podium
from podium.systems import find

NAME = "Zebedee Quux"


def a_race(event_id, winner, *others, **more):
    field = [winner, *others]
    return [
        {"event_id": event_id, "started_at": f"2025-01-{len(field):02}T00:00Z", "player": each, "position": place}
        | more
        for place, each in enumerate(field, start=1)
    ]


@pytest.fixture
def pool(store):
    store.create_pool("main", find("elo")())
    return store


def test_results_under_a_removed_name_count_for_the_anonymized_player(pool):
    pool.submit("main", a_race("1", NAME, "Ben"))
    player = pool.pseudonymise("main", NAME)
    assert pool.submit("main", a_race("1", NAME, "Ben"))[0].duplicate
    pool.submit("main", a_race("2", NAME, "Ben", "Cleo"))
    pool.amend("main", a_race("1", "Ben", NAME))
    assert {row.player: row.events for row in pool.leaderboard("main").players} == {player: 2, "Ben": 2, "Cleo": 1}
    with pytest.raises(podium.UnknownError):
        pool.rank("main", NAME)
    assert pool.verify() == []


def test_a_name_can_be_given_back(pool):
    pool.submit("main", a_race("1", NAME, "Ben"))
    player = pool.pseudonymise("main", NAME)
    pool.rename("main", "Ben", NAME)
    pool.submit("main", a_race("2", NAME, player, "Cleo"))
    assert pool.rank("main", NAME).events == 2
