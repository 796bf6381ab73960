BEGIN TRANSACTION;
CREATE TABLE "v1_harbour_results" (time TIMESTAMP NOT NULL, venue TEXT NOT NULL, reverse TEXT NOT NULL, mode TEXT NOT NULL, visible INTEGER DEFAULT 1, username TEXT NOT NULL, result REAL NOT NULL, handicap INTEGER DEFAULT -1, online_id INTEGER DEFAULT -1, is_not_full INTEGER DEFAULT 0, game_duration REAL DEFAULT -1, when_joined REAL DEFAULT -1, when_left REAL DEFAULT -1, game_event INTEGER DEFAULT 0);
INSERT INTO "v1_harbour_results" VALUES('2026-03-01 20:04:11','volcano_island','normal','time-trial',1,'noor',92.125,0,71,0,93.75,0.0,93.75,0);
INSERT INTO "v1_harbour_results" VALUES('2026-03-01 20:04:11','volcano_island','normal','time-trial',1,'pavel',93.75,0,71,0,93.75,0.0,93.75,0);
INSERT INTO "v1_harbour_results" VALUES('2026-03-01 20:04:11','volcano_island','normal','time-trial',1,'quin',41.5,0,0,1,93.75,0.0,41.5,0);
INSERT INTO "v1_harbour_results" VALUES('2026-03-01 20:09:02','hacienda','normal','time-trial',1,'pavel',118.25,0,71,0,121.375,0.0,121.375,0);
INSERT INTO "v1_harbour_results" VALUES('2026-03-01 20:09:02','hacienda','normal','time-trial',1,'noor',119.0,0,71,0,121.375,0.0,121.375,0);
INSERT INTO "v1_harbour_results" VALUES('2026-03-01 20:09:02','hacienda','normal','time-trial',1,'quin',121.375,0,0,0,121.375,0.0,121.375,0);
COMMIT;
