"""Add strengths with hindsight, which take all later results into account."""

from alembic import op

from podium.log.database import run_script

revision, down_revision = "0017", "0016"

TABLE = """
CREATE TABLE hindsight (
    pool_id {number} NOT NULL, player_id {number} NOT NULL, curve {bytes} NOT NULL,
    CONSTRAINT pk_hindsight PRIMARY KEY (pool_id, player_id),
    CONSTRAINT fk_hindsight_pool_id FOREIGN KEY (pool_id) REFERENCES pool (id) ON DELETE CASCADE
)
"""


def upgrade() -> None:
    """Create the table. A version that does not know it works without it."""
    run_script(op.get_bind(), TABLE)
