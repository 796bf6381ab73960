"""The places of the moment in a race that runs: one row a race, apart from the log, replaced at each post.

They count for nothing. With the result, a cancellation, or a restored copy of the database they are gone.
"""

import json
from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa

from podium.errors import ParameterError, UnknownError
from podium.store.log.chain import announce
from podium.store.log.log import newest_seq
from podium.store.log.players import known_numbers, merges, names_of
from podium.store.log.pools import Pool
from podium.store.sql.database import StoreError
from podium.store.sql.schema import event, running
from podium.store.sql.statements import instant, now, upsert
from podium.store.writing.fixtures import CANCELLED, REPORTED, get_fixture
from podium.support.answers import answer, described

LEAST_US = 1_000_000  # between two posts of servers
OF_RACE = sa.and_(running.c.pool_id == sa.bindparam("pool"), running.c.race_id == sa.bindparam("race"))
HAS_RESULT = sa.exists().where(event.c.pool_id == running.c.pool_id, event.c.event_id == running.c.race_id)
SELECT_RUNNING = sa.select(running.c.posted_at, running.c.body).where(OF_RACE, ~HAS_RESULT)
DELETE_OVER = sa.delete(running).where(running.c.pool_id == sa.bindparam("pool"), HAS_RESULT)


@answer
class Places:
    """How a race stands; nothing of it counts until the result is in."""

    race_id: str = described("The race.")
    posted_at: datetime = described("As of when.")
    places: tuple[str, ...] = described("Who is where, the first first.")
    out: tuple[str, ...] = described("Who does not finish.")


def post_places(
    connection: sa.Connection,
    pool: Pool,
    race_id: str,
    places: Sequence[str],
    *,
    out: Sequence[str] = (),
    by_hand: bool = False,
) -> Places:
    """Say how a race stands at this moment, instead of what was posted before; the log never knows of it.

    Args:
        places: the players in their places, the first first.
        out: those who do not finish.
        by_hand: taps of a person, which may come several in a second.

    Returns:
        The places of the moment.

    Raises:
        UnknownError: no such pool or fixture, or one who is not entered.
        ParameterError: a player twice.
        StoreError: the race has its result, is cancelled, or was posted within this second.
    """
    planned = get_fixture(connection, pool, race_id)
    if planned.status in (REPORTED, CANCELLED):
        raise StoreError(f"race {race_id!r} {'has its result' if planned.status == REPORTED else 'is cancelled'}")
    names = [*places, *out]
    known = known_numbers(connection, pool, names)
    entered = None if planned.entrants is None else {each.player for each in planned.entrants}
    merged = merges(connection, pool)
    numbers = {name: merged.get(number, number) for name, number in known.items()}
    called = names_of(connection, pool, set(numbers.values()))
    for name in names:
        if name not in numbers or (entered is not None and called[numbers[name]] not in entered):
            raise UnknownError(f"{name!r} is not entered in race {race_id!r}; enter the player first")
    if len({numbers[name] for name in names}) < len(names):
        raise ParameterError("places: a player stands there twice")
    row = connection.execute(SELECT_RUNNING, {"pool": pool.id, "race": race_id}).first()
    if row is not None and not by_hand and now() - row.posted_at < LEAST_US:
        raise StoreError(f"race {race_id!r}: places are taken once a second; send them again in a moment")
    connection.execute(DELETE_OVER, {"pool": pool.id})
    body = {"places": [numbers[name] for name in places], "out": [numbers[name] for name in out]}
    upsert(connection, running, [(pool.id, race_id, now(), json.dumps(body))])
    announce(connection, pool, newest_seq(connection, pool))
    found = places_now(connection, pool, race_id)
    if found is None:
        raise StoreError(f"race {race_id!r} has its result")
    return found


def places_now(connection: sa.Connection, pool: Pool, race_id: str) -> Places | None:
    """Show how a race stands.

    Returns:
        The places of the moment; None where none were posted, or the race has its result.
    """
    row = connection.execute(SELECT_RUNNING, {"pool": pool.id, "race": race_id}).first()
    if row is None:
        return None
    body, merged = json.loads(row.body), merges(connection, pool)
    lists = [[merged.get(number, number) for number in body[name]] for name in ("places", "out")]
    names = names_of(connection, pool, {number for each in lists for number in each})
    places, out = (tuple(names[number] for number in each) for each in lists)
    return Places(race_id, instant(row.posted_at), places, out)
