"""The log as a chain, reasons beside it, and players numbered within their pool; this chains and rates nothing yet."""

import secrets

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
SECRET_BYTES = 32

pool = sa.table("pool", *map(sa.column, ("id", "secret")))


def upgrade() -> None:
    """Add the columns and tables, and let every number of a player be one of a pool."""
    connection = op.get_bind()
    op.add_column("pool", sa.Column("secret", sa.LargeBinary(), nullable=True))
    op.add_column("pool", sa.Column("closed", sa.Boolean(), nullable=False, server_default=sa.false()))
    for number in connection.execute(sa.select(pool.c.id)).scalars().all():
        secret = secrets.token_bytes(SECRET_BYTES)
        connection.execute(sa.update(pool).where(pool.c.id == number).values(secret=secret))
    op.add_column("log", sa.Column("place", sa.BigInteger(), nullable=True))
    op.add_column("log", sa.Column("hash", sa.LargeBinary(), nullable=True))
    op.add_column("log", sa.Column("reason_hash", sa.LargeBinary(), nullable=True))
    op.create_index(op.f("ix_log_pool_id_place"), "log", ["pool_id", "place"], unique=True)
    op.create_table(
        "reason",
        sa.Column("pool_id", NUMBER, nullable=False),
        sa.Column("seq", NUMBER, nullable=False),
        sa.Column("salt", sa.LargeBinary(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name=op.f("fk_reason_pool_id")),
        sa.PrimaryKeyConstraint("pool_id", "seq", name=op.f("pk_reason")),
    )
    op.create_table(
        "correction",
        sa.Column("pool_id", NUMBER, nullable=False),
        sa.Column("seq", NUMBER, nullable=False),
        sa.Column("events", sa.Integer(), nullable=False),
        sa.Column("players", sa.Integer(), nullable=False),
        sa.Column("largest", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name=op.f("fk_correction_pool_id")),
        sa.PrimaryKeyConstraint("pool_id", "seq", name=op.f("pk_correction")),
    )
    op.drop_index(op.f("ix_alias_player_id"), "alias")
    if connection.dialect.name == "postgresql":
        change_constraints()
    else:
        rebuild_tables(connection)
    op.create_index(op.f("ix_alias_pool_id_player_id"), "alias", ["pool_id", "player_id"])


def change_constraints() -> None:
    """Let keys and references be of pool and number, where a database can change them."""
    for table in ("alias", "merged", "change", "standing", "snapshot"):
        for kind in ("player_id", "pool_id", *(["into_id"] if table == "merged" else [])):
            op.drop_constraint(op.f(f"fk_{table}_{kind}"), table)
    op.drop_constraint(op.f("pk_player"), "player")
    op.execute("ALTER TABLE player ALTER COLUMN id DROP DEFAULT")
    op.execute("DROP SEQUENCE player_id_seq")
    op.create_primary_key(op.f("pk_player"), "player", ["pool_id", "id"])
    for table in ("alias", "merged", "change", "standing", "snapshot"):
        for column in ("player_id", *(["into_id"] if table == "merged" else [])):
            name = op.f(f"fk_{table}_pool_id_{column}")
            op.create_foreign_key(name, table, "player", ["pool_id", column], ["pool_id", "id"])


def reference(table: str, column: str = "player_id") -> sa.ForeignKeyConstraint:
    """The constraint that a column has the number of a player of the row's pool."""
    name = op.f(f"fk_{table}_pool_id_{column}")
    return sa.ForeignKeyConstraint(["pool_id", column], ["player.pool_id", "player.id"], name=name)


def rebuild_tables(connection: sa.Connection) -> None:
    """Let keys and references be of pool and number in SQLite, which copies a table for it."""
    op.drop_index(op.f("ix_player_pool_id_lookalike"), "player")
    op.rename_table("player", "old_player")
    op.create_table(
        "player",
        sa.Column("pool_id", NUMBER, nullable=False),
        sa.Column("id", NUMBER, nullable=False, autoincrement=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("lookalike", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name=op.f("fk_player_pool_id")),
        sa.PrimaryKeyConstraint("pool_id", "id", name=op.f("pk_player")),
        sa.UniqueConstraint("pool_id", "name", name=op.f("uq_player_pool_id_name")),
        sqlite_with_rowid=False,
    )
    connection.exec_driver_sql(
        "INSERT INTO player (pool_id, id, name, lookalike) SELECT pool_id, id, name, lookalike FROM old_player"
    )
    op.create_index(op.f("ix_player_pool_id_lookalike"), "player", ["pool_id", "lookalike"])
    rebuild(
        connection,
        "alias",
        sa.Column("pool_id", NUMBER, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("player_id", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("pool_id", "name", name=op.f("pk_alias")),
        reference("alias"),
    )
    rebuild(
        connection,
        "merged",
        sa.Column("pool_id", NUMBER, nullable=False),
        sa.Column("player_id", NUMBER, nullable=False),
        sa.Column("into_id", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("pool_id", "player_id", name=op.f("pk_merged")),
        reference("merged"),
        reference("merged", "into_id"),
    )
    rebuild(
        connection,
        "change",
        sa.Column("pool_id", NUMBER, nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("seq", NUMBER, nullable=False),
        sa.Column("player_id", NUMBER, nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("rating_before", sa.Double(), nullable=False),
        sa.Column("rating", sa.Double(), nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("pool_id", "started_at", "seq", "player_id", name=op.f("pk_change")),
        reference("change"),
        index=("pool_id", "player_id", "started_at", "seq"),
        has_rowid=False,
    )
    rebuild(
        connection,
        "standing",
        sa.Column("pool_id", NUMBER, nullable=False),
        sa.Column("player_id", NUMBER, nullable=False),
        sa.Column("rating", sa.Double(), nullable=False),
        sa.Column("events", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("seq", NUMBER, nullable=False),
        sa.Column("played_at", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("pool_id", "player_id", name=op.f("pk_standing")),
        reference("standing"),
        index=("pool_id", "rating", "player_id"),
        has_rowid=False,
    )
    rebuild(
        connection,
        "snapshot",
        sa.Column("pool_id", NUMBER, nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("player_id", NUMBER, nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("rating", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("pool_id", "day", "player_id", name=op.f("pk_snapshot")),
        reference("snapshot"),
        index=("pool_id", "player_id", "day"),
        has_rowid=False,
    )
    op.drop_table("old_player")
    set_planner_statistics(connection)


def rebuild(
    connection: sa.Connection,
    table: str,
    *parts: sa.schema.SchemaItem,
    index: tuple[str, ...] = (),
    has_rowid: bool = True,
) -> None:
    """Make a table anew with these columns and constraints, with all of its rows."""
    name = op.f(f"ix_{table}_{'_'.join(index)}")
    if index:
        op.drop_index(name, table)
    op.rename_table(table, f"old_{table}")
    op.create_table(table, *parts, sqlite_with_rowid=has_rowid)
    columns = ", ".join(part.name for part in parts if isinstance(part, sa.Column))
    connection.exec_driver_sql(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM old_{table}")  # noqa: S608
    op.drop_table(f"old_{table}")
    if index:
        op.create_index(name, table, list(index))


def set_planner_statistics(connection: sa.Connection) -> None:
    """Give SQLite's planner the statistics of a large ledger, which went with the old table, and of many players.

    Without those it looks for a name among all players of the pool, since the primary key begins with the pool, too.
    """
    connection.exec_driver_sql("DELETE FROM sqlite_stat1 WHERE tbl IN ('change', 'old_change', 'player')")
    by_name = next(row for row in connection.exec_driver_sql("PRAGMA index_list(player)") if row.origin == "u")
    connection.exec_driver_sql(
        "INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('player', 'player', '1000000 1000000 1'), "
        "('player', ?, '1000000 1000000 1'), ('player', 'ix_player_pool_id_lookalike', '1000000 1000000 1')",
        (by_name.name,),
    )
    connection.exec_driver_sql(
        "INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('change', 'change', '8000000 8000000 8 8 1'), "
        "('change', 'ix_change_pool_id_player_id_started_at_seq', '8000000 8000000 400 1 1')"
    )
