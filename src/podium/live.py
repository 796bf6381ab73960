"""Live rating: one event at a time, to the same bits as a replay of them all."""

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.errors import Fault, ParameterError, ResultsError
from podium.events import Events, encode, frozen
from podium.explanation import Explanation, explain
from podium.ledger import history
from podium.periods import DAY_US
from podium.rated import make_system
from podium.replay import Replayed, States, newcomers, replay
from podium.results import Results, read_results
from podium.systems.base import System

NEVER = np.iinfo(np.int64).min
Seat = tuple[str, str]  # pool and player
Seats = npt.NDArray[np.int64]


def refuse_share(keep: float) -> None:
    """Refuse what a season cannot keep of a lead.

    Raises:
        ParameterError: it is not from 0 to 1.
    """
    if not 0.0 <= keep <= 1.0:
        raise ParameterError(f"keep is {keep}; it must be from 0 to 1")


class Live:
    """Ratings that move with each event as it comes.

    Events must come in order; what is refused changes nothing. Every event settles at once.
    """

    def __init__(self, system: str | System = "elo", **parameters: Any) -> None:
        self.system = make_system(system, parameters)
        self._seats: dict[Seat, int] = {}
        self._states = newcomers(self.system, 0)
        self._seen = np.empty(0, np.int64)  # microseconds; NEVER for one who has no dated event
        self._last: dict[str, int] = {}  # newest event of each pool
        self._events: set[str] = set()

    def resume(self, known: dict[Seat, tuple[bytes, int]]) -> None:
        """Go on from states that were kept: each seat's doubles, and its newest event in microseconds since 1970."""
        self._seats = {seat: at for at, seat in enumerate(known)}
        kept = b"".join(state for state, _ in known.values())
        self._states = np.frombuffer(kept, "<f8").astype(np.float64).reshape(len(known), self._states.shape[1])
        self._seen = np.array([seen for _, seen in known.values()], np.int64)

    def rate(self, rows: Any) -> pl.DataFrame:
        """Rate one event (or several, in order) and return its rows of the history.

        Args:
            rows: as `podium.rate` takes results: dicts, a frame, a path.

        Raises:
            ResultsError: the rows are refused, the event was rated before, or it is older than the newest.
        """
        results = read_results(rows)
        self._refuse_untimely(results.frame, results.source)
        return history(self.system, *self.advance(results))

    def advance(self, results: Results) -> tuple[Events, Replayed]:
        """Rate events that are known to be timely, and return what the ledger is made of."""
        events, seats = self._encoded(results)
        replayed = replay(self.system, events, self._states[seats])
        self._states[seats] = replayed.states
        self._remember(results.frame, events, seats)
        return events, replayed

    def _encoded(self, results: Results) -> tuple[Events, Seats]:
        """The events, and the row of each of their players here."""
        events = encode(results, self.system)
        seats = self._take_seats(events)
        return self._with_idle(events, seats) if events.columns.idle.size else events, seats

    def reset(self, keep: float) -> tuple[list[Seat], States, States]:
        """Begin a season: every lead over a newcomer shrinks to the share `keep`; who, and the states before and after.

        Raises:
            ParameterError: the share is not from 0 to 1.
        """
        refuse_share(keep)
        before = self._states
        self._states = self.system.season_begins(before, keep)
        return list(self._seats), before, self._states.copy()

    def explain(self, rows: Any, event_id: str, player: str) -> Explanation:
        """Why an event would move a player's rating from where it stands; nothing is rated.

        Raises:
            ResultsError: the rows are refused.
            UnknownError: the player is not rated in the event.
        """
        events, seats = self._encoded(read_results(rows))
        start = self._states[seats]
        return explain(self.system, events, replay(self.system, events, start), event_id, player, start)

    @property
    def ratings(self) -> dict[Seat, Any]:
        """The state of every player, by (pool, player)."""
        return {seat: self.system.state_type(*self._states[at].tolist()) for seat, at in self._seats.items()}

    def _refuse_untimely(self, frame: pl.DataFrame, source: str) -> None:
        faults = []
        for row, event_id in enumerate(frame["event_id"], start=1):
            if event_id in self._events:
                faults.append(Fault(row, "event_id", event_id, "was rated before; a correction needs a replay"))
        if "started_at" in frame.columns:
            started = zip(frame["pool"], frame["started_at"].cast(pl.Int64), strict=True)
            for row, (pool, instant) in enumerate(started, start=1):
                if instant < self._last.get(pool, NEVER):
                    faults.append(
                        Fault(row, "started_at", None, "is before the newest event; a late one needs a replay")
                    )
        if faults:
            raise ResultsError(source, faults)

    def _take_seats(self, events: Events) -> Seats:
        """The row of each of the events' players here; newcomers get one."""
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

    def _with_idle(self, events: Events, seats: Seats) -> Events:
        """The events, days since each entrant's last counted from what was seen before."""
        started = events.results.frame["started_at"].cast(pl.Int64).to_numpy()
        now = started[events.ledger.row[np.argsort(events.ledger.entrant)]]
        seen = self._seen[seats[events.columns.player]]
        since = (now - np.where(seen == NEVER, now, seen)) // DAY_US  # 0 for one never seen: now - NEVER would overflow
        first = np.unique(events.columns.player, return_index=True)[1]
        idle = events.columns.idle.copy()
        idle[first] = np.maximum(since[first], 0)
        columns = events.columns._replace(idle=frozen(idle))
        return Events(
            events.results,
            columns,
            events.pools,
            events.player_names,
            events.ledger,
            events.entry_row,
            events.entry_heat,
        )

    def _remember(self, frame: pl.DataFrame, events: Events, seats: Seats) -> None:
        self._events.update(frame["event_id"].to_list())
        if "started_at" not in frame.columns:
            return
        started = frame["started_at"].to_physical().to_numpy()
        for pool, moment in zip(frame["pool"].to_list(), started.tolist(), strict=True):
            self._last[pool] = max(self._last.get(pool, NEVER), moment)
        rated = events.ledger
        self._seen[seats[events.columns.player[rated.entrant]]] = started[rated.row]
