"""Add the displays of pools: the scale of shown scores, and tiers."""

from alembic import op

revision, down_revision = "0026", "0025"


def upgrade() -> None:
    """Add the column."""
    connection = op.get_bind()
    connection.exec_driver_sql("ALTER TABLE pool ADD COLUMN display TEXT DEFAULT '' NOT NULL")
    connection.exec_driver_sql("UPDATE compatibility SET earliest = '0026'")
