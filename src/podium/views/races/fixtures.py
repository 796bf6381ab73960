"""Upcoming races, called fixtures, and the current places in running races.

The result of a fixture is the event with the same ID. Entrants who are missing from it did not start.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
import sqlalchemy as sa

from podium.engine.tables.equipment import kind_and_name
from podium.errors import UnknownError
from podium.ledger.forecast import Member
from podium.log.content import holds_player_numbers
from podium.log.log import bodies_of
from podium.log.players import public_id
from podium.log.schema import running
from podium.log.statements import DAY_US, instant, microseconds, now, of_pool
from podium.results.columns import SHARED, is_shared
from podium.support.answers import answer, described
from podium.views.names import present_names
from podium.views.reader import PoolAt

PLANNED, STARTED, REPORTED, CANCELLED, NO_RESULT = "planned", "started", "reported", "cancelled", "no result"
WAITS_US = DAY_US  # time after its start during which a race waits for a result


@answer
class Starter:
    """An entrant of an upcoming race.

    Attributes:
        player: The entrant's current name.
        team: Team. Null for a player who competes individually.
        side: Side: home, white, away or black. Omitted if no side is planned.
        shared: Equipment that the player uses, by kind.
    """

    player: str
    team: str | None
    side: str | None = None
    shared: dict[str, str] | None = None

    @property
    def columns(self) -> dict[str, str]:
        """The planned values for the entrant's row in a results table: team, side and equipment."""
        shared = {f"{SHARED}{kind}": name for kind, name in (self.shared or {}).items()}
        return {name: value for name, value in (("team", self.team), ("side", self.side)) if value} | shared


@answer
class Places:
    """The current places in a race. Only the final result counts towards ratings.

    Attributes:
        race_id: The race.
        posted_at: Time at which these standings were posted.
        places: Players by place, leader first.
        out: Players who did not finish.
    """

    race_id: str
    posted_at: datetime
    places: tuple[str, ...]
    out: tuple[str, ...]


@answer
class Fixture:
    """An upcoming or past race.

    Attributes:
        fixture_id: ID of the race. Its result is the event with the same ID.
        title: Title.
        starts_at: When the race starts.
        entrants: Entrants. Null if the race is open to anyone.
    """

    fixture_id: str
    title: str | None
    starts_at: datetime
    entrants: tuple[Starter, ...] | None
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


class Plan(NamedTuple):
    """An upcoming race, in the log's form."""

    fixture_id: str
    body: Mapping[str, Any]  # `entrants`, `starts_at` and `title` of its newest entry
    is_cancelled: bool
    has_result: bool


def plans_of(pool: PoolAt, numbers: Sequence[int]) -> list[Plan]:
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


def get_fixture(pool: PoolAt, fixture_id: str) -> Fixture:
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
    pool: PoolAt, *, since: datetime | None = None, most: int = 100, ahead: bool = False, newest: bool = False
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


def as_fixtures(pool: PoolAt, plans: Sequence[Plan]) -> tuple[Fixture, ...]:
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


OF_RACE = sa.and_(of_pool(running), running.c.race_id == sa.bindparam("race"))
SELECT_RUNNING = sa.select(running.c.posted_at, running.c.body).where(OF_RACE)


def places_now(pool: PoolAt, race_id: str) -> Places | None:
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
