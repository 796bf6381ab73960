"""Add files that wait for answers to questions about their meaning."""

from alembic import op

from podium.log.database import run_script

revision, down_revision = "0018", "0017"

TABLE = """
CREATE TABLE waiting (
    id VARCHAR(32) NOT NULL, session {bytes} NOT NULL, name TEXT NOT NULL, content {bytes} NOT NULL,
    expires_at BIGINT NOT NULL, CONSTRAINT pk_waiting PRIMARY KEY (id)
)
"""


def upgrade() -> None:
    """Create the table. A version that does not know it never lets a file wait."""
    run_script(op.get_bind(), TABLE)
