"""Rated results: ratings, history, leaderboards, forecasts, and the reasons for each change."""

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from podium.engine.pool_state import PoolNumbers
from podium.engine.replay import NEVER, Replayed, States
from podium.engine.system import System
from podium.engine.tables.encoding import Events
from podium.engine.tables.selection import EVENT
from podium.errors import OutputError, ParameterError, UnknownError
from podium.kernels.records import read
from podium.ledger import history
from podium.ledger import leaderboard as boards
from podium.ledger.saved import StartingRatings, metadata, with_pool_columns
from podium.results.columns import DEFAULTS
from podium.results.names import admit, normalise
from podium.results.reading import Results
from podium.support.part_files import part_file
from podium.support.words import counted, shown_change, suggestion, table_html

if TYPE_CHECKING:
    from podium.ledger.forecast import Named
    from podium.ledger.hindsight import Hindsight
    from podium.ledger.reasons import Explanation
    from podium.ledger.reasons.totals import ReasonTotals
    from podium.ledger.reasons.what_if import WhatIf
    from podium.ledger.stakes import Stakes


@dataclass(frozen=True, repr=False)
class Rated(boards.Standings):
    """Rated results: the ratings, the history of all changes, and the reasons for each change."""

    system: System
    period: str
    events: Events
    replayed: Replayed
    start: StartingRatings | None = None  # the saved ratings that these results continue

    def __repr__(self) -> str:
        pools = [name for name, _ in self._pools()]
        sizes = counted(self.event_count, "event"), counted(self.ratings.height, "player"), counted(len(pools), "pool")
        return f"Rated({self.system.label}: {', '.join(sizes)})"

    def _repr_html_(self) -> str:
        """Return the ratings for display in a notebook."""
        return table_html(repr(self), self.ratings)

    @property
    def results(self) -> Results:
        """The results that were rated."""
        return self.events.results

    @property
    def notice(self) -> str | None:
        """A warning if any player's rating has reached a limit of the system, otherwise None."""
        return self.system.limit_notice(self.replayed.states)

    @functools.cached_property
    def ratings(self) -> pl.DataFrame:
        """Every player's rating after the last event: one row per player, sorted by pool and rank."""
        return boards.ratings(self.system, *self._everyone)

    @functools.cached_property
    def states(self) -> pl.DataFrame:
        """The exact state of every player and pool. Pass it as `start` when you rate later results."""
        states = boards.ratings(self.system, *self._everyone, whole=True)
        return with_pool_columns(states, self.system, self._pool_states)

    @property
    def metadata(self) -> dict[str, str]:
        """The metadata of a saved file: system, parameters, period and version. See `podium.ledger.saved.metadata`."""
        return metadata(self.system, self.period)

    def save(self, path: str | Path) -> None:
        """Write the states to a Parquet file, with the settings and the version. Pass the file as `start` to continue.

        Args:
            path: the file. An existing file is replaced when the new one is complete.

        Raises:
            OutputError: the file cannot be written.
        """
        with part_file(Path(path), OutputError) as part:
            self.states.write_parquet(part, metadata=self.metadata)

    @functools.cached_property
    def _everyone(self) -> tuple[pl.DataFrame, States]:
        return boards.last_played(self.events, self.replayed, self.start)

    def final_state(self) -> StartingRatings:
        """Return the ratings after the last event, from which later results can continue.

        Returns:
            The rating of every player, and the parameters that the system has learnt.
        """
        return StartingRatings(*self._everyone, self._pool_states)

    @property
    def event_count(self) -> int:
        """The number of rated events."""
        if self.period == EVENT:
            return int(self.events.columns.entrants.size) - 1
        return int(self.results.frame["event_id"].gather(self.events.ledger.row.array).n_unique())

    @functools.cached_property
    def history(self) -> pl.DataFrame:
        """Every change: one row for each player in each event, in the order in which the events are rated."""
        return history.history(self.system, self.events, self.replayed)

    def leaderboard(
        self,
        *,
        min_events: int | None = None,
        max_deviation: float | None = None,
        active_within: str | float | timedelta | None = None,
        top: int | None = None,
        pool: str | None = None,
        at: str | date | datetime | None = None,
    ) -> pl.DataFrame:
        """Return the leaderboard. See `podium.ledger.leaderboard.leaderboard`.

        Args:
            min_events: the number of rated events that a player needs to be listed. If None, the system's own rule
                applies.
            max_deviation: the largest deviation with which a player is listed.
            active_within: list only players who played within this time before `at`, or before the last event.
            top: the number of players to list.
            pool: the pool to list. If None, all pools are listed.
            at: the date or time of the leaderboard. A plain date means the end of that day.

        Returns:
            `pool, rank, player, rating`, the system's other fields, `events, last_event_id, last_played_at,
            provisional`. The best player comes first. Players with equal ratings share a rank.

        Raises:
            ParameterError: the system or the results lack the data that a filter needs.
            UnknownError: the pool does not exist.
        """
        if pool is not None:
            self.pool(pool)
        rule = boards.eligibility(self.system, min_events, max_deviation, active_within, top, pool)
        moment = None if at is None else boards.instant(at)
        if self.start is not None:
            undated = self.start.players["last_played_at"].null_count()
            if undated and (at is not None or active_within is not None):
                raise ParameterError("a date or activity needs the column last_played_at in the starting ratings")
        return boards.leaderboard(self.system, self._board_rows(moment), rule, moment)

    def _board_rows(self, at: datetime | None) -> pl.DataFrame:
        """The changes up to a time. A leaderboard needs only the last change of each player."""
        rows = self.history if self.start is None else pl.concat([self._rows_before(), self.history])
        return rows if at is None else boards.as_of(rows, at)

    def _rows_before(self) -> pl.DataFrame:
        """The ratings that players had before the first event, in the form of history rows."""
        return self.history.clear() if self.start is None else history.starting_rows(self.system, self.start)

    def pool(self, name: str | None = None) -> str:
        """Return the name of a pool. If `name` is None, return the pool with the most events.

        Returns:
            The name as it is written in the results.

        Raises:
            UnknownError: the pool does not exist, or no pool has any events.
        """
        sizes = dict(self._pools())
        if not sizes:
            reason = boards.why_nothing_counts(self.results.frame)
            raise UnknownError(f"there is no rated event{f': {reason}' if reason else ''}")
        if name is None:
            return max(sizes, key=lambda name: sizes[name])
        from podium.ledger.forecast import existing_pool

        return existing_pool(name, list(sizes))

    def _pools(self) -> Iterator[tuple[str, int]]:
        """Every pool, with its number of events."""
        played = {pool.name: pool.last - pool.first for pool in self.events.pools}
        yield from played.items()
        if self.start is not None:
            known = self.start.players["pool"].unique(maintain_order=True)
            yield from ((name, 0) for name in known if name not in played)

    def explain(self, event_id: str, player: str) -> "Explanation":
        """Explain why a player's rating changed in an event. See `podium.ledger.reasons.explaining.explain`.

        Returns:
            The change in points, with one row per reason, and a sentence that sums up the reasons.

        Raises:
            UnknownError: the event does not exist, or it did not rate the player.
        """
        from podium.ledger.reasons.explaining import explain

        return explain(self.system, self.events, self.replayed, event_id, player)

    def reasons(self, player: str, last: int = 10, *, pool: str | None = None) -> "ReasonTotals":
        """Add up the reasons for a player's changes in the latest events.

        Args:
            last: the number of events to include.
            pool: the pool. If None, the results must have only one pool.

        Returns:
            The points for each kind of reason, such as opponents behind or ahead, quits and time away. They add up
            to the change in the rating.

        Raises:
            ParameterError: `last` is below 1, or there are several pools and you have not named one.
            UnknownError: the player is not rated.
        """
        from podium.ledger.reasons.standings import event_ranks
        from podium.ledger.reasons.totals import divide_change, total_reasons

        if last < 1:
            raise ParameterError(f"last is {last}. It must be 1 or more.")
        name, chosen = normalise(player), self._only_pool(self._existing(pool))
        ranked = self.history.with_columns(rank=event_ranks(self.events).rank)
        last_rank = pl.col("rank").max().over("pool", "event_id")
        won = (pl.col("rank") == 1) & (last_rank > 1)
        played = (
            ranked.with_columns(won=won).filter(pl.col("player") == name, pl.col("pool") == (chosen or "")).tail(last)
        )
        if played.is_empty():
            raise UnknownError(f"{player!r} is not rated{suggestion(player, self._known_names().to_list())}")
        replayed = self.system, self.events, self.replayed
        changes = [divide_change(*replayed, event_id, name) for event_id in played["event_id"]]
        displayed = shown_change(played["rating_before"][0], played["rating"][-1], self.system.digits)
        return total_reasons(name, changes, int(played["won"].sum()), float(displayed))

    def what_if(self, event_id: str, player: str, *, margin: float | None = None) -> "WhatIf":
        """Calculate how a player's rating change would differ if the event's result had been different.

        Args:
            margin: the margin by which heats between two sides are won, in systems that rate margins. If None, the
                usual margin.

        Returns:
            The actual change, and the change in each alternative case. In these cases, the player wins a heat, wins
            every heat, or finishes a heat instead of quitting.

        Raises:
            UnknownError: the event does not exist, or it did not rate the player.
        """
        from podium.ledger.reasons.what_if import what_if

        return what_if(self.system, self.events, self.replayed, event_id, player, self.period, margin=margin)

    def _standing_of(self, names: Sequence[str], pool: str | None) -> tuple[System, list[Any]]:
        from podium.ledger.forecast import system_in

        chosen, standing = self._only_pool(pool), self.final_state()
        seats = pl.DataFrame({"player": [*names]}, {"player": pl.String}).with_columns(pool=pl.lit(chosen or ""))
        states, newcomer = standing.states_of(self.system, standing.rows_of(seats)), self.system.newcomer()
        return system_in(self.system, standing.pools, chosen), [read(states, k, newcomer) for k in range(len(states))]

    def _nu(self, pool: str | None) -> float:
        from podium.ledger.pair_predictions import nu_of_pool

        return nu_of_pool(self.system, self.events, self.replayed, self._only_pool(pool))

    def _known_names(self) -> pl.Series:
        return self.final_state().players["player"]

    def _existing(self, pool: str | None) -> str | None:
        return pool and self.pool(pool)

    def _only_pool(self, pool: str | None) -> str | None:
        """The pool with this name or, without a name, the only pool. None if no player is rated."""
        from podium.ledger.forecast import only_pool

        return only_pool(self.final_state().players["pool"].unique(maintain_order=True).to_list(), pool)

    def stakes(
        self,
        entrants: Sequence["Named"] = (),
        player: str | None = None,
        *,
        sides: Sequence[Sequence["Named"]] = (),
        pool: str | None = None,
        heats: int = 1,
        at: str | date | datetime | None = None,
        margin: float | None = None,
    ) -> "Stakes":
        """Calculate the rating change that each place in an upcoming race would bring. See `podium.ledger.stakes`.

        Args:
            entrants: the names of players who compete individually. `sides` and `pool` work as in `predict`.
            player: the player whose changes to calculate. A player who is not among the entrants is added. If None, the
                changes of all entrants are calculated.
            heats: the number of heats, from 1 to 100. Everybody is assumed to take the same place in each heat.
            at: the start of the race. If None, the time of the last event.
            margin: the margin of a win between two sides, in systems that rate margins. If None, the usual margin.

        Returns:
            `frame` has the columns `player, place, chance, delta, rating, rank, error`. `field` has the break-even
            place of each entrant.

        Raises:
            ParameterError: as in `predict`.
            UnknownError: the pool does not exist.
        """
        from podium.ledger.forecast import names_of_field
        from podium.ledger.hypothetical_race import Race, has_draws
        from podium.ledger.stakes import StakesGrid, stakes

        joining = None if player is None else admit(player, "entrant")
        system, field, states = self._field(entrants, sides, joining, pool)
        starts = names_of_field(field)
        name = self._only_pool(pool) or DEFAULTS["pool"]
        players = self.ratings.filter(pool=name)
        played = players["last_played_at"]
        seen = dict(zip(players["player"], played.cast(pl.Int64).fill_null(NEVER), strict=True))
        last: Any = played.max()
        when = last if at is None else boards.instant(at, whole_day=False)
        race = Race.of(system, name, field, states, seen, when, self.events, self.period, margin)
        score: pl.Expr = system.score(pl.col("rating"), pl.col("deviation"))
        others = np.sort(players.filter(~pl.col("player").is_in(starts)).select(score).to_series().to_numpy())
        board = StakesGrid(
            lambda scores: others.size - np.searchsorted(others, scores, side="right"),
            is_listed=np.isin(starts, players["player"].to_list()),
            will_be_listed=np.ones(len(starts), np.bool_),
        )
        chosen = starts if joining is None else [joining]
        return stakes(race, chosen, board, heats=heats, draws=has_draws(self.events, name), nu=self._nu(pool))

    def hindsight(self, w2: float | None = None) -> "Hindsight":
        """Estimate how strong each player was at each event, from all results. Ratings do not change.

        Args:
            w2: the variance of a skill per day, in points squared. Default: 300, or what `adaptive` has learnt.

        Returns:
            `frame` has the columns `player, pool, event_id, at, rating, deviation`. Its rows are in the order in which
            the events are rated.

        Raises:
            ParameterError: the system is not `adaptive` (without `modes`), `elo`, `dwz`, `fide` or `uscf`, or `w2` is
                not allowed.
        """
        from podium.ledger.hindsight import hindsight

        return hindsight(self.system, self.events, self.replayed, w2)

    def predictions(self) -> pl.DataFrame:
        """List the expected and actual results of every pair in each event, so that you can apply your own metrics.

        Returns:
            One row for each pair that the system compares: `event_id, heat` (only in events with several heats), `pool,
            started_at, player, opponent, expected, result`. `expected` and `result` are the player's scores, from 0 to
            1. The overall result of an event with several heats is left out, because it is not predicted.

        Raises:
            ParameterError: there are more pairs than a table can hold.
        """
        from podium.ledger.pair_predictions import pair_predictions

        return pair_predictions(self.system, self.events, self.replayed)

    def newcomers(self, entrants: Sequence[str], *, pool: str | None = None) -> dict[str, str | None]:
        """Find the entrants and the equipment (written as `Ferrari (car)`) that do not appear in any result.

        Args:
            pool: search only in this pool.

        Returns:
            Each of these names, with the most similar name in the results if there is one.
        """
        from podium.ledger.forecast import unknown_names

        frame = self.results.frame
        return unknown_names(entrants, frame if pool is None else frame.filter(pool=pool), self.system.kinds)

    def strengths(self, *, top: int = 5, probe: float | None = None) -> pl.DataFrame:
        """Measure the strength of each event's field. See `podium.ledger.forecast.strengths`.

        Args:
            top: the number of places that count as top places.
            probe: the rating of the newcomer whose chances are measured. If None, the system's initial rating.

        Returns:
            One row per event, with `event_id, pool, started_at, entrants, mean_rating, strength`, in the order in which
            the events are rated.

        Raises:
            ParameterError: `top` is below 1, or `probe` is not finite.
        """
        from podium.ledger.forecast import strengths

        return strengths(self.system, self.events, self.replayed, top, probe)

    @functools.cached_property
    def _pool_states(self) -> Mapping[str, PoolNumbers]:
        """The state of each pool after the last event, by pool name. The dict is empty if pools have no state."""
        if not self.system.pool_fields:
            return {}
        known = {} if self.start is None else dict(self.start.pools)
        return known | {pool.name: self.replayed.pools[k] for k, pool in enumerate(self.events.pools)}

    def learnt(self, *, pool: str | None = None) -> pl.DataFrame:
        """Return the parameters that the system had learnt for a pool after each event.

        Args:
            pool: the pool. If None, the pool with the most events.

        Returns:
            One row per event or rating period, with `event_id, started_at`, and then one column per parameter, in the
            parameter's own unit.

        Raises:
            ParameterError: the system does not learn parameters.
            UnknownError: the pool does not exist.
        """
        return history.learnt_history(self.system, self.events, self.replayed, self.pool(pool))
