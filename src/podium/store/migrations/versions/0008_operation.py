"""Keys that expire, are revoked for good and were last used at a time; webhooks."""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make of each time of revocation the fact, where it is past, or the key's expiry; add the table of webhooks."""
    op.add_column("api_key", sa.Column("revoked", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("api_key", sa.Column("expires_at", sa.String(length=32), nullable=True))
    op.add_column("api_key", sa.Column("last_used_at", sa.String(length=32), nullable=True))
    now = {"now": datetime.now(UTC).isoformat(timespec="seconds")}
    connection = op.get_bind()
    connection.execute(
        sa.text("UPDATE api_key SET revoked = :yes WHERE revoked_at <= :now").bindparams(yes=True, **now)
    )
    connection.execute(
        sa.text("UPDATE api_key SET expires_at = revoked_at, revoked_at = NULL WHERE revoked_at > :now"), now
    )
    op.create_table(
        "webhook",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("pool_id", NUMBER, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("created_at", sa.String(length=32), nullable=False),
        sa.Column("delivered_seq", NUMBER, nullable=False),
        sa.Column("failing_since", sa.String(length=32), nullable=True),
        sa.Column("last_error", sa.Text(), nullable=False, server_default=""),
        sa.Column("stopped", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.ForeignKeyConstraint(["pool_id"], ["pool.id"], name=op.f("fk_webhook_pool_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook")),
    )
