-- pg_logical_emit_message()
\pset format unaligned
\pset tuples_only on
SELECT 'init' FROM pg_create_logical_replication_slot('regression_slot', 'cpp_output');
CREATE TABLE t (id int PRIMARY KEY);

SELECT pg_logical_emit_message(true, 'p', 'transactional') IS NOT NULL;
SELECT pg_logical_emit_message(false, 'p', 'not transactional') IS NOT NULL;
SELECT pg_logical_emit_message(true, 'quotes " and \', E'two\nlines, "quoted", é') IS NOT NULL;
SELECT pg_logical_emit_message(true, '', '') IS NOT NULL;
-- bytes: text where they are text, whichever function was called
SELECT pg_logical_emit_message(true, 'p', '\x74657874'::bytea) IS NOT NULL;
SELECT pg_logical_emit_message(true, 'p', '\x00ff'::bytea) IS NOT NULL;
SELECT pg_logical_emit_message(true, 'p', '\x610062'::bytea) IS NOT NULL;
SELECT pg_logical_emit_message(false, 'p', '\xc3'::bytea) IS NOT NULL;
-- a commit, so that what is not transactional is on disk
INSERT INTO t VALUES (0);
SELECT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');
SELECT data::jsonb ->> 'op' AS op, count(*) FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL) GROUP BY 1 ORDER BY 1;

-- in their place; one that is not transactional comes at once, and stays after a rollback
BEGIN;
INSERT INTO t VALUES (1);
SELECT pg_logical_emit_message(true, 'p', 'between') IS NOT NULL;
SELECT pg_logical_emit_message(false, 'p', 'at once') IS NOT NULL;
INSERT INTO t VALUES (2);
COMMIT;
BEGIN;
INSERT INTO t VALUES (3);
SAVEPOINT s;
SELECT pg_logical_emit_message(true, 'p', 'rolled back with its savepoint') IS NOT NULL;
ROLLBACK TO s;
SELECT pg_logical_emit_message(true, 'p', 'rolled back') IS NOT NULL;
SELECT pg_logical_emit_message(false, 'p', 'stays') IS NOT NULL;
ROLLBACK;
INSERT INTO t VALUES (4);
SELECT regexp_replace(data, '"(xid|lsn|end_lsn|ts)":("[^"]*"|\d+)', '"\1":N', 'g') FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL);

-- facts of the transaction, for those that have one
BEGIN;
SELECT pg_logical_emit_message(false, 'p', 'on its own') IS NOT NULL;
SELECT pg_logical_emit_message(true, 'p', 'in a transaction') IS NOT NULL;
COMMIT;
SELECT regexp_replace(data, '"(xid|lsn|end_lsn|ts)":("[^"]*"|\d+)', '"\1":N', 'g')
FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-xids', 'on', 'include-lsn', 'on', 'include-timestamp', 'on', 'include-origin', 'on');

-- large ones
SELECT pg_logical_emit_message(true, 'p', repeat('x', 1000000)) IS NOT NULL;
SELECT pg_logical_emit_message(true, 'p', decode(repeat('ff', 1000000), 'hex')) IS NOT NULL;
SELECT length(data), length(data::jsonb ->> 'content'), length(decode(data::jsonb ->> 'content_base64', 'base64'))
FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');

DROP TABLE t;
SELECT pg_drop_replication_slot('regression_slot');
