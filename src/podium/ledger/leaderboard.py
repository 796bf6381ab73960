"""Leaderboards, current or on a past date, and the rules that decide which players are listed."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from podium.engine.replay import NEVER, Replayed, States
from podium.engine.system import System
from podium.engine.tables.encoding import Events
from podium.engine.tables.equipment import MARK, are_equipment
from podium.engine.tables.selection import UNRATED_STATUS
from podium.errors import ParameterError
from podium.ledger.history import are_established, entrant_rows, named_rows
from podium.ledger.saved import StartingRatings
from podium.results.columns import UTC as INSTANT
from podium.results.names import admit, normalise
from podium.results.reading import Results
from podium.support.immutable import immutable
from podium.systems import find, names

if TYPE_CHECKING:
    from podium.ledger.forecast import Forecast, Member, Named
    from podium.ledger.seeding import Seed

SPAN = re.compile(r"\s*(\d+)\s*(d|w|mo|y)?\s*")
LONGEST_DAYS = 365_000
OF_CHANGE = ("event_id", "pool", "started_at", "player", "rating_before", "delta")  # columns of a row of the history
SPAN_DAYS = {"d": 1, None: 1, "w": 7, "mo": 30, "y": 365}


class Standings:
    """Forecasts and expected scores, as methods of objects that hold the ratings of pools."""

    system: System

    def _standing_of(self, names: Sequence[str], pool: str | None) -> tuple[System, list[Any]]:
        """Return the system for the named pool, or the only pool, and the states of its players."""
        raise NotImplementedError

    def _known_names(self) -> Iterable[str]:
        """Return the names of all rated players."""
        raise NotImplementedError

    def _existing(self, pool: str | None) -> str | None:
        """Return the name of the pool. If possible, check that the pool exists."""
        return pool

    def _nu(self, pool: str | None) -> float:  # noqa: ARG002
        """Return Davidson's nu for a pool in the same way as `nu_of_pool`, or 0 if it is not known."""
        return 0.0

    def _field(
        self,
        entrants: Sequence["Named"],
        sides: Sequence[Sequence["Named"]],
        player: str | None,
        pool: str | None,
    ) -> tuple[System, list[list["Member"]], dict[str, Any]]:
        """Return the system for a pool, the members of each side, and the states of players and equipment."""
        from podium.ledger import forecast  # noqa: PLC0415  (not needed if only ratings are used)

        field = forecast.field_of(entrants, sides, lambda names: [admit(name, "entrant") for name in names])
        if player is not None and not any(entrant.player == player for side in field for entrant in side):
            field.append([forecast.Member(player)])
        names = forecast.names_to_rate(field, self.system.kinds)
        system, found = self._standing_of(names, pool)
        states = dict(zip(names, found, strict=True))
        forecast.refuse_slips(field, forecast.played(states), lambda _: self._known_names())
        return system, field, states

    def predict(
        self,
        entrants: Sequence["Named"] = (),
        *,
        sides: Sequence[Sequence["Named"]] = (),
        top: int = 3,
        pool: str | None = None,
    ) -> "Forecast":
        """Forecast an event from the current ratings. Unknown players count as newcomers.

        See `podium.ledger.forecast.Forecast`.

        Args:
            entrants: the names of players who compete individually. Here and in `sides`, a name can also be a dict as
                in results, with `player`, `shared` (equipment by kind) and `side`. By default, equipment is average,
                and no side is set.
            sides: the names of the members of each team.
            top: number of places that count as top places.
            pool: the pool. Required if there are several pools.

        Returns:
            Each entrant's probability of winning, of a place among the first `top`, and of each rank, and the expected
            score for each pair. For two sides, the forecast includes the probability of a draw, if the results have
            drawn duels.

        Raises:
            ParameterError: there are fewer than two sides, a player is repeated, a name is invalid, or there are
                several pools and you have not named one.
            UnknownError: the pool does not exist.
        """
        from podium.ledger.forecast import forecast  # noqa: PLC0415  (not needed if only ratings are used)

        system, field, states = self._field(entrants, sides, None, self._existing(pool))
        return forecast(system, field, states, top, self._nu(pool) if len(field) == 2 else 0.0)  # noqa: PLR2004  (a duel)

    def seeds(
        self,
        entrants: Sequence["Named"],
        *,
        groups: int | None = None,
        protect: int = 0,
        met: Collection[frozenset[str]] = (),
        pool: str | None = None,
    ) -> "tuple[Seed, ...]":
        """Return the seeds of a tournament: the entrants in order of their scores, newcomers last.

        Args:
            entrants: the names of the players.
            groups: number of groups. Default: no groups.
            protect: number of opening rounds of the bracket, at most 4, in which these pairs should not meet.
            met: pairs of players who should not meet again in the next round.
            pool: the pool. Required if there are several pools.

        Returns:
            Each player's seed, line in a bracket, group, and opponent in a round of even pairs.

        Raises:
            ParameterError: a player is repeated, a name is invalid, or there are several pools and you have not named
                one.
            UnknownError: the pool does not exist.
        """
        from podium.ledger.seeding import seeds  # noqa: PLC0415  (not needed if only ratings are used)

        system, field, states = self._field(entrants, (), None, self._existing(pool))
        return seeds(system, {side[0].player: states[side[0].player] for side in field}, met, groups, protect)

    def expected(self, a: str, b: str, pool: str | None = None) -> float:
        """Return the current expected score of `a` against `b`. Unknown players count as newcomers.

        Args:
            a: the player.
            b: the opponent.
            pool: the pool. Required if there are several pools.

        Returns:
            A score between 0 and 1, which is 0.5 for players of equal strength.

        Raises:
            ParameterError: there are several pools and you have not named one.
            UnknownError: the pool does not exist.
        """
        from podium.ledger.forecast import expected_score  # noqa: PLC0415  (not needed if only ratings are used)

        system, states = self._standing_of([normalise(a), normalise(b)], pool)
        return expected_score(system, *states)

    def pool_state(self, pool: str | None = None) -> Any:
        """Return the values that the system has learnt for a pool.

        Args:
            pool: the pool. Required if there are several pools.

        Returns:
            The system's own NamedTuple, or `()` if the system does not learn.

        Raises:
            ParameterError: there are several pools and you have not named one.
            UnknownError: the pool does not exist.
        """
        system, _ = self._standing_of((), pool)
        kind, (numbers, _) = system.pool_state_type, system.standing
        return system.new_pool() if kind is None else kind(*numbers.tolist())


@immutable
class Eligibility:
    """The rules that decide which players a leaderboard lists. None switches a rule off."""

    min_events: int | None = None
    max_deviation: float | None = None
    active_within: timedelta | None = None
    top: int | None = None
    pool: str | None = None

    def __post_init__(self) -> None:
        if self.max_deviation is not None and not self.max_deviation >= 0.0:
            raise ParameterError(f"max_deviation: {self.max_deviation} is too small. It must be 0 or more.")
        if self.top is not None and self.top < 1:
            raise ParameterError(f"top: {self.top} is too small. It must be 1 or more.")


def eligibility(
    system: System,
    min_events: int | None,
    max_deviation: float | None,
    active_within: str | float | timedelta | None,
    top: int | None,
    pool: str | None,
) -> Eligibility:
    """Return the rules for the given options. The default of `min_events` comes from the system."""
    least = system.min_events if min_events is None else min_events
    return Eligibility(least, max_deviation, None if active_within is None else span(active_within), top, pool)


def ratings(system: System, players: pl.DataFrame, states: States, *, whole: bool = False) -> pl.DataFrame:
    """Return every player's rating after the last event, sorted by pool and rank. Equal ratings share a rank.

    Columns: `pool, rank, player, rating`, the other fields of the state, `events, last_event_id, last_played_at,
    provisional`. With `whole`, internal fields follow. Equipment comes after the players. Equipment has a `kind`, but
    no rank.

    Args:
        system: the rating system.
        players: the frame from `last_played`, with one row per player.
        states: the states, as an array of shape (players, fields).
    """
    shown = {name: pl.Series(values) for name, values in system.shown(states).items()}
    fields = system.state_type._fields
    hidden = {name: pl.Series(states[:, fields.index(name)]) for name in fields if whole and name not in shown}
    everything = as_board(system, players, shown, states).with_columns(**hidden)
    if not system.kinds:
        return with_ranks(system, everything)
    of_equipment = are_equipment(everything["player"])
    board = with_ranks(system, everything.filter(~of_equipment))
    if not whole:
        return board
    kind, name = (pl.col("player").str.split(MARK).list.get(k) for k in (1, 2))
    equipment = everything.filter(of_equipment).with_columns(kind=kind, player=name)
    return pl.concat([board, equipment], how="diagonal") if equipment.height else board


def as_board(system: System, players: pl.DataFrame, shown: Mapping[str, pl.Series], states: States) -> pl.DataFrame:
    """Return a leaderboard frame: player, rating, other displayed fields, events, the last event, and `provisional`.

    Args:
        system: the rating system.
        players: `pool, player`, and `last_event_id`, `last_played_at` or both, with one row per player.
        shown: the displayed columns of the state, each with one element per player.
        states: the states, as an array of shape (players, fields).
    """
    last = [name for name in ("last_event_id", "last_played_at") if name in players.columns]
    return pl.DataFrame(
        [
            players["pool"],
            players["player"],
            shown["rating"].alias("rating"),
            *(column.alias(name) for name, column in shown.items() if name not in ("rating", "events")),
            shown["events"].alias("events"),
            *players.select(last),
            pl.Series("provisional", ~are_established(system, states), dtype=pl.Boolean),
        ]
    )


def last_played(events: Events, replayed: Replayed, start: StartingRatings | None) -> tuple[pl.DataFrame, States]:
    """Return all rated players with their last event, and their states.

    Players in the events come first, followed by other players from `start`. Equipment is included under its stored
    names. If the events have no dates, the last known times remain.

    Returns:
        A frame with `pool, player, last_event_id, last_played_at`, and a float64 array of shape (players, fields).
    """
    rows = events.ledger
    last = np.full(replayed.states.shape[0], -1, np.int64)
    last[rows.entrant.take(events.columns.player)] = rows.row.array
    if events.columns.kind.size:
        columns = events.columns  # the last row of equipment is the row of the first player in its event
        equipment = np.flatnonzero(columns.kind)
        players_beside = columns.entrants[np.searchsorted(columns.entrants, equipment, side="right") - 1]
        last[columns.player[equipment]] = entrant_rows(events)[players_beside]
    rated = np.flatnonzero(last >= 0)
    newest_rows = named_rows(events.results)[last[rated]]
    players = newest_rows.select("pool", "player", last_event_id="event_id", last_played_at="started_at")
    if events.columns.kind.size:
        players = players.with_columns(events.player_names.gather(rated).alias("player"))
    if start is None:
        return players, replayed.states[rated]
    known = start.rows(events)[rated]
    before = pl.Series(start.seen_of(known)).replace(NEVER, None).cast(INSTANT)
    players = players.with_columns(pl.coalesce("last_played_at", before))
    has_none = np.ones(start.players.height, np.bool_)
    has_none[known[known >= 0]] = False
    others = np.flatnonzero(has_none)
    states = np.concatenate([replayed.states[rated], start.states[others]])
    return pl.concat([players, start.players[others]]), states


def with_ranks(system: System, frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame sorted by pool and rank, with ranks added: 1 is best, and equal ratings share a rank."""
    by: pl.Expr = system.score(pl.col("rating"), pl.col("deviation"))
    rank = by.rank("min", descending=True).over("pool").cast(pl.Int64).alias("rank")
    columns = [name for name in frame.columns if name not in ("pool", "rank")]
    return frame.with_columns(rank).select("pool", "rank", *columns).sort("pool", "rank", "player")


def as_of(history: pl.DataFrame, at: datetime) -> pl.DataFrame:
    """Return the rows of the history whose events had started by `at`."""
    if history.height and history["started_at"].null_count():
        raise ParameterError("at: a date requires the started_at column. Add it to the results.")
    return history.filter(pl.col("started_at") <= at)


def leaderboard(system: System, history: pl.DataFrame, rules: Eligibility, at: datetime | None = None) -> pl.DataFrame:
    rows = history if at is None else as_of(history, at)
    if rules.pool is not None:
        rows = rows.filter(pl.col("pool") == rules.pool)
    last = last_rows(rows)
    players = last.rename({"event_id": "last_event_id", "started_at": "last_played_at"})
    shown = {name: last[name] for name in ("peak", *last.columns) if name not in OF_CHANGE}
    known = {name: shown[name].to_numpy().astype(np.float64) for name in system.state_type._fields if name in shown}
    return listed(system, as_board(system, players, shown, system.filled_states(known)), rules, at)


def last_rows(history: pl.DataFrame) -> pl.DataFrame:
    """Return each player's last row, with the player's highest rating in `peak`."""
    if "peak" not in history.columns:
        brought = pl.col("rating_before").first().over("pool", "player")
        peak = pl.max_horizontal(pl.col("rating").max().over("pool", "player"), brought)
        history = history.with_columns(peak=peak)
    return history.unique(["pool", "player"], keep="last", maintain_order=True)


def listed(system: System, board: pl.DataFrame, rules: Eligibility, at: datetime | None) -> pl.DataFrame:
    """Return the players on a leaderboard who meet the rules, with new ranks, sorted by pool and rank."""
    ranked = with_ranks(system, eligible_rows(board, rules, at))
    return ranked if rules.top is None else ranked.filter(pl.col("rank") <= rules.top)


def eligible_rows(board: pl.DataFrame, rules: Eligibility, at: datetime | None) -> pl.DataFrame:
    if rules.min_events is not None:
        board = board.filter(pl.col("events") >= rules.min_events)
    if rules.max_deviation is not None:
        if "deviation" not in board.columns:
            raise ParameterError("max_deviation: this system has no deviation. Leave it out.")
        board = board.filter(pl.col("deviation") <= rules.max_deviation)
    if rules.active_within is not None and board.height:
        if board["last_played_at"].null_count():
            raise ParameterError("active_within: this requires the started_at column. Add it to the results.")
        now = pl.lit(at) if at is not None else pl.col("last_played_at").max()
        board = board.filter(pl.col("last_played_at") >= now - rules.active_within)
    return board


def span(text: str | float | timedelta) -> timedelta:
    """Convert a number of days, or a string such as 90d, 12w, 6mo (30 days each) or 1y (365 days), to a time span."""
    if isinstance(text, timedelta):
        return text
    match = SPAN.fullmatch(str(text))
    if match is None:
        raise ParameterError(f"{text!r} is not a time span. Use one such as 90d, 12w, 6mo or 1y.")
    days = int(match[1]) * SPAN_DAYS[match[2]]
    if days > LONGEST_DAYS:
        raise ParameterError(f"{text!r} is too long for a time span. Use one such as 90d, 12w, 6mo or 1y.")
    return timedelta(days=days)


def instant(text: str | date | datetime, *, whole_day: bool = True, zone: tzinfo = UTC) -> datetime:
    """Convert a date or time to UTC. A plain date means the end of that day if `whole_day` is set, otherwise its start.

    `zone` is the time zone of times that do not state one.
    """
    try:
        value = datetime.fromisoformat(text) if isinstance(text, str) else text
        if isinstance(text, str) and len(text) <= len("2025-01-31"):
            value = date.fromisoformat(text)
        if not isinstance(value, datetime):
            return datetime.combine(value, time.max if whole_day else time.min, UTC)
        return (value if value.tzinfo else value.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):  # a date may be outside of the calendar in UTC
        raise ParameterError(f"{text!r} is not a date. Use one such as 2025-01-31 or 2025-01-31T18:00Z.") from None


def why_nothing_counts(frame: pl.DataFrame) -> str | None:
    """Return the reason why no event can be rated, or None if at least one can."""
    counts = ~pl.col("status").is_in(UNRATED_STATUS)
    if "ranked" in frame.columns:
        counts &= pl.col("ranked")
    events = frame.group_by("event_id").agg(
        entries=pl.col("player").filter(counts).n_unique(), rows=pl.col("player").n_unique()
    )
    if events.is_empty():
        return "it has a header but no rows"
    if (events["entries"] > 1).any():
        return None
    single = int((events["rows"] <= 1).sum())
    if single == events.height:
        subject = "the only event has" if single == 1 else f"each of the {single:,} events has"
        return f"{subject} a single entrant, and a rating requires two who played each other"
    return (
        f"no event has two entries that count ({events.height:,} events; disqualified, did_not_start and rows that are "
        "not ranked do not count)"
    )


def needs(results: Results) -> Iterator[str]:
    """Yield one line per group of systems with the columns that the systems need but the results lack."""
    finishers = results.frame.filter(pl.col("status") == "finished")
    if "ranked" in finishers.columns:
        finishers = finishers.filter("ranked")
    lacks: dict[tuple[str, ...], list[str]] = {}
    for name in names():
        missing = [column for column in find(name).needs if count_lacking(finishers, column)]
        lacking = tuple(lack(finishers, column) for column in missing)
        if lacking:
            lacks.setdefault(lacking, []).append(name)
    for columns, systems in lacks.items():
        yield f"{', '.join(systems)} would need, for every finisher: {', '.join(columns)}"


def count_lacking(finishers: pl.DataFrame, column: str) -> int:
    """Return the number of finishers who have no value in a column."""
    return int(finishers[column].null_count()) if column in finishers.columns else finishers.height


def lack(finishers: pl.DataFrame, column: str) -> str:
    """Return the name of a missing column. If some finishers have a value, add the number who do not."""
    count = count_lacking(finishers, column)
    return column if count == finishers.height else f"{column} (missing for {count:,} of {finishers.height:,})"
