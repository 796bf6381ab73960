"""Count reports in the transaction that decides them. Accepted reports no longer wait to be counted."""

from alembic import op

from podium.log.database import run_script

revision, down_revision = "0028", "0027"

STATEMENTS = """
UPDATE report SET status = 'disputed' WHERE status = 'accepted';
ALTER TABLE report DROP COLUMN actor;
UPDATE compatibility SET earliest = '0028'
"""


def upgrade() -> None:
    """Drop the column. The organiser decides again on reports that were accepted but not counted yet."""
    run_script(op.get_bind(), STATEMENTS)
