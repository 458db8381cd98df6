-- Transactions that are left with nothing to say send nothing at all.
\pset format unaligned
\pset tuples_only on
SELECT 'init' FROM pg_create_logical_replication_slot('regression_slot', 'cpp_output');
CREATE TABLE t (id int PRIMARY KEY, v text);
CREATE TABLE u (id int PRIMARY KEY);
BEGIN;
CREATE TABLE made_and_dropped (id int);
DROP TABLE made_and_dropped;
COMMIT;
CREATE TEMP TABLE temporary (id int);
INSERT INTO temporary VALUES (1);
ANALYZE t;
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL);

-- no matter what filter emptied them
INSERT INTO t VALUES (1);
SELECT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'exclude-tables', '*.t');
SELECT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'tables', '*.u');
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'actions', 'delete');
SELECT pg_logical_emit_message(true, 'p', 'm') IS NOT NULL;
SELECT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'messages', 'off');
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'message-prefixes', 'q');
TRUNCATE t, u;
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'exclude-tables', '*.*');

-- one change that passes brings its begin and commit with it
BEGIN;
INSERT INTO t VALUES (2);
INSERT INTO u VALUES (2);
INSERT INTO t VALUES (3);
COMMIT;
INSERT INTO t VALUES (4);
SELECT regexp_replace(data, '"(xid|lsn|end_lsn|ts)":("[^"]*"|\d+)', '"\1":N', 'g') FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'tables', 'public.u');

-- all the same when they were streamed and spilled
SET logical_decoding_work_mem = '64kB';
INSERT INTO t SELECT i, repeat('v', 100) FROM generate_series(100, 2000) i;
SELECT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'streaming', 'reorder', 'reorder-work-mem', '64kB', 'tables', 'public.u');
SELECT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'streaming', 'on', 'tables', 'public.u');
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'streaming', 'off', 'tables', 'public.u');
RESET logical_decoding_work_mem;

-- the slot moves on nevertheless
SELECT confirmed_flush_lsn AS before FROM pg_replication_slots WHERE slot_name = 'regression_slot' \gset
INSERT INTO t VALUES (5);
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'tables', 'public.u');
SELECT confirmed_flush_lsn > :'before' FROM pg_replication_slots WHERE slot_name = 'regression_slot';

-- the peer's format has its own option for it
INSERT INTO t VALUES (6);
SELECT DISTINCT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'format', 'test_decoding', 'include-xids', 'off', 'tables', 'public.u', 'skip-empty-xacts', 'off') ORDER BY 1;
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'format', 'test_decoding', 'include-xids', 'off', 'tables', 'public.u', 'skip-empty-xacts', 'on');

DROP TABLE t, u;
SELECT pg_drop_replication_slot('regression_slot');
