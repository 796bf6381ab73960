"""One event as plain objects: its teams as lists of names, and what it did to each of them."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import repeat
from typing import Any

import polars as pl

from podium.engine.replay import NEVER
from podium.errors import Fault, ParameterError
from podium.results.consistency import SEQUENCE

TEAM_COLUMNS = ("event_id", "player", "team", "position", "score", "team_score")  # of which a caller has own words


@dataclass(frozen=True, slots=True)
class PlayerChange:
    """What an event did to one player."""

    player: str
    rating_before: float
    rating: float  # after the event
    delta: float  # points, as the history has them
    state: Any  # the whole state after the event: the system's own NamedTuple


@dataclass(frozen=True, slots=True)
class RatedEvent:
    """What an event did to all who were in it."""

    event_id: str
    pool: str
    rated: bool  # whether it counted: one with `ranked=False`, or with a single team, moves nobody
    teams: tuple[tuple[PlayerChange, ...], ...]  # as they came in

    @property
    def players(self) -> dict[str, PlayerChange]:
        """Find a player's change by the name.

        Returns:
            Each one's change, team by team.
        """
        return {each.player: each for team in self.teams for each in team}

    def __repr__(self) -> str:
        changes = ", ".join(f"{each.player} {each.rating:.1f} ({each.delta:+.1f})" for each in self.players.values())
        return f"RatedEvent({self.event_id}: {changes})"


def rows_of_teams(
    event_id: str,
    teams: Sequence[Sequence[str] | str],
    ranks: Sequence[float] | None,
    scores: Sequence[float] | None,
    started_at: datetime | str | None,
    columns: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """The rows of a results table of one event.

    Args:
        ranks: of the teams, the lowest is the best and equal ones tie; in the order of `teams` where neither these nor
            scores are given.
    """
    members = [[team] if isinstance(team, str) else [*team] if isinstance(team, Iterable) else [] for team in teams]
    if isinstance(teams, str) or not members or not all(members):
        raise ParameterError("an event needs teams, and every team a player: [['ana'], ['ben', 'cleo']]")
    own_words = sorted(set(columns) & set(TEAM_COLUMNS))
    if own_words:
        raise ParameterError(f"{own_words[0]} is not given beside teams: say it with teams, ranks and scores")
    if ranks is None and scores is None:
        ranks = range(len(members))
    shared: dict[str, Any] = {"event_id": event_id} | dict(columns)
    if started_at is not None:
        shared["started_at"] = started_at
    in_teams = any(len(team) > 1 for team in members)
    values: dict[str, Sequence[float | str]] = {"team": [str(k + 1) for k in range(len(members))]} if in_teams else {}
    if ranks is not None:
        given = numbers(ranks, members, "ranks")  # which may begin anywhere
        values["position"] = [1 + sum(other < rank for other in given) for rank in given]
    if scores is not None:
        values["team_score" if in_teams else "score"] = numbers(scores, members, "scores")
    return [
        shared | {"player": name} | {column: each[k] for column, each in values.items()}
        for k, team in enumerate(members)
        for name in team
    ]


def numbers(values: Sequence[float], members: Sequence[Sequence[str]], subject: str) -> list[float]:
    """A number for each team."""
    if len(values) != len(members):
        raise ParameterError(f"{subject} has {len(values)} numbers for {len(members)} teams")
    for value in values:
        if isinstance(value, str) or not math.isfinite(value):
            raise ParameterError(f"{subject} has {value!r}; it must be numbers")
    return [float(value) for value in values]


FIRST = -math.inf  # the sequence of an event that has none
Moment = tuple[int, float]  # microseconds since 1970 and sequence
LATE = "is before the newest event; a late one needs a replay"


def moments(frame: pl.DataFrame) -> Iterator[tuple[str, Moment]]:
    """The pool of each row and when its event was, as far as the results say."""
    started = frame["started_at"].to_physical().to_list() if "started_at" in frame.columns else repeat(NEVER)
    sequence = frame[SEQUENCE].to_list() if SEQUENCE in frame.columns else repeat(FIRST)
    return zip(frame["pool"].to_list(), zip(started, sequence, strict=False), strict=False)


def note_newest(newest: dict[str, Moment], frame: pl.DataFrame) -> None:
    """Bring the newest event of each pool up to date."""
    for pool, moment in set(moments(frame)):
        newest[pool] = max(newest.get(pool, (NEVER, FIRST)), moment)


def untimely(frame: pl.DataFrame, rated: Collection[str], newest: Mapping[str, Moment]) -> Iterator[Fault]:
    """What is wrong with the time of events."""
    for row, event_id in enumerate(frame["event_id"], start=1):
        if event_id in rated:
            yield Fault(row, "event_id", event_id, "was rated before; a correction needs a replay")
    for row, (pool, (start, sequence)) in enumerate(moments(frame), start=1):
        last_start, last_sequence = newest.get(pool, (NEVER, FIRST))
        if start < last_start:
            yield Fault(row, "started_at", None, LATE)
        elif start == last_start and FIRST < sequence < last_sequence:
            yield Fault(row, SEQUENCE, sequence, LATE)
