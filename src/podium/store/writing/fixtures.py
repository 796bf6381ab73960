"""Fixtures: upcoming races, which can be planned, moved and cancelled, and current places in running races.

The result of a fixture is the event with the same ID. Entrants who are missing from it did not start. The current
places in a running race are stored outside the log, in one row per race. Each post replaces the row. Current places do
not affect ratings. They are deleted when the result arrives, when the race is cancelled, or when a copy of the database
is restored.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
import sqlalchemy as sa

from podium.engine.tables.equipment import equipment_name, kind_and_name
from podium.errors import ParameterError, UnknownError
from podium.ledger.forecast import Member, field_of, member_of
from podium.log.content import holds_player_numbers
from podium.log.database import StoreError
from podium.log.log import CANCEL, PLAN, announce, append, bodies_of, json_entry, newest_seq
from podium.log.players import admit_names, mentions_removed, names_of, numbers_of, public_id, sent_numbers
from podium.log.schema import running
from podium.log.statements import DAY_US, instant, microseconds, now, of_pool, upsert
from podium.results.columns import SHARED, is_shared
from podium.results.names import admit, normalise
from podium.store.following import PoolReader
from podium.store.writing.submission import refuse_entrant_twice
from podium.support.answers import answer, described
from podium.support.words import counted
from podium.views.names import present_names

PLANNED, STARTED, REPORTED, CANCELLED, NO_RESULT = "planned", "started", "reported", "cancelled", "no result"
WAITS_US = DAY_US  # time after its start during which a race waits for a result
MAX_ENTRANTS = 1_000


@answer
class Starter:
    """An entrant of an upcoming race."""

    player: str = described("The entrant's current name.")
    team: str | None = described("Team. Null for a player who competes individually.")
    side: str | None = described("Side: home, white, away or black. Omitted if no side is planned.", default=None)
    shared: dict[str, str] | None = described("Equipment that the player uses, by kind.", default=None)

    @property
    def columns(self) -> dict[str, str]:
        """The planned values for the entrant's row in a results table: team, side and equipment."""
        shared = {f"{SHARED}{kind}": name for kind, name in (self.shared or {}).items()}
        return {name: value for name, value in (("team", self.team), ("side", self.side)) if value} | shared


@answer
class Places:
    """The current places in a race. Only the final result counts towards ratings."""

    race_id: str = described("The race.")
    posted_at: datetime = described("Time at which these standings were posted.")
    places: tuple[str, ...] = described("Players by place, leader first.")
    out: tuple[str, ...] = described("Players who did not finish.")


@answer
class Fixture:
    """An upcoming or past race."""

    fixture_id: str = described("ID of the race. Its result is the event with the same ID.")
    title: str | None = described("Title.")
    starts_at: datetime = described("When the race starts.")
    entrants: tuple[Starter, ...] | None = described("Entrants. Null if the race is open to anyone.")
    status: str = described(
        "Status. If there is no result one day after the start, it becomes `no_result`.",
        enum=[PLANNED, STARTED, REPORTED, CANCELLED, NO_RESULT],
    )

    @property
    def members(self) -> list[list[Member]]:
        """The members of each side, with sides in the order of their first members."""
        sides: dict[Any, list[Member]] = {}
        for number, entrant in enumerate(self.entrants or ()):
            member = Member(entrant.player, entrant.shared or {}, entrant.side)
            sides.setdefault(number if entrant.team is None else entrant.team, []).append(member)
        return list(sides.values())

    @property
    def sides(self) -> list[list[str]]:
        """The names of each side's members, with sides in the order of their first members."""
        return [[member.player for member in side] for side in self.members]

    def standing(
        self, places: Sequence[str] = (), out: Sequence[str] = ()
    ) -> tuple[list[list[str]], list[list[str]], list[list[str]]]:
        """Return the sides that have a place, in order, the sides that are out, and all other sides.

        A side's place is that of its first member who has one. In an open race, each player is a side.
        """
        sides = [[name] for name in (*places, *out)] if self.entrants is None else self.sides
        side_of = {name: number for number, side in enumerate(sides) for name in side}
        placed, left = (
            dict.fromkeys(side_of[name] for name in side_names if name in side_of) for side_names in (places, out)
        )
        left = dict.fromkeys(number for number in left if number not in placed)
        waiting = [number for number in range(len(sides)) if number not in placed and number not in left]
        in_place, gone, yet = (
            [sides[number] for number in numbers_of_sides] for numbers_of_sides in (placed, left, waiting)
        )
        return in_place, gone, yet


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


class Plan(NamedTuple):
    """An upcoming race, in the log's form."""

    fixture_id: str
    body: Mapping[str, Any]  # `entrants`, `starts_at` and `title` of its newest entry
    is_cancelled: bool
    has_result: bool


def plans_of(pool: PoolReader, numbers: Sequence[int]) -> list[Plan]:
    """Return the races with these numbers. The number -1 means no race."""
    events, known = pool.snapshot.events, [number for number in numbers if number >= 0]
    fixtures, places = events.fixtures, np.array(known, np.int64)
    seqs, cancelled = (fixtures.columns.at(name, places).tolist() for name in ("seq", "is_cancelled"))
    bodies = bodies_of(pool, seqs) if seqs else {}
    ids = [fixtures.ids[number] for number in known]
    return [
        Plan(fixture_id, json.loads(bodies[seq]), is_cancelled, events.find(fixture_id) >= 0)
        for fixture_id, seq, is_cancelled in zip(ids, seqs, cancelled, strict=True)
    ]


def numbered_entrants(pool: PoolReader, fixture_id: str, entrants: Sequence[Any]) -> list[dict[str, Any]]:
    rows = [entrant if isinstance(entrant, Mapping) else {"player": entrant} for entrant in entrants]
    if len(rows) > MAX_ENTRANTS:
        raise ParameterError(f"entrants: {len(rows):,} are too many. A fixture can have up to {MAX_ENTRANTS:,}.")
    names = admit_names(pool, [str(row["player"]) for row in rows], "entrant")
    teams = [None if row.get("team") is None else admit(str(row["team"]), "team") for row in rows]
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


def get_fixture(pool: PoolReader, fixture_id: str) -> Fixture:
    """Return a fixture.

    Returns:
        The fixture with its title, start, entrants and status.

    Raises:
        UnknownError: the pool or the fixture does not exist.
    """
    found = plans_of(pool, [pool.snapshot.events.fixtures.find(public_id(pool, fixture_id))])
    if not found:
        raise UnknownError(f"Pool {pool.name!r} has no fixture {fixture_id!r}. Check the ID.")
    return as_fixtures(pool, found)[0]


def fixtures(
    pool: PoolReader, *, since: datetime | None = None, most: int = 100, ahead: bool = False, newest: bool = False
) -> tuple[Fixture, ...]:
    """List fixtures, with the earliest start first.

    Args:
        pool: the pool.
        since: list only fixtures that start at this time or later. Default: all.
        most: maximum number of fixtures.
        ahead: True to leave out fixtures that are cancelled or already have a result.
        newest: True to list fixtures with the latest start first.

    Returns:
        The fixtures.
    """
    events = pool.snapshot.events
    ids, columns = events.fixtures.ids, events.fixtures.columns
    starts = columns.part("starts_at")
    earliest = now() - WAITS_US if ahead else -(2**63)
    earliest = earliest if since is None else max(earliest, microseconds(since))
    chosen = np.flatnonzero((starts >= earliest) & ~(columns.part("is_cancelled") & ahead)).tolist()
    ordered = sorted(chosen, key=lambda number: (starts[number], ids[number]), reverse=newest)
    numbers = [number for number in ordered if not (ahead and events.find(ids[number]) >= 0)]
    return as_fixtures(pool, plans_of(pool, numbers[:most]))


def as_fixtures(pool: PoolReader, plans: Sequence[Plan]) -> tuple[Fixture, ...]:
    """Return fixtures. Accounts that have been merged in the meantime appear only once, under the current name."""
    lists = [plan.body["entrants"] for plan in plans]
    numbered = [
        entrant[key] for entrants in lists for entrant in entrants or () for key in entrant if holds_player_numbers(key)
    ]
    names = present_names(pool, numbered)
    found = []
    for plan, entrants in zip(plans, lists, strict=True):
        lines = [
            {key: names[value] if holds_player_numbers(key) else value for key, value in entrant.items()}
            for entrant in entrants or ()
        ]
        once = {line["player"]: line for line in lines}
        starts = None if entrants is None else tuple(starter_of(member) for member in once.values())
        moment, title = instant(plan.body["starts_at"]), plan.body.get("title")
        found.append(Fixture(plan.fixture_id, title, moment, starts, status_of(plan)))
    return tuple(found)


def starter_of(line: Mapping[str, Any]) -> Starter:
    """Return the entrant in a line, which has the same form as an entry in a result."""
    shared = dict(kind_and_name(name) for key, name in line.items() if is_shared(key))
    return Starter(line["player"], line["team"], line.get("side"), shared or None)


def status_of(plan: Plan) -> str:
    if plan.has_result:
        return REPORTED
    if plan.is_cancelled:
        return CANCELLED
    passed = now() - plan.body["starts_at"]
    return PLANNED if passed < 0 else STARTED if passed < WAITS_US else NO_RESULT


LEAST_US = 1_000_000  # minimum time between two posts by a server
OF_RACE = sa.and_(of_pool(running), running.c.race_id == sa.bindparam("race"))
SELECT_RUNNING = sa.select(running.c.posted_at, running.c.body).where(OF_RACE)
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
    announce(pool, newest_seq(pool))
    in_place, gone = (tuple(called[numbers[name]] for name in side_names) for side_names in (places, out))
    return Places(race_id, instant(posted_at), in_place, gone)


def places_now(pool: PoolReader, race_id: str) -> Places | None:
    """Return the current places in a race.

    Returns:
        The places, or None if none were posted or the race already has a result.
    """
    row = pool.execute(SELECT_RUNNING, race=race_id).first()
    if row is None or pool.snapshot.events.find(race_id) >= 0:
        return None
    body = json.loads(row.body)
    names = present_names(pool, [*body["places"], *body["out"]])
    places, out = (tuple(names[number] for number in body[name]) for name in ("places", "out"))
    return Places(race_id, instant(row.posted_at), places, out)
