"""The stakes of an upcoming race, based on current ratings, and of a past race, based on the ratings before it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import combinations

import numpy as np
import polars as pl

from podium.engine.tables.encoding import Events, encode
from podium.engine.tables.equipment import columns_of
from podium.engine.tables.selection import UNRATED_STATUS
from podium.errors import ParameterError
from podium.ledger.forecast import (
    Forecast,
    Member,
    Named,
    field_of,
    forecast,
    member_of,
    names_to_rate,
    refuse_slips,
)
from podium.ledger.hypothetical_race import Race, has_draws
from podium.ledger.seeding import Seed, meetings, seeds
from podium.ledger.stakes import Stakes, StakesGrid, changes_now, likely_places, stakes
from podium.log.players import admit_names, names_like
from podium.log.pools import Pool
from podium.log.statements import instant
from podium.pool.roster import as_results
from podium.pool.snapshot import RATED, Event
from podium.results.derived_heats import OVERALL
from podium.support.answers import answer
from podium.views.board import ESTABLISHED, Board
from podium.views.boards.seasons import span_of
from podium.views.details import details_by_name
from podium.views.events import event_details, nu_now, replay_at, system_and_states, system_and_states_before
from podium.views.headlines import event_list
from podium.views.models import answer_from
from podium.views.names import public_numbers
from podium.views.races.fixtures import get_fixture, places_now
from podium.views.reader import PoolAt
from podium.views.results import counting_results, numbered_results

MAX_STARTERS = 200
MEETING_EVENTS = 2_000  # number of events to search for pairs who have met
RECENT_EVENTS = 200  # number of events to search for the last comparable heat and for draws
Sides = Sequence[Sequence[Member]]


def starters_at(
    pool: PoolAt,
    sides: Sides,
    started_at: int | None,
    position: int,
    margin: float | None = None,
) -> tuple[Race, bool]:
    """Return a race between these sides, with the states before a position, and True if duels in the pool may be drawn.

    In a numbered pool, the race has no date.
    """
    players = [entrant.player for side in sides for entrant in side]
    if len(players) > MAX_STARTERS:
        raise ParameterError(
            f"The race has {len(players):,} players, and stakes are limited to {MAX_STARTERS}. Choose fewer players."
        )
    names = names_to_rate(sides, pool.system.kinds)
    system, states, seen = system_and_states_before(pool, names, position)
    reads_recent = bool(pool.system.needs) or len(sides) == 2  # noqa: PLR2004  (a duel)
    recent = pool.value(("recent", position), lambda: recent_events(pool, position)) if reads_recent else None
    when = None if started_at is None or pool.is_undated else instant(started_at)
    race = Race.of(system, pool.name, sides, states, seen, when, recent, margin=margin)
    return race, recent is not None and has_draws(recent, pool.name)


def recent_events(pool: PoolAt, position: int) -> Events | None:
    """Return the newest rated events before a position, or None if there are no such events."""
    events = pool.snapshot.events
    recent = [event.position for event in events.first(range(position)[::-1], RECENT_EVENTS, RATED)[::-1]]
    if not recent:
        return None
    table = numbered_results(pool, events.order.at("uid", np.array(recent)))
    return encode(as_results(pool, table), pool.system)


def established_board(pool: PoolAt, race: Race) -> StakesGrid:
    """Return today's board, on which only players with an established rating have ranks."""
    ranked = ~pool.system.is_provisional(race.states) & (race.states[:, pool.system.column("events")] > 0.0)
    mine = pool.system.scores(race.states)[ranked]
    today = Board.of(pool, ESTABLISHED)
    return StakesGrid(lambda scores: today.count_above(scores) - (mine > scores[:, None]).sum(axis=1), ranked, ranked)


def field_in(pool: PoolAt, entrants: Sequence[Named], sides: Sequence[Sequence[Named]]) -> list[list[Member]]:
    """Return the members of each side, with valid names.

    Reject a newcomer whose name is almost the same as a player's.
    """
    field = field_of(entrants, sides, lambda names: admit_names(pool, names, "entrant"))
    known = public_numbers(pool, [entrant.player for side in field for entrant in side])
    refuse_slips(field, known, lambda name: names_like(pool, name))
    return field


def predicted(
    pool: PoolAt, entrants: Sequence[Named] = (), *, sides: Sequence[Sequence[Named]] = (), top: int = 3
) -> Forecast:
    """Forecast an event with the current ratings. Unknown players are treated as newcomers.

    Args:
        pool: the pool.
        entrants: the names of players competing individually, or dicts as for `podium.Rated.predict`.
        sides: the names of the members of each team.
        top: number of places that count as top places.

    Returns:
        Probabilities (0 to 1) for each rank and for each pair, and of a draw between two sides if the pool has draws.

    Raises:
        ParameterError: there are fewer than two sides, a player is repeated, a name is invalid, or `top` is below 1.
        NearNameError: a newcomer's name is almost that of a player, and no dict marks it as `new`.
    """
    field = field_in(pool, entrants, sides)
    names = names_to_rate(field, pool.system.kinds)
    system, states = system_and_states(pool, names)
    nu = nu_now(pool) if len(field) == 2 else 0.0  # noqa: PLR2004  (a duel)
    return forecast(system, field, dict(zip(names, states, strict=True)), top, nu)


def stakes_of(
    pool: PoolAt,
    entrants: Sequence[Named] = (),
    player: Named | None = None,
    *,
    sides: Sequence[Sequence[Named]] = (),
    fixture: str | None = None,
    heats: int = 1,
    margin: float | None = None,
) -> Stakes:
    """Return the effect of each place in a race, based on current ratings. The result is cached until the log changes.

    Args:
        pool: the pool.
        entrants: the names of players competing individually, or dicts as for `podium.Rated.predict`.
        player: the player whose table to calculate, as a name or a dict. A player who is not among the entrants is
            added. Default: the first entrant.
        sides: the names of the members of each team.
        fixture: the ID of an upcoming race that provides the entrants and the start.
        heats: number of heats, from 1 to 100. Every entrant takes the same place in each heat.
        margin: the margin of a win between two sides, in systems that rate margins. Default: the usual margin.

    Returns:
        The table, in the same form as from `podium.Rated.stakes`. Ranks are among players with an established rating.

    Raises:
        UnknownError: the pool or the fixture does not exist.
        ParameterError: there are fewer than two sides or over 200 players, a player is repeated, or a name is invalid.
        NearNameError: a newcomer's name is almost that of a player, and it is not marked as `new`.
    """
    started_at = None
    starting = field_in(pool, entrants, sides)
    if fixture is not None:
        planned = get_fixture(pool, fixture)
        starting, started_at = rated_members(planned.members, pool), planned.starts_at
    chosen = [] if player is None else admit_names(pool, [member_of(player).player], "entrant")
    if chosen and not any(chosen[0] == entrant.player for side in starting for entrant in side):
        starting = [*starting, *field_in(pool, [] if player is None else [player], ())]
    when = None if started_at is None else round(started_at.timestamp() * 1e6)

    def find() -> Stakes:
        race, draws = starters_at(pool, starting, when, pool.snapshot.events.order.size, margin=margin)
        board = established_board(pool, race)
        nu = nu_now(pool) if draws else 0.0
        return stakes(race, chosen or race.players[:1], board, heats=heats, draws=draws, nu=nu)

    return pool.value(("stakes", str(starting), *chosen, when, heats, margin), find)


def seeds_of(pool: PoolAt, fixture: str, *, groups: int | None = None, protect: int = 0) -> tuple[Seed, ...]:
    """Return the entrants of an upcoming race as the seeds of a tournament.

    Args:
        pool: the pool.
        fixture: the ID of the race.
        groups: number of groups. Default: no groups.
        protect: number of opening rounds of the bracket, at most 4, in which members of a club, and players who have
            met this season, are kept apart.

    Returns:
        The players in order of their scores, newcomers last. Opponents who have already met this season are not paired
        again.

    Raises:
        UnknownError: the pool or the fixture does not exist.
        ParameterError: there cannot be this number of groups.
    """
    players = [entrant.player for side in get_fixture(pool, fixture).members for entrant in side]

    def find() -> tuple[Seed, ...]:
        events, span = pool.snapshot.events, span_of(pool)
        begin = 0 if span.begins is None else events.position(span.begins)
        recent = slice(max(begin, events.order.size - MEETING_EVENTS), None)
        system, states = system_and_states(pool, players)
        states_of = dict(zip(players, states, strict=True))
        met = meetings(counting_results(pool, recent).frame)
        if protect:
            details = details_by_name(pool)
            clubs = {player: details[player]["club"] for player in players if "club" in details.get(player, ())}
            met |= {frozenset(pair) for pair in combinations(clubs, 2) if clubs[pair[0]] == clubs[pair[1]]}
        return seeds(system, states_of, met, groups, protect)

    return pool.value(("seeds", *players, groups, protect), find)


def rated_members(sides: Sequence[Sequence[Member]], pool: Pool) -> list[list[Member]]:
    """Return the members of the planned sides, with the equipment that the pool's system rates."""
    kinds = pool.system.kinds
    return [
        [
            entrant._replace(shared={kind: name for kind, name in entrant.shared.items() if kind in kinds})
            for entrant in side
        ]
        for side in sides
    ]


@answer
class RunningRace:
    """The current places in a race, and everyone's rating change if the race ended now.

    Attributes:
        places: Players by place, leader first.
        out: Players who did not finish.
        posted_at: Time when the places were last updated. Null if none have been posted.
        changes: Rating change of each player. Null for players who would not be rated.
        likely: The most likely place of each player without a place, assuming that they finish behind everyone who has
            one.
    """

    places: tuple[str, ...]
    out: tuple[str, ...]
    posted_at: datetime | None
    changes: dict[str, float | None]
    likely: dict[str, int]


def running_race(pool: PoolAt, race_id: str) -> RunningRace:
    """Return the current places in a running race, and the rating changes if it ended now. Nothing is stored.

    Returns:
        The places, and the changes in the same order. If no places have been posted, both are empty.

    Raises:
        UnknownError: the pool or the fixture does not exist.
    """
    planned, stands = get_fixture(pool, race_id), places_now(pool, race_id)
    if stands is None:
        return RunningRace((), (), None, {}, {})

    def find() -> RunningRace:
        in_place, gone, _ = planned.standing(stands.places, stands.out)
        if planned.entrants is None:
            sides = [[Member(name)] for side in (*in_place, *gone) for name in side]
        else:
            sides = rated_members(planned.members, pool)
        number_of = {side[0].player: number for number, side in enumerate(sides)}
        order, out = ([number_of[side[0]] for side in sides_in_order] for sides_in_order in (in_place, gone))
        starts_at = round(planned.starts_at.timestamp() * 1e6)
        race = starters_at(pool, sides, starts_at, pool.snapshot.events.order.size)[0]
        found = RunningRace(stands.places, stands.out, stands.posted_at, {}, {})
        if len(sides) < 2:  # noqa: PLR2004  (nobody met)
            return found
        changes = {} if race.system.needs and race.lines is None else changes_now(race, order, out)
        return replace(found, changes=changes, likely=likely_places(race, order, out))

    return pool.value(("running", race_id), find, stands)


def stakes_before_event(pool: PoolAt, event: Event, player: str) -> Stakes | None:
    """Return the effect of each place in a past event with one heat, based on the states just before it.

    The table contains neither ranks nor the other entrants' break-even places. There is no table for events with
    several heats.
    """

    def find_starters() -> tuple[Race, bool] | None:
        results = replay_at(pool, event.position)[0].results.frame
        sides = sides_in(pool, results.filter(pl.col("event_id") == event.event_id))
        return None if sides is None else starters_at(pool, sides, event.started_at, event.position)

    def find() -> Stakes | None:
        starters = pool.value(("before", event.event_id), find_starters)
        if starters is None:
            return None
        race, draws = starters
        nobody = np.zeros(len(race.players), np.bool_)
        board = StakesGrid(lambda ratings: np.zeros(ratings.size, np.int64), nobody, nobody)
        return stakes(race, [player], board, draws=draws, stable=True)

    return pool.value(("stakes before", event.event_id, player), find)


def newest_heats(pool: PoolAt) -> int:
    """Return the number of heats in the newest event, not counting the overall result.

    Returns:
        The number of heats, or 0 if there is no event, or if its field is too large for stakes.
    """

    def find() -> int:
        newest = event_list(pool, top=1).events
        if not newest or newest[0].entrants > MAX_STARTERS:
            return 0
        entries = event_details(pool, newest[0].event_id).entries
        return len({entry.heat for entry in entries} - {None, OVERALL})

    return pool.value(("heats",), find)


def sides_in(pool: Pool, results: pl.DataFrame) -> list[list[Member]] | None:
    """Return the sides in an event with one heat, or None for any other event."""
    lines = [line for line in results.iter_rows(named=True) if line["status"] not in UNRATED_STATUS]
    if len(lines) > MAX_STARTERS or len({line.get("heat") for line in lines}) > 1:
        return None
    sides: dict[str | tuple[str], list[Member]] = {}
    columns = columns_of(results, pool.system.kinds).items()
    for line in lines:
        shared = {kind: line[column] for kind, column in columns if line[column] is not None}
        member = Member(line["player"], shared, line.get("side"))
        sides.setdefault(line.get("team") or (member.player,), []).append(member)
    return [*sides.values()] if len(sides) > 1 else None


@answer
class StakesLine:
    """The effect of one place on one player.

    Attributes:
        player: Player.
        place: Place. A draw between two players is 1.5. Null for a quit.
        chance: Probability of finishing in this place, from 0 to 1. Null for quits.
        delta: Rating change, in points.
        rating: Rating that the player would have.
        rank: Rank that the player would have among players with an established rating.
        error: Twice the standard error of the change. 0 if it is exact.
    """

    player: str
    place: float | None
    chance: float | None
    delta: float
    rating: float
    rank: int
    error: float


@answer
class StakesEntrant:
    """An entrant of an upcoming race.

    Attributes:
        player: The player.
        rating: Current rating.
        rank: Rank among players with an established rating. Null for other players.
        win: The chance of winning, from 0 to 1.
        break_even: Lowest finishing place that costs no points. Null if every place costs points.
    """

    player: str
    rating: float
    rank: int | None
    win: float
    break_even: int | None


@answer
class RaceStakes:
    """The effect of each place in an upcoming race.

    Attributes:
        stakes: One row per place, best first.
        entrants: Entrants, highest rating first.
        headline: Sentence about the places in which the first player gains points.
        outlook: Sentence about the best place that the player is likely to reach. Null if there is no table.
        method: Method and accuracy, or the reason why there is no table.
        draws: The table is based on this number of possible finishing orders of the other entrants.
        is_exact: True if these are all the possible finishing orders.
        error: The largest `error` of all rows.
        age_s: Age of the table in seconds, if newer results have arrived. Otherwise 0.
    """

    stakes: tuple[StakesLine, ...]
    entrants: tuple[StakesEntrant, ...]
    headline: str
    outlook: str | None
    method: str
    draws: int
    is_exact: bool
    error: float
    age_s: float


def race_stakes(found: Stakes, age_s: float) -> RaceStakes:
    lines = tuple(StakesLine(**line) for line in found.table)
    starters = tuple(StakesEntrant(**starter) for starter in found.starters)
    texts = {"headline": found.headline(), "outlook": found.outlook()}
    return answer_from(RaceStakes, found, stakes=lines, entrants=starters, **texts, age_s=round(age_s, 3))
