"""Routes for upcoming races, and for the rating change that each place would bring."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Annotated

from fastapi import Depends, Query, Request
from pydantic import AfterValidator, Field

from podium.ledger.forecast import Member, members_in
from podium.ledger.seeding import Seed
from podium.service.api.bodies import (
    Entrant,
    Moment,
    SentEquipment,
    SentSide,
    Strict,
)
from podium.service.api.dependencies import ReadAccess, RequestedWrite, Sent
from podium.service.http.errors import AccessError
from podium.service.http.json import (
    EARLIEST,
    MAX_SENT_CHARACTERS,
    FixtureId,
    Identifier,
    PoolName,
    SentName,
    in_utc,
)
from podium.service.http.keys import pool_in_path
from podium.service.http.requests import CurrentStore, PoolRouter, run_in
from podium.service.http.visitors import find_visitor
from podium.service.web.ahead.calendar import CurrentStakes, refuse_large_field
from podium.service.web.ahead.races import Groups, Protect
from podium.store.writing.fixtures import MAX_ENTRANTS
from podium.views.races.ahead import RaceStakes, RunningRace, race_stakes
from podium.views.races.fixtures import Fixture, Places

router = PoolRouter()


class PlannedEntrant(Entrant):
    """An entrant, with equipment and side."""

    side: SentSide = None
    shared: SentEquipment = None


Entrants = Annotated[list[PlannedEntrant] | None, Field(max_length=MAX_ENTRANTS, description="Entrants.")]
RaceTitle = Annotated[
    str | None, Field(max_length=MAX_SENT_CHARACTERS, description="Title. An empty string removes it.")
]
Named = Annotated[
    str | None,
    Query(
        max_length=MAX_SENT_CHARACTERS,
        description="Player whose table is returned. The player does not have to be an entrant yet.",
    ),
]
Heats = Annotated[
    int, Query(ge=1, le=100, description="Number of heats. The player is assumed to take the same place in each.")
]
Margin = Annotated[
    float | None,
    Query(ge=0.0, description="Assumed winning margin between two sides. Default: the pool's usual margin."),
]
SentText = Annotated[str, Field(max_length=MAX_SENT_CHARACTERS)]
Names = Annotated[
    list[SentText],
    Query(max_length=200, description="Name of an entrant. Repeat the parameter for each entrant."),
]


Having = Annotated[
    list[SentText] | None,
    Query(
        alias="with",
        max_length=200,
        description="An entrant's equipment or side, such as `ana,car=Ferrari` or `ana,side=white`.",
    ),
]


New = Annotated[
    Sequence[SentText],
    Query(max_length=200, description="Name of a newcomer, if it is similar to a known name. Can be repeated."),
]


class NewFixture(Strict):
    """An upcoming race. Without entrants, the race is open to everyone."""

    fixture_id: Identifier
    starts_at: Moment
    title: RaceTitle = None
    entrants: Entrants = None


class FixtureChange(Strict):
    """Changes to an upcoming race. Omitted fields stay as they are.

    Attributes:
        anybody: True to remove the entrants and open the race to everyone.
    """

    starts_at: Moment | None = None
    title: RaceTitle = None
    entrants: Entrants = None
    anybody: bool = False


class NewPlaces(Strict):
    """The current standings of a race.

    Attributes:
        places: Players by place, with the leader first.
    """

    places: Annotated[list[SentName], Field(max_length=MAX_ENTRANTS)]
    out: list[SentName] = Field([], max_length=MAX_ENTRANTS, description="Players who did not finish.")


@router.get("/{pool}/fixtures")
def fixtures(
    pool: PoolName,
    store: CurrentStore,
    _key: ReadAccess,
    since: Annotated[
        datetime, Query(description="Return only races that start at this time or later."), AfterValidator(in_utc)
    ] = EARLIEST,
    *,
    ahead: Annotated[bool, Query(description="Return only races that have not taken place yet.")] = False,
    most: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> tuple[Fixture, ...]:
    """List planned races, both upcoming and past, by start time."""
    return store.fixtures(pool, since=since, ahead=ahead, most=most)


@router.get("/{pool}/fixtures/{fixture_id}")
def fixture(pool: PoolName, fixture_id: FixtureId, store: CurrentStore, _key: ReadAccess) -> Fixture:
    """Return an upcoming or past race as it was planned, with its result."""
    return store.fixture(pool, fixture_id)


@router.get("/{pool}/fixtures/{fixture_id}/seeds")
def seeds(
    pool: PoolName,
    fixture_id: FixtureId,
    store: CurrentStore,
    _key: ReadAccess,
    groups: Groups = None,
    protect: Protect = 0,
) -> tuple[Seed, ...]:
    """Return the entrants of an upcoming race as seeds of a tournament, with bracket lines, groups and pairs."""
    return store.seeds(pool, fixture_id, groups=groups, protect=protect)


async def sends_key(request: Request, reader: ReadAccess) -> bool:
    """Return True if the request has a key, even for a public pool."""
    with suppress(AccessError):
        reader = reader if reader.key else await find_visitor(request)
    return reader.may("read", pool_in_path(request))


HasKey = Annotated[bool, Depends(sends_key)]


@router.get("/{pool}/fixtures/{fixture_id}/stakes")
def fixture_stakes(
    pool: PoolName,
    fixture_id: FixtureId,
    store: CurrentStore,
    kept: CurrentStakes,
    _key: ReadAccess,
    has_key: HasKey,
    player: Named = None,
    heats: Heats = 1,
    new: New = (),
) -> RaceStakes:
    """Return how each place in an upcoming race would change the rating of the first entrant or of a given player.

    The table is at most a minute old.
    """
    joining = None if player is None else Member(player, new=player in new)
    aged = kept.of_race(store, pool, store.fixture(pool, fixture_id), joining, heats=heats, has_key=has_key)
    return race_stakes(aged.stakes, aged.age_s)


@router.get("/{pool}/stakes")
def stakes(
    pool: PoolName,
    store: CurrentStore,
    kept: CurrentStakes,
    _key: ReadAccess,
    has_key: HasKey,
    entrants: Names,
    player: Named = None,
    heats: Heats = 1,
    having: Having = None,
    new: New = (),
    margin: Margin = None,
) -> RaceStakes:
    """Return the rating change for each place in a race between these entrants, all competing individually."""
    given = members_in(having or [])
    found = [given.pop(name, Member(name)) for name in entrants] + [*given.values()]
    members = [line._replace(new=line.player in new) for line in found]
    joining = None if player is None else Member(player, new=player in new)
    refuse_large_field(len(members), has_key=has_key)
    key = str(members), str(joining), heats, margin
    aged = kept.find(store, pool, key, lambda: store.stakes(pool, members, joining, heats=heats, margin=margin))
    return race_stakes(aged.stakes, aged.age_s)


@router.get("/{pool}/fixtures/{fixture_id}/places")
def places(pool: PoolName, fixture_id: FixtureId, store: CurrentStore, _key: ReadAccess) -> RunningRace:
    """Return the current standings of a race, and how ratings would change if the race ended now.

    Live standings do not count towards ratings.
    """
    return store.running_race(pool, fixture_id)


@router.put("/{pool}/fixtures/{fixture_id}/places")
async def post_places(
    pool: PoolName,
    fixture_id: FixtureId,
    act: RequestedWrite,
    body: Sent[NewPlaces],
) -> Places:
    """Set the current standings of a race, at most once a second. They are not logged."""
    return await run_in(act.threads.writing, act.store.post_places, pool, fixture_id, body.places, out=body.out)


@router.post("/{pool}/fixtures", status_code=201)
async def plan_fixture(
    pool: PoolName,
    act: RequestedWrite,
    body: Sent[NewFixture],
) -> Fixture:
    """Plan a race.

    Its result is the event with the same ID. Entrants missing from the result count as not having started.
    """
    return await act.run(act.store.plan_fixture, pool, **body.model_dump())


@router.put("/{pool}/fixtures/{fixture_id}")
async def change_fixture(
    pool: PoolName,
    fixture_id: FixtureId,
    act: RequestedWrite,
    body: Sent[FixtureChange],
) -> Fixture:
    """Change the date, title or entrants of an upcoming race. A cancelled race is reinstated."""
    await run_in(act.threads.writing, act.store.fixture, pool, fixture_id)  # raises an error if there is none
    return await act.run(act.store.plan_fixture, pool, fixture_id, **body.model_dump())


@router.post("/{pool}/fixtures/{fixture_id}/cancel")
async def cancel_fixture(pool: PoolName, fixture_id: FixtureId, act: RequestedWrite) -> Fixture:
    """Cancel an upcoming race."""
    return await act.run(act.store.cancel_fixture, pool, fixture_id)
