"""What the store refuses in words, and what it says where there is nothing to say."""

from datetime import UTC, datetime

import pytest
import sqlalchemy as sa
from races import rows

from podium.errors import PodiumError
from podium.store import Store
from podium.store.keys import create_key
from podium.store.log.schema import player
from podium.systems import find

SOON = datetime(2199, 1, 1, tzinfo=UTC)
MANY = [f"p{number}" for number in range(2_001)]


@pytest.fixture
def filled(tmp_path):
    store = Store(str(tmp_path / "podium.db"))
    store.create_pool("main", find("elo")())
    for number in range(4):
        store.submit("main", rows(number, "abc"))
    yield store
    store.close()


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda store: create_key(store.engine, "x", "root"), "role is 'root'; it must be one of"),
        (lambda store: create_key(store.engine, "x", "read", reach_s=0.0), "the reach is 0.0 seconds; it must"),
        (lambda store: store.create_pool("x", find("elo")(), contact="x" * 999), "contact: has 999 characters; it"),
        (lambda store: store.plan_fixture("main", "gp", starts_at=SOON, entrants=MANY), "entrants: there are 2,001; a"),
        (lambda store: store.configure("main", find("podium")(shared="team")), "shared=team is for files; a pool"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_words(act, message, filled):
    with pytest.raises(PodiumError, match=message):
        act(filled)
    assert filled.verify() == []


def test_a_pseudonym_that_somebody_has_gets_a_mark(filled):
    filled.submit("main", rows(9, ["a", "player 1"]))
    assert filled.rank("main", "b")
    filled.pseudonymise("main", "a")
    with filled.engine.connect() as connection:
        names = set(connection.execute(sa.select(player.c.name)).scalars())
    assert names == {"player 1", "player 1'", "b", "c"}


def test_two_who_met_in_heats_alone_are_compared_by_these(filled):
    table = [
        {"event_id": "h", "started_at": "2031-01-01T00:00:00Z", "heat": heat, "player": name, "position": place}
        for heat, places in (("1", (1, 2)), ("2", (1, 2)), ("3", (2, 1)), ("4", (1, 1)))
        for name, place in zip("ab", places, strict=True)
    ]
    filled.submit("main", table)
    found = filled.rivalry("main", "a", "b", newest=1)
    assert found.newest_ahead == (1,)
    assert (found.newest[0].wins, found.newest[0].draws, found.newest[0].losses) == (2, 1, 1)
