"""Add personal links of players, and the results that players report with them."""

from alembic import op

from podium.log.database import run_script

revision, down_revision = "0027", "0026"

TABLES = """
CREATE TABLE player_link (
    pool_id {number} NOT NULL, player_id {number} NOT NULL, nonce VARCHAR(32) NOT NULL, seasons INTEGER NOT NULL,
    expires_at BIGINT,
    CONSTRAINT pk_player_link PRIMARY KEY (pool_id, player_id),
    CONSTRAINT fk_player_link_pool_id FOREIGN KEY (pool_id) REFERENCES pool (id)
);
CREATE TABLE report (
    pool_id {number} NOT NULL, report_id TEXT NOT NULL, reported_at BIGINT NOT NULL,
    status VARCHAR(16) NOT NULL, actor TEXT NOT NULL, body TEXT NOT NULL,
    CONSTRAINT pk_report PRIMARY KEY (pool_id, report_id),
    CONSTRAINT fk_report_pool_id FOREIGN KEY (pool_id) REFERENCES pool (id)
);
ALTER TABLE pool ADD COLUMN reports TEXT DEFAULT '' NOT NULL;
UPDATE compatibility SET earliest = '0027'
"""


def upgrade() -> None:
    """Create the tables and the column. A version without them would forget the rules of a pool."""
    run_script(op.get_bind(), TABLES)
