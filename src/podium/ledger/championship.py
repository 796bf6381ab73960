"""Championship standings: the points of players and teams over the rounds of a season."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from podium.engine.tables.encoding import offsets, reported_results
from podium.engine.tables.placing import place_heats
from podium.engine.tables.selection import UNRATED_STATUS
from podium.ledger.point_schemes import Points, Scheme, plain_key
from podium.ledger.reasons.standings import plain
from podium.results.columns import TYPES
from podium.results.consistency import SEQUENCE
from podium.results.derived_heats import OVERALL
from podium.support.answers import answer

DIGITS = 6  # decimals of sums of points
# default values for columns that a table may lack
MISSING = {"title": None, "heat": None, "mode": None, "team": None, "awards": None, "weight": 1.0, "ranked": True}


@answer
class Round:
    """A championship round: an event whose results count.

    Attributes:
        event_id: The event.
        title: Title, or null.
    """

    event_id: str
    title: str | None


@answer
class RoundPoints:
    """The points from one round.

    Attributes:
        event_id: The event.
        points: Points scored in this round.
        dropped: True if the round is one of the worst rounds, which do not count.
    """

    event_id: str
    points: float
    dropped: bool


@answer
class RoundLead:
    """The effect of one round on the lead between two neighbours in the standings.

    Attributes:
        event_id: The event.
        points: Points that count from this round, minus those of the next player or team.
    """

    event_id: str
    points: float


@answer
class Lead:
    """The lead of a player or team over the next one.

    Attributes:
        over: The next player or team.
        points: The lead, in points. If it is 0, places break the tie.
        rounds: Rounds that made a difference, largest difference first.
    """

    over: str
    points: float
    rounds: tuple[RoundLead, ...]

    def sentence(self, name: str) -> str:
        """Return the lead of the player or team with this name as a sentence."""
        if not self.points:
            return f"{name} and {self.over} have the same points, so their places decide."
        return f"{name} is {plain(self.points)} {'point' if self.points == 1 else 'points'} ahead of {self.over}."


@answer
class ChampionshipRow:
    """A player or a team in the standings.

    Attributes:
        rank: Rank. Ties on points are broken by the number of first places, then second places, and so on.
        name: Name of the player or team.
        team: The player's latest team. Null for teams, and for players without one.
        points: Points that count.
        wins: Number of races won.
        rounds: Rounds with a result, oldest first.
        reachable: The most points possible at the end of the season. Null if the number of rounds is unknown.
        uncatchable: True if nobody below can still reach these points.
        lead: The lead over the next player or team. Null for the last one.
    """

    rank: int
    name: str
    team: str | None
    points: float
    wins: int
    rounds: tuple[RoundPoints, ...]
    reachable: float | None
    uncatchable: bool
    lead: Lead | None


@answer
class Championship:
    """The standings of a season.

    Attributes:
        season: Name of the season, or null.
        scheme: The points scheme.
        counting: Number of rounds that count for each player.
        remaining: Number of remaining rounds. Null if unknown.
        points_left: The most points a player can still score. Null if unknown.
        rounds: The rounds so far, oldest first.
        players: The players, best first.
        teams: The teams, best first.
    """

    season: str | None
    scheme: str
    counting: int
    remaining: int | None
    points_left: float | None
    rounds: tuple[Round, ...]
    players: tuple[ChampionshipRow, ...]
    teams: tuple[ChampionshipRow, ...]


@dataclass(slots=True)
class Entrant:
    """A player or a team, with the points from each round."""

    name: str
    team: str | None = None  # the latest team
    points: dict[str, float] = field(default_factory=dict)  # by event
    places: list[float] = field(default_factory=list)  # only in races of the main kind
    counted: dict[str, float] = field(default_factory=dict)  # the points from the rounds that count

    def count_best(self, counting: int) -> None:
        best = sorted(self.points, key=self.points.__getitem__, reverse=True)[:counting]
        self.counted = {event: self.points[event] for event in best}

    @property
    def total(self) -> float:
        return add(self.counted.values())

    @property
    def key(self) -> tuple[float, list[float]]:
        """The sort key.

        In a comparison of place lists, the smaller list has more first places, or else more second places.
        """
        return -self.total, [*sorted(self.places), math.inf]


def championship(frame: pl.DataFrame, scheme: Scheme, *, remaining: int | None = None) -> Championship:
    """Return the standings after the results of a season.

    Args:
        frame: checked results of one pool.
        scheme: the points for places and awards, and the number of rounds that count.
        remaining: number of remaining rounds. Default: calculated from the scheme's number of rounds, or else unknown.
    """
    order = [name for name in ("started_at", SEQUENCE) if name in frame.columns]
    missing = [pl.lit(value, TYPES[name]).alias(name) for name, value in MISSING.items() if name not in frame.columns]
    rows = frame.sort(order, maintain_order=True) if order else frame
    rows = rows.with_columns(missing)
    titles = rows.group_by("event_id", maintain_order=True).agg(pl.col("title").drop_nulls().first())
    if remaining is None and scheme.rounds is not None:
        remaining = max(scheme.rounds - titles.height, 0)
    every = titles.height + (remaining or 0)
    players, teams = scored_entrants(rows, scheme) if rows.height else ([], [])
    return Championship(
        season=None,
        scheme=scheme.text,
        counting=scheme.counting(every),
        remaining=remaining,
        points_left=None if remaining is None else remaining * scheme.most(),
        rounds=tuple(Round(*row) for row in titles.iter_rows()),
        players=ranked_rows(players, scheme.counting(every), scheme.most(), remaining),
        teams=ranked_rows(teams, every, scheme.most(scheme.teams), remaining),
    )


def scored_entrants(rows: pl.DataFrame, scheme: Scheme) -> tuple[list[Entrant], list[Entrant]]:
    """Return the players and the teams, with their points."""
    players, teams = dict[str, Entrant](), dict[str | None, Entrant]()
    # by team and event
    of_members = defaultdict[tuple[str | None, str], dict[str, float]](lambda: defaultdict(float))
    columns = ("event_id", "player", "team", "mode", "awards", "weight", "is_scored", "place", "tied")
    for event, name, team, mode, awards, weight, is_scored, place, tied in placed_rows(rows)[columns].iter_rows():
        player, own_team = players.setdefault(name, Entrant(name)), teams.setdefault(team, Entrant(team or ""))
        points = award_points(awards, place, scheme)
        if is_scored and place is not None:
            kind = plain_key(mode or "")
            points += place_points(scheme.kinds.get(kind, scheme.points), place, tied)
            if kind not in scheme.kinds:
                player.places.append(place)
                own_team.places.append(place)
        player.team = team or player.team
        player.points[event] = add([player.points.get(event, 0.0), points * weight])
        of_members[team, event][name] += points * weight
    for (team, event), members in of_members.items():
        teams[team].points[event] = add(sorted(members.values(), reverse=True)[: scheme.teams])
    teams.pop(None, None)  # players without a team
    return [*players.values()], [*teams.values()]


def placed_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of all participants, with the place of each finisher in the heat.

    `tied` is the number of players or teams that share the place. `is_scored` is True for the heats that give points
    for places: the event's overall result if there is one, otherwise every heat.
    """
    is_overall = (pl.col("heat") == OVERALL).fill_null(value=False)
    rows = rows.with_row_index("row").filter(pl.col("ranked") & ~pl.col("status").is_in(UNRATED_STATUS))
    rows = rows.with_columns(is_scored=is_overall | ~is_overall.any().over("event_id"))
    finished = rows.filter(pl.col("status") == "finished").sort("event_id", "heat", maintain_order=True)
    unit = finished.select(pl.struct("event_id", "heat").rle_id()).to_series()
    heats = offsets(unit.to_numpy())
    places = place_heats(reported_results(finished, heats, np.ones(finished.height, np.bool_), teams=True), teams=True)
    rank = np.where(places.rank > 0, places.rank, places.place)
    side = places.side if places.side.size else np.arange(finished.height)
    finished = finished.select("row", unit=unit, rank=pl.Series(rank), side=pl.Series(side))
    finished = finished.with_columns(is_first=pl.struct("unit", "side").is_first_distinct())  # one entry of each team
    finished = finished.with_columns(
        place=pl.when("is_first").then("rank").rank("min").over("unit"),
        tied=pl.col("is_first").sum().over("unit", "rank"),
    )
    of_team = pl.col("place").max().over("unit", "side")
    return rows.join(finished.select("row", "tied", place=of_team), on="row", how="left", maintain_order="left")


def place_points(points: Points, place: int, tied: int) -> float:
    """Return the points for a place. Tied entrants share the points of their places."""
    return add(points[place - 1 : place - 1 + tied]) / tied


def award_points(awards: str | None, place: int | None, scheme: Scheme) -> float:
    """Return the points for the awards in a cell, whose names are separated by commas."""
    named = (scheme.awards.get(plain_key(name)) for name in (awards or "").split(","))
    won = [award for award in named if award is not None]
    return add(award.points for award in won if (place or math.inf) <= award.within)


def ranked_rows(
    entrants: Sequence[Entrant], counting: int, most: float, remaining: int | None
) -> tuple[ChampionshipRow, ...]:
    """Return the entrants in order, with their ranks, their leads and the most points that they can still reach.

    Args:
        most: the most points that each of them can score in a remaining round.
    """
    for entrant in entrants:
        entrant.count_best(counting)
    ordered = sorted(entrants, key=lambda entrant: (entrant.key, entrant.name))
    to_come = [most] * (remaining or 0)
    reach = [add(sorted([*entrant.points.values(), *to_come])[-counting:]) for entrant in ordered]
    rows = list[ChampionshipRow]()
    for number, entrant in enumerate(ordered):
        is_level = number > 0 and entrant.key == ordered[number - 1].key
        rounds = (RoundPoints(event, points, event not in entrant.counted) for event, points in entrant.points.items())
        below = max(reach[number + 1 :], default=math.inf)
        rows.append(
            ChampionshipRow(
                rank=rows[-1].rank if is_level else number + 1,
                name=entrant.name,
                team=entrant.team,
                points=entrant.total,
                wins=entrant.places.count(1),
                rounds=tuple(rounds),
                reachable=None if remaining is None else reach[number],
                uncatchable=remaining is not None and below < entrant.total,
                lead=lead_over(entrant, ordered[number + 1]) if number + 1 < len(ordered) else None,
            )
        )
    return tuple(rows)


def lead_over(one: Entrant, other: Entrant) -> Lead:
    """Return the lead of an entrant over the next one."""
    events = {**one.counted, **other.counted}
    differences = (
        RoundLead(event, add([one.counted.get(event, 0.0), -other.counted.get(event, 0.0)])) for event in events
    )
    rounds = sorted((lead for lead in differences if lead.points), key=lambda lead: -abs(lead.points))
    return Lead(other.name, add([one.total, -other.total]), tuple(rounds))


def add(points: Iterable[float]) -> float:
    return round(math.fsum(points), DIGITS)
