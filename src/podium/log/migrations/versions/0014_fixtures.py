"""Add upcoming races, and the current places in races under way."""

from alembic import op

from podium.log.database import run_script

revision, down_revision = "0014", "0013"

TABLES = """
CREATE TABLE fixture (
    pool_id {number} NOT NULL, fixture_id TEXT NOT NULL, seq {number} NOT NULL, starts_at BIGINT NOT NULL, title TEXT,
    is_cancelled BOOLEAN NOT NULL, CONSTRAINT pk_fixture PRIMARY KEY (pool_id, fixture_id),
    CONSTRAINT fk_fixture_pool_id FOREIGN KEY (pool_id) REFERENCES pool (id)
);
CREATE INDEX ix_fixture_pool_id_starts_at ON fixture (pool_id, starts_at);
CREATE TABLE running (
    pool_id {number} NOT NULL, race_id TEXT NOT NULL, posted_at BIGINT NOT NULL, body TEXT NOT NULL,
    CONSTRAINT pk_running PRIMARY KEY (pool_id, race_id),
    CONSTRAINT fk_running_pool_id FOREIGN KEY (pool_id) REFERENCES pool (id)
);
UPDATE compatibility SET earliest = '0014'
"""


def upgrade() -> None:
    """Create the tables. A version without them would keep fixtures in the log, but could not read their data."""
    run_script(op.get_bind(), TABLES)
