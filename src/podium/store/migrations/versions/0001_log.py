"""The log, and what derives from it."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "pool",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("system", sa.String(length=64), nullable=False),
        sa.Column("parameters", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pool")),
        sa.UniqueConstraint("name", name=op.f("uq_pool_name")),
    )
    op.create_table(
        "event",
        sa.Column("pool_id", NUMBER, nullable=False),
        sa.Column("event_id", sa.Text(), nullable=False),
        sa.Column("seq", NUMBER, nullable=False),
        sa.Column("content_seq", NUMBER, nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("reason", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name=op.f("fk_event_pool_id")),
        sa.PrimaryKeyConstraint("pool_id", "event_id", name=op.f("pk_event")),
    )
    op.create_index(op.f("ix_event_pool_id_started_at_seq"), "event", ["pool_id", "started_at", "seq"], unique=False)
    op.create_table(
        "log",
        sa.Column("seq", NUMBER, nullable=False),
        sa.Column("pool_id", NUMBER, nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("received_at", sa.String(length=32), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name=op.f("fk_log_pool_id")),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_log")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_log_pool_id_subject_seq"), "log", ["pool_id", "subject", "seq"], unique=False)
    op.create_table(
        "player",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("pool_id", NUMBER, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name=op.f("fk_player_pool_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_player")),
        sa.UniqueConstraint("pool_id", "name", name=op.f("uq_player_pool_id_name")),
    )
    op.create_table(
        "rank_count",
        sa.Column("pool_id", NUMBER, nullable=False),
        sa.Column("bucket", sa.BigInteger(), nullable=False),
        sa.Column("players", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name=op.f("fk_rank_count_pool_id")),
        sa.PrimaryKeyConstraint("pool_id", "bucket", name=op.f("pk_rank_count")),
    )
    op.create_table(
        "change",
        sa.Column("pool_id", NUMBER, nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("seq", NUMBER, nullable=False),
        sa.Column("player_id", NUMBER, nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("rating_before", sa.Double(), nullable=False),
        sa.Column("rating", sa.Double(), nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["player_id"], ["player.id"], name=op.f("fk_change_player_id")),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name=op.f("fk_change_pool_id")),
        sa.PrimaryKeyConstraint("pool_id", "started_at", "seq", "player_id", name=op.f("pk_change")),
    )
    op.create_index(
        op.f("ix_change_pool_id_player_id_started_at_seq"),
        "change",
        ["pool_id", "player_id", "started_at", "seq"],
        unique=False,
    )
    op.create_table(
        "standing",
        sa.Column("pool_id", NUMBER, nullable=False),
        sa.Column("player_id", NUMBER, nullable=False),
        sa.Column("rating", sa.Double(), nullable=False),
        sa.Column("events", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("seq", NUMBER, nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["player_id"], ["player.id"], name=op.f("fk_standing_player_id")),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name=op.f("fk_standing_pool_id")),
        sa.PrimaryKeyConstraint("pool_id", "player_id", name=op.f("pk_standing")),
    )
    op.create_index(
        op.f("ix_standing_pool_id_rating_player_id"), "standing", ["pool_id", "rating", "player_id"], unique=False
    )
