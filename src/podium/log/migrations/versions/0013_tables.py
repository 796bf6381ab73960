"""Create the tables of the first release. They never change, whatever podium.log.schema declares today."""

from alembic import op

from podium.log.database import run_script

revision, down_revision = "0013", None

TABLES = """
CREATE TABLE pool (
    id {counted} NOT NULL, name TEXT NOT NULL, system VARCHAR(64) NOT NULL, parameters TEXT NOT NULL,
    arithmetic INTEGER DEFAULT 1 NOT NULL, secret {bytes}, closed BOOLEAN DEFAULT {false} NOT NULL,
    generation_id {number} DEFAULT 0 NOT NULL, staging_id {number}, title TEXT DEFAULT '' NOT NULL,
    contact TEXT DEFAULT '' NOT NULL, player_word TEXT DEFAULT '' NOT NULL, is_public BOOLEAN DEFAULT {false} NOT NULL,
    CONSTRAINT pk_pool PRIMARY KEY (id), CONSTRAINT uq_pool_name UNIQUE (name)
);
CREATE TABLE player (
    pool_id {number} NOT NULL, id {number} NOT NULL, name TEXT NOT NULL, lookalike TEXT, folded {prefixed},
    CONSTRAINT pk_player PRIMARY KEY (pool_id, id), CONSTRAINT uq_player_pool_id_name UNIQUE (pool_id, name),
    CONSTRAINT fk_player_pool_id FOREIGN KEY (pool_id) REFERENCES pool (id)
){by_key};
CREATE INDEX ix_player_pool_id_lookalike ON player (pool_id, lookalike);
CREATE INDEX ix_player_pool_id_folded ON player (pool_id, folded);
CREATE TABLE alias (
    pool_id {number} NOT NULL, name TEXT NOT NULL, player_id {number} NOT NULL, folded {prefixed},
    CONSTRAINT pk_alias PRIMARY KEY (pool_id, name),
    CONSTRAINT fk_alias_pool_id_player_id FOREIGN KEY (pool_id, player_id) REFERENCES player (pool_id, id)
);
CREATE INDEX ix_alias_pool_id_player_id ON alias (pool_id, player_id);
CREATE INDEX ix_alias_pool_id_folded ON alias (pool_id, folded);
CREATE TABLE log (
    seq {log_number}, pool_id {number} NOT NULL, kind VARCHAR(16) NOT NULL, subject TEXT NOT NULL,
    body {bytes} NOT NULL, digest {bytes} NOT NULL, match_id TEXT, present INTEGER, received_at VARCHAR(32) NOT NULL,
    actor TEXT NOT NULL, place BIGINT, hash {bytes}, reason_hash {bytes},
    CONSTRAINT fk_log_pool_id FOREIGN KEY (pool_id) REFERENCES pool (id)
);
CREATE INDEX ix_log_pool_id_seq ON log (pool_id, seq);
CREATE INDEX ix_log_pool_id_subject_seq ON log (pool_id, subject, seq);
CREATE UNIQUE INDEX ix_log_pool_id_place ON log (pool_id, place);
CREATE TABLE reason (
    pool_id {number} NOT NULL, seq {number} NOT NULL, salt {bytes} NOT NULL, text TEXT NOT NULL,
    CONSTRAINT pk_reason PRIMARY KEY (pool_id, seq),
    CONSTRAINT fk_reason_pool_id FOREIGN KEY (pool_id) REFERENCES pool (id)
);
CREATE TABLE api_key (
    id {counted} NOT NULL, name TEXT NOT NULL, digest {bytes} NOT NULL, role VARCHAR(8) NOT NULL, pool TEXT,
    created_at VARCHAR(32) NOT NULL, revoked_at VARCHAR(32), per_second {double}, reach_s {double},
    revoked BOOLEAN DEFAULT {false} NOT NULL, expires_at VARCHAR(32), last_used_at VARCHAR(32),
    CONSTRAINT pk_api_key PRIMARY KEY (id), CONSTRAINT uq_api_key_digest UNIQUE (digest)
);
CREATE TABLE signing_secret (
    id INTEGER NOT NULL, secret {bytes} NOT NULL, created_at VARCHAR(32) NOT NULL,
    CONSTRAINT pk_signing_secret PRIMARY KEY (id)
);
CREATE TABLE webhook (
    id {counted} NOT NULL, pool_id {number} NOT NULL, url TEXT NOT NULL, secret TEXT NOT NULL,
    created_at VARCHAR(32) NOT NULL, delivered_seq {number} NOT NULL, failing_since VARCHAR(32),
    last_error TEXT DEFAULT '' NOT NULL, stopped BOOLEAN DEFAULT {false} NOT NULL,
    private BOOLEAN DEFAULT {false} NOT NULL, under_way_since VARCHAR(32), CONSTRAINT pk_webhook PRIMARY KEY (id),
    CONSTRAINT fk_webhook_pool_id FOREIGN KEY (pool_id) REFERENCES pool (id) ON DELETE CASCADE
);
CREATE TABLE event (
    pool_id {number} NOT NULL, event_id TEXT NOT NULL, seq {number} NOT NULL, content_seq {number} NOT NULL,
    started_at BIGINT NOT NULL, status VARCHAR(16) NOT NULL, reason VARCHAR(64) NOT NULL, match_id TEXT,
    present INTEGER, title TEXT, url TEXT, CONSTRAINT pk_event PRIMARY KEY (pool_id, event_id),
    CONSTRAINT fk_event_pool_id FOREIGN KEY (pool_id) REFERENCES pool (id)
);
CREATE INDEX ix_event_pool_id_started_at_seq ON event (pool_id, started_at, seq);
CREATE INDEX ix_event_pool_id_match_id ON event (pool_id, match_id);
CREATE TABLE merged (
    pool_id {number} NOT NULL, player_id {number} NOT NULL, into_id {number} NOT NULL,
    CONSTRAINT pk_merged PRIMARY KEY (pool_id, player_id),
    CONSTRAINT fk_merged_pool_id_player_id FOREIGN KEY (pool_id, player_id) REFERENCES player (pool_id, id),
    CONSTRAINT fk_merged_pool_id_into_id FOREIGN KEY (pool_id, into_id) REFERENCES player (pool_id, id)
);
CREATE TABLE registration (
    pool_id {number} NOT NULL, match_id TEXT NOT NULL, seq {number} NOT NULL, expires_at BIGINT NOT NULL,
    CONSTRAINT pk_registration PRIMARY KEY (pool_id, match_id),
    CONSTRAINT fk_registration_pool_id FOREIGN KEY (pool_id) REFERENCES pool (id)
);
CREATE TABLE season (
    pool_id {number} NOT NULL, name TEXT NOT NULL, seq {number} NOT NULL, started_at BIGINT NOT NULL,
    keep {double} NOT NULL, CONSTRAINT pk_season PRIMARY KEY (pool_id, name),
    CONSTRAINT fk_season_pool_id FOREIGN KEY (pool_id) REFERENCES pool (id)
);
CREATE TABLE generation (
    id {generation_number}, pool_id {number} NOT NULL, active_at BIGINT, touched_at BIGINT, touched_seq {number},
    CONSTRAINT fk_generation_pool_id FOREIGN KEY (pool_id) REFERENCES pool (id)
);
CREATE INDEX ix_generation_pool_id ON generation (pool_id);
CREATE TABLE staged_status (
    generation_id {number} NOT NULL, started_at BIGINT NOT NULL, seq {number} NOT NULL, status VARCHAR(16) NOT NULL,
    reason VARCHAR(64) NOT NULL, CONSTRAINT pk_staged_status PRIMARY KEY (generation_id, started_at, seq)
){by_key};
CREATE TABLE change (
    generation_id {number} NOT NULL, started_at BIGINT NOT NULL, seq {number} NOT NULL, player_id {number} NOT NULL,
    place INTEGER NOT NULL, rating_before {double} NOT NULL, rating {double} NOT NULL, state {bytes} NOT NULL,
    rank INTEGER, field INTEGER, CONSTRAINT pk_change PRIMARY KEY (generation_id, started_at, seq, player_id)
){by_key};
CREATE INDEX ix_change_generation_id_player_id_started_at_seq ON change (generation_id, player_id, started_at, seq);
CREATE INDEX ix_change_unfilled ON change (generation_id, started_at, seq) WHERE field IS NULL;
CREATE TABLE pool_state (
    generation_id {number} NOT NULL, started_at BIGINT NOT NULL, seq {number} NOT NULL, state {bytes} NOT NULL,
    CONSTRAINT pk_pool_state PRIMARY KEY (generation_id, started_at, seq)
){by_key};
CREATE TABLE standing (
    generation_id {number} NOT NULL, player_id {number} NOT NULL, rating {double} NOT NULL, events INTEGER NOT NULL,
    started_at BIGINT NOT NULL, seq {number} NOT NULL, played_at BIGINT NOT NULL, state {bytes} NOT NULL,
    provisional BOOLEAN, deviation {double}, CONSTRAINT pk_standing PRIMARY KEY (generation_id, player_id)
){by_key};
CREATE INDEX ix_standing_generation_id_rating_player_id ON standing (generation_id, rating, player_id);
CREATE INDEX ix_standing_unfilled ON standing (generation_id, player_id) WHERE provisional IS NULL;
CREATE INDEX ix_standing_unsettled ON standing (generation_id, rating, player_id) WHERE provisional {is_true};
CREATE TABLE rank_count (
    generation_id {number} NOT NULL, per_point INTEGER NOT NULL, bucket BIGINT NOT NULL, players INTEGER NOT NULL,
    settled INTEGER, CONSTRAINT pk_rank_count PRIMARY KEY (generation_id, per_point, bucket)
){by_key};
CREATE TABLE pool_fact (
    pool_id {number} NOT NULL, name VARCHAR(64) NOT NULL, day INTEGER NOT NULL, body TEXT NOT NULL,
    CONSTRAINT pk_pool_fact PRIMARY KEY (pool_id, name),
    CONSTRAINT fk_pool_fact_pool_id FOREIGN KEY (pool_id) REFERENCES pool (id)
);
CREATE TABLE snapshot_day (
    pool_id {number} NOT NULL, day INTEGER NOT NULL, stale BOOLEAN NOT NULL, settled INTEGER,
    CONSTRAINT pk_snapshot_day PRIMARY KEY (pool_id, day),
    CONSTRAINT fk_snapshot_day_pool_id FOREIGN KEY (pool_id) REFERENCES pool (id)
);
CREATE TABLE snapshot (
    pool_id {number} NOT NULL, day INTEGER NOT NULL, player_id {number} NOT NULL, rank INTEGER NOT NULL,
    rating {double} NOT NULL, settled_rank INTEGER, CONSTRAINT pk_snapshot PRIMARY KEY (pool_id, day, player_id),
    CONSTRAINT fk_snapshot_pool_id_player_id FOREIGN KEY (pool_id, player_id) REFERENCES player (pool_id, id)
){by_key};
CREATE INDEX ix_snapshot_pool_id_player_id_day ON snapshot (pool_id, player_id, day);
CREATE TABLE correction (
    pool_id {number} NOT NULL, seq {number} NOT NULL, events INTEGER NOT NULL, players INTEGER NOT NULL,
    largest {double} NOT NULL, CONSTRAINT pk_correction PRIMARY KEY (pool_id, seq),
    CONSTRAINT fk_correction_pool_id FOREIGN KEY (pool_id) REFERENCES pool (id)
);
CREATE {unlogged}TABLE request_budget (
    owner VARCHAR(128) NOT NULL, counted_at {double} NOT NULL, requests {double} NOT NULL, granted INTEGER NOT NULL,
    CONSTRAINT pk_request_budget PRIMARY KEY (owner)
);
CREATE TABLE compatibility (
    id {small_counted} NOT NULL, earliest VARCHAR(32) NOT NULL, CONSTRAINT pk_compatibility PRIMARY KEY (id)
);
INSERT INTO compatibility (id, earliest) VALUES (1, '0013')
"""

# Statistics of a large ledger in which players have different names. Without them, SQLite assumes that one player has
# half of all changes, and searches for a name among all players of the pool.
STATISTICS = """
ANALYZE;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('change', 'change', '8000000 8000000 8 8 1'),
    ('change', 'ix_change_generation_id_player_id_started_at_seq', '8000000 8000000 400 1 1'),
    ('player', 'player', '1000000 1000000 1'),
    ('player', 'sqlite_autoindex_player_2', '1000000 1000000 1'),
    ('player', 'ix_player_pool_id_lookalike', '1000000 1000000 1'),
    ('player', 'ix_player_pool_id_folded', '1000000 1000000 1'),
    ('alias', 'ix_alias_pool_id_folded', '1000000 1000000 1'),
    ('log', 'ix_log_pool_id_subject_seq', '1000000 1000000 1 1')
"""


def upgrade() -> None:
    """Create the tables. Request budgets need not survive a crash, so PostgreSQL does not log them."""
    connection = op.get_bind()
    run_script(connection, f"{TABLES};{STATISTICS}" if connection.dialect.name == "sqlite" else TABLES)
