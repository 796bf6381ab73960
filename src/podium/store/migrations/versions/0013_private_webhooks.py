"""Which webhooks may be of private addresses, and since when a delivery is under way."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns."""
    op.add_column("webhook", sa.Column("private", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("webhook", sa.Column("under_way_since", sa.String(length=32), nullable=True))
