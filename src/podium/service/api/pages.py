"""Routes for the data shown on pages: boards, names and short views of events."""

from typing import Annotated, Literal

from fastapi import Depends, Query

from podium.ledger.championship import Championship
from podium.log.pools import read_when
from podium.service.api.reads import Cursor, SentListing
from podium.service.http.errors import error_responses
from podium.service.http.json import MAX_SENT_CHARACTERS, EventId, PlayerName, PoolName
from podium.service.http.requests import CurrentStore, PoolRouter
from podium.service.http.visitors import check_reader
from podium.store.pool_facts import EventField, FairExpectation, PoolFacts
from podium.views import models, player_models
from podium.views.races.chances import Rivals
from podium.views.races.records import CorrectionRecord

router = PoolRouter(dependencies=[Depends(check_reader)])
REFUSALS_TO_EXPLAIN = error_responses(409)  # error if another version rated the pool
Rows = Annotated[int, Query(ge=1, le=200, description="Number of rows per page.")]


@router.get("/{pool}/leaderboard/newest")
def newest_entrants(
    pool: PoolName, store: CurrentStore, listing: SentListing, top: Rows = 200
) -> player_models.Leaderboard:
    """List the players on the leaderboard who took part in the latest rated event, largest gain first."""
    return store.newest_entrants(pool, listing, top=top)


@router.get("/{pool}/players/{player}/page")
def page_of(
    pool: PoolName, player: PlayerName, store: CurrentStore, listing: SentListing, top: Rows = 50
) -> player_models.PlayerPage:
    """Find the page of the leaderboard that shows a player."""
    return player_models.PlayerPage(store.page_of(pool, listing, player, top=top))


@router.get("/{pool}/groups/{by}")
def group_ranks(
    pool: PoolName,
    by: Literal["club", "country", "division"],
    store: CurrentStore,
    best: Annotated[int, Query(ge=1, le=100, description="Number of players in each mean.")] = 3,
) -> tuple[models.GroupRank, ...]:
    """Rank clubs, countries or divisions by the mean score of their highest-ranked players from the last year."""
    return store.group_ranks(pool, by, best)


@router.get("/{pool}/search")
def search(
    pool: PoolName,
    store: CurrentStore,
    text: Annotated[
        str,
        Query(
            max_length=MAX_SENT_CHARACTERS,
            description="Start of the name or of a word in it. Case and accents are ignored.",
            examples=["an"],
        ),
    ],
    most: Annotated[int, Query(ge=1, le=100, description="Maximum number of players.")] = 10,
) -> tuple[player_models.FoundPlayer, ...]:
    """Find players by current or former name: exact matches first, then the highest-ranked players.

    If no name matches, return similar names.
    """
    return store.search(text, [pool], most=most)


@router.get("/{pool}/events")
def events(pool: PoolName, store: CurrentStore, top: Rows = 50, cursor: Cursor = None) -> player_models.EventListPage:
    """Return a page of events, newest first, each with a headline."""
    return store.event_list(pool, before=cursor, top=top)


@router.get("/{pool}/events/{event_id}/adjacent")
def adjacent_events(pool: PoolName, event_id: EventId, store: CurrentStore) -> player_models.AdjacentEvents:
    """Return the events rated just before and after a given event."""
    return store.adjacent_events(pool, event_id)


@router.get("/{pool}/movers")
def movers(
    pool: PoolName,
    store: CurrentStore,
    days: Annotated[
        int, Query(ge=1, le=366, description="Length of the period up to the latest rated event, in days.")
    ] = 7,
    most: Annotated[int, Query(ge=1, le=100, description="Maximum number of gains, and of losses.")] = 10,
) -> player_models.Movers:
    """Return the largest gains and losses in the days up to the latest rated event, and the biggest surprise."""
    return store.movers(pool, days=days, most=most)


@router.get("/{pool}/players/{player}/card")
def player_card(pool: PoolName, player: PlayerName, store: CurrentStore) -> player_models.PlayerCard:
    """Return an overview of a player: rank, form, trend, streaks, records and neighbours."""
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
            description="Start of the curve: a date, or an event number in pools without dates.",
        ),
    ] = None,
    most: Annotated[
        int, Query(ge=4, le=1000, description="Maximum number of points. Longer curves are thinned out.")
    ] = 300,
) -> tuple[player_models.CurvePoint, ...]:
    """Return a player's rating after each change, oldest first."""
    start = None if since is None else read_when(store.order(pool), since)
    return store.rating_curve(pool, player, start, most=most)


@router.get("/{pool}/players/{player}/changes")
def player_changes(
    pool: PoolName, player: PlayerName, store: CurrentStore, top: Rows = 50, cursor: Cursor = None
) -> player_models.ChangesPage:
    """Return a page of a player's changes, newest first."""
    return store.player_changes(pool, player, before=cursor, top=top)


@router.get("/{pool}/players/{player}/rivals", responses=REFUSALS_TO_EXPLAIN)
def rivals(pool: PoolName, player: PlayerName, store: CurrentStore) -> Rivals:
    """Return a player's opponents in the latest 100 events, with the results against each.

    The first request takes about a second.
    """
    return store.rivals(pool, player)


@router.get("/{pool}/events/{event_id}/field", responses=REFUSALS_TO_EXPLAIN)
def event_field(pool: PoolName, event_id: EventId, store: CurrentStore) -> EventField:
    """Return how strong the field of an event was, and how well each player performed."""
    return store.event_field(pool, event_id)


@router.get("/{pool}/events/{event_id}/record")
def event_record(pool: PoolName, event_id: EventId, store: CurrentStore) -> tuple[CorrectionRecord, ...]:
    """Return the submission of an event and its corrections: who sent them, why, and which lines changed."""
    return store.event_record(pool, event_id)


@router.get("/{pool}/events/{event_id}/players/{player}/fairness", responses=REFUSALS_TO_EXPLAIN)
def fair_expectation(pool: PoolName, event_id: EventId, player: PlayerName, store: CurrentStore) -> FairExpectation:
    """Return a player's expected wins in an event, based on the ratings and on similar duels in the pool."""
    return store.fair_expectation(pool, event_id, player)


@router.get("/{pool}/standings")
def standings(
    pool: PoolName,
    store: CurrentStore,
    season: Annotated[
        str | None,
        Query(
            max_length=MAX_SENT_CHARACTERS, description="Name of the season. Default: the current one, or all events."
        ),
    ] = None,
    top: Rows = 100,
    *,
    before: Annotated[
        bool,
        Query(description="Return the standings before this season, which must be the pool's first."),
    ] = False,
) -> Championship:
    """Return the points for each round of a season, according to the pool's points scheme."""
    return store.standings(pool, season, before=before, top=top)


@router.get("/{pool}/facts", responses=REFUSALS_TO_EXPLAIN)
def facts(pool: PoolName, store: CurrentStore) -> PoolFacts:
    """Return expected scores by rating lead, how much a duel changes ratings, and how reliable predictions are.

    These facts are calculated every night.
    """
    return store.pool_facts(pool)
