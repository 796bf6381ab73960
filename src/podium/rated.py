"""Rate results with a system, and ask what came of it: the library's front door."""

import functools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

import polars as pl

from podium import leaderboard as boards
from podium import ledger, rules, systems
from podium.entries import PRESENT
from podium.errors import ParameterError, UnknownError
from podium.events import Events, encode
from podium.explanation import Explanation, explain
from podium.forecast import Forecast, forecast, strengths
from podium.names import admit, normalise
from podium.replay import Replayed, replay
from podium.results import Results, read_results
from podium.systems.base import System
from podium.tuples import read

MANY = 100_000  # entrants below which threads cost more than they save


def make_system(system: str | System, parameters: dict[str, Any]) -> System:
    """The system of that name with these parameters, or the one given.

    Raises:
        ParameterError: no such system or parameter, a value that does not fit, or parameters beside a system.
    """
    if isinstance(system, str):
        return systems.find(system).from_text(parameters)
    if parameters:
        raise ParameterError(f"{system.name} is made already; give parameters with a name, not with a system")
    return system


def rate(
    results: Any,
    system: str | System = "elo",
    *,
    period: str = "event",
    **parameters: Any,
) -> "Rated":
    """Rate results.

    Args:
        results: a path to CSV, Parquet or JSON lines, a pandas, Polars or Arrow frame, rows as dicts, or Results.
        system: a system's name, or an instance.
        period: when ratings settle: `event`, or the end of every `1d`, `1w`, `1mo`.
        parameters: the system's, by name.

    Raises:
        ResultsError: the table is refused; all its faults are named.
        ParameterError: no such system, parameter or period.
    """
    made = make_system(system, parameters)
    checked = results if isinstance(results, Results) else read_results(results)
    events = encode(checked, made, period)
    large = int(events.columns.entrants[-1]) > MANY
    return Rated(made, period, events, replay(made, events, workers=(os.cpu_count() or 1) if large else 1))


@dataclass(frozen=True)
class Rated:
    """Rated results: ratings, the history of every change, and the reason for each."""

    system: System
    period: str
    events: Events
    replayed: Replayed

    @property
    def results(self) -> Results:
        """The results that were rated."""
        return self.events.results

    @functools.cached_property
    def ratings(self) -> pl.DataFrame:
        """Every player's rating after the last event; see `podium.leaderboard.ratings`."""
        return boards.ratings(self.system, self.events, self.replayed)

    @functools.cached_property
    def history(self) -> pl.DataFrame:
        """Every change; see `podium.ledger.history`."""
        return ledger.history(self.system, self.events, self.replayed)

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
        """Who stands where; see `podium.leaderboard.leaderboard`.

        Args:
            min_events: rated events it takes to be listed; the system's own rule where None.
            active_within: listed are those who played so long before `at`, or before the last event.
            at: as it stood then; a plain date counts the whole day.

        Raises:
            ParameterError: a filter that the system or the results cannot serve.
            UnknownError: no such pool.
        """
        if pool is not None:
            self.pool(pool)
        rule = boards.Eligibility(
            min_events=self.system.min_events if min_events is None else min_events,
            max_deviation=max_deviation,
            active_within=None if active_within is None else boards.span(active_within),
            top=top,
            pool=pool,
        )
        return boards.leaderboard(self.system, self.history, rule, None if at is None else boards.instant(at))

    def pool(self, name: str | None = None) -> str:
        """The pool of that name, or the one with most events.

        Raises:
            UnknownError: there is none.
        """
        pools = self.events.pools
        if not pools:
            raise UnknownError("there is no rated event")
        if name is None:
            return max(pools, key=lambda each: each.last - each.first).name
        if name not in {each.name for each in pools}:
            raise UnknownError(f"there is no pool {name!r} (there are {', '.join(each.name for each in pools)})")
        return name

    def explain(self, event_id: str, player: str) -> Explanation:
        """Why a player's rating moved in an event; see `podium.explanation.explain`.

        Raises:
            UnknownError: there is no such event, or the player is not rated in it.
        """
        return explain(self.system, self.events, self.replayed, event_id, player)

    def expected(self, a: str, b: str, pool: str | None = None) -> float:
        """The expected score of `a` against `b` now, between 0 and 1; a newcomer's rating for unknown players.

        Raises:
            ParameterError: there are several pools and none is named.
        """
        params = self.system.params()
        forms = [rules.enter(params, self._state(normalise(name), pool), PRESENT) for name in (a, b)]
        return float(rules.expect(params, *forms))

    def predict(self, entrants: Sequence[str], *, top: int = 3, pool: str | None = None) -> Forecast:
        """The chances of a field now; unknown players are newcomers. See `podium.forecast.Forecast`.

        Raises:
            ParameterError: fewer than two entrants, one twice, a name that the rule refuses, or there are several
                pools and none is named.
            UnknownError: no such pool.
        """
        if pool is not None:
            self.pool(pool)
        names = [admit(name, "entrant") for name in entrants]
        return forecast(self.system, names, [self._state(name, pool) for name in names], top)

    def strengths(self, *, top: int = 5, probe: float | None = None) -> pl.DataFrame:
        """How strong the field of each event was; see `podium.forecast.strengths`.

        Raises:
            ParameterError: `top` is below 1.
        """
        return strengths(self.system, self.events, self.replayed, top, probe)

    def _state(self, player: str, pool: str | None) -> Any:
        pools = [each for each in self.events.pools if pool is None or each.name == pool]
        if len(pools) > 1:
            raise ParameterError(f"name the pool: there are {', '.join(each.name for each in pools)}")
        for each in pools:
            names = self.events.player_names[each.first_player : each.last_player]
            found = (names == player).arg_max()
            if found is not None and names[found] == player:
                return read(self.replayed.states, each.first_player + found, self.system.newcomer())
        return self.system.newcomer()
