-- Prepared transactions, on a slot with two-phase decoding and on one without.
\pset format unaligned
\pset tuples_only on
SELECT 'init' FROM pg_create_logical_replication_slot('regression_slot', 'cpp_output', false, true);
SELECT 'init' FROM pg_create_logical_replication_slot('regression_slot_plain', 'cpp_output');
CREATE FUNCTION masked(data text) RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT regexp_replace(data, '"(xid|lsn|end_lsn|prepare_end_lsn|ts|prepare_ts)":("[^"]*"|\d+)', '"\1":N', 'g') $$;
CREATE TABLE t (id int PRIMARY KEY, v text);
-- the two-phase slot is enabled for transactions prepared from here on
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL);

-- prepared, then committed
BEGIN;
INSERT INTO t VALUES (1, 'x');
SAVEPOINT a;
INSERT INTO t VALUES (2, 'rolled back');
ROLLBACK TO a;
SELECT pg_logical_emit_message(true, 'p', 'm') IS NOT NULL;
PREPARE TRANSACTION 'it''s "one"';
SELECT masked(data) FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL);
SELECT masked(data) FROM pg_logical_slot_get_changes('regression_slot_plain', NULL, NULL);
COMMIT PREPARED 'it''s "one"';
SELECT masked(data) FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL);
SELECT masked(data) FROM pg_logical_slot_get_changes('regression_slot_plain', NULL, NULL);

-- prepared, then rolled back
BEGIN;
INSERT INTO t VALUES (3, 'never');
PREPARE TRANSACTION 'two';
SELECT masked(data) FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL);
ROLLBACK PREPARED 'two';
SELECT masked(data) FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL);
SELECT masked(data) FROM pg_logical_slot_get_changes('regression_slot_plain', NULL, NULL);

-- begin and prepare say what commit_prepared is about: they are not left out
BEGIN;
INSERT INTO t VALUES (3, 'x');
PREPARE TRANSACTION 'three';
COMMIT PREPARED 'three';
SELECT masked(data) FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');
-- an empty one too: its COMMIT PREPARED comes, and has to find it
SELECT masked(data) FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'exclude-tables', '*.*');
-- facts of the transaction are in its changes
SELECT masked(data) FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-xids', 'on', 'include-lsn', 'on', 'include-timestamp', 'on');
SELECT masked(data) FROM pg_logical_slot_get_changes('regression_slot_plain', NULL, NULL, 'include-transaction', 'off');

-- the option, against what the slot says
BEGIN;
INSERT INTO t VALUES (4, 'x');
PREPARE TRANSACTION 'four';
SELECT masked(data) FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'two-phase', 'off');
COMMIT PREPARED 'four';
SELECT masked(data) FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'two-phase', 'off');
SELECT masked(data) FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'two-phase', 'on');
SELECT masked(data) FROM pg_logical_slot_get_changes('regression_slot_plain', NULL, NULL, 'two-phase', 'off');
-- on: also where the slot was made without it
BEGIN;
INSERT INTO t VALUES (5, 'x');
PREPARE TRANSACTION 'five';
SELECT masked(data) FROM pg_logical_slot_peek_changes('regression_slot_plain', NULL, NULL, 'two-phase', 'on');
-- from then on the slot is one
SELECT two_phase FROM pg_replication_slots WHERE slot_name = 'regression_slot_plain';
COMMIT PREPARED 'five';
SELECT masked(data) FROM pg_logical_slot_get_changes('regression_slot_plain', NULL, NULL);
SELECT masked(data) FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');

-- DDL in a prepared transaction
BEGIN;
ALTER TABLE t ADD c int;
INSERT INTO t VALUES (6, 'x', 1);
PREPARE TRANSACTION 'six';
SELECT masked(data) FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL);
COMMIT PREPARED 'six';
INSERT INTO t VALUES (7, 'x', 1);
SELECT masked(data) FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL);
SELECT count(*) FROM pg_logical_slot_get_changes('regression_slot_plain', NULL, NULL);

-- large ones: the same whether they were streamed, spilled or neither
SET logical_decoding_work_mem = '64kB';
BEGIN;
INSERT INTO t SELECT i, repeat('v', 100), 0 FROM generate_series(100, 1500) i;
PREPARE TRANSACTION 'large';
BEGIN;
INSERT INTO t SELECT i, repeat('w', 100), 0 FROM generate_series(2000, 3500) i;
PREPARE TRANSACTION 'large too';
COMMIT PREPARED 'large too';
COMMIT PREPARED 'large';
CREATE TEMP TABLE off AS SELECT n, lsn, xid::text, data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'streaming', 'off') WITH ORDINALITY s(lsn, xid, data, n);
CREATE TEMP TABLE reorder AS SELECT n, lsn, xid::text, data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'streaming', 'reorder', 'reorder-work-mem', '64kB') WITH ORDINALITY s(lsn, xid, data, n);
SELECT count(*) FROM off;
SELECT count(*) FROM (TABLE off EXCEPT TABLE reorder) difference;
SELECT count(*) FROM (TABLE reorder EXCEPT TABLE off) difference;
SELECT masked(data) FROM off WHERE data !~ '^{"op":"insert"' ORDER BY n;
RESET logical_decoding_work_mem;

-- the peer's format: gids with _nodecode wait for COMMIT PREPARED
SELECT count(*) > 0 FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL);
BEGIN;
INSERT INTO t VALUES (8, 'x', 1);
PREPARE TRANSACTION 'eight';
BEGIN;
INSERT INTO t VALUES (9, 'x', 1);
PREPARE TRANSACTION 'nine_nodecode';
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'format', 'test_decoding', 'include-xids', 'off', 'skip-empty-xacts', 'on');
COMMIT PREPARED 'nine_nodecode';
ROLLBACK PREPARED 'eight';
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'format', 'test_decoding', 'include-xids', 'off', 'skip-empty-xacts', 'on');

DROP TABLE t;
DROP FUNCTION masked;
SELECT pg_drop_replication_slot('regression_slot'), pg_drop_replication_slot('regression_slot_plain');
