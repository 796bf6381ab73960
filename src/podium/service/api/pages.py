"""The routes of what pages show: boards of those who are listed, names, and events at a glance."""

from typing import Annotated

from fastapi import Depends, Query

from podium.ledger.leaderboard import span
from podium.log.pools import read_when
from podium.service.api.reads import ActiveWithin, Cursor, MinEvents
from podium.service.http.errors import error_responses
from podium.service.http.json import MAX_SENT_CHARACTERS, EventId, PlayerName, PoolName
from podium.service.http.requests import CurrentStore, ReadRouter
from podium.service.http.visitors import check_reader
from podium.store.reading.log import CorrectionRecord
from podium.store.reading.pool_facts import EventField, FairExpectation, PoolFacts
from podium.views import player_models

router = ReadRouter("pages", dependencies=[Depends(check_reader)])
REFUSALS_TO_EXPLAIN = error_responses(409)  # of a pool that another version rated
Rows = Annotated[int, Query(ge=1, le=200, description="Rows of the page.")]


async def sent_listing(
    min_events: MinEvents = None,
    active_within: ActiveWithin = None,
    *,
    provisional: Annotated[bool, Query(description="Rank players with a provisional rating too.")] = False,
) -> player_models.Listing:
    """Return who is listed, as a query says."""
    return player_models.Listing(min_events, None if active_within is None else span(active_within), provisional)


SentListing = Annotated[player_models.Listing, Depends(sent_listing)]


@router.get("/{pool}/board")
def board(
    pool: PoolName, store: CurrentStore, listing: SentListing, top: Rows = 50, cursor: Cursor = None
) -> player_models.ListedPage:
    """A page of the board of those who are listed, with their ranks among each other, moves and curves."""
    return store.listed_board(pool, listing, after=cursor, top=top)


@router.get("/{pool}/board/newest")
def newest_entrants(
    pool: PoolName, store: CurrentStore, listing: SentListing, top: Rows = 200
) -> player_models.ListedPage:
    """Those of the board who were in the newest rated event, the largest gain first."""
    return store.newest_entrants(pool, listing, top=top)


@router.get("/{pool}/players/{player}/page")
def page_of(
    pool: PoolName, player: PlayerName, store: CurrentStore, listing: SentListing, top: Rows = 50
) -> player_models.PlayerPage:
    """The page of the board that a player is on."""
    return player_models.PlayerPage(store.page_of(pool, listing, player, top=top))


@router.get("/{pool}/search")
def search(
    pool: PoolName,
    store: CurrentStore,
    text: Annotated[
        str,
        Query(
            max_length=MAX_SENT_CHARACTERS,
            description="How a name begins, or one of its words. Case and accents do not matter.",
            examples=["an"],
        ),
    ],
    most: Annotated[int, Query(ge=1, le=100, description="Players to list at most.")] = 10,
) -> tuple[player_models.FoundPlayer, ...]:
    """Players by name, former names too: who is called exactly so, then the best; similar names where there is none."""
    return store.search(text, [pool], most=most)


@router.get("/{pool}/events")
def events(pool: PoolName, store: CurrentStore, top: Rows = 50, cursor: Cursor = None) -> player_models.EventListPage:
    """A page of the events, newest first, with a headline each."""
    return store.event_list(pool, before=cursor, top=top)


@router.get("/{pool}/events/{event_id}/adjacent")
def adjacent_events(pool: PoolName, event_id: EventId, store: CurrentStore) -> player_models.AdjacentEvents:
    """The events before and after an event."""
    return store.adjacent_events(pool, event_id)


@router.get("/{pool}/movers")
def movers(
    pool: PoolName,
    store: CurrentStore,
    days: Annotated[int, Query(ge=1, le=366, description="Days up to the newest rated event.")] = 7,
    most: Annotated[int, Query(ge=1, le=100, description="Players to list on either side.")] = 10,
) -> player_models.Movers:
    """Who moved most in the days up to the newest rated event, and the surprise of these days."""
    return store.movers(pool, days=days, most=most)


@router.get("/{pool}/players/{player}/card")
def player_card(pool: PoolName, player: PlayerName, store: CurrentStore) -> player_models.PlayerCard:
    """A player at a glance: rank, form, trend, streaks, records and neighbours."""
    return store.player_card(pool, player)


@router.get("/{pool}/players/{player}/curve")
def rating_curve(
    pool: PoolName,
    player: PlayerName,
    store: CurrentStore,
    since: Annotated[
        str | None,
        Query(
            max_length=40,
            description="From when on: a plain date from its first moment, or a number in a numbered pool.",
        ),
    ] = None,
    most: Annotated[int, Query(ge=4, le=1000, description="Points at most: of more, those that tell the shape.")] = 300,
) -> tuple[player_models.CurvePoint, ...]:
    """A player's rating after each change, oldest first."""
    start = None if since is None else read_when(store.order(pool), since)
    return store.rating_curve(pool, player, start, most=most)


@router.get("/{pool}/players/{player}/changes")
def player_changes(
    pool: PoolName, player: PlayerName, store: CurrentStore, top: Rows = 50, cursor: Cursor = None
) -> player_models.ChangesPage:
    """A page of a player's changes, newest first."""
    return store.player_changes(pool, player, before=cursor, top=top)


@router.get("/{pool}/players/{player}/rivals", responses=REFUSALS_TO_EXPLAIN)
def rivals(pool: PoolName, player: PlayerName, store: CurrentStore) -> player_models.Rivals:
    """Whom a player met in the newest hundred events, and how it went; a second of work for the first time."""
    return store.rivals(pool, player)


@router.get("/{pool}/events/{event_id}/field", responses=REFUSALS_TO_EXPLAIN)
def event_field(pool: PoolName, event_id: EventId, store: CurrentStore) -> EventField:
    """How strong the field of an event was, and how well each played in it."""
    return store.event_field(pool, event_id)


@router.get("/{pool}/events/{event_id}/record")
def event_record(pool: PoolName, event_id: EventId, store: CurrentStore) -> tuple[CorrectionRecord, ...]:
    """An event's submission and what was done to it since: who, why, and which lines it changed."""
    return store.event_record(pool, event_id)


@router.get("/{pool}/events/{event_id}/players/{player}/fairness", responses=REFUSALS_TO_EXPLAIN)
def fair_expectation(pool: PoolName, event_id: EventId, player: PlayerName, store: CurrentStore) -> FairExpectation:
    """Return the expected and the realistic number of wins of a player in an event, from similar duels in the pool."""
    return store.fair_expectation(pool, event_id, player)


@router.get("/{pool}/facts", responses=REFUSALS_TO_EXPLAIN)
def facts(pool: PoolName, store: CurrentStore) -> PoolFacts:
    """Return expected scores by lead, the effect of a duel and the reliability of predictions. Calculated nightly."""
    return store.pool_facts(pool)
