"""Things that entrants share, and that a system rates: a car, a club. They are entrants without an entry of their own.

In a settlement they stand behind its players; in a pool, too, under names that no player can have.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.results.columns import SHARED
from podium.results.hashing import Integers

MARK = "\x1f"  # before the kind and the name of a thing, and between them; names have none
TEAM = "team"  # the kind whose things stand in a column of that name


@dataclass(frozen=True, slots=True)
class Things:
    names: list[str]  # of each, with its kind, pools in turn
    pool: Integers  # (things): the number of its pool
    kind: npt.NDArray[np.float64]  # (things): from 1
    of_row: npt.NDArray[np.int64]  # (rows, kinds): which thing, -1 for none


def thing_name(kind: str, name: str) -> str:
    """The name under which a thing's rating is kept."""
    return f"{MARK}{kind}{MARK}{name}"


def kind_and_name(name: str) -> tuple[str, str]:
    """The kind of a thing and its name as people have it, of the name its rating has; a player's has no kind."""
    _, kind, bare = name.split(MARK) if name.startswith(MARK) else ("", "", name)
    return kind, bare


def are_things(names: pl.Series) -> pl.Series:
    """Which of the names under which ratings are kept are things'."""
    return names.str.starts_with(MARK)


def called(name: str) -> str:
    """What people call a player or a thing: `Ferrari (car)`."""
    kind, bare = kind_and_name(name)
    return f"{bare} ({kind})" if kind else bare


def columns_of(frame: pl.DataFrame, kinds: tuple[str, ...]) -> dict[str, str]:
    """The column of each kind that a table has things of."""
    columns = {kind: f"{SHARED}{kind}" for kind in kinds}
    if columns.get(TEAM) not in frame.columns and TEAM in columns:
        columns[TEAM] = TEAM
    return {kind: column for kind, column in columns.items() if column in frame.columns}


def names_in(frame: pl.DataFrame, kinds: tuple[str, ...]) -> list[str]:
    """The names under which the ratings are kept of all things in a table."""
    columns = columns_of(frame, kinds).items()
    return [thing_name(kind, each) for kind, column in columns for each in frame[column].drop_nulls().unique()]


def things_of(rows: Any, kinds: tuple[str, ...]) -> Things | None:
    """The things of these kinds that rows share; None where there is none."""
    columns = columns_of(rows.frame, kinds)
    parts = [
        pl.DataFrame({"row": np.arange(rows.pool.size), "pool": rows.pool, "name": rows.frame[columns[kind]]})
        .drop_nulls("name")
        .with_columns(name=thing_name(kind, "") + pl.col("name"), kind=pl.lit(number))
        for number, kind in enumerate(kinds)
        if kind in columns
    ]
    if not parts or not sum(part.height for part in parts):
        return None
    shared = pl.concat(parts).sort("row", "kind")
    named = shared.unique(["pool", "name"], keep="first", maintain_order=True).sort("pool", maintain_order=True)
    numbered = shared.join(
        named.select("pool", "name").with_row_index("thing"), on=["pool", "name"], how="left", maintain_order="left"
    )
    of_row = np.full((rows.pool.size, len(kinds)), -1)
    of_row[numbered["row"].to_numpy(), numbered["kind"].to_numpy()] = numbered["thing"].to_numpy()
    return Things(named["name"].to_list(), named["pool"].to_numpy(), named["kind"].to_numpy() + 1.0, of_row)


@dataclass(frozen=True, slots=True)
class Seats:
    """The numbers that players and things have together, pools in turn, players first."""

    players: npt.NDArray[np.int64]  # (players): each one's number
    things: npt.NDArray[np.int64]  # (things)
    before: npt.NDArray[np.int64]  # (pools + 1): how many things stand before each pool

    def names(self, players: pl.Series, things: list[str]) -> pl.Series:
        every = np.empty(self.players.size + self.things.size, object)
        every[self.players], every[self.things] = players.to_list(), things
        return pl.Series(players.name, every.tolist(), pl.String)


def seats(rows: Any, things: Things) -> Seats:
    pools = len(rows.pool_names)
    pool_of_player = np.zeros(rows.player_names.len(), np.int64)
    pool_of_player[rows.player] = rows.pool
    before = np.concatenate([[0], np.cumsum(np.bincount(things.pool, minlength=pools))])
    through = np.cumsum(np.bincount(pool_of_player, minlength=pools))
    players = np.arange(pool_of_player.size) + before[pool_of_player]
    return Seats(players, np.arange(things.pool.size) + through[things.pool], before)


def with_things(
    columns: dict[str, Any], settlement: Integers, of_row: Integers, things: Things, seats: Seats
) -> tuple[dict[str, Any], Integers]:
    """The columns that change where things are entrants, and which entrant each row's player then is.

    Args:
        settlement: of each row; `of_row` is its entrant so far.
    """
    rows, kinds = np.nonzero(things.of_row >= 0)
    settlement = settlement.astype(np.int64)
    key = settlement[rows] * things.pool.size + things.of_row[rows, kinds]
    unique, at = np.unique(key, return_inverse=True)
    number, offsets = unique % things.pool.size, columns["entrants"]
    added = np.bincount(unique // things.pool.size, minlength=offsets.size - 1)
    behind = offsets + np.concatenate([[0], np.cumsum(added)])
    of_players = np.arange(offsets[-1]) + np.repeat(behind[:-1] - offsets[:-1], np.diff(offsets))
    of_things = np.arange(unique.size) + np.repeat(offsets[1:], added)
    player, kind = np.empty(behind[-1], np.int64), np.zeros(behind[-1])
    player[of_players], player[of_things] = seats.players[columns["player"]], seats.things[number]
    kind[of_things] = things.kind[number]
    moved = {"player": player, "kind": kind, "entrants": behind}
    for name, default in (("played_events", 1.0), ("quit", 0.0), ("idle", 0.0)):
        if columns[name].size:
            moved[name] = np.full(behind[-1], default)
            moved[name][of_players] = columns[name]
    shared = np.full(things.of_row.shape, -1)
    shared[rows, kinds] = of_things[at] - behind[settlement[rows]]
    of_row = of_players[of_row]
    return moved | {"entrant": of_row - behind[settlement], "shared": shared.ravel()}, of_row
