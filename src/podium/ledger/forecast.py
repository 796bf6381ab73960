"""What is expected of a field: each entrant's chances by the system's own model, and how strong a race is."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
import polars as pl

from podium.engine.encoding import Events
from podium.engine.inputs import PRESENT
from podium.engine.replay import Replayed
from podium.engine.rules import enter, entering_state, expect
from podium.engine.system import System
from podium.errors import ParameterError
from podium.kernels.records import read
from podium.ledger.history import started_at, states_brought, system_at
from podium.notebook import counted, table_html
from podium.probability.ranks import field_strength, rank_distribution

SHOWN_ENTRANTS = 3  # in a line
MIN_LIKENESS = 0.7  # of the letters that two names share: about two typing errors in a first name and a surname


@dataclass(frozen=True, slots=True, repr=False)
class Forecast:
    """The chances of a field."""

    entrants: pl.DataFrame  # player, rating, events, win, top, mean_rank: the likeliest winner first
    ranks: pl.DataFrame  # player, rank, chance: one row for each of both
    pairs: pl.DataFrame  # player, opponent, expected: the expected score in a heat of two

    def __repr__(self) -> str:
        chances = [f"{name} {win:.1%}" for name, win in self.entrants.select("player", "win").iter_rows()]
        others = len(chances) - SHOWN_ENTRANTS
        shown = chances if others <= 0 else [*chances[:SHOWN_ENTRANTS], f"{others} more"]
        return f"Forecast({', '.join(shown)})"

    def _repr_html_(self) -> str:
        """The entrants, as a notebook shows them."""
        return table_html(f"Forecast of {counted(self.entrants.height, 'entrant')}", self.entrants)


def forecast(system: System, players: Sequence[str], states: Sequence[Any], top: int) -> Forecast:
    """The chances of players in these states against each other.

    Args:
        system: whose model gives the chances.
        players: their names.
        states: each one's state, in the same order.
        top: how many places count as the top.

    Returns:
        Chances between 0 and 1: of each rank by the system's performances, and of each pair by its `expect`.

    Raises:
        ParameterError: fewer than two players, one twice, or `top` below 1.
    """
    if len(players) < 2:  # noqa: PLR2004  (it takes two to compare)
        raise ParameterError("a field needs two entrants at least")
    repeated = sorted({name for name in players if list(players).count(name) > 1})
    if repeated:
        raise ParameterError(f"{repeated[0]!r} appears twice among the entrants")
    if top < 1:
        raise ParameterError(f"top is {top}; it must be at least 1")
    params = system.params()
    entering_states = [enter(params, state, PRESENT) for state in states]
    chances = rank_distribution(system.performances(entering_states))
    order = np.argsort(-chances[:, 0], kind="stable")
    numbers = np.arange(1, len(players) + 1)
    entrants = pl.DataFrame(
        {
            "player": [players[i] for i in order],
            "rating": [float(states[i].rating) for i in order],
            "events": [int(states[i].events) for i in order],
            "win": chances[order, 0],
            "top": chances[order, :top].sum(axis=1).clip(max=1.0),
            "mean_rank": chances[order] @ numbers,
        }
    )
    ranks = pl.DataFrame(
        {
            "player": np.repeat([players[i] for i in order], len(players)),
            "rank": np.tile(numbers, len(players)),
            "chance": chances[order].ravel(),
        }
    )
    pairs = [
        (players[i], players[j], float(expect(params, entering_states[i], entering_states[j])))
        for i in order
        for j in order
        if i != j
    ]
    return Forecast(entrants, ranks, pl.DataFrame(pairs, schema=["player", "opponent", "expected"], orient="row"))


def expected_score(system: System, first: Any, second: Any) -> float:
    """The expected score of one state against another, between 0 and 1."""
    params = system.params()
    entering_states = [enter(params, state, PRESENT) for state in (first, second)]
    return float(expect(params, *entering_states))


def strengths(system: System, events: Events, replayed: Replayed, top: int, probe: float | None) -> pl.DataFrame:
    """How strong the field of each event was, by the ratings before it.

    The strength is one over the chance of a newcomer added to the field to finish among the first `top`; 1 where
    there are not more entrants than that.

    Args:
        probe: the newcomer's rating instead of the system's own.

    Returns:
        `event_id, pool, started_at, entrants, mean_rating, strength`, in the order of rating. A rating period is
        one row, named after its last event.

    Raises:
        ParameterError: `top` is below 1.
    """
    if top < 1:
        raise ParameterError(f"top is {top}; it must be at least 1")
    newcomer = system.newcomer()
    probed = newcomer if probe is None else newcomer._replace(rating=probe)
    brought, columns = states_brought(system, events, replayed), events.columns
    rows = []
    for settlement in range(columns.entrants.size - 1):
        first, last = int(columns.entrants[settlement]), int(columns.entrants[settlement + 1])
        standing = system_at(system, events, replayed, settlement)
        params = standing.params()
        stranger = enter(params, probed, PRESENT)
        entering_states = [entering_state(params, columns, i, read(brought, i, newcomer)) for i in range(first, last)]
        strength = field_strength(standing.performances([*entering_states, stranger]), top)
        rows.append((settlement, last - first, float(replayed.before[first:last].mean()), strength))
    fields = pl.DataFrame(rows, schema=["settlement", "entrants", "mean_rating", "strength"], orient="row")
    return events_of_settlements(events).join(fields, on="settlement", maintain_order="left").drop("settlement")


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """The known name that a misspelt one most likely means, whatever the case; None where none is near."""
    by_case = {each.casefold(): each for each in sorted(known, reverse=True)}
    near = get_close_matches(name.casefold(), by_case, 1, MIN_LIKENESS)
    return by_case[near[0]] if near else None


def suggestion(name: str, known: Sequence[str]) -> str:
    """What was probably meant by a name that there is not, to end a sentence: a near one, or the one that has it."""
    holding = [each for each in known if name.casefold() in each.casefold()]
    meant = nearest_name(name, known) or (holding[0] if len(holding) == 1 else None)
    return f"; did you mean {meant!r}?" if meant else ""


def events_of_settlements(events: Events) -> pl.DataFrame:
    """`settlement, event_id, pool, started_at` of each settlement, in the order of the history."""
    rows = events.ledger
    settlement = np.searchsorted(events.columns.entrants, rows.entrant.array, side="right") - 1
    taken = events.results.frame[rows.row.array]
    table = pl.DataFrame(
        {
            "settlement": settlement,
            "event_id": taken["event_id"],
            "pool": taken["pool"],
            "started_at": started_at(taken),
        }
    )
    return table.unique("settlement", keep="last", maintain_order=True)
