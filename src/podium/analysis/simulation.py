"""Simulate seasons of a league with known skills. Gamma-distributed performances are converted to times.

The model is the one in `podium.probability.gamma`: the performance of an entrant with skill R has the distribution
Gamma(shape, rate e^(slope (R - 1500))), and 0 is perfect. A race takes the ideal time * (1 + spread * performance).
Each lap has the shape parameter shape / laps, so the sum over all laps is a performance with the full shape.
"""

import math
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import polars as pl

from podium.errors import ParameterError
from podium.kernels.compiled import compile_kernel
from podium.probability.gamma import SHAPES, matched_slope
from podium.support.arrays import Floats, Integers
from podium.support.immutable import immutable
from podium.support.words import in_words

START = datetime(2025, 1, 1, tzinfo=UTC)
DAY_S = 86_400
CENTRE = 1500.0
SCHEDULES = ("random", "grid", "matched")
SHARE, POINTS = (0.0, 1.0), (0.0, 3_000.0)
BOUNDS: dict[str, tuple[float, float]] = {  # within these bounds, all times are finite and positive
    "players": (2, 10**7), "events": (0, 10**7), "entrants": (2, 10**7), "heats": (1, 1000), "teams": (0, 10**7),
    "laps": (1, 1000), "days": (1e-3, 36_525.0), "skill_deviation": POINTS, "newcomers": SHARE, "leavers": SHARE,
    "drift": POINTS, "jumps": SHARE, "jump": (-3_000.0, 3_000.0), "quits": SHARE, "ideal_s": (1e-3, 1e9),
    "spread": (1e-9, 1e9), "resolution_s": (1e-9, 1e9), "seed": (0, 2**63 - 1),
}  # fmt: skip
SPARE_CANDIDATES = 3  # number of candidates drawn per seat
POPULARITY_EXPONENT = 0.5  # the weight of the k-th most active player is k^-POPULARITY_EXPONENT
PERFECT_SCORE = 10_000.0  # score of a perfect performance


@immutable
class Scenario:
    """The settings of a season. Shares and probabilities are from 0 to 1."""

    players: int = 200
    events: int = 1000
    entrants: int = 8  # number of entrants per event, if enough players are active
    heats: int = 1
    teams: int = 0  # number of teams per event; 0 for no teams
    laps: int = 1
    days: float = 365.0
    schedule: str = "random"  # random; grid: the same fields repeatedly; matched: players of similar skill
    skill_deviation: float = 250.0  # standard deviation of the players' initial skills, around 1500
    shape: int = 3
    newcomers: float = 0.3  # share of players who arrive during the season
    leavers: float = 0.2  # share of players who leave before the end
    drift: float = 100.0  # standard deviation of a player's change in skill over the season
    jumps: float = 0.05  # share of players with a sudden change in skill
    jump: float = 300.0  # size of that change in points, always upwards
    quits: float = 0.03  # probability that an entrant leaves a heat; half of these entrants disconnect early
    ideal_s: float = 120.0  # time of a perfect race
    spread: float = 0.015  # time per unit of performance, as a share of the ideal time
    resolution_s: float = 0.01  # resolution of the clock; equal times are ties
    seed: int = 1

    def __post_init__(self) -> None:
        for name, (least, most) in BOUNDS.items():
            value, is_whole = getattr(self, name), isinstance(least, int)
            if not least <= value <= most or (is_whole and int(value) != value):
                kind = "a whole number" if is_whole else "a number"
                raise ParameterError(
                    f"{name} is {value!r}; it must be {kind} from {in_words(least)} to {in_words(most)}"
                )
        if self.schedule not in SCHEDULES:
            raise ParameterError(f"schedule is {self.schedule!r}; it must be one of {', '.join(SCHEDULES)}")
        if self.shape not in SHAPES:
            raise ParameterError(f"shape is {self.shape!r}; it must be a whole number from {SHAPES[0]} to {SHAPES[-1]}")
        if self.resolution_s > self.ideal_s:
            raise ParameterError(f"resolution_s is {self.resolution_s}; it must be at most ideal_s, {self.ideal_s}")
        if self.teams == 1 or self.teams > self.entrants:
            raise ParameterError(f"teams is {self.teams}; it must be 0, or from 2 to the number of entrants")


@immutable
class Simulated:
    """A simulated season."""

    results: pl.DataFrame  # a results table
    skills: pl.DataFrame  # event_id, player, skill: the truth at each event
    laps: pl.DataFrame | None  # event_id, heat, player, lap, time_s; None for races of one lap


@immutable
class Careers:
    """The careers of the players. The season lasts from time 0 to time 1."""

    start: Floats  # skill at the start
    gain: Floats  # drift over the season
    arrives: Floats
    leaves: Floats
    jump_at: Floats  # time of the sudden change; infinite for most
    jump: float

    def skill(self, player: Integers, when: Floats) -> Floats:
        """Return the skills of players at the given times."""
        jumped = self.jump * (when >= self.jump_at[player])
        skill: Floats = self.start[player] + self.gain[player] * when + jumped
        return skill


def simulate(scenario: Scenario | None = None, **settings: Any) -> Simulated:
    """Simulate a season. The same scenario always gives exactly the same season.

    Args:
        scenario: Settings such as the number of players and events, the spread and drift of skills, and the seed.
            Default: `Scenario()`.
        settings: Fields of the scenario to change, by name.

    Returns:
        `results`, a results table; `skills`, the true skill of every entrant in every event, in points; and `laps`, the
        lap times in seconds, if the scenario has laps.

    Raises:
        ParameterError: A setting does not exist, or its value is invalid.
    """
    known = [setting.name for setting in fields(Scenario)]
    for name in settings:
        if name not in known:
            raise ParameterError(f"{name!r} is not a setting of a season (settings: {', '.join(known)})")
    scenario = replace(scenario or Scenario(), **settings)
    random = np.random.default_rng(scenario.seed)
    careers = draw_careers(scenario, random)
    when = np.sort(random.random(scenario.events))
    event, player = draw_fields(scenario, careers, when, random)
    skill = careers.skill(player, when[event])
    shared = shared_columns(scenario, event, player, when)
    rows = [heat_rows(scenario, event, skill, random) for _ in range(scenario.heats)]
    tables = []
    for number, (measures, _) in enumerate(rows, start=1):
        named = shared.with_columns(heat=pl.lit(str(number))) if scenario.heats > 1 else shared
        team = [team_columns(scenario, event, measures["score"])] if scenario.teams else []
        tables.append(pl.concat([named, *team, measures], how="horizontal"))
    skills = shared.select("event_id", "player", skill=pl.Series(skill))
    return Simulated(pl.concat(tables), skills, lap_table(scenario, shared, [laps for _, laps in rows]))


def draw_careers(scenario: Scenario, random: np.random.Generator) -> Careers:
    """Draw the careers of the players at random."""
    n = scenario.players
    start = random.normal(CENTRE, scenario.skill_deviation, n)
    gain = random.normal(0.0, scenario.drift, n) if scenario.drift > 0.0 else np.zeros(n)
    arrives = np.where(random.random(n) < scenario.newcomers, random.uniform(0.0, 0.7, n), 0.0)
    stops = random.random(n) < scenario.leavers
    leaves = np.where(stops, arrives + (1.0 - arrives) * random.uniform(0.3, 1.0, n), 1.0)
    jump_at = np.where(random.random(n) < scenario.jumps, random.uniform(0.3, 0.7, n), np.inf)
    return Careers(start, gain, arrives, leaves, jump_at, scenario.jump)


def draw_fields(
    scenario: Scenario, careers: Careers, when: Floats, random: np.random.Generator
) -> tuple[Integers, Integers]:
    """Draw the entries.

    Return the event and the player of each entry. Events with fewer than two players are left out.
    """
    n, size = scenario.players, min(scenario.entrants, scenario.players)
    shape = (when.size, SPARE_CANDIDATES * size)
    popular = np.cumsum(np.arange(1, n + 1) ** -POPULARITY_EXPONENT)
    drawn = np.searchsorted(popular, random.random(shape) * popular[-1])
    if scenario.schedule == "grid":
        groups = max(1, math.ceil(n / size))
        drawn = (np.arange(when.size)[:, None] % groups + groups * np.arange(size)) % n
        drawn = np.sort(drawn, axis=1)
    elif scenario.schedule == "matched":
        order = np.argsort(careers.start)
        place = np.empty(n, np.int64)
        place[order] = np.arange(n)
        near = np.rint(random.normal(0.0, max(1.0, 0.5 * size), shape)).astype(np.int64)
        drawn = order[np.clip(place[drawn[:, :1]] + near, 0, n - 1)]
    seats = np.full((when.size, size), -1)
    fallback = random.integers(0, n, when.size)
    _seat(drawn, fallback, careers.arrives, careers.leaves, when, scenario.schedule != "grid", seats)
    held = (seats >= 0).sum(axis=1) >= 2  # noqa: PLR2004  (it takes two to compare)
    taken = (seats >= 0) & held[:, None]
    event = np.repeat(np.arange(when.size), size).reshape(seats.shape)[taken]
    return event, seats[taken]


def _seat_players(
    drawn: Any,
    fallback: Any,
    arrives: Any,
    leaves: Any,
    when: Any,
    fill: bool,  # noqa: FBT001  (positional for numba)
    seats: Any,
) -> None:
    """Fill the seats of each event with the first active candidates, each once, and then with other active players."""
    n = arrives.size
    for event in range(seats.shape[0]):
        taken = 0
        for k in range(drawn.shape[1] + n):
            if taken == seats.shape[1] or (k >= drawn.shape[1] and not fill):
                break
            player = drawn[event, k] if k < drawn.shape[1] else (fallback[event] + k) % n
            about = arrives[player] <= when[event] <= leaves[player]
            for seat in range(taken):
                about = about and seats[event, seat] != player
            if about:
                seats[event, taken] = player
                taken += 1


_seat = compile_kernel(_seat_players)


def shared_columns(scenario: Scenario, event: Integers, player: Integers, when: Floats) -> pl.DataFrame:
    """Return the columns whose values are the same in all of an entrant's heats."""
    digits, wide = len(str(max(scenario.events, 1))), len(str(scenario.players))
    seconds = np.floor(when * scenario.days * DAY_S).astype(np.int64)
    started = (pl.Series(seconds) * 1_000_000).cast(pl.Duration("us")) + START
    names = pl.Series([f"p{number + 1:0{wide}}" for number in range(scenario.players)])
    events = pl.Series([f"s{number + 1:0{digits}}" for number in range(scenario.events)], dtype=pl.String)
    return pl.DataFrame({"event_id": events[event], "started_at": started[event], "player": names[player]})


def heat_rows(
    scenario: Scenario, event: Integers, skill: Floats, random: np.random.Generator
) -> tuple[pl.DataFrame, Floats]:
    """Simulate one heat of every event. Return its columns, and the lap times as an array of shape (entries, laps)."""
    rate = np.exp(matched_slope(scenario.shape) * (skill - CENTRE))
    laps = random.standard_gamma(scenario.shape / scenario.laps, (event.size, scenario.laps)) / rate[:, None]
    performance = laps.sum(axis=1)
    ticks = np.rint(scenario.ideal_s * (1.0 + scenario.spread * performance) / scenario.resolution_s)
    left = random.random(event.size) < scenario.quits
    early = random.random(event.size) < 0.5  # noqa: PLR2004  (half of the players who leave)
    # If all entrants of an event would leave, the first entrant stays.
    first = np.flatnonzero(np.diff(event, prepend=-1))
    stay = np.add.reduceat(~left, first) == 0 if event.size else np.zeros(0, np.bool_)
    left[first[stay]] = False
    time_s = np.round(ticks * scenario.resolution_s, 6)
    part = np.where(
        left, np.where(early, random.uniform(0.02, 0.3, event.size), random.uniform(0.3, 1.0, event.size)), 1.0
    )
    score = np.rint(PERFECT_SCORE / (1.0 + performance))
    frame = pl.DataFrame({"event": event, "left": left, "ticks": ticks, "time_s": time_s, "score": score})
    finished, longest = ~pl.col("left"), pl.when(pl.col("left")).then(0.0).otherwise("time_s").max().over("event")
    duration_s = frame.select(longest).to_series().to_numpy()
    measures = frame.select(
        # Players who left come after all others, and have no position.
        position=pl.when(finished).then(pl.struct("left", "ticks").rank("min").over("event").cast(pl.Int64)),
        time_s=pl.when(finished).then("time_s"),
        score=pl.when(finished).then(pl.col("score").cast(pl.Int64)),
        status=pl.when(finished).then(pl.lit("finished")).otherwise(pl.lit("quit")),
        played_s=pl.Series(np.round(np.where(left, part * duration_s, duration_s), 3)),
        duration_s=pl.Series(duration_s),
    )
    lap_s = np.where(left[:, None], np.nan, scenario.ideal_s * (1.0 / scenario.laps + scenario.spread * laps))
    return measures, lap_s


def team_columns(scenario: Scenario, event: Integers, score: pl.Series) -> pl.DataFrame:
    """Assign seats to teams in turn. A team's score is the sum of its members' scores. Positions are individual."""
    seats = pl.DataFrame({"event": event, "score": score}).with_columns(
        team=pl.int_range(pl.len()).over("event") % scenario.teams
    )
    summed = pl.col("score").fill_null(0).sum().over("event", "team")
    return seats.select(team=pl.format("team {}", pl.col("team") + 1), team_score=summed)


def lap_table(scenario: Scenario, shared: pl.DataFrame, heats: list[Floats]) -> pl.DataFrame | None:
    """Return the times of all laps of the finishers, measured by the same clock."""
    if scenario.laps == 1:
        return None
    tables = []
    for heat, times in enumerate(heats, start=1):
        tables.append(
            pl.DataFrame(
                {
                    "event_id": np.repeat(shared["event_id"].to_numpy(), scenario.laps),
                    "heat": np.full(times.size, str(heat)),
                    "player": np.repeat(shared["player"].to_numpy(), scenario.laps),
                    "lap": np.tile(np.arange(1, scenario.laps + 1), times.shape[0]),
                    "time_s": times.ravel(),
                }
            ).filter(pl.col("time_s").is_not_nan())
        )
    return pl.concat(tables)
