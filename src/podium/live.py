"""Live rating: one event at a time, to the same bits as a replay of them all."""

import math
import threading
from collections.abc import Iterator
from copy import copy
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.engine.encoding import Events, encode
from podium.engine.idle import NEVER, with_idle_before
from podium.engine.periods import EVENT
from podium.engine.replay import Replayed, States, newcomers, replay
from podium.engine.system import System
from podium.errors import Fault, NotFiniteError, ParameterError, ResultsError
from podium.ledger.explaining import explain
from podium.ledger.explanation import Explanation
from podium.ledger.history import history
from podium.ledger.saved import Start, read_start
from podium.ledger.what_if import WhatIf, what_if
from podium.rated import Rated, make_system
from podium.results.event_order import SEQUENCE
from podium.results.reading import Results, read_results

FIRST = -math.inf  # the sequence of an event that has none
PlayerKey = tuple[str, str]  # pool and player
Moment = tuple[int, float]  # microseconds and sequence
SeatNumbers = npt.NDArray[np.int64]


def moments(frame: pl.DataFrame) -> Iterator[tuple[str, Moment]]:
    """The pool of each row and when its event was, as far as the results say."""
    started = frame["started_at"].to_physical().to_list() if "started_at" in frame.columns else repeat(NEVER)
    sequence = frame[SEQUENCE].to_list() if SEQUENCE in frame.columns else repeat(FIRST)
    return zip(frame["pool"].to_list(), zip(started, sequence, strict=False), strict=False)


def refuse_share(keep: float) -> None:
    """Refuse what a season cannot keep of a lead.

    Raises:
        ParameterError: it is not from 0 to 1.
    """
    if not 0.0 <= keep <= 1.0:
        raise ParameterError(f"keep is {keep}; it must be from 0 to 1")


class Live:
    """Ratings that move with each event as it comes.

    Events must come in order; what is refused changes nothing. Every event settles at once. Threads may share one:
    each call is whole before the next. A copy or a pickle goes its own way.
    `start` are ratings to go on from, as `podium.rate` takes them.
    """

    def __init__(self, system: str | System = "elo", *, start: Any = None, **parameters: Any) -> None:
        self.system = make_system(system, parameters)
        self._seats: dict[PlayerKey, int] = {}
        self._states = newcomers(self.system, 0)
        self._seen = np.empty(0, np.int64)  # microseconds; NEVER for one who has no dated event
        self._last: dict[str, Moment] = {}  # newest event of each pool
        self._events: set[str] = set()
        self._lock = threading.RLock()
        if start is not None:
            self._begin(read_start(start.states if isinstance(start, Rated) else start, self.system))

    def _begin(self, start: Start) -> None:
        self._seats = {seat: row for row, seat in enumerate(start.players.select("pool", "player").iter_rows())}
        self._states, self._seen = start.states.copy(), start.seen.copy()
        for (pool, _), seen in zip(self._seats, self._seen.tolist(), strict=True):
            self._last[pool] = max(self._last.get(pool, (NEVER, FIRST)), (seen, FIRST))

    def __getstate__(self) -> dict[str, Any]:
        """What a copy or a pickle takes: all but the lock, nothing of it shared."""
        with self._lock:
            owned = {name: copy(value) for name, value in self.__dict__.items() if name not in ("_lock", "system")}
        return owned | {"system": self.system}

    def __setstate__(self, owned: dict[str, Any]) -> None:
        """Go on from a copy or a pickle."""
        self.__dict__.update(owned)
        self._lock = threading.RLock()

    def resume(self, known: dict[PlayerKey, tuple[bytes, int]]) -> None:
        """Go on from states that were saved.

        Args:
            known: by (pool, player), the state as little-endian doubles, and the newest event in microseconds
                since 1970.
        """
        with self._lock:
            self._seats = {seat: row for row, seat in enumerate(known)}
            states = b"".join(state for state, _ in known.values())
            self._states = np.frombuffer(states, "<f8").astype(np.float64).reshape(len(known), self._states.shape[1])
            self._seen = np.array([seen for _, seen in known.values()], np.int64)

    def rate(self, rows: Any) -> pl.DataFrame:
        """Rate one event (or several, in order) and return its rows of the history.

        Args:
            rows: as `podium.rate` takes results: dicts, a frame, a path.

        Returns:
            `event_id, pool, started_at, player, rating_before, delta`, then every field of the state after the
            event; a row for each player of each event, in the order of rating.

        Raises:
            ResultsError: the rows are refused, the event was rated before, or it is older than the newest.
            NotFiniteError: a rating would be no finite number.
        """
        results = read_results(rows)
        with self._lock:
            self._refuse_untimely(results.frame, results.source)
            events, replayed = self.advance(results)
        return history(self.system, events, replayed)

    def advance(self, results: Results) -> tuple[Events, Replayed]:
        """Rate events that are known to be timely, and return what the ledger holds.

        Args:
            results: checked, and of events that were not rated before.

        Returns:
            The encoded events, and what the replay gave.

        Raises:
            NotFiniteError: a rating would be no finite number; nothing has changed.
        """
        with self._lock:
            seated = len(self._seats)
            events, seats = self._encode(results)
            try:
                replayed = replay(self.system, events, self._states[seats])
            except NotFiniteError:
                self._leave_seats(seated)
                raise
            self._states[seats] = replayed.states
            self._remember(results.frame, events, seats)
            return events, replayed

    def _encode(self, results: Results) -> tuple[Events, SeatNumbers]:
        """Encode the events, and seat their players: the row of each."""
        events = encode(results, self.system)
        seats = self._take_seats(events)
        return with_idle_before(events, self.system, EVENT, self._seen[seats]), seats

    def reset(self, keep: float) -> tuple[list[PlayerKey], States, States]:
        """Begin a season: every lead over a newcomer shrinks to the share `keep`.

        Args:
            keep: from 0 (all start level) to 1 (nothing changes).

        Returns:
            Who has a rating, as (pool, player), and the states before and after, (players, fields) float64.

        Raises:
            ParameterError: the share is not from 0 to 1.
        """
        refuse_share(keep)
        with self._lock:
            before = self._states
            self._states = self.system.season_begins(before, keep)
            return list(self._seats), before, self._states.copy()

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
        """What an event would do to a player's rating, had one thing been different; nothing is rated.

        Args:
            rows: the event, as `rate` takes it.
            event_id: the event's id in the rows.
            player: the player's name in the rows.

        Returns:
            The change as it would come, and with one thing different.

        Raises:
            ResultsError: the rows are refused.
            UnknownError: the player is not rated in the event.
        """
        return what_if(self.system, *self._foreseen(rows), event_id, player)

    def _foreseen(self, rows: Any) -> tuple[Events, Replayed]:
        """What an event would do as players stand."""
        results = read_results(rows)
        with self._lock:
            events, seats = self._encode(results)
            start = self._states[seats]
        return events, replay(self.system, events, start)

    @property
    def ratings(self) -> dict[PlayerKey, Any]:
        """The state of every player, by (pool, player)."""
        with self._lock:
            return {seat: self.system.state_type(*self._states[row].tolist()) for seat, row in self._seats.items()}

    def _refuse_untimely(self, frame: pl.DataFrame, source: str) -> None:
        faults = []
        for row, event_id in enumerate(frame["event_id"], start=1):
            if event_id in self._events:
                faults.append(Fault(row, "event_id", event_id, "was rated before; a correction needs a replay"))
        late = "is before the newest event; a late one needs a replay"
        for row, (pool, (start, sequence)) in enumerate(moments(frame), start=1):
            newest, last = self._last.get(pool, (NEVER, FIRST))
            if start < newest:
                faults.append(Fault(row, "started_at", None, late))
            elif start == newest and FIRST < sequence < last:
                faults.append(Fault(row, SEQUENCE, sequence, late))
        if faults:
            raise ResultsError(source, faults)

    def _take_seats(self, events: Events) -> SeatNumbers:
        """Seat the events' players: the row of each; newcomers get one."""
        seats = np.empty(events.player_names.len(), np.int64)
        for pool in events.pools:
            for player in range(pool.first_player, pool.last_player):
                seat = (pool.name, events.player_names[player])
                seats[player] = self._seats.setdefault(seat, len(self._seats))
        added = len(self._seats) - len(self._states)
        if added:
            self._states = np.concatenate([self._states, newcomers(self.system, added)])
            self._seen = np.concatenate([self._seen, np.full(added, NEVER)])
        return seats

    def _leave_seats(self, count: int) -> None:
        """Forget the newcomers after the first `count` players."""
        while len(self._seats) > count:
            self._seats.popitem()
        self._states, self._seen = self._states[:count], self._seen[:count]

    def _remember(self, frame: pl.DataFrame, events: Events, seats: SeatNumbers) -> None:
        self._events.update(frame["event_id"].to_list())
        for pool, moment in moments(frame):
            self._last[pool] = max(self._last.get(pool, (NEVER, FIRST)), moment)
        if "started_at" not in frame.columns:
            return
        started = frame["started_at"].to_physical().to_numpy()
        rated = events.ledger
        self._seen[seats[events.columns.player[rated.entrant]]] = started[rated.row]
