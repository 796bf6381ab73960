"""Add the time zones of pools."""

from alembic import op

revision, down_revision = "0024", "0023"


def upgrade() -> None:
    """Add the column. An empty string means UTC."""
    op.get_bind().exec_driver_sql("ALTER TABLE pool ADD COLUMN time_zone TEXT DEFAULT '' NOT NULL")
