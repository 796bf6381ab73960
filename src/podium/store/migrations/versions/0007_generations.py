"""Generations of the derived tables; a key that reaches back only so far."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
INDICES = {"change": ("player_id", "started_at", "seq"), "standing": ("rating", "player_id"), "rank_count": ()}


def upgrade() -> None:
    """Let the rows that derive from a pool's log be those of its first generation, whose number is the pool's."""
    connection = op.get_bind()
    op.create_table(
        "generation",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("pool_id", NUMBER, nullable=False),
        sa.Column("active_at", sa.BigInteger(), nullable=True),
        sa.Column("touched_at", sa.BigInteger(), nullable=True),
        sa.Column("touched_seq", NUMBER, nullable=True),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name=op.f("fk_generation_pool_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_generation")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_generation_pool_id"), "generation", ["pool_id"])
    op.create_table(
        "staged_status",
        sa.Column("generation_id", NUMBER, nullable=False, autoincrement=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("seq", NUMBER, nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("reason", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("generation_id", "started_at", "seq", name=op.f("pk_staged_status")),
        sqlite_with_rowid=False,
    )
    op.add_column("pool", sa.Column("generation_id", NUMBER, nullable=False, server_default=sa.text("0")))
    op.add_column("pool", sa.Column("staging_id", NUMBER, nullable=True))
    op.add_column("api_key", sa.Column("reach_s", sa.Double(), nullable=True))
    connection.exec_driver_sql("UPDATE pool SET generation_id = id")
    connection.exec_driver_sql("INSERT INTO generation (id, pool_id) SELECT id, id FROM pool")
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(
            "SELECT setval(pg_get_serial_sequence('generation', 'id'), coalesce(max(id), 0) + 1, false) FROM pool"
        )
    for table, indexed in INDICES.items():
        rename(connection, table, indexed)
    if connection.dialect.name == "sqlite":
        set_planner_statistics(connection)


def rename(connection: sa.Connection, table: str, indexed: tuple[str, ...]) -> None:
    """Let a table's rows be of a generation, which is no pool's number any more."""
    if indexed:
        op.drop_index(op.f(f"ix_{table}_{'_'.join(('pool_id', *indexed))}"), table)
    references = sa.inspect(connection).get_foreign_keys(table)
    if connection.dialect.name == "postgresql":
        for each in references:
            op.drop_constraint(op.f(str(each["name"])), table)
    elif references:
        rebuild(connection, table)
    op.execute(f"ALTER TABLE {table} RENAME COLUMN pool_id TO generation_id")
    if indexed:
        columns = ["generation_id", *indexed]
        op.create_index(op.f(f"ix_{table}_{'_'.join(columns)}"), table, columns)


def rebuild(connection: sa.Connection, table: str) -> None:
    """Let a table of SQLite be without references, which copies it."""
    inspector = sa.inspect(connection)
    columns: list[Any] = inspector.get_columns(table)
    key = inspector.get_pk_constraint(table)["constrained_columns"]
    op.rename_table(table, f"old_{table}")
    op.create_table(
        table,
        *(sa.Column(each["name"], each["type"], nullable=each["nullable"], autoincrement=False) for each in columns),
        sa.PrimaryKeyConstraint(*key, name=op.f(f"pk_{table}")),
        sqlite_with_rowid=False,
    )
    connection.exec_driver_sql(f"INSERT INTO {table} SELECT * FROM old_{table}")  # noqa: S608  (our own names)
    op.drop_table(f"old_{table}")


def set_planner_statistics(connection: sa.Connection) -> None:
    """Give SQLite's planner the statistics of a large ledger again, which went with the old index."""
    connection.exec_driver_sql("DELETE FROM sqlite_stat1 WHERE tbl IN ('change', 'old_change')")
    connection.exec_driver_sql(
        "INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('change', 'change', '8000000 8000000 8 8 1'), "
        "('change', 'ix_change_generation_id_player_id_started_at_seq', '8000000 8000000 400 1 1')"
    )
