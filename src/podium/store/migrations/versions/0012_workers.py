"""What several processes share that serve one database: budgets of requests, and which versions may go on with it."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the tables; budgets need outlive no crash, so that PostgreSQL does not log them."""
    op.create_table(
        "request_budget",
        sa.Column("owner", sa.String(length=128), nullable=False),
        sa.Column("counted_at", sa.Double(), nullable=False),
        sa.Column("requests", sa.Double(), nullable=False),
        sa.Column("granted", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("owner", name=op.f("pk_request_budget")),
    )
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER TABLE request_budget SET UNLOGGED")
    compatibility = op.create_table(
        "compatibility",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("earliest", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_compatibility")),
    )
    op.bulk_insert(compatibility, [{"id": 1, "earliest": revision}])
