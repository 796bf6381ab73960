"""The calendar, and the pages of upcoming races, which show the effect of each place.

After the result, the race's page leads to the event's page.
"""

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import groupby
from typing import Annotated, Any, Literal

import polars as pl
from fastapi import Query, Request, Response
from fastapi.responses import RedirectResponse

from podium.errors import NearNameError, ParameterError, UnknownError
from podium.ledger.forecast import Member
from podium.ledger.hypothetical_race import DUEL, DUEL_SIDES, outlook, place_words
from podium.ledger.seeding import MAX_GROUPS, MAX_PROTECTED, tournament_report
from podium.pages.drawing import signed_bar
from podium.pages.numbers import DASH, MINUTE_S, percent, with_minus
from podium.service.http.errors import BusyError
from podium.service.http.json import MAX_SENT_CHARACTERS, MatchId
from podium.service.web import rendering
from podium.service.web.ahead.calendar import CALENDAR_MOST, Aged, CurrentStakes
from podium.service.web.player_tiles import Upcoming, outlook_of
from podium.service.web.visiting import VisiblePool
from podium.store import Store
from podium.support.words import counted, ordinal_number, shown, shown_change, without_formulas
from podium.views.races.fixtures import NO_RESULT, Fixture, Starter

router = rendering.PageRouter()
MAX_LINES = 30  # maximum number of lines in a table that is shown completely
AROUND = 4  # in longer tables, the number of lines above and below the most likely place


def moment_view(store: Store, pool: rendering.PoolHeader, planned: Fixture, player: str) -> dict[str, Any] | None:
    """Return the current state of a race for the template, or None if no places have been posted."""
    stands = store.running_race(pool.name, planned.fixture_id)
    if stands.posted_at is None:
        return None
    in_place, gone, waiting = planned.standing(stands.places, stands.out)
    sides = len(in_place) + len(gone) + len(waiting)
    order = {name: number for number, name in enumerate(stands.changes)}
    waiting.sort(key=lambda side: order.get(side[0], 0))  # in the expected finishing order
    rows = [*enumerate(in_place, 1), *(("out", side) for side in gone), *((DASH, side) for side in waiting)]
    moved = {name: None if change is None else shown(change, pool.digits) for name, change in stands.changes.items()}
    likely = {name: place_words(place, sides) for name, place in stands.likely.items()}
    minutes = int((datetime.now(UTC) - stands.posted_at).total_seconds() // MINUTE_S)
    own = [place_words(place, sides) for place, side in enumerate(in_place, 1) if player in side]
    return {
        # The place, the player, the change if the race ended now (if known), and the most likely place of players
        # without one.
        "lines": [(str(place), name, moved.get(name), likely.get(name, "")) for place, side in rows for name in side],
        "posted_at": stands.posted_at,
        "age": f"{counted(minutes, 'minute')} ago" if minutes else "",
        "place": own[0] if own else None,  # the place of the chosen player, as in the stakes
        "likely": likely.get(player),
    }


Named = Annotated[str, Query(alias="player", max_length=MAX_SENT_CHARACTERS)]


@router.pool_page("/matches/{match_id}")
def race(
    visit: VisiblePool,
    match_id: MatchId,
    kept: CurrentStakes,
    chosen: Named = "",
    *,
    new: Annotated[bool, Query(description="True for a newcomer, even if the name is similar to a known one.")] = False,
) -> Response:
    """Return the page of an upcoming race. Once there is a result, redirect to the event's page."""
    store = visit.store
    pool = visit.header
    result = result_of(store, visit.pool, match_id)
    if result:
        return RedirectResponse(pool.path("events", result), rendering.SEE_OTHER)
    planned, is_match, rule = planned_race(store, visit.pool, match_id)
    heats = store.newest_heats(pool.name)
    rule += f" The latest event had {heats} heats. All changes below are for one heat." if heats > 1 else ""
    view, reason, near = None, "", ""
    player = chosen.strip() or default_player(visit.request, planned)
    if planned.entrants is not None and player:
        try:
            joining = Member(player, new=new)
            aged = kept.of_race(
                store, visit.pool, planned, joining, is_fixture=not is_match, has_key=visit.visitor.key is not None
            )
            whom = "you" if player == rendering.chosen_player(visit.request) else player
            view = stakes_view(aged, player, whom, is_entrant=any(player in side for side in planned.sides))
            reason = aged.stakes.notice or ""
        except (BusyError, ParameterError) as error:
            if chosen and isinstance(error, BusyError):
                raise
            reason, near = (error.what, error.near) if isinstance(error, NearNameError) else (str(error), "")
    return visit.show(
        "race.html",
        planned.title or planned.fixture_id,
        tab="calendar",
        description=f"{view['player']}: {view['headline']}" if view else "",
        race=planned,
        starts_at=None if is_match else planned.starts_at,
        rule=rule,
        given={
            entrant.player: ", ".join(filter(None, [entrant.team, *(entrant.shared or {}).values(), entrant.side]))
            for entrant in planned.entrants or ()
        },
        view=view,
        moment=None if is_match else moment_view(store, pool, planned, player),
        reason=reason,
        near=near,
        chosen=chosen.strip(),
        may_change=visit.visitor.may("write", pool.name) and not is_match,
        status=422 if reason and chosen and view is None else 200,
    )


Groups = Annotated[
    int | None, Query(ge=1, le=MAX_GROUPS, description="Number of groups of the tournament. Default: no groups.")
]
Protect = Annotated[
    int, Query(ge=0, le=MAX_PROTECTED, description="Number of opening rounds in which a bracket avoids rematches.")
]


@router.pool_page("/matches/{match_id}/seeds")
def seeds(visit: VisiblePool, match_id: MatchId, groups: Groups = None, protect: Protect = 0) -> Response:
    """Return the page with the entrants of an upcoming race as the seeds of a tournament."""
    planned = visit.store.fixture(visit.pool, match_id)
    return visit.show(
        "seeds.html",
        f"Seeds of {planned.title or match_id}",
        tab="calendar",
        race=planned,
        seeds=visit.store.seeds(visit.pool, match_id, groups=groups, protect=protect),
        groups=groups,
        protect=protect,
    )


@router.pool_page("/matches/{match_id}/seeds.{kind}")
def seeds_file(
    visit: VisiblePool, match_id: MatchId, kind: Literal["csv", "trf"], groups: Groups = None, protect: Protect = 0
) -> Response:
    """Return the seeds as a file: CSV for Challonge, start.gg and spreadsheets, or TRF for pairing programs."""
    found = visit.store.seeds(visit.pool, match_id, groups=groups, protect=protect)
    if kind == "csv":
        text = without_formulas(pl.DataFrame(found, infer_schema_length=None)).write_csv()
    else:
        planned = visit.store.fixture(visit.pool, match_id)
        starts_at = planned.starts_at.astimezone(visit.header.zone)
        text = tournament_report(found, planned.title or planned.fixture_id, starts_at)
    headers = {"Content-Disposition": f'attachment; filename="seeds.{kind}"'}
    media_type = f"text/{'csv' if kind == 'csv' else 'plain'}; charset=utf-8"
    return Response(text, media_type=media_type, headers=headers)


def result_of(store: Store, pool: str, race_id: str) -> str:
    """Return the event that is the result of a race, or an empty string."""
    with suppress(UnknownError):
        return store.event(pool, race_id).event_id
    with suppress(UnknownError):
        return next(iter(store.match(pool, race_id).results), "")
    return ""


def planned_race(store: Store, pool: str, race_id: str) -> tuple[Fixture, bool, str]:
    """Return a planned race or registered match, True if it is a match, and the treatment of missing entrants."""
    try:
        fixture = store.fixture(pool, race_id)
    except UnknownError:
        match = store.match(pool, race_id)
    else:
        rule = "" if fixture.entrants is None else "Entrants missing from the result count as not having started."
        return fixture, False, rule
    starters = tuple(Starter(name, None) for name in match.entrants)
    status = NO_RESULT if match.status == "expired" else "is waiting for its result"
    words = (
        f"Players missing from the result count as having quit. The match waits for it until {match.expires_at:%H:%M}"
        " UTC."
    )
    return Fixture(race_id, None, match.expires_at, starters, status), True, words


def default_player(request: Request, planned: Fixture) -> str:
    """Return the player whose table is shown by default: the visitor or, otherwise, the first entrant."""
    names = [entrant.player for entrant in planned.entrants or ()]
    me = rendering.chosen_player(request)
    return me if me in names else names[0] if len(names) > 1 else ""


def stakes_view(aged: Aged, player: str, whom: str, *, is_entrant: bool) -> dict[str, Any] | None:
    """Return a table of stakes for the template, or None if there is no table. `whom` is "you" for the visitor."""
    found = aged.stakes
    lines = found.lines()
    if not lines:
        return None
    own = next(starter for starter in found.starters if starter["player"] == lines[0]["player"])
    before, headline = shown(own["rating"], found.digits), found.headline()
    changes = [shown_change(own["rating"], line["rating"], found.digits) for line in lines]
    chances = [line["chance"] or 0.0 for line in lines]
    likeliest = chances.index(max(chances))
    sentences = [outlook(line, found.sides, own["rank"], whom) for line in lines]
    first = sentences[likeliest]
    sentences[likeliest] = f"Most likely ({percent(chances[likeliest])}): {first[0].lower()}{first[1:]}"
    near = lines_near(lines, likeliest, own, found.sides)
    low, high = float(min(changes)), float(max(changes))
    view_lines = [
        {
            "number": k,
            "place": place_words(line["place"], found.sides),
            "sentence": sentences[k],
            "bar": signed_bar(float(change), low, high),
            "change": change,
            "rating": shown(line["rating"], found.digits),
            "rank_words": ordinal_number(line["rank"]),
            "chance": percent(line["chance"]) if line["chance"] is not None else "",
            "is_near": k in near,  # the lines to show in long tables
        }
        for k, (line, change) in enumerate(zip(lines, changes, strict=True))
    ]
    starters = [
        (
            starter["player"],
            shown(starter["rating"], found.digits - 1),
            rank_words(starter["rank"]),
            percent(starter["win"]),
            break_even_words(starter["break_even"], found.sides),
        )
        for starter in found.starters
    ]
    return {
        "player": own["player"],
        "headline": f"{headline[0].lower()}{headline[1:]}",
        "outlook": found.outlook(whom=whom) or "",
        "before": before,
        "standing": f"Now {rank_words(own['rank']) or 'without a rank'}, with {with_minus(before)}.",
        "lines": view_lines,
        "likeliest": likeliest,  # number of the line with the most likely place, which is shown first
        "field": starters,
        "method": found.method,
        "age_s": aged.age_s,
        "is_entrant": is_entrant,
    }


def lines_near(lines: Sequence[Any], likeliest: int, own: Any, sides: int) -> set[int]:
    """Return the lines to show of a long table: near the most likely place, the ends, the next rank and break-even."""
    if len(lines) <= MAX_LINES:
        return set(range(len(lines)))
    near = {0, sides - 1, len(lines) - 1, *range(max(0, likeliest - AROUND), min(sides, likeliest + AROUND + 1))}
    better = [k for k, line in enumerate(lines[:sides]) if own["rank"] is not None and line["rank"] < own["rank"]]
    return near | set(better[-1:]) | ({own["break_even"] - 1} if own["break_even"] else set())


def rank_words(rank: int | None) -> str:
    return "" if rank is None else ordinal_number(rank)


def break_even_words(place: int | None, sides: int) -> str:
    """Return the lowest finishing place that costs no points, as text."""
    if place is None:
        return "none"
    return DUEL[float(place)] if sides == DUEL_SIDES else place_words(float(place), sides)


CALENDAR_PAST, MAX_OUTLOOKS, LATEST_EVENTS = 50, 8, 3


def by_month(pool: rendering.PoolHeader, races: Sequence[Fixture]) -> list[tuple[str, list[Fixture]]]:
    """Group races by the names of their months, in the same order."""
    months = groupby(races, key=lambda race: f"{race.starts_at.astimezone(pool.zone):%B %Y}")
    return [(month, list(some)) for month, some in months]


@router.pool_page("/calendar")
def calendar(visit: VisiblePool, kept: CurrentStakes) -> Response:
    """Show the races by month, with the effects of the best and worst places on the visitor or on the favourite.

    Races that take too long to calculate have no effect here.
    """
    ahead = visit.store.fixtures(visit.pool, ahead=True, most=CALENDAR_MOST)
    known = {race.fixture_id for race in ahead}
    others = [
        fixture
        for fixture in visit.store.fixtures(visit.pool, most=CALENDAR_MOST, newest=True)
        if fixture.fixture_id not in known
    ]
    pool, player = visit.header, rendering.chosen_player(visit.request)
    own: dict[str | None, float] = {}
    with suppress(UnknownError):  # the visitor has chosen nobody, or the player was renamed
        own = {line.event_id: line.shown for line in visit.store.player_changes(pool.name, player).rows}

    def outlook_on(race: Fixture, name: str) -> Upcoming:
        return outlook_of(visit.store, kept, pool, race, name)

    def outlook_of_one(race: Fixture) -> tuple[str, Upcoming]:
        name = player if own else default_player(visit.request, race)
        found = outlook_on(race, name)
        if name != player and found.stakes is not None:
            name = found.stakes.favourite
            found = outlook_on(race, name)
        return name, found

    return visit.show(
        "calendar.html",
        "Calendar",
        tab="calendar",
        ahead=by_month(pool, ahead),
        others=by_month(pool, others[:CALENDAR_PAST]),
        outlooks={race.fixture_id: outlook_of_one(race) for race in ahead[:MAX_OUTLOOKS]},
        latest=visit.store.event_list(pool.name, top=LATEST_EVENTS).events,
        own=own,
        plan_address=rendering.address("admin", pool.name, "races") if visit.visitor.may("write", pool.name) else "",
    )
