-- Format test_decoding: its seven options, and values as the peer prints them.
\pset format unaligned
\pset tuples_only on
SELECT 'init' FROM pg_create_logical_replication_slot('regression_slot', 'cpp_output', false, true);
CREATE TABLE t (id int PRIMARY KEY, v text);
SELECT count(*) FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'format', 'test_decoding', 'skip-empty-xacts', 'on');

-- include-xids
INSERT INTO t VALUES (1, 'x');
SELECT regexp_replace(data, '\d{3,}', 'N') FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'format', 'test_decoding', 'skip-empty-xacts', 'on');
SELECT regexp_replace(data, '\d{3,}', 'N') FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'format', 'test_decoding', 'include-xids', '1', 'skip-empty-xacts', 'on');
SELECT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'format', 'test_decoding', 'include-xids', '0', 'skip-empty-xacts', 'on');
-- include-timestamp: in the session's time zone
SET TimeZone = 'Asia/Kathmandu';
SELECT regexp_replace(data, '\d\d\d\d-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?', 'TIME') FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'format', 'test_decoding', 'include-xids', 'off', 'include-timestamp', 'on', 'skip-empty-xacts', 'on');
RESET TimeZone;

-- skip-empty-xacts
CREATE TABLE u (id int);
DROP TABLE u;
SELECT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'format', 'test_decoding', 'include-xids', 'off', 'skip-empty-xacts', 'on');
SELECT DISTINCT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'format', 'test_decoding', 'include-xids', 'off', 'skip-empty-xacts', 'off') ORDER BY 1;

-- force-binary
INSERT INTO t VALUES (2, 'y');
\set SHOW_CONTEXT never
SELECT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'format', 'test_decoding', 'include-xids', 'off', 'force-binary', 'on', 'skip-empty-xacts', 'on');
SELECT convert_from(data, 'UTF8') FROM pg_logical_slot_get_binary_changes('regression_slot', NULL, NULL, 'format', 'test_decoding', 'include-xids', 'off', 'force-binary', 'on', 'skip-empty-xacts', 'on');

-- include-rewrites
ALTER TABLE t ALTER id TYPE bigint;
SELECT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'format', 'test_decoding', 'include-xids', 'off', 'skip-empty-xacts', 'on', 'include-rewrites', 'on');
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'format', 'test_decoding', 'include-xids', 'off', 'skip-empty-xacts', 'on', 'include-rewrites', 'off');

-- only-local
SELECT pg_replication_origin_create('elsewhere') IS NOT NULL;
SELECT pg_replication_origin_session_setup('elsewhere');
INSERT INTO t VALUES (3, 'elsewhere');
SELECT pg_replication_origin_session_reset();
INSERT INTO t VALUES (4, 'here');
SELECT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'format', 'test_decoding', 'include-xids', 'off', 'skip-empty-xacts', 'on');
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'format', 'test_decoding', 'include-xids', 'off', 'skip-empty-xacts', 'on', 'only-local', 'on');
SELECT pg_replication_origin_drop('elsewhere');

-- stream-changes
SET logical_decoding_work_mem = '64kB';
CREATE TABLE long (id int PRIMARY KEY, v text);
ALTER TABLE long ALTER v SET STORAGE EXTERNAL;
BEGIN;
INSERT INTO long VALUES (0, 'short');
SELECT pg_logical_emit_message(true, 'p', 'm') IS NOT NULL;
INSERT INTO long VALUES (1, repeat('x', 80000));
SAVEPOINT a;
INSERT INTO long VALUES (2, repeat('x', 80000));
RELEASE a;
TRUNCATE long;
INSERT INTO long VALUES (3, repeat('x', 80000));
COMMIT;
SELECT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'format', 'test_decoding', 'include-xids', 'off', 'skip-empty-xacts', 'on', 'stream-changes', '1');
SELECT regexp_replace(data, '\d{3,}', 'N', 'g') FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'format', 'test_decoding', 'skip-empty-xacts', 'on', 'streaming', 'on');
SELECT regexp_replace(data, 'x{100,}', '(long)') FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'format', 'test_decoding', 'include-xids', 'off', 'skip-empty-xacts', 'on');
SELECT 'dropped' FROM pg_drop_replication_slot('regression_slot');
SELECT 'init' FROM pg_create_logical_replication_slot('regression_slot', 'cpp_output', false, true);
BEGIN;
INSERT INTO long VALUES (4, repeat('x', 80000));
PREPARE TRANSACTION 'one';
COMMIT PREPARED 'one';
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'format', 'test_decoding', 'include-xids', 'off', 'skip-empty-xacts', 'on', 'stream-changes', '1');
RESET logical_decoding_work_mem;

-- values; here the session's settings count, as they do in the peer
CREATE TABLE vals (i int, f float8, n numeric, b bool, bt bit(3), t text, by bytea, d date, ts timestamp, tstz timestamptz, iv interval, u uuid, j jsonb, a int[]);
INSERT INTO vals VALUES
	(1, 0.1, 1.50, true, B'101', E'it''s \\ "x"', '\x0aff', '2026-11-29', '2026-11-29 18:11:02.5', '2026-11-29 18:11:02+00', '1 day 02:03', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{"a": 1}', '{1,NULL}'),
	(NULL, 'NaN', '-Infinity', false, NULL, '', '', 'infinity', '-infinity', '0044-03-15 12:00+00 BC', NULL, NULL, 'null', '{}');
UPDATE vals SET i = 2 WHERE i = 1;
DELETE FROM vals;
SET TimeZone = 'Europe/Berlin';
SET DateStyle = 'ISO, YMD';
SET IntervalStyle = 'postgres';
SELECT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'format', 'test_decoding', 'include-xids', 'off', 'skip-empty-xacts', 'on');
SET DateStyle = 'SQL, DMY';
SET IntervalStyle = 'iso_8601';
SET bytea_output = 'escape';
SET extra_float_digits = 0;
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'format', 'test_decoding', 'include-xids', 'off', 'skip-empty-xacts', 'on', 'actions', 'insert');
RESET TimeZone;
RESET DateStyle;
RESET IntervalStyle;
RESET bytea_output;
RESET extra_float_digits;

-- messages; where they open a transaction differs by version: seen here in one that is open
BEGIN;
INSERT INTO t VALUES (5, 'z');
SELECT pg_logical_emit_message(true, 'pre fix', 'content') IS NOT NULL;
SELECT pg_logical_emit_message(false, 'p', 'at once') IS NOT NULL;
COMMIT;
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'format', 'test_decoding', 'include-xids', 'off', 'skip-empty-xacts', 'on');

DROP TABLE t, long, vals;
SELECT pg_drop_replication_slot('regression_slot');
