"""Equipment, such as cars and clubs, which players share and a system rates. It is an entrant without an entry.

In a rating update, equipment comes after the players. Its names in a pool cannot be names of players.
"""

from typing import Any

import numpy as np
import polars as pl

from podium.results.columns import SHARED
from podium.support.arrays import Floats, Integers
from podium.support.immutable import immutable

MARK = "\x1f"  # separates the kind and the name of a piece of equipment; names cannot contain it
TEAM = "team"  # the kind whose names are in the column of that name


@immutable
class SharedEquipment:
    names: list[str]  # names with their kind, pool by pool
    pool: Integers  # (equipment): number of the pool
    kind: Floats  # (equipment): from 1
    of_row: Integers  # (rows, kinds): the equipment, -1 for none


def equipment_name(kind: str, name: str) -> str:
    """Return the name under which the rating of equipment is stored."""
    return f"{MARK}{kind}{MARK}{name}"


def kind_and_name(name: str) -> tuple[str, str]:
    """Split the name of a rating into kind and display name. For a player, the kind is empty."""
    _, kind, bare = name.split(MARK) if name.startswith(MARK) else ("", "", name)
    return kind, bare


def are_equipment(names: pl.Series) -> pl.Series:
    """Return a mask of the rating names that belong to equipment."""
    return names.str.starts_with(MARK)


def called(name: str) -> str:
    """Return the display name of a player or a piece of equipment, for example `Ferrari (car)`."""
    kind, bare = kind_and_name(name)
    return f"{bare} ({kind})" if kind else bare


def columns_of(frame: pl.DataFrame, kinds: tuple[str, ...]) -> dict[str, str]:
    """Return the column of each kind of equipment in a table."""
    columns = {kind: f"{SHARED}{kind}" for kind in kinds}
    if columns.get(TEAM) not in frame.columns and TEAM in columns:
        columns[TEAM] = TEAM
    return {kind: column for kind, column in columns.items() if column in frame.columns}


def names_in(frame: pl.DataFrame, kinds: tuple[str, ...]) -> list[str]:
    """Return the rating names of all equipment in a table."""
    columns = columns_of(frame, kinds).items()
    return [equipment_name(kind, name) for kind, column in columns for name in frame[column].drop_nulls().unique()]


def equipment_of(rows: Any, kinds: tuple[str, ...]) -> SharedEquipment | None:
    """Return the shared equipment of these kinds that the rows name, or None if they name none."""
    columns = columns_of(rows.frame, kinds)
    parts = [
        pl.DataFrame({"row": np.arange(rows.pool.size), "pool": rows.pool, "name": rows.frame[columns[kind]]})
        .drop_nulls("name")
        .with_columns(name=equipment_name(kind, "") + pl.col("name"), kind=pl.lit(number))
        for number, kind in enumerate(kinds)
        if kind in columns
    ]
    if not parts or not sum(part.height for part in parts):
        return None
    shared = pl.concat(parts).sort("row", "kind")
    named = shared.unique(["pool", "name"], keep="first", maintain_order=True).sort("pool", maintain_order=True)
    numbered = shared.join(
        named.select("pool", "name").with_row_index("item"), on=["pool", "name"], how="left", maintain_order="left"
    )
    of_row = np.full((rows.pool.size, len(kinds)), -1)
    of_row[numbered["row"].to_numpy(), numbered["kind"].to_numpy()] = numbered["item"].to_numpy()
    return SharedEquipment(named["name"].to_list(), named["pool"].to_numpy(), named["kind"].to_numpy() + 1.0, of_row)


@immutable
class Seats:
    """One numbering for players and equipment: pool by pool, players first."""

    players: Integers  # (players): number of each player
    equipment: Integers  # (equipment)
    before: Integers  # (pools + 1): number of equipment before each pool

    def names(self, players: pl.Series, equipment: list[str]) -> pl.Series:
        every = np.empty(self.players.size + self.equipment.size, object)
        every[self.players], every[self.equipment] = players.to_list(), equipment
        return pl.Series(players.name, every.tolist(), pl.String)


def seats(rows: Any, equipment: SharedEquipment) -> Seats:
    pools = len(rows.pool_names)
    pool_of_player = np.zeros(rows.player_names.len(), np.int64)
    pool_of_player[rows.player] = rows.pool
    before = np.concatenate([[0], np.cumsum(np.bincount(equipment.pool, minlength=pools))])
    through = np.cumsum(np.bincount(pool_of_player, minlength=pools))
    players = np.arange(pool_of_player.size) + before[pool_of_player]
    return Seats(players, np.arange(equipment.pool.size) + through[equipment.pool], before)


def with_equipment(
    columns: dict[str, Any], update: Integers, of_row: Integers, equipment: SharedEquipment, seats: Seats
) -> tuple[dict[str, Any], Integers]:
    """Add the equipment to the entrants. Return the columns, and the new entrant number of each row.

    Args:
        update: the rating update of each row.
        of_row: the current entrant of each row.
    """
    rows, kinds = np.nonzero(equipment.of_row >= 0)
    update = update.astype(np.int64)
    key = update[rows] * equipment.pool.size + equipment.of_row[rows, kinds]
    unique, at = np.unique(key, return_inverse=True)
    number, offsets = unique % equipment.pool.size, columns["entrants"]
    added = np.bincount(unique // equipment.pool.size, minlength=offsets.size - 1)
    behind = offsets + np.concatenate([[0], np.cumsum(added)])
    of_players = np.arange(offsets[-1]) + np.repeat(behind[:-1] - offsets[:-1], np.diff(offsets))
    of_equipment = np.arange(unique.size) + np.repeat(offsets[1:], added)
    player, kind = np.empty(behind[-1], np.int64), np.zeros(behind[-1])
    player[of_players], player[of_equipment] = seats.players[columns["player"]], seats.equipment[number]
    kind[of_equipment] = equipment.kind[number]
    moved = {"player": player, "kind": kind, "entrants": behind}
    for name, default in (("played_events", 1.0), ("quit", 0.0), ("idle", 0.0)):
        if columns[name].size:
            moved[name] = np.full(behind[-1], default)
            moved[name][of_players] = columns[name]
    shared = np.full(equipment.of_row.shape, -1)
    shared[rows, kinds] = of_equipment[at] - behind[update[rows]]
    of_row = of_players[of_row]
    return moved | {"entrant": of_row - behind[update], "shared": shared.ravel()}, of_row
