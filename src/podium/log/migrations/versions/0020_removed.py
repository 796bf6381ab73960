"""Add hashes of the names and IDs that were removed when a player was anonymized."""

from alembic import op

from podium.log.database import run_script

revision, down_revision = "0020", "0019"

TABLE = """
CREATE TABLE removed (
    pool_id {number} NOT NULL, hash VARCHAR(32) NOT NULL, player_id {number}, public_id TEXT,
    CONSTRAINT pk_removed PRIMARY KEY (pool_id, hash),
    CONSTRAINT fk_removed_pool_id FOREIGN KEY (pool_id) REFERENCES pool (id)
);
UPDATE compatibility SET earliest = '0020'
"""


def upgrade() -> None:
    """Create the table. A version that does not know the table would bring back removed names."""
    run_script(op.get_bind(), TABLE)
