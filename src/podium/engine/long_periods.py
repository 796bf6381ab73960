"""One rating period of one pool, rated piece by piece in memory by its players, to the bits of the whole.

A period is a sum: everyone enters from the state before it, each heat adds its evidence to what came before, everyone
settles from the sums. So pieces of whole events, in their order, make the additions of the whole in the same order.
What is known of an entrant only in the end (the events played, whether one of them was quit) is counted first, in a
reading of its own.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.engine.inputs import ABSENT, Columns
from podium.engine.pool_state import new_pools
from podium.engine.replay import NEVER, Replayed, States, scratch_for, units_between
from podium.engine.rule_checks import run_kernel
from podium.engine.rules import enter_all, judge_heat, rate_event, rate_heats, settle_all
from podium.engine.system import System
from podium.engine.tables.encoding import Events, frozen
from podium.errors import NotFiniteError
from podium.kernels.compiled import compile_kernel
from podium.results.hashing import Integers


def takes_pieces(system: System) -> bool:
    """Whether a system rates a period heat by heat, so that it may come in pieces."""
    own = rate_event.dispatch(type(system.params()))
    return own is rate_event.dispatch(object) or own is rate_heats


class PeriodSums:
    """The players of a period: what is known of each as an entrant, what each brought, and the sums so far."""

    def __init__(self, system: System, period: str) -> None:
        self._system = system
        self._period = period
        self._slots: dict[str, int] = {}
        self._played = np.empty(0)
        self._quit = np.empty(0)
        self._first_us = np.empty(0, np.int64)
        self._last_piece = np.empty(0, np.int64)
        self.pieces = 0
        self.after = np.empty((0, 0))
        self._entering = np.empty((0, 0))
        self._sums = np.empty((0, 0))
        self._everyone: Columns | None = None
        self._states = np.empty((0, 0))

    def count(self, events: Events) -> None:
        """Take note of a piece's entrants; each piece in turn, before any is judged."""
        number = self.pieces
        self.pieces += 1
        if not events.player_names.len():
            return
        slots = np.array([self._slots.setdefault(name, len(self._slots)) for name in events.player_names.to_list()])
        new = len(self._slots) - self._played.size
        self._played = np.concatenate([self._played, np.zeros(new)])
        self._quit = np.concatenate([self._quit, np.zeros(new)])
        self._first_us = np.concatenate([self._first_us, np.full(new, np.iinfo(np.int64).max)])
        self._last_piece = np.concatenate([self._last_piece, np.zeros(new, np.int64)])
        columns, of_entrant = events.columns, slots[events.columns.player]
        self._played[of_entrant] += columns.played_events
        if columns.quit.size:
            self._quit[of_entrant] = np.maximum(self._quit[of_entrant], columns.quit)
        starts = first_instants(events)
        self._first_us[of_entrant] = np.minimum(self._first_us[of_entrant], starts)
        self._last_piece[of_entrant] = number

    @property
    def names(self) -> list[str]:
        """The players, by slot."""
        return list(self._slots)

    def bring(self, states: States, seen: npt.NDArray[np.int64]) -> None:
        """Say where each player stands before the period.

        Args:
            states: (players, fields), by slot.
            seen: the instant of the last event before, microseconds since 1970, or `NEVER`: (players).
        """
        system, size = self._system, len(self._slots)
        idle = ABSENT
        if system.idle_unit is not None:
            idle = np.zeros(size)
            back = seen != NEVER
            kind = pl.Datetime("us", "UTC")
            spans = units_between(
                pl.Series(seen[back]).cast(kind), pl.Series(self._first_us[back]).cast(kind), system, self._period
            )
            idle[back] = np.maximum(spans, 0)
        self._everyone = empty_columns()._replace(
            entrants=frozen(np.array([0, size]), np.int64),
            player=frozen(np.arange(size), np.int32),
            played_events=frozen(self._played),
            quit=frozen(self._quit),
            idle=frozen(idle),
        )
        self._states = states
        _, entering, zero_evidence = system.prototypes()
        self._entering = np.empty((size, len(entering)))
        self._sums = np.empty((size, len(zero_evidence)))
        self.after = states.copy()

    def judge(self, events: Events, *, first: bool, last: bool) -> None:
        """Judge a piece's heats; everyone enters before the first piece and settles after the last.

        Raises:
            NotFiniteError: a new state is not finite.
        """
        system, everyone = self._system, self._everyone
        slots = self._slots_of(events)
        columns = events.columns
        # A piece is of one settlement, whose entrants have the numbers of all.
        entrant = columns.entrant if columns.entrant.size else np.arange(columns.place.size)
        piece = columns._replace(entrant=frozen(slots[columns.player[entrant]], np.int32))
        scratch = scratch_for(system, piece, 0, columns.entrants.size - 1, new_pools(system, 1)[0])
        scratch = scratch._replace(entering_states=self._entering, sums=self._sums)
        kernel = _judge_cached if system.shipped else _judge_uncached
        arguments = *system.arguments(), everyone, piece, self._states, scratch, self.after, first, last
        run_kernel(system, kernel, *arguments)
        if last and not np.isfinite(self.after).all():
            slot = int(np.argmin(np.isfinite(self.after).all(axis=1)))
            raise NotFiniteError(system.name, 0, slot, None, self.names[slot])

    def _slots_of(self, events: Events) -> Integers:
        return np.array([self._slots[name] for name in events.player_names.to_list()], np.int64)

    def rated(self, events: Events, number: int) -> tuple[Columns, npt.NDArray[np.bool_], Replayed]:
        """What came of a piece's entrants: their columns and rows as in the whole period, and their states."""
        slots = self._slots_of(events)
        columns = events.columns
        mine = slots[columns.player]
        everyone = self._everyone
        assert everyone is not None  # noqa: S101  (`bring` was called)
        columns = columns._replace(
            played_events=frozen(self._played[mine]),
            quit=frozen(self._quit[mine]),
            idle=frozen(everyone.idle[mine] if everyone.idle.size else ABSENT),
        )
        done = self._last_piece[slots] == number
        start = self._states[slots]
        states = np.where(done[:, None], self.after[slots], start)
        settles = events.ledger.settles & done[events.columns.player[events.ledger.entrant.array]]
        rating = self._system.column("rating")
        moved = states[columns.player]
        pools = new_pools(self._system, len(events.pools))
        return columns, settles, Replayed(states, start[columns.player, rating], moved, start, pools)


def first_instants(events: Events) -> npt.NDArray[np.int64]:
    """The start of each entrant's first event, microseconds since 1970: (entrants)."""
    rows = events.ledger
    first = np.empty(events.columns.player.size, np.int64)
    instants = events.results.frame["started_at"].cast(pl.Int64).to_numpy()
    first[rows.entrant[::-1]] = instants[
        rows.row[::-1]
    ]  # the ledger is in order of time, and the last assignment stays
    return first


def empty_columns() -> Columns:
    """Columns without an entrant, each at its default, as kernels know them."""
    whole, small = frozen(ABSENT, np.int64), frozen(ABSENT, np.int32)
    numbers = dict.fromkeys(Columns._fields, frozen(ABSENT))
    offsets = dict.fromkeys(("entrants", "heats", "entries"), whole)
    return Columns(**(numbers | offsets | dict.fromkeys(("player", "entrant", "side", "shared"), small)))


def _judge(
    params: Any,
    prototypes: Any,
    everyone: Any,
    piece: Any,
    states: Any,
    scratch: Any,
    after: Any,
    first: bool,  # noqa: FBT001  (of a kernel)
    last: bool,  # noqa: FBT001
) -> None:
    """Judge the heats of a piece, as `rate_heats` does those of a whole period."""
    if first:
        enter_all(params, prototypes, everyone, 0, everyone.player.size, states, scratch)
    for heat in range(piece.entries.size - 1):
        judge_heat(params, prototypes, piece, heat, piece.entries[heat], piece.entries[heat + 1], 0, scratch)
    if last:
        settle_all(params, prototypes, everyone, 0, everyone.player.size, scratch, after, 0)


_judge_cached = compile_kernel(_judge)
_judge_uncached = compile_kernel(_judge, cached=False)
