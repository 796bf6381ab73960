"""The routes that read: each sees one moment of a pool."""

from dataclasses import replace
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from podium.ledger.leaderboard import Eligibility, instant, span
from podium.matchmaking.matcher import Policy, Ticket, match
from podium.matchmaking.pairing import match_quality, odds_scale
from podium.service.api.board_cache import Pages, encoded, listed
from podium.service.api.bodies import body_of, request_body
from podium.service.api.models import Asked, MadeMatch, MatchOut, Page, PoolOut, Tickets
from podium.service.api.writes import BASE
from podium.service.http.access import require_role
from podium.service.http.names import LONGEST_SENT
from podium.service.http.paths import EventId, MatchId, Player, Pool, Season
from podium.service.http.problems import READING, WRITING, answers
from podium.service.http.strict_json import RefusedError
from podium.store import Store
from podium.store.derive.snapshots import date_of, day_told
from podium.store.log.pools import settings_of

REFUSALS, ASKED = answers(*READING), answers(*WRITING)
Top = Annotated[int, Query(ge=1, le=1000, description="Players on the page.")]
Cursor = Annotated[str | None, Query(max_length=100, description="Where the page before ended.")]
MinEvents = Annotated[int | None, Query(ge=0, le=10**9, description="Rated events it takes to be listed.")]
MaxDeviation = Annotated[float | None, Query(ge=0.0, description="The widest deviation that is listed.")]
ActiveWithin = Annotated[
    str | None, Query(max_length=20, description="Who played so long before: 90d, 12w, 6mo or 1y.", examples=["90d"])
]
At = Annotated[str | None, Query(max_length=40, description="As it stood then; a plain date counts the whole day.")]


def add_reads(app: FastAPI, store: Store) -> None:
    """The routes that read."""
    add_pools(app, store)
    add_boards(app, store)
    add_players(app, store)
    add_chances(app, store)
    add_events(app, store)
    add_days(app, store)


def add_pools(app: FastAPI, store: Store) -> None:
    """Pools."""

    @app.get(BASE, responses=REFUSALS, tags=["pools"])
    def pools(_key: str = require_role("read")) -> list[PoolOut]:
        """Every ladder."""
        return [
            PoolOut(
                name=each.name,
                system=each.system.name,
                parameters=settings_of(each.system),
                notice=store.limit_notice(each.name),
            )
            for each in store.pools()
        ]

    @app.get(f"{BASE}/{{pool}}/log", responses=REFUSALS, tags=["pools"])
    def log(
        pool: Pool,
        after: Annotated[int, Query(ge=0, lt=2**63, description="Entries above this number.")] = 0,
        most: Annotated[int, Query(ge=1, le=1000)] = 100,
        _key: str = require_role("admin"),
    ) -> list[dict[str, Any]]:
        """Everything that was done to a ladder, by whom and when, oldest first."""
        return store.log(pool, after=after, most=most)


def add_boards(app: FastAPI, store: Store) -> None:
    """Leaderboards."""
    pages = Pages(store)

    @app.get(f"{BASE}/{{pool}}/leaderboard", response_model=Page, responses=REFUSALS, tags=["players"])
    async def leaderboard(
        request: Request,
        pool: Pool,
        top: Top = 100,
        cursor: Cursor = None,
        min_events: MinEvents = None,
        max_deviation: MaxDeviation = None,
        active_within: ActiveWithin = None,
        at: At = None,
        _key: str = require_role("read"),
    ) -> Response:
        """A page of the leaderboard, and the cursor of the next; filtered, or as of a date, it is one page."""
        if (min_events, max_deviation, active_within, at) == (None, None, None, None):
            version, body = await pages.page(pool, top, cursor)
            if request.headers.get("if-none-match") == version:
                return Response(status_code=304, headers={"ETag": version})
            return Response(body, media_type="application/json", headers={"ETag": version})
        if cursor is not None:
            raise RefusedError("cursor", "does not go with a filter: what is filtered is one page")
        rules = Eligibility(min_events, max_deviation, None if active_within is None else span(active_within), top)
        board = await run_in_threadpool(store.board, pool, rules, None if at is None else instant(at))
        return Response(encoded({"players": board.to_dicts(), "next": None}), media_type="application/json")

    @app.get(f"{BASE}/{{pool}}/distribution", responses=REFUSALS, tags=["players"])
    def distribution(pool: Pool, _key: str = require_role("read")) -> list[dict[str, int]]:
        """How many players there are per whole rating, lowest first."""
        return [{"rating": at, "players": players} for at, players in store.distribution(pool)]


def add_players(app: FastAPI, store: Store) -> None:
    """Players, and players beside players."""

    @app.get(f"{BASE}/{{pool}}/players/{{player}}", responses=REFUSALS, tags=["players"])
    def player(
        pool: Pool,
        player: Player,
        most: Annotated[int, Query(ge=1, le=100_000, description="Newest changes to tell.")] = 1000,
        _key: str = require_role("read"),
    ) -> dict[str, Any]:
        """A player's rank and history, newest first."""
        return store.player(pool, player, most)

    @app.get(f"{BASE}/{{pool}}/players/{{player}}/neighbours", responses=REFUSALS, tags=["players"])
    def neighbours(
        pool: Pool, player: Player, each: Annotated[int, Query(ge=1, le=100)] = 5, _key: str = require_role("read")
    ) -> list[dict[str, Any]]:
        """A player among those ranked next, best first."""
        return listed(store.neighbours(pool, player, each))

    @app.get(f"{BASE}/{{pool}}/players/{{player}}/ranks", responses=REFUSALS, tags=["daily ranks"])
    def ranks(pool: Pool, player: Player, _key: str = require_role("read")) -> list[dict[str, Any]]:
        """A player's rank at 00:00 UTC, day by day, oldest first."""
        return store.ranks_of(pool, player)


def add_chances(app: FastAPI, store: Store) -> None:
    """Players against each other: what was, what is expected, and who should play whom."""

    @app.get(f"{BASE}/{{pool}}/compare", responses=REFUSALS, tags=["chances"])
    def compare(
        pool: Pool,
        player: Annotated[str, Query(min_length=1, max_length=LONGEST_SENT, examples=["ana"])],
        other: Annotated[str, Query(min_length=1, max_length=LONGEST_SENT, examples=["ben"])],
        _key: str = require_role("read"),
    ) -> dict[str, Any]:
        """Two players: where they stand, what is expected of a heat, and every event in which they met."""
        return store.compare(pool, player, other)

    @app.post(f"{BASE}/{{pool}}/predict", responses=ASKED, tags=["chances"], openapi_extra=request_body(Asked))
    async def predict(request: Request, pool: Pool, _key: str = require_role("read")) -> dict[str, Any]:
        """The chances of a field: to win, to be among the first, and of every rank; strangers are newcomers."""
        told = await body_of(request, Asked)
        chances = await run_in_threadpool(store.predict, pool, told.entrants, top=told.top)
        return {
            "entrants": chances.entrants.to_dicts(),
            "newcomers": chances.entrants.filter(events=0)["player"].to_list(),
            "ranks": chances.ranks.to_dicts(),
            "pairs": chances.pairs.to_dicts(),
        }

    @app.post(f"{BASE}/{{pool}}/matchmaking", responses=ASKED, tags=["chances"], openapi_extra=request_body(Tickets))
    async def matchmaking(request: Request, pool: Pool, _key: str = require_role("read")) -> list[MadeMatch]:
        """The matches to start now, of those who wait; whoever is in none waits on."""
        told = await body_of(request, Tickets)
        return await run_in_threadpool(made_matches, store, pool, told)


def made_matches(store: Store, pool: str, told: Tickets) -> list[MadeMatch]:
    """Matches of tickets, by the ratings of a pool; without a scale, as even as the pool's system expects them."""
    system, states = store.system_and_states(pool, [each.player for each in told.tickets])
    scale = odds_scale(system) if told.scale is None else told.scale
    policy = Policy(told.size, told.teams, told.least, told.target_s, scale)
    tickets = [
        Ticket(
            each.player,
            state.rating,
            -each.waited_s,
            getattr(state, "deviation", 0.0),
            each.party,
            each.region,
        )
        for each, state in zip(told.tickets, states, strict=True)
    ]
    matches = match(tickets, 0.0, policy)
    if told.scale is None:
        state_of = {ticket.player: state for ticket, state in zip(tickets, states, strict=True)}
        matches = [
            replace(each, quality=match_quality(system, [[state_of[name] for name in team] for team in each.teams]))
            for each in matches
        ]
    return [MadeMatch.model_validate(each, from_attributes=True) for each in matches]


def add_events(app: FastAPI, store: Store) -> None:
    """Events and matches."""

    @app.get(f"{BASE}/{{pool}}/events/{{event_id}}", responses=REFUSALS, tags=["events"])
    def event(pool: Pool, event_id: EventId, _key: str = require_role("read")) -> dict[str, Any]:
        """An event as it stands, and what it did."""
        return store.event(pool, event_id)

    @app.get(
        f"{BASE}/{{pool}}/events/{{event_id}}/players/{{player}}", responses=answers(*READING, 409), tags=["events"]
    )
    def explanation(pool: Pool, event_id: EventId, player: Player, _key: str = require_role("read")) -> dict[str, Any]:
        """Why a player's rating moved in an event."""
        told = store.explain(pool, event_id, player)
        figures = {"rating_before": told.rating_before, "delta": told.delta, "words": told.summary}
        return {"event_id": event_id, "player": told.player} | figures | {"reasons": told.rows.to_dicts()}

    @app.get(f"{BASE}/{{pool}}/matches", responses=REFUSALS, tags=["matches"])
    def waiting(pool: Pool, _key: str = require_role("read")) -> list[str]:
        """The matches that wait for a result, the first to expire first."""
        return store.waiting_matches(pool)

    @app.get(f"{BASE}/{{pool}}/matches/{{match_id}}", responses=REFUSALS, tags=["matches"])
    def match_told(pool: Pool, match_id: MatchId, _key: str = require_role("read")) -> MatchOut:
        """A match that was registered, and what came of it."""
        return MatchOut.model_validate(store.match(pool, match_id), from_attributes=True)


def add_days(app: FastAPI, store: Store) -> None:
    """Seasons and daily ranks."""

    @app.get(f"{BASE}/{{pool}}/seasons", responses=REFUSALS, tags=["seasons"])
    def seasons(pool: Pool, _key: str = require_role("read")) -> list[dict[str, Any]]:
        """The seasons, oldest first."""
        return store.seasons(pool)

    @app.get(f"{BASE}/{{pool}}/seasons/{{season}}/leaderboard", responses=REFUSALS, tags=["seasons"])
    def season_board(pool: Pool, season: Season, _key: str = require_role("read")) -> list[dict[str, Any]]:
        """How the board stood when a season ended, or as it stands where it is not over."""
        return store.season_board(pool, season).to_dicts()

    @app.get(f"{BASE}/{{pool}}/snapshots", responses=REFUSALS, tags=["daily ranks"])
    def snapshot_days(pool: Pool, _key: str = require_role("read")) -> list[str]:
        """The days whose ranks are kept, oldest first."""
        return [str(date_of(day)) for day in store.snapshot_days(pool)]

    @app.get(f"{BASE}/{{pool}}/snapshots/{{day}}", responses=REFUSALS, tags=["daily ranks"])
    def snapshot(pool: Pool, day: str, _key: str = require_role("read")) -> list[dict[str, Any]]:
        """The ranks at a day's 00:00 UTC, best first."""
        return store.ranks_on(pool, day_told(day))
