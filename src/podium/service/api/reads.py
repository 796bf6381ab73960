"""Routes that read data. Each of them sees a single version of a pool."""

import math
from dataclasses import replace
from datetime import date
from typing import Annotated, Any

import polars as pl
from fastapi import Depends, Query, Request, Response

from podium.errors import ParameterError
from podium.ledger.forecast import Member, equipment_of, line_up, names_to_rate
from podium.ledger.leaderboard import Eligibility, span
from podium.ledger.reasons.totals import ReasonTotals
from podium.log.pools import UNDATED, date_of, parse_day, read_when
from podium.matchmaking import matcher
from podium.matchmaking.matcher import Match, Policy, Ticket
from podium.matchmaking.pairing import match_quality, odds_scale
from podium.service.api.bodies import MAX_PREDICTED, PredictRequest, Tickets
from podium.service.api.dependencies import Admin, KeyedReader, Sent
from podium.service.api.fixtures import Margin
from podium.service.http.errors import error_responses
from podium.service.http.json import (
    MAX_SENT_CHARACTERS,
    EventId,
    MatchId,
    PlayerName,
    PoolName,
    RefusedError,
    SeasonName,
    adapter,
    json_response,
)
from podium.service.http.requests import CurrentStore, PoolRouter, WantedDetails
from podium.service.http.visitors import check_reader
from podium.service.web.rendering import is_known
from podium.store import Store
from podium.store.hindsight import BestEverBoard, HindsightPoint
from podium.store.writing.administration import RegisteredMatch
from podium.views import models
from podium.views.player_models import Equipment, Leaderboard, Listing
from podium.views.races import chances, explanations
from podium.views.results import PlayerStart

MAX_REASONS = 100  # events per sum of reasons
router = PoolRouter(dependencies=[Depends(check_reader)])
keyed = PoolRouter()  # routes that need a key even for a public pool
Top = Annotated[int, Query(ge=1, le=1000, description="Number of players per page.")]
Cursor = Annotated[str | None, Query(max_length=100, description="Cursor: the value of `next` on the previous page.")]
MinEvents = Annotated[
    int | None, Query(ge=0, le=10**9, description="Minimum number of rated events for a player to be listed.")
]
MaxDeviation = Annotated[float | None, Query(ge=0.0, description="Maximum deviation for a player to be listed.")]
ActiveWithin = Annotated[
    str | None,
    Query(
        max_length=20,
        description="List only players who were active within this time before the last event, such as 90d, 12w, 6mo or"
        " 1y. In pools without dates, each event counts as one day.",
        examples=["90d"],
    ),
]
At = Annotated[
    str | None,
    Query(
        max_length=40,
        description="Show the board as it was at this time, at the end of this date, or after this event number.",
    ),
]


@router.get("")
def pools(store: CurrentStore) -> tuple[models.PoolSummary, ...]:
    """List all pools."""
    return store.pool_summaries()


@router.get("/{pool}")
def pool(pool: PoolName, store: CurrentStore) -> models.PoolSummary:
    """Return a pool."""
    return store.pool_summary(pool)


@keyed.get("/{pool}/log")
def log(
    pool: PoolName,
    store: CurrentStore,
    _key: Admin,
    after: Annotated[int, Query(ge=0, lt=2**63, description="Return only entries with a higher number than this.")] = 0,
    most: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> tuple[models.LogRecord, ...]:
    """Return the log of a pool: all changes, with their authors and times, oldest first."""
    return store.log(pool, after=after, most=most)


async def sent_listing(
    details: WantedDetails,
    min_events: MinEvents = None,
    active_within: ActiveWithin = None,
    *,
    provisional: Annotated[
        bool, Query(description="Rank provisional players together with the others. If false, list them separately.")
    ] = True,
) -> Listing:
    """Return the rules for the players to list, from a query."""
    return Listing(min_events, None if active_within is None else span(active_within), provisional, details)


SentListing = Annotated[Listing, Depends(sent_listing)]
UNCOMPARED = {"move": None, "is_new": False, "spark": (), "newest_change": None, "newest_shown": None}  # a past board
ALONE = "cannot be combined with `at` or `max_deviation`"


@router.get("/{pool}/leaderboard", response_model=Leaderboard)
def leaderboard(
    request: Request,
    pool: PoolName,
    store: CurrentStore,
    listing: SentListing,
    top: Top = 100,
    cursor: Cursor = None,
    max_deviation: MaxDeviation = None,
    at: At = None,
) -> Response:
    """Return a page of the leaderboard.

    With `at` or `max_deviation`, the response is a single page without rating changes and curves.
    """
    headers = {"ETag": f'"{store.version(pool)}"'}
    if is_known(request, headers["ETag"]):
        return Response(status_code=304, headers=headers)
    if max_deviation is None and at is None:
        body = store.answers.value(
            ("leaderboard", pool, listing, top, cursor),
            store.edition(pool),
            lambda: adapter(Leaderboard).dump_json(store.leaderboard(pool, listing, top=top, after=cursor)),
        )
        answer = Response(body, media_type="application/json")
    elif cursor is not None:
        raise RefusedError("cursor", ALONE)
    elif not listing.provisional:
        raise RefusedError("provisional", ALONE)
    elif listing.details:
        raise RefusedError(listing.details[0][0], ALONE)
    else:
        rules = Eligibility(listing.min_events, max_deviation, listing.active_within)
        when = None if at is None else read_when(store.order(pool), at, whole_day=True)
        rows = [UNCOMPARED | row for row in board_rows(store, pool, store.board(pool, rules, when))]
        rated = sum(bin_.players for bin_ in store.distribution(pool))
        page = {"players": rows[:top], "next": None, "listed": len(rows), "rated": rated}
        answer = json_response(Any, page | {"since": None, "newest": None, "provisional": ()})
    answer.headers.update(headers)
    return answer


def board_rows(store: Store, pool_name: str, board: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a board, with scores as the pool shows them. `deviation` is null if the system has none."""
    rows = [{"deviation": None} | row for row in board.to_dicts()]
    pool, tiers = store.pool(pool_name), store.tier_scores(pool_name)
    scores = (pool.shown_score(row["rating"], row["deviation"], tiers) for row in rows)
    return [{**row, "score": score, "tier": tier} for row, (score, tier) in zip(rows, scores, strict=True)]


@router.get("/{pool}/distribution")
def distribution(pool: PoolName, store: CurrentStore) -> tuple[models.RatingCount, ...]:
    """Return the number of players at each rating, rounded down to a whole number, lowest first."""
    return store.distribution(pool)


@router.get("/{pool}/players/{player}")
def player(
    pool: PoolName,
    player: PlayerName,
    store: CurrentStore,
    most: Annotated[
        int, Query(ge=1, le=100_000, description="Maximum number of changes to return, newest first.")
    ] = 1000,
) -> models.PlayerDetails:
    """Return a player's rank and history, newest first."""
    return store.player(pool, player, most)


@router.get("/{pool}/players/{player}/neighbours")
def neighbours(
    pool: PoolName,
    player: PlayerName,
    store: CurrentStore,
    each: Annotated[int, Query(ge=1, le=100)] = 5,
) -> tuple[models.BoardRow, ...]:
    """Return a player and the players with neighbouring ranks, best first."""
    return store.neighbours(pool, player, each)


@router.get("/{pool}/players/{player}/ranks")
def ranks_of(pool: PoolName, player: PlayerName, store: CurrentStore) -> tuple[models.DailyRank, ...]:
    """Return a player's rank at 00:00 UTC on each day, oldest first."""
    return store.ranks_of(pool, player)


@router.get("/{pool}/players/{player}/hindsight")
def hindsight_of(pool: PoolName, player: PlayerName, store: CurrentStore) -> tuple[HindsightPoint, ...]:
    """Return a player's strength at each event, based on later results as well (only for the `adaptive` system).

    It is calculated once a day.
    """
    store.best_ever(pool)  # raises an error if there is no hindsight
    return store.hindsight_curve(pool, player)


@router.get("/{pool}/hindsight")
def best_ever(pool: PoolName, store: CurrentStore) -> BestEverBoard:
    """List the best players of all time, by their lead over the field of their best year."""
    return store.best_ever(pool)


@router.get("/{pool}/compare")
def compare(
    pool: PoolName,
    player: Annotated[str, Query(min_length=1, max_length=MAX_SENT_CHARACTERS, examples=["ana"])],
    other: Annotated[str, Query(min_length=1, max_length=MAX_SENT_CHARACTERS, examples=["ben"])],
    store: CurrentStore,
) -> chances.Comparison:
    """Compare two players: ranks, expected score in a heat, and every event in which they met."""
    return store.compare(pool, player, other)


@router.post(
    "/{pool}/predict",
    response_model=chances.FieldChances,
)
def predict(
    pool: PoolName,
    store: CurrentStore,
    body: Sent[PredictRequest],
) -> Response:
    """Predict a race: each entrant's chance of winning, of a top place, and of finishing in each place.

    Unknown players count as newcomers.
    """
    count = len(body.entrants) + sum(map(len, body.sides))
    if count > MAX_PREDICTED:
        raise ParameterError(f"there are {count:,} players. A request may have up to {MAX_PREDICTED}.")
    field = body.model_dump(exclude_none=True)
    found = store.predict(pool, field["entrants"], sides=field["sides"], top=body.top)
    return json_response(chances.FieldChances, chances.field_chances(found))


@keyed.post(
    "/{pool}/matchmaking",
    response_model=list[Match],
)
def matchmaking(pool: PoolName, store: CurrentStore, _key: KeyedReader, body: Sent[Tickets]) -> Response:
    """Return the matches to start now, formed from the waiting players. The other players keep waiting."""
    waiting = [Member(ticket.player, ticket.shared or {}) for ticket in body.tickets]
    names = names_to_rate([waiting], store.pool(pool).system.kinds)
    system, found = store.system_and_states(pool, names)
    states, level = dict(zip(names, found, strict=True)), system.newcomer().rating
    scale = odds_scale(system) if body.scale is None else body.scale
    policy = Policy(body.size, body.teams, body.least, body.target_s, scale)
    tickets = []
    for ticket, member in zip(body.tickets, waiting, strict=True):
        have = [states[name] for name in equipment_of([[member]], system.kinds)]  # affects its player's rating
        rating = states[member.player].rating + sum(state.rating - level for state in have)
        deviations = (getattr(state, "deviation", 0.0) for state in (states[member.player], *have))
        known = rating, -ticket.waited_s, math.hypot(*deviations)
        tickets.append(Ticket(ticket.player, *known, ticket.party, ticket.region))
    matches = matcher.match(tickets, 0.0, policy)
    if body.scale is None:  # quality by the system
        by_name = {ticket.player: ticket for ticket in waiting}
        matches = [
            replace(match, quality=match_quality(system, *line_up(system, sides, states)[:2]))
            for match in matches
            for sides in [[[by_name[name] for name in team] for team in match.teams]]
        ]
    return json_response(list[Match], matches)


@router.get("/{pool}/events/{event_id}", response_model=models.EventDetails)
def event(pool: PoolName, event_id: EventId, store: CurrentStore) -> Response:
    """Return an event with its results and rating changes.

    Its `version` is also its `ETag`. A correction that sends it as `If-Match` fails if the event has changed since.
    """
    details = store.event(pool, event_id)
    return json_response(models.EventDetails, details, ETag=f'"{details.version}"')


@router.get("/{pool}/events/{event_id}/players/{player}", responses=error_responses(409))
def explain(pool: PoolName, event_id: EventId, player: PlayerName, store: CurrentStore) -> explanations.ExplainedChange:
    """Explain why a player's rating changed in an event."""
    return explanations.explained_change(store.explain(pool, event_id, player))


@router.get("/{pool}/starting-ratings")
def starting_ratings(pool: PoolName, store: CurrentStore) -> tuple[PlayerStart, ...]:
    """List the ratings that the organiser gave to players for their first events."""
    return store.starting_ratings(pool)


@router.get("/{pool}/players/{player}/reasons", responses=error_responses(409))
def reasons(
    pool: PoolName,
    player: PlayerName,
    store: CurrentStore,
    events: Annotated[
        int, Query(ge=1, le=MAX_REASONS, description="Number of events to include, counting back from the latest.")
    ] = 10,
) -> ReasonTotals:
    """Explain why a player's rating changed in the latest events. The points are totalled by kind of reason."""
    return store.reasons(pool, player, events)


@router.get("/{pool}/events/{event_id}/players/{player}/what-if", responses=error_responses(409))
def what_if(
    pool: PoolName, event_id: EventId, player: PlayerName, store: CurrentStore, margin: Margin = None
) -> explanations.AlternativeChanges:
    """Return how a player's rating would have changed with different results in an event, in up to eight variants."""
    return explanations.alternative_changes(store.what_if(pool, event_id, player, margin=margin))


@router.get("/{pool}/matches")
def waiting_matches(pool: PoolName, store: CurrentStore) -> list[str]:
    """List the matches that are waiting for a result, ordered by expiry."""
    return store.waiting_matches(pool)


@router.get("/{pool}/matches/{match_id}")
def match(pool: PoolName, match_id: MatchId, store: CurrentStore) -> RegisteredMatch:
    """Return a registered match and its result."""
    return store.match(pool, match_id)


@router.get("/{pool}/equipment")
def equipment(pool: PoolName, store: CurrentStore) -> tuple[Equipment, ...]:
    """List the equipment that the system rates, such as cars, grouped by kind and sorted by points, highest first.

    Equipment has no ranks.
    """
    return store.equipment(pool)


@router.get("/{pool}/seasons")
def seasons(pool: PoolName, store: CurrentStore) -> tuple[models.Season, ...]:
    """List the seasons, oldest first."""
    return store.seasons(pool)


@router.get("/{pool}/seasons/{season}/leaderboard", response_model=list[models.BoardRow])
def season_leaderboard(pool: PoolName, season: SeasonName, store: CurrentStore) -> Response:
    """Return the leaderboard at the end of a season, or the current one if the season is still running."""
    return json_response(Any, board_rows(store, pool, store.season_leaderboard(pool, season)))


@router.get("/{pool}/snapshots")
def snapshot_days(pool: PoolName, store: CurrentStore) -> list[date | float]:
    """List the days for which ranks are stored, oldest first.

    In pools without dates, list event numbers instead.
    """
    is_undated = store.order(pool) == UNDATED
    return [float(day) if is_undated else date_of(day) for day in store.snapshot_days(pool)]


@router.get("/{pool}/snapshots/{day}")
def ranks_on(pool: PoolName, day: str, store: CurrentStore) -> tuple[models.RankedPlayer, ...]:
    """Return the ranks at 00:00 UTC on a day, or before the event with a given number, best first."""
    return store.ranks_on(pool, parse_day(day, store.order(pool)))


router.routes.extend(keyed.routes)
