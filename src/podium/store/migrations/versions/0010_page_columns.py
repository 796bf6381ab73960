"""What pages read of players, events, changes and standings; `podium db upgrade` fills it in for what is stored."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
PREFIXED = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the columns, empty, their indices, and those of the rows that wait for them."""
    connection = op.get_bind()
    op.add_column("player", sa.Column("folded", PREFIXED, nullable=True))
    op.add_column("alias", sa.Column("folded", PREFIXED, nullable=True))
    op.add_column("rank_count", sa.Column("settled", sa.Integer(), nullable=True))
    op.add_column("snapshot_day", sa.Column("settled", sa.Integer(), nullable=True))
    op.add_column("snapshot", sa.Column("settled_rank", sa.Integer(), nullable=True))
    op.add_column("event", sa.Column("title", sa.Text(), nullable=True))
    op.add_column("event", sa.Column("url", sa.Text(), nullable=True))
    op.add_column("change", sa.Column("rank", sa.Integer(), nullable=True))
    op.add_column("change", sa.Column("field", sa.Integer(), nullable=True))
    op.add_column("standing", sa.Column("provisional", sa.Boolean(), nullable=True))
    op.add_column("standing", sa.Column("deviation", sa.Double(), nullable=True))
    op.create_index(op.f("ix_player_pool_id_folded"), "player", ["pool_id", "folded"])
    op.create_index(op.f("ix_alias_pool_id_folded"), "alias", ["pool_id", "folded"])
    op.create_index(op.f("ix_log_pool_id_subject_seq"), "log", ["pool_id", "subject", "seq"])
    index_some("ix_change_unfilled", "change", ["generation_id", "started_at", "seq"], "field IS NULL")
    index_some("ix_standing_unfilled", "standing", ["generation_id", "player_id"], "provisional IS NULL")
    is_true = "provisional IS 1" if connection.dialect.name == "sqlite" else "provisional IS true"
    index_some("ix_standing_unsettled", "standing", ["generation_id", "rating", "player_id"], is_true)
    op.create_table(
        "pool_fact",
        sa.Column("pool_id", NUMBER, nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name=op.f("fk_pool_fact_pool_id")),
        sa.PrimaryKeyConstraint("pool_id", "name", name=op.f("pk_pool_fact")),
    )
    if connection.dialect.name == "sqlite":
        set_planner_statistics(connection)


def index_some(name: str, table: str, columns: list[str], condition: str) -> None:
    """Index the rows of a table that fit a condition."""
    where = sa.text(condition)
    op.create_index(op.f(name), table, columns, sqlite_where=where, postgresql_where=where)


def set_planner_statistics(connection: sa.Connection) -> None:
    """Let SQLite's planner know that few players share a folded name, and few entries of the log a subject."""
    connection.exec_driver_sql(
        "INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES "
        "('player', 'ix_player_pool_id_folded', '1000000 1000000 1'), "
        "('alias', 'ix_alias_pool_id_folded', '1000000 1000000 1'), "
        "('log', 'ix_log_pool_id_subject_seq', '1000000 1000000 1 1')"
    )
