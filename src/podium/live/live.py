"""Live rating: one event at a time, to the same bits as a replay of them all."""

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

SHOWN_PLAYERS = 10  # in a notebook


class Live(Standings):
    """Ratings that move with each event as it comes.

    Events must come in order; what is refused changes nothing. Every event settles at once. Threads may share one:
    each call is whole before the next. A copy or a pickle goes its own way, and `save` writes a file to go on from.
    `start` are ratings to go on from, as `podium.rate` takes them.
    """

    def __init__(self, system: str | System = "elo", *, start: Any = None, **parameters: Any) -> None:
        self.system = make_system(system, parameters)
        self._ratings = LiveRatings(self.system)
        self._newest: dict[str, Moment] = {}  # event of each pool
        self._events: set[str] = set()
        self._lock = threading.RLock()
        if start is not None:
            saved = read_start(start.states if isinstance(start, Rated) else start, self.system)
            self._ratings = starting_ratings(self.system, saved)
            for (pool, _), seen in zip(self._ratings.rows, self._ratings.seen.tolist(), strict=True):
                self._newest[pool] = max(self._newest.get(pool, (NEVER, FIRST)), (seen, FIRST))

    def __getstate__(self) -> dict[str, Any]:
        """Return everything but the lock, and share nothing, for a copy or a pickle."""
        with self._lock:
            owned = {name: copy(value) for name, value in self.__dict__.items() if name not in ("_lock", "system")}
        return owned | {"system": self.system}

    def __setstate__(self, owned: dict[str, Any]) -> None:
        """Go on from a copy or a pickle."""
        self.__dict__.update(owned)
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        with self._lock:
            players, events, pools = len(self._ratings.rows), len(self._events), len(self._ratings.pools())
        sizes = ", ".join([counted(players, "player"), counted(events, "event"), counted(pools, "pool")])
        return f"Live({self.system.label}: {sizes})"

    def _repr_html_(self) -> str:
        """The leaders, as a notebook shows them."""
        return table_html(repr(self), self.leaderboard(top=SHOWN_PLAYERS).head(SHOWN_PLAYERS))

    def save(self, path: str | Path) -> None:
        """Write everything that it takes to go on: every state to the bit, and which events were rated.

        Args:
            path: the file; one that is there is replaced once the new one is whole.

        Raises:
            OutputError: it cannot be written.
        """
        with self._lock:
            ratings, events, newest = copy(self._ratings), set(self._events), dict(self._newest)
        saving.write(Path(path), ratings, events, newest)

    @classmethod
    def load(cls, path: str | Path, system: str | System | None = None, **parameters: Any) -> Self:
        """Go on from what `save` wrote.

        Args:
            path: the file.
            system: as `Live` takes it, to make sure of it; a system of your own must be given. The file's where None.

        Returns:
            Live ratings that go on to the bit as those that were saved, and refuse the events that they had rated.

        Raises:
            ParameterError: it is no such file, or its ratings come from another system, other parameters or another
                revision of the arithmetic.
        """
        if system is None and parameters:
            raise ParameterError("name the system beside its parameters, or leave both to the file")
        saved = saving.read(Path(path), None if system is None else make_system(system, parameters))
        live = cls(saved[0].system)
        live._ratings, live._events, live._newest = saved
        return live

    def rate(self, rows: Any) -> pl.DataFrame:
        """Rate one event (or several, in order) and return its rows of the history.

        Args:
            rows: as `podium.rate` takes results: dicts, a frame, a path.

        Returns:
            `event_id, pool, started_at, player, rating_before, delta`, then every field of the state after the
            event; a row for each player of each event, in the order of rating.

        Raises:
            ResultsError: the rows are refused, the event was rated before, or it is older than the newest.
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
        """Rate one event that is given as teams, and return what it did as plain objects.

        Args:
            event_id: of the event; one that was rated is refused.
            teams: the members of each team; a team of one may be the name alone.
            ranks: of the teams, the lowest is the best and equal ones tie. Where neither ranks nor scores are given,
                the teams came in the order in which they stand.
            scores: of the teams, the highest is the best.
            pool: whose ratings move.
            started_at: when it began; UTC where it has no offset.
            columns: other columns of the results table, the same for every player, as `mode="time-trial"`.

        Returns:
            The change of every player, in the shape of `teams`.

        Raises:
            ParameterError: the teams, ranks or scores do not fit together.
            ResultsError: the event is refused: it was rated before, is older than the newest, or is no honest result.
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
        """Rate events that may come now; where that fails, nothing has changed."""
        if faults := list(untimely(results.frame, self._events, self._newest)):
            raise ResultsError(results.source, faults)
        known = len(self._ratings.rows)
        try:
            events, numbers = self._encode(results)
            start = self._ratings.states[numbers]
            replayed = replay(self.system, events, start, pool_start=self._ratings.pools_of(events))
        except BaseException:  # also what a rule of one's own raises, and Ctrl-C
            self._ratings.truncate(known)
            raise
        self._ratings.take(events, replayed, numbers)
        self._events.update(results.frame["event_id"].to_list())
        note_newest(self._newest, results.frame)
        return events, replayed

    def _encode(self, results: Results) -> tuple[Events, RowNumbers]:
        """Encode the events, and find the row of each of their players."""
        events = encode(results, self.system)
        numbers = self._ratings.rows_of(events)
        return with_idle_before(events, self.system, EVENT, self._ratings.seen[numbers]), numbers

    def reset(self, keep: float) -> tuple[list[PlayerKey], States, States]:
        """Begin a season: every lead over a newcomer shrinks to the share `keep`.

        Args:
            keep: from 0 (all start level) to 1 (nothing changes).

        Returns:
            Who has a rating, as (pool, player), and the states before and after, (players, fields) float64. The states
            of pools stay.

        Raises:
            ParameterError: the share is not from 0 to 1.
        """
        refuse_share(keep)
        with self._lock:
            before = self._ratings.states
            self._ratings.states = self.system.season_begins(before, keep)
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
        """Who stands where now; the same table as `podium.Rated.leaderboard` of the same events.

        Args:
            min_events: rated events it takes to be listed; the system's own rule where None.
            active_within: listed are those who played so long before the last event.

        Returns:
            `pool, rank, player, rating, peak`, the system's other fields, `events, last_event_id, last_played_at,
            provisional`, best first; equal ratings share a rank.

        Raises:
            ParameterError: a filter that the system or the events cannot serve.
            UnknownError: no such pool.
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
        """Why an event would move a player's rating from where it stands; nothing is rated.

        Args:
            rows: the event, as `rate` takes it.
            event_id: the event's id in the rows.
            player: the player's name in the rows.

        Returns:
            The change that would come, in points, with its reasons.

        Raises:
            ResultsError: the rows are refused.
            UnknownError: the player is not rated in the event.
        """
        return explain(self.system, *self._foreseen(rows), event_id, player)

    def what_if(self, rows: Any, event_id: str, player: str) -> WhatIf:
        """What an event would do, had one thing been different, with the arguments and errors of `explain`.

        Returns:
            The change as it would come, and with one thing different.
        """
        return what_if(self.system, *self._foreseen(rows), event_id, player)

    def _foreseen(self, rows: Any) -> tuple[Events, Replayed]:
        """Return the result of an event with the current ratings."""
        results = read_any(rows)[0]
        with self._lock:
            known = len(self._ratings.rows)
            events, numbers = self._encode(results)
            start, pools = self._ratings.states[numbers], self._ratings.pools_of(events)
            self._ratings.truncate(known)
        return events, replay(self.system, events, start, pool_start=pools)

    @property
    def ratings(self) -> dict[PlayerKey, Any]:
        """The state of every player, by (pool, player)."""
        with self._lock:
            return {key: self._ratings.state(*key) for key in self._ratings.rows}
