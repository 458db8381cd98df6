-- streaming=on: transactions in progress in pieces, in objects of their own.
--
-- A row of more than logical_decoding_work_mem ends a piece; the long column
-- itself is left out. What was rolled back is not shown here: whether it had
-- been sent before depends on the version. Each part has a slot of its own: the server may stream
-- what the slot before has confirmed once more, and then abort it.
SET logical_decoding_work_mem = '64kB';
\pset format unaligned
\pset tuples_only on
SELECT 'init' FROM pg_create_logical_replication_slot('regression_slot', 'cpp_output', false, true);
CREATE FUNCTION masked(data text) RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT regexp_replace(data, '"(xid|lsn|end_lsn|prepare_end_lsn|ts|prepare_ts)":("[^"]*"|\d+)', '"\1":N', 'g') $$;
CREATE TABLE t (id int PRIMARY KEY, v text, long text);
ALTER TABLE t ALTER long SET STORAGE EXTERNAL;

-- small transactions are complete ones
INSERT INTO t VALUES (1, 'small');
SELECT masked(data) FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'streaming', 'on');

-- a large one, with every kind of object
BEGIN;
INSERT INTO t VALUES (2, 'first', repeat('x', 80000));
UPDATE t SET v = 'changed', long = repeat('y', 80000) WHERE id = 1;
DELETE FROM t WHERE id = 1;
SELECT pg_logical_emit_message(true, 'p', 'm') IS NOT NULL;
TRUNCATE t;
INSERT INTO t VALUES (3, 'second', repeat('x', 80000));
COMMIT;
SELECT masked(data) FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'streaming', 'on', 'exclude-columns', '*.*.long');
-- nothing but stream objects, all of one transaction
SELECT count(DISTINCT data::jsonb ->> 'xid') FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'streaming', 'on');
-- with the other facts; the time of COMMIT is not known in a stream
SELECT masked(data) FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'streaming', 'on', 'exclude-columns', '*.*.long',
	'include-lsn', 'on', 'include-timestamp', 'on', 'include-xids', 'on', 'include-transaction', 'off');

-- subtransactions: a change has the xid of the one that made it
SELECT 'dropped' FROM pg_drop_replication_slot('regression_slot');
SELECT 'init' FROM pg_create_logical_replication_slot('regression_slot', 'cpp_output', false, true);
BEGIN;
INSERT INTO t VALUES (4, 'top', repeat('x', 80000));
SAVEPOINT a;
INSERT INTO t VALUES (5, 'a', repeat('x', 80000));
SAVEPOINT b;
INSERT INTO t VALUES (6, 'a.b', repeat('x', 80000));
RELEASE a;
INSERT INTO t VALUES (7, 'top again', repeat('x', 80000));
COMMIT;
CREATE TEMP TABLE streamed AS
SELECT n, data::jsonb AS data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'streaming', 'on', 'exclude-columns', '*.*.long') WITH ORDINALITY s(lsn, xid, data, n);
-- xids counted from the top-level transaction's
SELECT data - 'xid' - 'lsn' - 'end_lsn' - 'ts' - 'schema' AS object,
	(data ->> 'xid')::bigint - top AS xid
FROM streamed, (SELECT min((data ->> 'xid')::bigint) AS top FROM streamed) first ORDER BY n;
DROP TABLE streamed;

-- prepared
SELECT 'dropped' FROM pg_drop_replication_slot('regression_slot');
SELECT 'init' FROM pg_create_logical_replication_slot('regression_slot', 'cpp_output', false, true);
BEGIN;
INSERT INTO t VALUES (9, 'prepared', repeat('x', 80000));
PREPARE TRANSACTION 'one';
SELECT masked(data) FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'streaming', 'on', 'exclude-columns', '*.*.long');
COMMIT PREPARED 'one';
SELECT masked(data) FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'streaming', 'on', 'exclude-columns', '*.*.long');
SELECT 'dropped' FROM pg_drop_replication_slot('regression_slot');
SELECT 'init' FROM pg_create_logical_replication_slot('regression_slot', 'cpp_output', false, true);
BEGIN;
INSERT INTO t VALUES (10, 'prepared', repeat('x', 80000));
PREPARE TRANSACTION 'two';
SELECT masked(data) FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'streaming', 'on', 'exclude-columns', '*.*.long');
ROLLBACK PREPARED 'two';
SELECT masked(data) FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'streaming', 'on', 'exclude-columns', '*.*.long');

-- an empty one: its COMMIT PREPARED comes, and has to find it
SELECT 'dropped' FROM pg_drop_replication_slot('regression_slot');
SELECT 'init' FROM pg_create_logical_replication_slot('regression_slot', 'cpp_output', false, true);
BEGIN;
INSERT INTO t VALUES (10, 'prepared', repeat('x', 80000));
PREPARE TRANSACTION 'three';
SELECT masked(data) FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'streaming', 'on', 'exclude-tables', '*.*');
COMMIT PREPARED 'three';
SELECT masked(data) FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'streaming', 'on', 'exclude-tables', '*.*');

-- descriptions of relations, anew where DDL changed them
SELECT 'dropped' FROM pg_drop_replication_slot('regression_slot');
SELECT 'init' FROM pg_create_logical_replication_slot('regression_slot', 'cpp_output', false, true);
BEGIN;
INSERT INTO t VALUES (11, 'described', repeat('x', 80000));
INSERT INTO t VALUES (16, 'known by now', repeat('x', 80000));
ALTER TABLE t ADD c int;
INSERT INTO t VALUES (12, 'described again', repeat('x', 80000), 1);
COMMIT;
SELECT data::jsonb ->> 'op' AS op, data::jsonb #>> '{new,v}' AS v, jsonb_array_length(data::jsonb -> 'columns') AS columns
FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'streaming', 'on', 'exclude-columns', '*.*.long', 'include-relations', 'on');

-- a filtered transaction opens no stream
SELECT 'dropped' FROM pg_drop_replication_slot('regression_slot');
SELECT 'init' FROM pg_create_logical_replication_slot('regression_slot', 'cpp_output', false, true);
INSERT INTO t VALUES (13, 'filtered', repeat('x', 80000));
SELECT masked(data) FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'streaming', 'on', 'exclude-tables', '*.*');
-- a block in which nothing passes neither
SELECT 'dropped' FROM pg_drop_replication_slot('regression_slot');
SELECT 'init' FROM pg_create_logical_replication_slot('regression_slot', 'cpp_output', false, true);
CREATE TABLE other (id int PRIMARY KEY, long text);
ALTER TABLE other ALTER long SET STORAGE EXTERNAL;
BEGIN;
INSERT INTO t VALUES (14, 'passes', repeat('x', 80000));
INSERT INTO other VALUES (1, repeat('x', 80000));
INSERT INTO other VALUES (2, repeat('x', 80000));
INSERT INTO t VALUES (15, 'passes', repeat('x', 80000));
COMMIT;
SELECT masked(data) FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'streaming', 'on', 'exclude-tables', '*.other', 'exclude-columns', '*.*.long');
-- what is marked as the first block is the first that is sent
SELECT 'dropped' FROM pg_drop_replication_slot('regression_slot');
SELECT 'init' FROM pg_create_logical_replication_slot('regression_slot', 'cpp_output', false, true);
BEGIN;
INSERT INTO other VALUES (3, repeat('x', 80000));
INSERT INTO other VALUES (4, repeat('x', 80000));
INSERT INTO t VALUES (17, 'passes', repeat('x', 80000));
INSERT INTO t VALUES (18, 'passes', repeat('x', 80000));
COMMIT;
SELECT data::jsonb ->> 'op' AS op, data::jsonb ->> 'first' AS first, data::jsonb #>> '{new,id}' AS id
FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'streaming', 'on', 'exclude-tables', '*.other');

-- the server's own counters
SELECT pg_stat_force_next_flush();
SELECT stream_txns > 0 AS streamed, stream_count > stream_txns AS in_pieces FROM pg_stat_replication_slots WHERE slot_name = 'regression_slot';

DROP TABLE t, other;
DROP FUNCTION masked;
SELECT pg_drop_replication_slot('regression_slot');
