"""Plain objects for one event: its teams as lists of names, and each player's change."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import repeat
from typing import Any

import polars as pl

from podium.engine.replay import NEVER
from podium.errors import Fault, ParameterError
from podium.results.consistency import SEQUENCE
from podium.support.immutable import immutable

TEAM_COLUMNS = (
    "event_id",
    "player",
    "team",
    "position",
    "score",
    "team_score",
)  # columns for which `rows_of_teams` has separate arguments


@immutable
class PlayerChange:
    """The change that an event makes to one player's rating."""

    player: str
    rating_before: float
    rating: float  # after the event
    delta: float  # in points, as in the history
    state: Any  # the complete state after the event: the system's own NamedTuple


@immutable
class RatedEvent:
    """The changes of all players in an event."""

    event_id: str
    pool: str
    rated: bool  # False for events that change no ratings: with `ranked=False`, or with a single team
    teams: tuple[tuple[PlayerChange, ...], ...]  # in the order of the teams

    @property
    def players(self) -> dict[str, PlayerChange]:
        """Return each player's change by name, in the order of the teams."""
        return {member.player: member for team in self.teams for member in team}

    def __repr__(self) -> str:
        changes = ", ".join(
            f"{player.player} {player.rating:.1f} ({player.delta:+.1f})" for player in self.players.values()
        )
        return f"RatedEvent({self.event_id}: {changes})"


def rows_of_teams(
    event_id: str,
    teams: Sequence[Sequence[str] | str],
    ranks: Sequence[float] | None,
    scores: Sequence[float] | None,
    started_at: datetime | str | None,
    columns: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """Return the rows of a results table for one event.

    Args:
        event_id: the ID of the event.
        teams: the members of each team.
        ranks: one rank per team. The lowest rank is the best, and equal ranks are ties. Default: the order of `teams`.
        scores: one score per team. The highest score is the best.
        started_at: the start time.
        columns: other columns of the table, with the same value for every player.
    """
    members = [[team] if isinstance(team, str) else [*team] if isinstance(team, Iterable) else [] for team in teams]
    if isinstance(teams, str) or not members or not all(members):
        raise ParameterError(
            "teams: an event needs teams, and every team needs a player. Give a list such as "
            "[['ana'], ['ben', 'cleo']]."
        )
    own_words = sorted(set(columns) & set(TEAM_COLUMNS))
    if own_words:
        raise ParameterError(
            f"{own_words[0]}: this column cannot be combined with teams. Use the arguments teams, ranks and scores."
        )
    if ranks is None and scores is None:
        ranks = range(len(members))
    shared: dict[str, Any] = {"event_id": event_id} | dict(columns)
    if started_at is not None:
        shared["started_at"] = started_at
    in_teams = any(len(team) > 1 for team in members)
    values: dict[str, Sequence[float | str]] = {"team": [str(k + 1) for k in range(len(members))]} if in_teams else {}
    if ranks is not None:
        given = numbers(ranks, members, "ranks")  # ranks may start at any number
        values["position"] = [1 + sum(other < rank for other in given) for rank in given]
    if scores is not None:
        values["team_score" if in_teams else "score"] = numbers(scores, members, "scores")
    return [
        shared | {"player": name} | {column: column_values[k] for column, column_values in values.items()}
        for k, team in enumerate(members)
        for name in team
    ]


def numbers(values: Sequence[float], members: Sequence[Sequence[str]], subject: str) -> list[float]:
    """Check that there is one number per team, and return the numbers."""
    if len(values) != len(members):
        raise ParameterError(f"{subject}: {len(values)} numbers for {len(members)} teams. Give one per team.")
    for value in values:
        if isinstance(value, str) or not math.isfinite(value):
            raise ParameterError(f"{subject}: {value!r} is not a number. Give one number per team.")
    return [float(value) for value in values]


FIRST = -math.inf  # sequence number of events that have none
Moment = tuple[int, float]  # microseconds since 1970 and sequence
LATE = "is before the latest event. Rate all results again in order with podium.rate."


def moments(frame: pl.DataFrame) -> Iterator[tuple[str, Moment]]:
    """Yield each row's pool, and the time of its event if known."""
    started = frame["started_at"].to_physical().to_list() if "started_at" in frame.columns else repeat(NEVER)
    sequence = frame[SEQUENCE].to_list() if SEQUENCE in frame.columns else repeat(FIRST)
    return zip(frame["pool"].to_list(), zip(started, sequence, strict=False), strict=False)


def note_newest(newest: dict[str, Moment], frame: pl.DataFrame) -> None:
    """Update the latest event of each pool."""
    for pool, moment in set(moments(frame)):
        newest[pool] = max(newest.get(pool, (NEVER, FIRST)), moment)


def untimely(frame: pl.DataFrame, rated: Collection[str], newest: Mapping[str, Moment]) -> Iterator[Fault]:
    """Yield an error for each event that was already rated or comes too late."""
    for row, event_id in enumerate(frame["event_id"], start=1):
        if event_id in rated:
            yield Fault(
                row, "event_id", event_id, "was rated before. To correct it, rate all results again with podium.rate."
            )
    for row, (pool, (start, sequence)) in enumerate(moments(frame), start=1):
        last_start, last_sequence = newest.get(pool, (NEVER, FIRST))
        if start < last_start:
            yield Fault(row, "started_at", None, LATE)
        elif start == last_start and FIRST < sequence < last_sequence:
            yield Fault(row, SEQUENCE, sequence, LATE)
