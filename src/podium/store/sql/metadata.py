"""What all tables share: the list of them, the names of their constraints, kinds of column, and numbers."""

from typing import Any

from sqlalchemy import BigInteger, ColumnElement, ForeignKeyConstraint, Integer, MetaData, Table, Text

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
Number = BigInteger().with_variant(Integer(), "sqlite")  # SQLite counts only INTEGER keys up by itself
FIRST_THING = 2**40  # the number before those of things that entrants share; numbers of players are below
Prefixed = Text().with_variant(Text(collation="C"), "postgresql")  # in the order of its characters, as SQLite has any


def where(condition: ColumnElement[bool]) -> dict[str, Any]:
    """The arguments of an index that has only the rows which fit a condition."""
    return {"sqlite_where": condition, "postgresql_where": condition}


def is_thing(number: int) -> bool:
    """Whether a number is of a thing that entrants share, if only a provisional one, and not of a player."""
    return abs(number) >= FIRST_THING


def of_players(table: Table) -> ColumnElement[bool]:
    """The condition that a row of the ledger or of the standings is a player's."""
    return table.c.player_id + 0 < FIRST_THING  # by no index: SQLite would walk that of players for it


def player_of_pool(column: str = "player_id") -> ForeignKeyConstraint:
    """The constraint that a column has the number of a player of the row's pool."""
    return ForeignKeyConstraint(["pool_id", column], ["player.pool_id", "player.id"])
