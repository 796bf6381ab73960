"""Add equipment that entrants share, in its own table. Former names and merges can belong to players or equipment."""

from alembic import op

from podium.log.database import run_script

revision, down_revision = "0016", "0015"

THINGS = """
CREATE TABLE thing (
    pool_id {number} NOT NULL, id {number} NOT NULL, name TEXT NOT NULL, CONSTRAINT pk_thing PRIMARY KEY (pool_id, id),
    CONSTRAINT uq_thing_pool_id_name UNIQUE (pool_id, name),
    CONSTRAINT fk_thing_pool_id FOREIGN KEY (pool_id) REFERENCES pool (id)
){by_key};
UPDATE compatibility SET earliest = '0016'
"""
OTHER_KEYS = {
    "postgresql": """;
ALTER TABLE alias DROP CONSTRAINT fk_alias_pool_id_player_id;
ALTER TABLE alias ADD CONSTRAINT fk_alias_pool_id FOREIGN KEY (pool_id) REFERENCES pool (id);
ALTER TABLE merged DROP CONSTRAINT fk_merged_pool_id_player_id, DROP CONSTRAINT fk_merged_pool_id_into_id;
ALTER TABLE merged ADD CONSTRAINT fk_merged_pool_id FOREIGN KEY (pool_id) REFERENCES pool (id)
""",
    "sqlite": """;
CREATE TABLE new_alias (
    pool_id INTEGER NOT NULL, name TEXT NOT NULL, player_id INTEGER NOT NULL, folded TEXT,
    CONSTRAINT pk_alias PRIMARY KEY (pool_id, name),
    CONSTRAINT fk_alias_pool_id FOREIGN KEY (pool_id) REFERENCES pool (id)
);
INSERT INTO new_alias SELECT pool_id, name, player_id, folded FROM alias;
DROP TABLE alias;
ALTER TABLE new_alias RENAME TO alias;
CREATE INDEX ix_alias_pool_id_player_id ON alias (pool_id, player_id);
CREATE INDEX ix_alias_pool_id_folded ON alias (pool_id, folded);
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('alias', 'ix_alias_pool_id_folded', '1000000 1000000 1');
CREATE TABLE new_merged (
    pool_id INTEGER NOT NULL, player_id INTEGER NOT NULL, into_id INTEGER NOT NULL,
    CONSTRAINT pk_merged PRIMARY KEY (pool_id, player_id),
    CONSTRAINT fk_merged_pool_id FOREIGN KEY (pool_id) REFERENCES pool (id)
);
INSERT INTO new_merged SELECT pool_id, player_id, into_id FROM merged;
DROP TABLE merged;
ALTER TABLE new_merged RENAME TO merged
""",
}


def upgrade() -> None:
    """Create the table.

    A version without the table would rate without the equipment, and would not know its numbers.
    """
    connection = op.get_bind()
    run_script(connection, THINGS + OTHER_KEYS[connection.dialect.name])
