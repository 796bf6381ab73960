"""Add the points schemes of pools. Earlier versions cannot read awards in results."""

from alembic import op

revision, down_revision = "0025", "0024"


def upgrade() -> None:
    """Add the column."""
    connection = op.get_bind()
    connection.exec_driver_sql("ALTER TABLE pool ADD COLUMN points_scheme TEXT DEFAULT '' NOT NULL")
    connection.exec_driver_sql("UPDATE compatibility SET earliest = '0025'")
