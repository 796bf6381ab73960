"""Store titles next to the log, and digests of each pool's ledger instead of the ledger.

Add caches, which can be deleted at any time.
"""

from alembic import op

from podium.log.database import run_script

revision, down_revision = "0021", "0020"

TABLES = """
CREATE TABLE IF NOT EXISTS title (
    pool_id {number} NOT NULL, seq {number} NOT NULL, salt {bytes} NOT NULL, text {bytes} NOT NULL, at INTEGER NOT NULL,
    CONSTRAINT pk_title PRIMARY KEY (pool_id, seq),
    CONSTRAINT fk_title_pool_id FOREIGN KEY (pool_id) REFERENCES pool (id)
);
CREATE TABLE witness (
    pool_id {number} NOT NULL, part INTEGER NOT NULL, digest {bytes} NOT NULL,
    CONSTRAINT pk_witness PRIMARY KEY (pool_id, part),
    CONSTRAINT fk_witness_pool_id FOREIGN KEY (pool_id) REFERENCES pool (id)
);
CREATE TABLE kept (
    pool_id {number} NOT NULL, name VARCHAR(16) NOT NULL, part {number} NOT NULL, stamp TEXT NOT NULL,
    body {bytes} NOT NULL,
    CONSTRAINT pk_kept PRIMARY KEY (pool_id, name, part),
    CONSTRAINT fk_kept_pool_id FOREIGN KEY (pool_id) REFERENCES pool (id)
);
UPDATE compatibility SET earliest = '0021'
"""


def upgrade() -> None:
    """Create the tables. An earlier version would find no titles, and would read a ledger that is no longer written."""
    run_script(op.get_bind(), TABLES)
