"""Plan, move and cancel upcoming races, called fixtures, and post the current places in running races.

The current places in a running race are stored outside the log, in one row per race. Each post replaces the row.
Current places do not affect ratings. They are deleted when the result arrives, when the race is cancelled, or when a
copy of the database is restored.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from podium.engine.tables.equipment import equipment_name
from podium.errors import ParameterError, UnknownError
from podium.ledger.forecast import Member, field_of, member_of
from podium.log.database import StoreError
from podium.log.log import CANCEL, PLAN, announce, append, json_entry
from podium.log.players import admit_entrants, mentions_removed, names_of, numbers_of, public_id, sent_numbers
from podium.log.schema import running
from podium.log.statements import instant, microseconds, now, of_pool, upsert
from podium.results.columns import SHARED
from podium.results.names import admit, normalise
from podium.store.following import PoolReader
from podium.store.writing.submission import refuse_entrant_twice
from podium.support.words import counted
from podium.views.races.fixtures import (
    CANCELLED,
    OF_RACE,
    REPORTED,
    SELECT_RUNNING,
    Fixture,
    Places,
    Plan,
    as_fixtures,
    get_fixture,
    plans_of,
)

MAX_ENTRANTS = 1_000


def plan_fixture(
    pool: PoolReader,
    fixture_id: str,
    *,
    starts_at: datetime | None = None,
    title: str | None = None,
    entrants: Sequence[Any] | None = None,
    anybody: bool = False,
    actor: str = "",
) -> Fixture:
    """Plan a race, or change the start, title or entrants of a planned race.

    Args:
        pool: the pool.
        fixture_id: the ID of the race.
        starts_at: the start time with its time zone. Required for a new race.
        title: the title. An empty string removes it.
        entrants: the new entrants, as names or as dicts with `player`, `team`, `side` and `shared`.
        anybody: True to remove all entrants and open the race to anyone.
        actor: the sender, for the log.

    Returns:
        The fixture.

    Raises:
        ParameterError: a new race has no start, an entrant is repeated, a name is invalid, or an open race has
            entrants.
        ResultsError: the same player is entered twice under two names.
        StoreError: the race already has a result, or an event or a registered match has the same ID.
    """
    fixture_id = public_id(pool, admit(fixture_id, "a fixture's id"))
    if anybody and entrants:
        raise ParameterError(
            f"“open to everyone” (anybody) and {counted(len(entrants), 'name')} contradict each other. Remove the "
            "names, or leave out anybody"
        )
    events = pool.snapshot.events
    known = next(iter(plans_of(pool, [events.fixtures.find(fixture_id)])), None)
    if known is None:
        refuse_taken(pool, fixture_id)
        if starts_at is None:
            raise ParameterError("starts_at: a new fixture needs a start time")
    elif known.has_result:
        raise StoreError(f"Fixture {fixture_id!r} already has a result. Correct the event instead.")
    before = {"title": None, **({} if known is None else known.body)}
    body = {name: before.get(name) for name in ("entrants", "starts_at", "title")}
    if starts_at is not None:
        body["starts_at"] = microseconds(starts_at)
    if title is not None:
        is_shown = normalise(title) and not mentions_removed(pool, title)
        body["title"] = admit(title, "title") if is_shown else None
    if anybody:
        body["entrants"] = None
    elif entrants is not None:
        body["entrants"] = numbered_entrants(pool, fixture_id, entrants)
    if known is None or known.is_cancelled or body != before:
        append(pool, PLAN, [json_entry(fixture_id, body, actor)])
    return as_fixtures(pool, [Plan(fixture_id, body, is_cancelled=False, has_result=False)])[0]


def numbered_entrants(pool: PoolReader, fixture_id: str, entrants: Sequence[Any]) -> list[dict[str, Any]]:
    if len(entrants) > MAX_ENTRANTS:
        raise ParameterError(f"entrants: {len(entrants):,} are too many. A fixture can have up to {MAX_ENTRANTS:,}.")
    rows, names, teams = admit_entrants(pool, entrants, "entrant")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ParameterError(f"entrants: {twice!r} is entered twice. Remove one entry.")
    members = [member_of({key: row[key] for key in Member._fields if row.get(key)}) for row in rows]
    if not any(teams):
        field_of(members, (), lambda all_names: all_names)  # at most one of them moves first
    equipment = [{kind: equipment_name(kind, name) for kind, name in member.shared.items()} for member in members]
    numbers = numbers_of(pool, [*names, *(name for equipment_names in equipment for name in equipment_names.values())])
    refuse_entrant_twice(pool, fixture_id, names, {name: numbers[name] for name in names})
    return [
        {"player": numbers[name], "team": team}
        | ({"side": member.side} if member.side else {})
        | {f"{SHARED}{kind}": numbers[equipment] for kind, equipment in owned.items()}
        for name, team, member, owned in zip(names, teams, members, equipment, strict=True)
    ]


def refuse_taken(pool: PoolReader, fixture_id: str) -> None:
    events = pool.snapshot.events
    for number, what in ((events.find(fixture_id), "an event"), (events.matches.find(fixture_id), "a match")):
        if number >= 0:
            raise StoreError(f"fixture {fixture_id!r}: there is already {what} with that ID")


def cancel_fixture(pool: PoolReader, fixture_id: str, *, actor: str = "") -> Fixture:
    """Cancel a race. Planning it again restores it.

    Returns:
        The fixture.

    Raises:
        UnknownError: the pool or the fixture does not exist.
        StoreError: the race already has a result.
    """
    known = get_fixture(pool, fixture_id)
    if known.status == REPORTED:
        raise StoreError(f"Fixture {fixture_id!r} already has a result. Void the event instead.")
    fixture_id = known.fixture_id
    if known.status != CANCELLED:
        append(pool, CANCEL, [json_entry(fixture_id, None, actor)])
        pool.run(DELETE_RACE, race=fixture_id)
    return replace(known, status=CANCELLED)


LEAST_US = 1_000_000  # minimum time between two posts by a server
SELECT_RACES = sa.select(running.c.race_id).where(of_pool(running))
DELETE_RACE = sa.delete(running).where(OF_RACE)


def post_places(
    pool: PoolReader, race_id: str, places: Sequence[str], *, out: Sequence[str] = (), by_hand: bool = False
) -> Places:
    """Store the current places in a running race, outside the log.

    Args:
        pool: the pool.
        race_id: the ID of the race.
        places: the players in the order of their places, with the leader first.
        out: the players who did not finish.
        by_hand: True if a person enters the places by tapping, which may happen several times per second.

    Returns:
        The current places.

    Raises:
        UnknownError: the pool or the fixture does not exist, or a player is not entered.
        ParameterError: a player is repeated.
        StoreError: the race already has a result, is cancelled, or received places less than a second ago.
    """
    planned = get_fixture(pool, race_id)
    race_id = planned.fixture_id
    if planned.status in (REPORTED, CANCELLED):
        raise StoreError(f"race {race_id!r} {'already has a result' if planned.status == REPORTED else 'is cancelled'}")
    names = [*places, *out]
    known = sent_numbers(pool, names)
    entered = None if planned.entrants is None else {entrant.player for entrant in planned.entrants}
    merged = pool.snapshot.merged
    numbers = {name: merged.get(number, number) for name, number in known.items()}
    called = names_of(pool, set(numbers.values()))
    for name in names:
        if name not in numbers or (entered is not None and called[numbers[name]] not in entered):
            raise UnknownError(f"{name!r} is not entered in race {race_id!r}. Enter the player first.")
    if len({numbers[name] for name in names}) < len(names):
        raise ParameterError("places: a player is listed twice. Remove one.")
    row = pool.execute(SELECT_RUNNING, race=race_id).first()
    if row is not None and not by_hand and now() - row.posted_at < LEAST_US:
        raise StoreError(
            f"race {race_id!r}: standings are limited to one update per second. Send them again in a moment."
        )
    for (race,) in pool.run(SELECT_RACES):
        if pool.snapshot.events.find(race) >= 0:
            pool.run(DELETE_RACE, race=race)
    posted_at, body = now(), {"places": [numbers[name] for name in places], "out": [numbers[name] for name in out]}
    upsert(pool.connection, running, [(pool.id, race_id, posted_at, json.dumps(body))])
    announce(pool, pool.version())
    in_place, gone = (tuple(called[numbers[name]] for name in side_names) for side_names in (places, out))
    return Places(race_id, instant(posted_at), in_place, gone)
