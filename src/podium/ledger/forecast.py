"""What is expected of a field: each entrant's chances by the system's own model, and how strong a race is."""

import csv
import functools
import math
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from podium.engine.inputs import PRESENT
from podium.engine.pool_state import PoolNumbers, sharpness
from podium.engine.replay import Replayed
from podium.engine.rules import enter, entering_state
from podium.engine.system import System, log_odds
from podium.engine.tables import things as shared_things
from podium.engine.tables.encoding import Events
from podium.engine.tables.sides import Sides
from podium.engine.tables.teams import Shared, expected_scores, sides_of
from podium.engine.tables.things import called, thing_name
from podium.errors import NearNameError, ParameterError, UnknownError
from podium.kernels.records import read
from podium.ledger.history import events_of_settlements, states_brought, system_at
from podium.probability.ranks import Floats, GumbelPerformances, Performances, field_strength, rank_distribution
from podium.results.columns import BEGINNING, SIDES
from podium.results.names import admit
from podium.support.words import counted, is_nearly, nearest_name, table_html

SHOWN_ENTRANTS = 3  # in a line


@dataclass(frozen=True, repr=False)
class Forecast:
    """The chances of a field; a side of several is named by its members: `Ana, Ben`."""

    entrants: pl.DataFrame  # player, rating, events, win, top, mean_rank: the likeliest winner first
    chances: Floats  # (entrants, ranks)
    expected: Floats  # (entrants, entrants): the expected score in a heat of two
    players: tuple[str, ...]  # of all sides, in the order given
    newcomers: tuple[str, ...]  # of these, and of what they share, who has not been in a result: misspelt names, too

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


def members_in(rows: Iterable[str]) -> dict[str, "Member"]:
    """Those who start by name, of rows `Ana,car=Ferrari,side=white`.

    Raises:
        ParameterError: a row names nobody, or one whom another names; a cell after the name is no `KIND=NAME`, or gives
            a kind again; what `member_of` refuses.
    """
    members: dict[str, Member] = {}
    for row in rows:
        name, *cells = next(iter(names_in([row])), []) or [""]
        if not name or name in members:
            lacking = "is given twice" if name else "is nobody"
            raise ParameterError(f"{name or row!r} {lacking}; write all of one entrant as Ana,car=Ferrari,side=white")
        given: dict[str, str] = {}
        for cell in cells:
            kind, _, what = (part.strip() for part in cell.partition("="))
            kind = kind.casefold()
            if not kind or not what or kind in given:
                wrong = f"is a second {kind}" if kind in given else "is not as car=Ferrari or side=white"
                raise ParameterError(f"{name}: {cell!r} {wrong}")
            given[kind] = what
        members[name] = member_of({"player": name, "side": given.pop("side", None), "shared": given})
    return members


class Member(NamedTuple):
    """One who starts: the name, and what an entry of a result would say beside it."""

    player: str
    shared: Mapping[str, str] = {}  # the name of a thing, by kind
    side: str | None = None  # home or white, away or black
    new: bool = False  # a newcomer, even if the name is nearly a known one


Named = str | Mapping[str, Any] | Member  # a name, or a dict with `player`, and `shared` or `side`


def member_of(given: Named) -> Member:
    """One who starts, as given; a dict must have a player, nothing unknown, and names of things."""
    if not isinstance(given, Mapping):
        return given if isinstance(given, Member) else Member(given)
    unknown = [key for key in given if key not in Member._fields]
    if unknown or not isinstance(given.get("player"), str):
        lacking = f"has no {unknown[0]!r}" if unknown else "needs a player"
        raise ParameterError(f"an entrant {lacking}; it may say player, shared, side and new")
    shared, side = given.get("shared") or {}, given.get("side")
    if not isinstance(shared, Mapping) or not all(isinstance(each, str) for each in shared.values()):
        raise ParameterError(f"{given['player']}: shared is {shared!r}; write things by kind: {{'car': 'Ferrari'}}")
    if side is not None and side not in SIDES:
        raise ParameterError(f"{given['player']}: the side {side!r} is not one of {', '.join(SIDES)}")
    return Member(
        given["player"],
        {kind.casefold(): admit(name, kind) for kind, name in shared.items()},
        side,
        bool(given.get("new")),
    )


def field_of(
    entrants: Iterable[Named], sides: Iterable[Iterable[Named]], admitted: Callable[[list[str]], Iterable[str]]
) -> list[list[Member]]:
    """Each side's members: entrants alone first, then sides; `admitted` refuses names or mends them.

    Raises:
        ParameterError: a side, or all entrants, are a text; a side has nobody; two begin; what `member_of` refuses.
    """
    if isinstance(entrants, str):
        raise ParameterError(f"the entrants {entrants!r} are a text; write them as a list of names")
    field = [[member_of(each)] for each in entrants]
    for side in sides:
        if isinstance(side, str):
            raise ParameterError(f"the side {side!r} is a text; write a side as a list of names")
        field.append([member_of(each) for each in side])
        if not field[-1]:
            raise ParameterError("a side has nobody: name its members, or leave it out")
    beginning = [side[0].player for side in field if begins(side)]
    if len(beginning) > 1:
        raise ParameterError(f"{beginning[0]!r} and {beginning[1]!r} are both home or white: one side is, or none")
    names = iter(admitted([each.player for side in field for each in side]))
    return [[each._replace(player=next(names)) for each in side] for side in field]


def begins(side: Iterable[Member]) -> bool:
    """Whether a side is at home, or has the first move."""
    return any(each.side in BEGINNING for each in side)


def played(states: Mapping[str, Any]) -> set[str]:
    """Return the names of those who have played, by the states of everyone."""
    return {name for name, state in states.items() if state.events}


def refuse_slips(
    field: Iterable[Iterable[Member]], known: Container[str], candidates: Callable[[str], Iterable[str]]
) -> None:
    """Refuse a newcomer whose name is nearly the name of a known player, if nothing says that both exist.

    Args:
        known: names of players who are no newcomers.
        candidates: known names among which those that are nearly a name are looked for.

    Raises:
        NearNameError: such a name.
    """
    for name in [each.player for side in field for each in side if not each.new and each.player not in known]:
        near = {each for each in candidates(name) if is_nearly(name, each)}
        if near and name not in near:
            raise NearNameError(name, min(near))


def things_of(field: Iterable[Iterable[Member]], kinds: Sequence[str]) -> list[str]:
    """The names under which the ratings are kept of all things of a field that a system rates; others are refused."""
    given = {(kind, name): None for side in field for each in side for kind, name in each.shared.items()}
    unknown = [kind for kind, _ in given if kind not in kinds]
    if kinds and unknown:
        raise ParameterError(f"no {unknown[0]} is rated here, but {', '.join(kinds)}")
    return [thing_name(kind, name) for kind, name in given if kind in kinds]


def names_to_rate(field: Sequence[Sequence[Member]], kinds: Sequence[str]) -> list[str]:
    """The names under which the ratings are kept of everyone, and of what they share."""
    return [each.player for side in field for each in side] + things_of(field, kinds)


def line_up(
    system: System, field: Sequence[Sequence[Member]], states: Mapping[str, Any]
) -> tuple[list[list[Any]], list[list[Shared]], list[float]]:
    """The states of each side's members, what they share, and which side begins, as `sides_of` takes them.

    Args:
        states: of players, and of things by the names that `things_of` gives.
    """
    numbers = {name: number for number, name in enumerate(things_of(field, system.kinds))}
    things: list[list[Shared]] = []
    for side in field:
        owners = Counter(
            (thing_name(what, each.shared[what]), kind)
            for kind, what in enumerate(system.kinds, 1)
            for each in side
            if what in each.shared
        )
        shares = ((name, kind, count / len(side)) for (name, kind), count in owners.items())
        things.append([Shared(numbers[name], kind, states[name], share) for name, kind, share in shares])
    home = [float(system.rates_sides and begins(side)) for side in field]
    return [[states[each.player] for each in side] for side in field], things, home


def names_of_field(field: Sequence[Sequence[Member]]) -> list[str]:
    """Everyone's names, side by side; fewer than two sides, or a name twice, are refused."""
    if len(field) < 2:  # noqa: PLR2004  (it takes two to compare)
        raise ParameterError("a field needs two entrants at least")
    names = [each.player for side in field for each in side]
    repeated = sorted(name for name, count in Counter(names).items() if count > 1)
    if repeated:
        raise ParameterError(f"{repeated[0]!r} appears twice among the entrants")
    return names


def forecast(system: System, field: Sequence[Sequence[Member]], states: Mapping[str, Any], top: int) -> Forecast:
    """The chances of players in these states against each other, alone or in sides.

    Whoever is given no thing of a kind that the system rates has an average one, of 0 points, as an entry of a result
    that says none; so has a field without a side that begins nobody ahead by it. Two of one thing are expected against
    each other without what is uncertain of it; in the chances of ranks of three and more they are uncertain apart.

    Args:
        system: whose model gives the chances.
        field: each side's members.
        states: of everyone, and of what `things_of` names.
        top: how many places count as the top.

    Returns:
        Chances between 0 and 1: of each rank by the system's performances, and of each pair by its `expect_side`. A
        side's rating is the mean of its members', its events those of the least experienced.

    Raises:
        ParameterError: fewer than two sides, a name twice, or `top` no whole number of at least 1.
    """
    names = names_of_field(field)
    if not isinstance(top, Integral) or top < 1:
        raise ParameterError(f"top is {top}; it must be a whole number of at least 1")
    sides, things, home = line_up(system, field, states)
    standing = sides_of(system, sides, things, home)
    expected = expected_scores(system, standing, len(field))
    chances = rank_distribution(performances_of(system, standing, expected))
    order = np.argsort(-chances[:, 0], kind="stable")
    entrants = pl.DataFrame(
        {
            "player": [", ".join(each.player for each in field[i]) for i in order],
            "rating": [math.fsum(state.rating for state in sides[i]) / len(sides[i]) for i in order],
            "events": [min(int(state.events) for state in sides[i]) for i in order],
            "win": chances[order, 0],
            "top": chances[order, :top].sum(axis=1).clip(max=1.0),
            "mean_rank": chances[order] @ np.arange(1, len(field) + 1),
        }
    )
    newcomers = tuple(name for name in names if not states[name].events)
    newcomers += tuple(called(name) for name in things_of(field, system.kinds) if not states[name].events)
    return Forecast(entrants, chances[order], expected[np.ix_(order, order)], tuple(names), newcomers)


def performances_of(system: System, sides: Sides, expected: Floats) -> Performances:
    """How sides perform: by the system's own performances, where each is one player or like one.

    Else the mean of a side's log-odds against all is its strength in Plackett and Luce's model, as between two the
    log-odds of `expected` are.
    """
    count, entering = len(expected), system.arguments()[1][1]
    alone = (np.diff(sides.start[: count + 1]) == 1) & (sides.home[:count] == 0.0)
    ones = [
        read(sides.members, sides.start[k], entering) if alone[k] else system.as_one(sides, k) for k in range(count)
    ]
    have_things = count == 2 and bool(sides.shared[: sides.start[count]].any())  # noqa: PLR2004  (a duel)
    if not have_things and all(one is not None for one in ones):
        return system.performances(ones)
    pairs = zip(expected.ravel().tolist(), expected.T.ravel().tolist(), strict=True)
    leads = np.array([log_odds(chance, other) for chance, other in pairs]).reshape(expected.shape)
    sharp = sharpness(system.params()) if count > 2 else 1.0  # noqa: PLR2004  (a duel is as its pair)
    return GumbelPerformances(-sharp * leads.mean(axis=1), np.ones(count))


def expected_score(system: System, first: Any, second: Any) -> float:
    """The expected score of one state against another, between 0 and 1."""
    return float(expected_scores(system, sides_of(system, [[first], [second]]), 2)[0, 1])


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
        ParameterError: `top` is no whole number of at least 1, or `probe` not finite.
    """
    if not isinstance(top, Integral) or top < 1:
        raise ParameterError(f"top is {top}; it must be a whole number of at least 1")
    if probe is not None and not math.isfinite(probe):
        raise ParameterError(f"probe is {probe}; it must be a finite number")
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
    kinds = {"settlement": pl.Int64, "entrants": pl.Int64, "mean_rating": pl.Float64, "strength": pl.Float64}
    fields = pl.DataFrame(rows, schema=kinds, orient="row")
    return events_of_settlements(events).join(fields, on="settlement", maintain_order="left").drop("settlement")


def unknown_names(names: Iterable[str], frame: pl.DataFrame, kinds: tuple[str, ...]) -> dict[str, str | None]:
    """The names that are no player's or thing's in a table of results, each with the nearest one where one is near."""
    known = {*frame["player"].unique().to_list(), *map(called, shared_things.names_in(frame, kinds))}
    return {name: nearest_name(name, known) for name in names if name not in known}


def existing_pool(name: str, pools: Sequence[str]) -> str:
    """The pool of that name, which must be one of them."""
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


def system_in(system: System, states: Mapping[str, PoolNumbers], pool: str | None) -> System:
    """The system bound to the state of a pool; as it is where none is known."""
    state = None if pool is None else states.get(pool)
    return system if state is None else system.within(state)
