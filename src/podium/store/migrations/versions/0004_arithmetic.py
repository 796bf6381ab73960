"""The revision of the arithmetic that each pool was rated with; this rates nothing again."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Give every existing pool the first revision."""
    op.add_column("pool", sa.Column("arithmetic", sa.Integer(), nullable=False, server_default=sa.text("1")))
