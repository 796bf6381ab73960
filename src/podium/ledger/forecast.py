"""Forecast an event with the system's own model, and measure the strength of a field."""

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
from podium.engine.tables import equipment as shared_equipment
from podium.engine.tables.encoding import Events
from podium.engine.tables.equipment import called, equipment_name
from podium.engine.tables.sides import Sides
from podium.engine.tables.teams import Shared, expected_scores, sides_of
from podium.errors import NearNameError, ParameterError, UnknownError
from podium.kernels.records import read
from podium.ledger.history import events_of_updates, states_brought, system_at
from podium.probability.draws import draw_chance
from podium.probability.ranks import GumbelPerformances, Performances, field_strength, rank_distribution
from podium.results.columns import BEGINNING, SIDES
from podium.results.names import admit
from podium.support.arrays import Floats
from podium.support.words import counted, is_nearly, nearest_name, table_html

SHOWN_ENTRANTS = 3  # number of entrants shown in one line


@dataclass(frozen=True, repr=False)
class Forecast:
    """The forecast for a field. A team is named after its members: `Ana, Ben`."""

    entrants: pl.DataFrame  # player, rating, events, win, top, mean_rank, draw (if any); most likely winner first
    chances: Floats  # (entrants, ranks)
    expected: Floats  # (entrants, entrants): expected scores in a heat of two
    players: tuple[str, ...]  # the players of all sides, in the given order
    newcomers: tuple[str, ...]  # entrants and equipment without results, whose names may be misspelt

    @property
    def draw(self) -> float | None:
        """The probability of a draw, or None if there are more than two sides or draws do not occur."""
        return float(self.entrants["draw"][0]) if "draw" in self.entrants.columns else None

    @functools.cached_property
    def ranks(self) -> pl.DataFrame:
        """Return `player, rank, chance`: one row per player and rank. Half of each draw counts as first place."""
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
        """Return `player, opponent, expected`: the expected score of each pair in a heat of two."""
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
        if self.draw is not None:
            chances.insert(1, f"draw {self.draw:.1%}")
        others = len(chances) - SHOWN_ENTRANTS
        shown = chances if others <= 0 else [*chances[:SHOWN_ENTRANTS], f"{others} more"]
        return f"Forecast({', '.join(shown)})"

    def _repr_html_(self) -> str:
        """Return the entrants as a table for notebooks."""
        return table_html(f"Forecast of {counted(self.entrants.height, 'entrant')}", self.entrants)


def names_in(rows: Iterable[str]) -> list[list[str]]:
    """Return the names in each row `A,B,...`, leaving out empty names. Commas within quotes belong to a name."""
    lines = (" ".join(row.splitlines()) for row in rows)
    return [[name.strip() for name in row if name.strip()] for row in csv.reader(lines, skipinitialspace=True)]


def members_in(rows: Iterable[str]) -> dict[str, "Member"]:
    """Parse rows such as `Ana,car=Ferrari,side=white`, and return the entrants by name.

    Raises:
        ParameterError: a row has no name or repeats a name, or a cell after the name is not `KIND=NAME` or repeats a
            kind. `member_of` can also raise it.
    """
    members: dict[str, Member] = {}
    for row in rows:
        name, *cells = next(iter(names_in([row])), []) or [""]
        if not name or name in members:
            lacking = "is given twice" if name else "is nobody"
            raise ParameterError(f"{name or row!r} {lacking}. Write one entrant like this: Ana,car=Ferrari,side=white")
        given: dict[str, str] = {}
        for cell in cells:
            kind, _, what = (part.strip() for part in cell.partition("="))
            kind = kind.casefold()
            if not kind or not what or kind in given:
                wrong = f"is a second {kind}" if kind in given else "is not in the form car=Ferrari or side=white"
                raise ParameterError(f"{name}: {cell!r} {wrong}")
            given[kind] = what
        members[name] = member_of({"player": name, "side": given.pop("side", None), "shared": given})
    return members


class Member(NamedTuple):
    """An entrant: a player's name and, optionally, equipment and a side."""

    player: str
    shared: Mapping[str, str] = {}  # the name of the equipment, by kind
    side: str | None = None  # home or white, away or black
    new: bool = False  # True for a newcomer, even if the name is similar to a known one


Named = str | Mapping[str, Any] | Member  # a name, or a dict with `player` and, optionally, `shared` and `side`


def member_of(given: Named) -> Member:
    """Return the entrant described by a name or a dict. A dict must have a `player` key and no unknown keys."""
    if not isinstance(given, Mapping):
        return given if isinstance(given, Member) else Member(given)
    unknown = [key for key in given if key not in Member._fields]
    if unknown or not isinstance(given.get("player"), str):
        lacking = f"has no {unknown[0]!r}" if unknown else "needs a player"
        raise ParameterError(f"an entrant {lacking}. The keys are player, shared, side and new.")
    shared, side = given.get("shared") or {}, given.get("side")
    if not isinstance(shared, Mapping) or not all(isinstance(name, str) for name in shared.values()):
        raise ParameterError(f"{given['player']}: shared is {shared!r}. Give equipment by kind: {{'car': 'Ferrari'}}")
    if side is not None and side not in SIDES:
        raise ParameterError(f"{given['player']}: the side {side!r} does not exist. Use one of {', '.join(SIDES)}.")
    return Member(
        given["player"],
        {kind.casefold(): admit(name, kind) for kind, name in shared.items()},
        side,
        bool(given.get("new")),
    )


def field_of(
    entrants: Iterable[Named], sides: Iterable[Iterable[Named]], admitted: Callable[[list[str]], Iterable[str]]
) -> list[list[Member]]:
    """Return the members of each side: first the individual entrants, and then the sides.

    `admitted` corrects or rejects names.

    Raises:
        ParameterError: the entrants or a side are a single string, a side is empty, or two sides are marked as moving
            first. `member_of` can also raise it.
    """
    if isinstance(entrants, str):
        raise ParameterError(f"entrants: {entrants!r} is a string, not a list. Give a list of names.")
    field = [[member_of(entrant)] for entrant in entrants]
    for side in sides:
        if isinstance(side, str):
            raise ParameterError(f"sides: {side!r} is a string, not a list. Give each side as a list of names.")
        field.append([member_of(entrant) for entrant in side])
        if not field[-1]:
            raise ParameterError("sides: a side is empty. Name its members, or leave it out.")
    beginning = [side[0].player for side in field if begins(side)]
    if len(beginning) > 1:
        raise ParameterError(
            f"{beginning[0]!r} and {beginning[1]!r} are both marked as home or white. Mark only one side."
        )
    names = iter(admitted([entrant.player for side in field for entrant in side]))
    return [[entrant._replace(player=next(names)) for entrant in side] for side in field]


def begins(side: Iterable[Member]) -> bool:
    """Return True if the member's side is at home or moves first."""
    return any(entrant.side in BEGINNING for entrant in side)


def played(states: Mapping[str, Any]) -> set[str]:
    """Return the names of all players who have played an event."""
    return {name for name, state in states.items() if state.events}


def refuse_slips(
    field: Iterable[Iterable[Member]], known: Container[str], candidates: Callable[[str], Iterable[str]]
) -> None:
    """Raise a NearNameError for a newcomer whose name is very similar to a known player's.

    Entrants marked as new are accepted.

    Args:
        field: each side's members.
        known: names of players who are not newcomers.
        candidates: function that returns the known names to compare with a name.

    Raises:
        NearNameError: a name is very similar to a known one.
    """
    for name in [
        entrant.player for side in field for entrant in side if not entrant.new and entrant.player not in known
    ]:
        near = {candidate for candidate in candidates(name) if is_nearly(name, candidate)}
        if near and name not in near:
            raise NearNameError(name, min(near))


def equipment_of(field: Iterable[Iterable[Member]], kinds: Sequence[str]) -> list[str]:
    """Return the stored names of a field's equipment. Raise ParameterError if the system does not rate it."""
    given = {(kind, name): None for side in field for entrant in side for kind, name in entrant.shared.items()}
    unknown = [kind for kind, _ in given if kind not in kinds]
    if kinds and unknown:
        raise ParameterError(f"{unknown[0]}: the system does not rate this kind of equipment. Use {', '.join(kinds)}.")
    return [equipment_name(kind, name) for kind, name in given if kind in kinds]


def names_to_rate(field: Sequence[Sequence[Member]], kinds: Sequence[str]) -> list[str]:
    """Return the stored names of all players in a field and their equipment."""
    return [entrant.player for side in field for entrant in side] + equipment_of(field, kinds)


def line_up(
    system: System, field: Sequence[Sequence[Member]], states: Mapping[str, Any]
) -> tuple[list[list[Any]], list[list[Shared]], list[float]]:
    """Return the arguments for `sides_of`: each side's states and equipment, and the side that moves first.

    Args:
        system: the rating system.
        field: each side's members.
        states: states of players and equipment, by name. The names of equipment come from `equipment_of`.
    """
    numbers = {name: number for number, name in enumerate(equipment_of(field, system.kinds))}
    equipment: list[list[Shared]] = []
    for side in field:
        owners = Counter(
            (equipment_name(what, entrant.shared[what]), kind)
            for kind, what in enumerate(system.kinds, 1)
            for entrant in side
            if what in entrant.shared
        )
        shares = ((name, kind, count / len(side)) for (name, kind), count in owners.items())
        equipment.append([Shared(numbers[name], kind, states[name], share) for name, kind, share in shares])
    home = [float(system.reads_home and begins(side)) for side in field]
    return [[states[entrant.player] for entrant in side] for side in field], equipment, home


def names_of_field(field: Sequence[Sequence[Member]]) -> list[str]:
    """Return all names, one side after the other. Raise ParameterError for repeated names or fewer than two sides."""
    if len(field) < 2:  # noqa: PLR2004  (it takes two to compare)
        raise ParameterError("entrants: a forecast needs at least two. Add one.")
    names = [entrant.player for side in field for entrant in side]
    repeated = sorted(name for name, count in Counter(names).items() if count > 1)
    if repeated:
        raise ParameterError(f"entrants: {repeated[0]!r} appears twice. Name each entrant once.")
    return names


def forecast(
    system: System, field: Sequence[Sequence[Member]], states: Mapping[str, Any], top: int, nu: float = 0.0
) -> Forecast:
    """Return the probabilities for an event between players or sides with these states.

    If an entrant's equipment is not given, average equipment (worth 0 points) is assumed. If no side is marked, no side
    moves first. In a pair, two users of the same equipment share its uncertainty. With three or more entrants,
    uncertainties are treated as independent.

    Args:
        system: the system with the model.
        field: each side's members.
        states: states of all players and equipment, by name. The names of equipment come from `equipment_of`.
        top: number of places that count as top places.
        nu: Davidson's nu, the frequency of draws in the pool, or 0 if draws do not occur.

    Returns:
        Probabilities (0 to 1): for each rank, based on the system's performances, and for each pair, based on its
        `expect_side`. With two sides and `nu`, the chance of a win is the expected score minus half of the chance of a
        draw. A side's rating is the mean of its members' ratings. Its number of events is that of its least experienced
        member.

    Raises:
        ParameterError: there are fewer than two sides, a name is repeated, or `top` is not a whole number of at least
            1.
    """
    names = names_of_field(field)
    if not isinstance(top, Integral) or top < 1:
        raise ParameterError(f"top: {top} is not a number of places. Give a whole number of at least 1.")
    sides, equipment, home = line_up(system, field, states)
    standing = sides_of(system, sides, equipment, home)
    expected = expected_scores(system, standing, len(field))
    chances = rank_distribution(performances_of(system, standing, expected))
    order = np.argsort(-chances[:, 0], kind="stable")
    entrants = pl.DataFrame(
        {
            "player": [", ".join(entrant.player for entrant in field[i]) for i in order],
            "rating": [math.fsum(state.rating for state in sides[i]) / len(sides[i]) for i in order],
            "events": [min(int(state.events) for state in sides[i]) for i in order],
            "win": chances[order, 0],
            "top": chances[order, :top].sum(axis=1).clip(max=1.0),
            "mean_rank": chances[order] @ np.arange(1, len(field) + 1),
        }
    )
    if len(field) == 2 and nu > 0.0:  # noqa: PLR2004  (a duel)
        draw = draw_chance(expected[0, 1], nu)
        win = expected[order, order[::-1]] - 0.5 * draw
        entrants = entrants.with_columns(win=win, top=win if top == 1 else pl.lit(1.0), draw=pl.lit(draw))
    newcomers = tuple(name for name in names if not states[name].events)
    newcomers += tuple(called(name) for name in equipment_of(field, system.kinds) if not states[name].events)
    return Forecast(entrants, chances[order], expected[np.ix_(order, order)], tuple(names), newcomers)


def performances_of(system: System, sides: Sides, expected: Floats) -> Performances:
    """Return the distribution of each side's performance.

    It is the system's own distribution if the system can treat each side as one player. Otherwise, the strength of a
    side in the Plackett-Luce model is its mean log-odds against all other sides. With two sides, these are the log-odds
    of `expected`.
    """
    count, entering = len(expected), system.arguments()[1][1]
    alone = (np.diff(sides.start[: count + 1]) == 1) & (sides.home[:count] == 0.0)
    ones = [
        read(sides.members, sides.start[k], entering) if alone[k] else system.as_one(sides, k) for k in range(count)
    ]
    have_equipment = count == 2 and bool(sides.shared[: sides.start[count]].any())  # noqa: PLR2004  (a duel)
    if not have_equipment and all(one is not None for one in ones):
        return system.performances(ones)
    pairs = zip(expected.ravel().tolist(), expected.T.ravel().tolist(), strict=True)
    leads = np.array([log_odds(chance, other) for chance, other in pairs]).reshape(expected.shape)
    sharp = sharpness(system.params()) if count > 2 else 1.0  # noqa: PLR2004  (a duel is the same as its pair)
    return GumbelPerformances(-sharp * leads.mean(axis=1), np.ones(count))


def expected_score(system: System, first: Any, second: Any) -> float:
    """Return the expected score of one state against another, between 0 and 1."""
    return float(expected_scores(system, sides_of(system, [[first], [second]]), 2)[0, 1])


def strengths(system: System, events: Events, replayed: Replayed, top: int, probe: float | None) -> pl.DataFrame:
    """Return the strength of each event's field, based on the ratings before the event.

    A newcomer is added to the field. The strength is 1 divided by the probability that the newcomer finishes among the
    first `top`. It is 1 if there are at most `top` entrants.

    Args:
        system: the rating system.
        events: the encoded events.
        replayed: the replay of these events.
        top: number of places that count as top places.
        probe: the rating of the newcomer. Default: the system's initial rating.

    Returns:
        `event_id, pool, started_at, entrants, mean_rating, strength`, in the order in which the events are rated. Each
        rating period has a single row, named after its last event.

    Raises:
        ParameterError: `top` is not a whole number of at least 1, or `probe` is not finite.
    """
    if not isinstance(top, Integral) or top < 1:
        raise ParameterError(f"top: {top} is not a number of places. Give a whole number of at least 1.")
    if probe is not None and not math.isfinite(probe):
        raise ParameterError(f"probe: {probe} is not a rating. Give a finite number.")
    newcomer = system.newcomer()
    probed = newcomer if probe is None else newcomer._replace(rating=probe)
    brought, columns = states_brought(system, events, replayed), events.columns
    rows = []
    for update in range(columns.entrants.size - 1):
        first, last = int(columns.entrants[update]), int(columns.entrants[update + 1])
        standing = system_at(system, events, replayed, update)
        params = standing.params()
        stranger = enter(params, probed, PRESENT)
        entering_states = [entering_state(params, columns, i, read(brought, i, newcomer)) for i in range(first, last)]
        strength = field_strength(standing.performances([*entering_states, stranger]), top)
        rows.append((update, last - first, float(replayed.before[first:last].mean()), strength))
    kinds = {"update": pl.Int64, "entrants": pl.Int64, "mean_rating": pl.Float64, "strength": pl.Float64}
    fields = pl.DataFrame(rows, schema=kinds, orient="row")
    return events_of_updates(events).join(fields, on="update", maintain_order="left").drop("update")


def unknown_names(names: Iterable[str], frame: pl.DataFrame, kinds: tuple[str, ...]) -> dict[str, str | None]:
    """Return the names without results in a table, each with the most similar known name or None."""
    known = {*frame["player"].unique().to_list(), *map(called, shared_equipment.names_in(frame, kinds))}
    return {name: nearest_name(name, known) for name in names if name not in known}


def existing_pool(name: str, pools: Sequence[str]) -> str:
    """Return the name of a pool. Raise an error if the pool does not exist."""
    if name not in pools:
        raise UnknownError(f"pool {name!r} does not exist. Choose one: {', '.join(pools)}.")
    return name


def only_pool(pools: Sequence[str], name: str | None) -> str | None:
    """Return the named pool. Without a name, return the only pool, or None if there are no pools.

    Raises:
        UnknownError: the pool does not exist.
        ParameterError: no name is given, and there are several pools.
    """
    if name is not None:
        return existing_pool(name, pools) if pools else None
    if len(pools) > 1:
        raise ParameterError(f"pool: the results contain more than one pool. Choose one: {', '.join(pools)}.")
    return pools[0] if pools else None


def system_in(system: System, states: Mapping[str, PoolNumbers], pool: str | None) -> System:
    """Return the system bound to a pool's state, or the same system if the pool has no state."""
    state = None if pool is None else states.get(pool)
    return system if state is None else system.within(state)
