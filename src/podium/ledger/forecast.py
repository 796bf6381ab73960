"""What is expected of a field: each entrant's chances by the system's own model, and how strong a race is."""

import csv
import functools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
import polars as pl

from podium.engine.inputs import PRESENT
from podium.engine.pool_state import PoolNumbers
from podium.engine.replay import Replayed
from podium.engine.rules import enter, entering_state
from podium.engine.system import System, log_odds
from podium.engine.tables.encoding import Events
from podium.engine.tables.teams import expected_scores
from podium.errors import ParameterError, UnknownError
from podium.kernels.records import read
from podium.ledger.history import started_at, states_brought, system_at
from podium.probability.ranks import Floats, GumbelPerformances, Performances, field_strength, rank_distribution
from podium.results.hashing import Integers
from podium.support.cells import counted, table_html

SHOWN_ENTRANTS = 3  # in a line
MIN_LIKENESS = 0.7  # of the letters that two names share: about two typing errors in a first name and a surname


@dataclass(frozen=True, repr=False)
class Forecast:
    """The chances of a field; a side of several is named by its members: `Ana, Ben`."""

    entrants: pl.DataFrame  # player, rating, events, win, top, mean_rank: the likeliest winner first
    chances: Floats  # (entrants, ranks)
    expected: Floats  # (entrants, entrants): the expected score in a heat of two
    players: tuple[str, ...]  # of all sides, in the order given
    newcomers: tuple[str, ...]  # of these, who have not played: misspelt names among them

    @functools.cached_property
    def ranks(self) -> pl.DataFrame:
        """`player, rank, chance`: one row for each of both."""
        players = self.entrants["player"]
        size = players.len()
        numbers = np.arange(size)
        return pl.DataFrame(
            {
                "player": players.gather(numbers.repeat(size)),
                "rank": np.tile(numbers + 1, size),
                "chance": self.chances.ravel(),
            }
        )

    @functools.cached_property
    def pairs(self) -> pl.DataFrame:
        """`player, opponent, expected`: the expected score of each in a heat of two."""
        players = self.entrants["player"]
        first, second = np.nonzero(~np.eye(players.len(), dtype=np.bool_))
        return pl.DataFrame(
            {
                "player": players.gather(first),
                "opponent": players.gather(second),
                "expected": self.expected[first, second],
            }
        )

    def __repr__(self) -> str:
        chances = [f"{name} {win:.1%}" for name, win in self.entrants.select("player", "win").iter_rows()]
        others = len(chances) - SHOWN_ENTRANTS
        shown = chances if others <= 0 else [*chances[:SHOWN_ENTRANTS], f"{others} more"]
        return f"Forecast({', '.join(shown)})"

    def _repr_html_(self) -> str:
        """The entrants, as a notebook shows them."""
        return table_html(f"Forecast of {counted(self.entrants.height, 'entrant')}", self.entrants)


def names_in(rows: Iterable[str]) -> list[list[str]]:
    """The names of each row `A,B,...`, in which a spreadsheet's quotes keep a comma; no empty ones."""
    return [[name.strip() for name in row if name.strip()] for row in csv.reader(rows, skipinitialspace=True)]


def field_of(
    entrants: Iterable[str], sides: Iterable[Iterable[str]], admit: Callable[[list[str]], Iterable[str]]
) -> list[list[str]]:
    """The names of each side's members: entrants alone first, then sides; `admit` refuses names or mends them.

    Raises:
        ParameterError: a side is a text, or has nobody.
    """
    field = [[name] for name in entrants]
    for side in sides:
        if isinstance(side, str):
            raise ParameterError(f"the side {side!r} is a text; write a side as a list of names")
        field.append([*side])
        if not field[-1]:
            raise ParameterError("a side has nobody: name its members, or leave it out")
    names = iter(admit([name for side in field for name in side]))
    return [[next(names) for _ in side] for side in field]


def names_of_field(field: Sequence[Sequence[str]]) -> list[str]:
    """Everyone's names, side by side.

    Raises:
        ParameterError: fewer than two sides, or a name twice.
    """
    if len(field) < 2:  # noqa: PLR2004  (it takes two to compare)
        raise ParameterError("a field needs two entrants at least")
    names = [name for side in field for name in side]
    repeated = sorted(name for name, count in Counter(names).items() if count > 1)
    if repeated:
        raise ParameterError(f"{repeated[0]!r} appears twice among the entrants")
    return names


def forecast(system: System, field: Sequence[Sequence[str]], states: Sequence[Any], top: int) -> Forecast:
    """The chances of players in these states against each other, alone or in sides.

    Args:
        system: whose model gives the chances.
        field: the names of each side's members.
        states: each member's state, in the same order.
        top: how many places count as the top.

    Returns:
        Chances between 0 and 1: of each rank by the system's performances, and of each pair by its `expect_side`. A
        side's rating is the mean of its members', its events those of the least experienced.

    Raises:
        ParameterError: fewer than two sides, a name twice, or `top` below 1.
    """
    names = names_of_field(field)
    if top < 1:
        raise ParameterError(f"top is {top}; it must be at least 1")
    waiting = iter(states)
    sides = [[next(waiting) for _ in side] for side in field]
    expected = expected_scores(system, sides)
    chances = rank_distribution(performances_of(system, sides, expected))
    order = np.argsort(-chances[:, 0], kind="stable")
    entrants = pl.DataFrame(
        {
            "player": [", ".join(field[i]) for i in order],
            "rating": [math.fsum(state.rating for state in sides[i]) / len(sides[i]) for i in order],
            "events": [min(int(state.events) for state in sides[i]) for i in order],
            "win": chances[order, 0],
            "top": chances[order, :top].sum(axis=1).clip(max=1.0),
            "mean_rank": chances[order] @ np.arange(1, len(field) + 1),
        }
    )
    newcomers = tuple(name for name, state in zip(names, states, strict=True) if not state.events)
    return Forecast(entrants, chances[order], expected[np.ix_(order, order)], tuple(names), newcomers)


def performances_of(system: System, sides: Sequence[Sequence[Any]], expected: Floats) -> Performances:
    """How sides perform: by the system's own performances, where each is one player or like one.

    Else the mean of a side's log-odds against all is its strength in Plackett and Luce's model, as between two the
    log-odds of `expected` are.
    """
    params = system.params()
    members = [[enter(params, state, PRESENT) for state in side] for side in sides]
    ones = [side[0] if len(side) == 1 else system.as_one(side) for side in members]
    if all(one is not None for one in ones):
        return system.performances(ones)
    pairs = zip(expected.ravel().tolist(), expected.T.ravel().tolist(), strict=True)
    leads = np.array([log_odds(chance, other) for chance, other in pairs]).reshape(expected.shape)
    return GumbelPerformances(-leads.mean(axis=1), np.ones(len(sides)))


def expected_score(system: System, first: Any, second: Any) -> float:
    """The expected score of one state against another, between 0 and 1."""
    return float(expected_scores(system, [[first], [second]])[0, 1])


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


def unknown_names(names: Iterable[str], frame: pl.DataFrame) -> dict[str, str | None]:
    """The names that are no player's in a table of results, each with the nearest one where one is near."""
    known = set(frame["player"].unique().to_list())
    return {name: nearest_name(name, known) for name in names if name not in known}


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


def existing_pool(name: str, pools: Sequence[str]) -> str:
    """The pool of that name.

    Raises:
        UnknownError: there is none.
    """
    if name not in pools:
        raise UnknownError(f"there is no pool {name!r} (there are {', '.join(pools)})")
    return name


def only_pool(pools: Sequence[str], name: str | None) -> str | None:
    """The pool of that name, or the only one; None where there is no pool at all.

    Raises:
        UnknownError: there is none of that name.
        ParameterError: no name is given, and there are several.
    """
    if name is not None:
        return existing_pool(name, pools) if pools else None
    if len(pools) > 1:
        raise ParameterError(f"name the pool: there are {', '.join(pools)}")
    return pools[0] if pools else None


def pool_state(system: System, states: Mapping[str, PoolNumbers], pool: str | None) -> Any:
    """The state of a pool as the system's NamedTuple; a new pool's where none is known, `()` where pools have none."""
    state = None if pool is None else states.get(pool)
    kind = system.pool_state_type
    return system.new_pool() if state is None or kind is None else kind(*state.tolist())


def system_in(system: System, states: Mapping[str, PoolNumbers], pool: str | None) -> System:
    """The system bound to the state of a pool; as it is where none is known."""
    state = None if pool is None else states.get(pool)
    return system if state is None else system.within(state)


def learnt_history(system: System, events: Events, replayed: Replayed, pool: str) -> pl.DataFrame:
    """The parameters that a pool has learnt, a row an event (or rating period) in the order of rating.

    Returns:
        `event_id, started_at` of what settled, then a column for each parameter, by name and in its own unit.

    Raises:
        ParameterError: the system learns none.
    """
    if not system.learnt_parameters or system.pool_state_type is None:
        raise ParameterError(
            f"{system.name} learns no parameters from results; take a system that does, such as podium"
        )
    span = next(each for each in events.pools if each.name == pool)
    last_entrants = events.columns.entrants[span.first + 1 : span.last + 1] - 1
    rows = events.results.frame[entrant_rows(events)[last_entrants]]
    fields = system.pool_state_type._fields
    numbers = replayed.pool_history[span.first : span.last]
    return pl.DataFrame(
        {
            "event_id": rows["event_id"],
            "started_at": started_at(rows),
            **{
                each.name: pl.Series([each.convert(value) for value in numbers[:, fields.index(each.name)].tolist()])
                for each in system.learnt_parameters
            },
        }
    )


def entrant_rows(events: Events) -> Integers:
    """The row of the results table, (entrants), that each entrant's last change stands in."""
    rows = np.zeros(events.columns.player.size, np.int64)
    rows[events.ledger.entrant.array] = events.ledger.row.array  # the last assignment stays
    return rows
