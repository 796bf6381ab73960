"""Live rating: rate one event at a time, with exactly the same ratings as from a replay of all events."""

import threading
from collections.abc import Sequence
from copy import copy
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Self

import polars as pl

from podium.engine.replay import NEVER, Replayed, States, replay, with_idle_before
from podium.engine.system import System
from podium.engine.tables.encoding import Events, encode
from podium.engine.tables.selection import EVENT
from podium.errors import ParameterError, ResultsError
from podium.importers.tables import read_any
from podium.ledger.forecast import (
    existing_pool,
    only_pool,
    system_in,
)
from podium.ledger.history import history
from podium.ledger.leaderboard import Standings, eligibility, listed
from podium.ledger.reasons import Explanation
from podium.ledger.reasons.explaining import explain
from podium.ledger.reasons.what_if import WhatIf, what_if
from podium.ledger.saved import read_start
from podium.live import saving
from podium.live.one_event import FIRST, Moment, PlayerChange, RatedEvent, note_newest, rows_of_teams, untimely
from podium.live.saving import LiveRatings, PlayerKey, RowNumbers, refuse_share, starting_ratings
from podium.rated import Rated
from podium.results.columns import DEFAULTS
from podium.results.reading import Results, read_results
from podium.support.words import counted, table_html
from podium.systems import make_system

SHOWN_PLAYERS = 10  # number of rows displayed in a notebook


class Live(Standings):
    """Ratings that are updated with each event.

    Events must arrive in order. A rejected event changes nothing. Each event is its own rating period. Several threads
    can share one object, because each call finishes before the next one starts. Copies and pickles are independent of
    the original.

    Args:
        system: the name of a system, a name with parameters such as `elo:k=20`, or an instance.
        start: ratings to start from, as for `podium.rate`.
    """

    def __init__(self, system: str | System = "elo", *, start: Any = None, **parameters: Any) -> None:
        self.system = make_system(system, parameters)
        self._ratings = LiveRatings(self.system)
        self._newest: dict[str, Moment] = {}  # latest event of each pool
        self._events: set[str] = set()
        self._lock = threading.RLock()
        if start is not None:
            saved = read_start(start.states if isinstance(start, Rated) else start, self.system)
            self._ratings = starting_ratings(self.system, saved)
            for (pool, _), seen in zip(self._ratings.rows, self._ratings.seen.tolist(), strict=True):
                self._newest[pool] = max(self._newest.get(pool, (NEVER, FIRST)), (seen, FIRST))

    def __getstate__(self) -> dict[str, Any]:
        """Return everything except the lock, for a copy or a pickle."""
        with self._lock:
            owned = {name: copy(value) for name, value in self.__dict__.items() if name not in ("_lock", "system")}
        return owned | {"system": self.system}

    def __setstate__(self, owned: dict[str, Any]) -> None:
        """Restore the state of a copy or pickle."""
        self.__dict__.update(owned)
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        with self._lock:
            players, events, pools = len(self._ratings.rows), len(self._events), len(self._ratings.pools())
        sizes = ", ".join([counted(players, "player"), counted(events, "event"), counted(pools, "pool")])
        return f"Live({self.system.label}: {sizes})"

    def _repr_html_(self) -> str:
        """Return the leaders as a table for notebooks."""
        return table_html(repr(self), self.leaderboard(top=SHOWN_PLAYERS).head(SHOWN_PLAYERS))

    def save(self, path: str | Path) -> None:
        """Write the state of every player and the IDs of the rated events to a file.

        Args:
            path: the file. An existing file is replaced once the new one is complete.

        Raises:
            OutputError: the file cannot be written.
        """
        with self._lock:
            ratings, events, newest = copy(self._ratings), set(self._events), dict(self._newest)
        saving.write(Path(path), ratings, events, newest)

    @classmethod
    def load(cls, path: str | Path, system: str | System | None = None, **parameters: Any) -> Self:
        """Load ratings from a file written by `save`.

        Args:
            path: the file.
            system: the system from which the ratings must come. Required if the system is your own. Default: the system
                named in the file.

        Returns:
            Live ratings that continue exactly where the saved ones ended. They reject events that were already rated.

        Raises:
            ParameterError: the file was not written by `save`, or its ratings come from another system, other
                parameters or another revision of the arithmetic.
        """
        if system is None and parameters:
            raise ParameterError(
                "Live.load: parameters were given without the name of their system. Add the system, or leave both "
                "out to use those in the file."
            )
        saved = saving.read(Path(path), None if system is None else make_system(system, parameters))
        live = cls(saved[0].system)
        live._ratings, live._events, live._newest = saved
        return live

    def rate(self, rows: Any) -> pl.DataFrame:
        """Rate one event, or several in order, and return the new rows of the history.

        Args:
            rows: results in any form that `podium.rate` accepts: dicts, a frame or a path.

        Returns:
            One row per player and event, in the order in which the events are rated: `event_id, pool, started_at,
            player, rating_before, delta`, and then every field of the state after the event.

        Raises:
            ResultsError: the rows are invalid, or an event was already rated or is older than the latest one.
            NotFiniteError: a rating would not be a finite number.
        """
        results = read_any(rows)[0]
        with self._lock:
            events, replayed = self._advance(results)
        return history(self.system, events, replayed)

    def rate_one(
        self,
        event_id: str,
        teams: Sequence[Sequence[str] | str],
        *,
        ranks: Sequence[float] | None = None,
        scores: Sequence[float] | None = None,
        pool: str = DEFAULTS["pool"],
        started_at: datetime | str | None = None,
        **columns: Any,
    ) -> RatedEvent:
        """Rate one event, described by its teams, and return the changes as plain objects.

        Args:
            event_id: the ID of the event. It must not have been rated before.
            teams: the members of each team. A team of one can be just the name.
            ranks: one rank per team. The lowest rank is the best, and equal ranks are ties. Default: the order of
                `teams`.
            scores: one score per team. The highest score is the best.
            pool: the pool to rate in.
            started_at: the start time, in UTC unless it has an offset.
            columns: other columns of the results table, with the same value for every player, such as
                `mode="time-trial"`.

        Returns:
            The change of every player, grouped like `teams`.

        Raises:
            ParameterError: the teams, ranks or scores do not match.
            ResultsError: the event is invalid, was already rated, or is older than the latest one.
            NotFiniteError: a rating would not be a finite number.
        """
        rows = rows_of_teams(event_id, teams, ranks, scores, started_at, {"pool": pool} | columns)
        results = read_results(rows, name=f"event {event_id}")
        chosen = results.frame["pool"][0]
        with self._lock:
            events, replayed = self._advance(results)
            states = {name: self._ratings.state(chosen, name) for name in results.frame["player"]}
        moved = history(self.system, events, replayed).select("player", "rating_before", "delta")
        changes: dict[str, tuple[float, float]] = {name: (before, delta) for name, before, delta in moved.iter_rows()}
        moves = ((name, state, *changes.get(name, (state.rating, 0.0))) for name, state in states.items())
        every = iter([PlayerChange(name, before, state.rating, delta, state) for name, state, before, delta in moves])
        as_given = tuple(tuple(next(every) for _ in ([team] if isinstance(team, str) else team)) for team in teams)
        return RatedEvent(results.frame["event_id"][0], chosen, bool(changes), as_given)

    def _advance(self, results: Results) -> tuple[Events, Replayed]:
        """Rate events that are later than all previous events. An error leaves everything unchanged."""
        if faults := list(untimely(results.frame, self._events, self._newest)):
            raise ResultsError(results.source, faults)
        known = len(self._ratings.rows)
        try:
            events, numbers = self._encode(results)
            start = self._ratings.states[numbers]
            replayed = replay(self.system, events, start, pool_start=self._ratings.pools_of(events))
        except BaseException:  # includes errors in an author's rules, and Ctrl-C
            self._ratings.truncate(known)
            raise
        self._ratings.take(events, replayed, numbers)
        self._events.update(results.frame["event_id"].to_list())
        note_newest(self._newest, results.frame)
        return events, replayed

    def _encode(self, results: Results) -> tuple[Events, RowNumbers]:
        """Encode the events, and find the row of each player who takes part."""
        events = encode(results, self.system)
        numbers = self._ratings.rows_of(events)
        return with_idle_before(events, self.system, EVENT, self._ratings.seen[numbers]), numbers

    def reset(self, keep: float, *, widens: bool = False) -> tuple[list[PlayerKey], States, States]:
        """Begin a season by multiplying every player's lead over a newcomer by `keep`.

        Args:
            keep: share of each lead to keep, from 0 (all start equal) to 1 (nothing changes).
            widens: True to make ratings less certain by as many points as the season moves them, as pools do.

        Returns:
            The rated players as (pool, player), and their states before and after, as float64 arrays of shape (players,
            fields). The states of pools do not change.

        Raises:
            ParameterError: the share is not between 0 and 1.
        """
        refuse_share(keep)
        with self._lock:
            before = self._ratings.states
            self._ratings.states = self.system.season_begins(before, keep)
            if widens:
                self.system.widen(self._ratings.states, before, keep)
            return list(self._ratings.rows), before, self._ratings.states.copy()

    def leaderboard(
        self,
        *,
        min_events: int | None = None,
        max_deviation: float | None = None,
        active_within: str | float | timedelta | None = None,
        top: int | None = None,
        pool: str | None = None,
    ) -> pl.DataFrame:
        """Return the current leaderboard.

        It is the same as `podium.Rated.leaderboard` after the same events.

        Args:
            min_events: minimum number of rated events for a player to be listed. Default: the system's own rule.
            max_deviation: maximum deviation for a player to be listed.
            active_within: list only players who played within this time before the last event.
            top: number of ranks to list.
            pool: the pool. Default: all pools.

        Returns:
            `pool, rank, player, rating, peak`, the system's other fields, `events, last_event_id, last_played_at,
            provisional`. The best player comes first. Players with equal ratings share a rank.

        Raises:
            ParameterError: the system or the events do not have the data that a filter needs.
            UnknownError: the pool does not exist.
        """
        rules = eligibility(self.system, min_events, max_deviation, active_within, top, pool)
        with self._lock:
            board, pools = self._ratings.board(), self._ratings.pools()
        if pool is not None:
            board = board.filter(pl.col("pool") == existing_pool(pool, pools))
        return listed(self.system, board, rules, None)

    def _standing_of(self, names: Sequence[str], pool: str | None) -> tuple[System, list[Any]]:
        with self._lock:
            chosen = only_pool(self._ratings.pools(), pool)
            system = system_in(self.system, self._ratings.pool_states, chosen)
            return system, [self._ratings.state(chosen, name) for name in names]

    def _known_names(self) -> list[str]:
        return [name for _, name in self.ratings]

    def explain(self, rows: Any, event_id: str, player: str) -> Explanation:
        """Explain how an event would change a player's current rating, without rating it.

        Args:
            rows: the event, in any form that `rate` accepts.
            event_id: the event's ID in the rows.
            player: the player's name in the rows.

        Returns:
            The change in points, with its reasons.

        Raises:
            ResultsError: the rows are invalid.
            UnknownError: the event does not rate the player.
        """
        return explain(self.system, *self._foreseen(rows), event_id, player)

    def what_if(self, rows: Any, event_id: str, player: str, *, margin: float | None = None) -> WhatIf:
        """Compare an event's effect with the effect that it would have if one thing were different.

        The other arguments and the errors are the same as for `explain`.

        Args:
            margin: the margin by which heats between two sides are won, in systems that rate margins. If None, the
                usual margin.

        Returns:
            The change caused by the event, and the change in each alternative case.
        """
        return what_if(self.system, *self._foreseen(rows), event_id, player, margin=margin)

    def _foreseen(self, rows: Any) -> tuple[Events, Replayed]:
        """Return the encoded event, and the outcome of rating it from the current ratings."""
        results = read_any(rows)[0]
        with self._lock:
            known = len(self._ratings.rows)
            events, numbers = self._encode(results)
            start, pools = self._ratings.states[numbers], self._ratings.pools_of(events)
            self._ratings.truncate(known)
        return events, replay(self.system, events, start, pool_start=pools)

    @property
    def ratings(self) -> dict[PlayerKey, Any]:
        """Return the state of every player, keyed by (pool, player)."""
        with self._lock:
            return {key: self._ratings.state(*key) for key in self._ratings.rows}
