"""The states of pools, for systems that learn from a pool: a row an event that is rated."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the table, empty: no system of an earlier version has such a state."""
    op.create_table(
        "pool_state",
        sa.Column("generation_id", NUMBER, nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("seq", NUMBER, nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("generation_id", "started_at", "seq", name=op.f("pk_pool_state")),
        sqlite_with_rowid=False,
    )
