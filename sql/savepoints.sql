-- Subtransactions: only what was committed, in the order in which it was done.
\pset format unaligned
\pset tuples_only on
SELECT 'init' FROM pg_create_logical_replication_slot('regression_slot', 'cpp_output');
CREATE TABLE t (id int PRIMARY KEY, v text);

BEGIN;
INSERT INTO t VALUES (1, 'top');
SAVEPOINT a;
INSERT INTO t VALUES (2, 'a');
SAVEPOINT b;
INSERT INTO t VALUES (3, 'a.b');
RELEASE b;
INSERT INTO t VALUES (4, 'a after b');
SAVEPOINT c;
INSERT INTO t VALUES (5, 'a.c, rolled back');
SAVEPOINT d;
INSERT INTO t VALUES (6, 'a.c.d, rolled back with c');
RELEASE d;
ROLLBACK TO c;
INSERT INTO t VALUES (7, 'a.c again');
RELEASE a;
INSERT INTO t VALUES (8, 'top again');
COMMIT;
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');

-- no change in the top-level transaction itself
BEGIN;
SAVEPOINT a;
INSERT INTO t VALUES (9, 'a');
RELEASE a;
COMMIT;
-- all of it rolled back
BEGIN;
SAVEPOINT a;
INSERT INTO t VALUES (10, 'a');
ROLLBACK TO a;
COMMIT;
BEGIN;
INSERT INTO t VALUES (10, 'top');
SAVEPOINT a;
INSERT INTO t VALUES (11, 'a');
RELEASE a;
ROLLBACK;
-- errors and exception blocks
BEGIN;
INSERT INTO t VALUES (10, 'before the error');
SAVEPOINT a;
INSERT INTO t VALUES (11, 'with the error'), (11, 'duplicate');
ROLLBACK TO a;
INSERT INTO t VALUES (12, 'after the error');
COMMIT;
DO $$
BEGIN
	FOR i IN 1..4 LOOP
		BEGIN
			INSERT INTO t VALUES (100 + i, 'in a block');
			IF i % 2 = 0 THEN
				RAISE EXCEPTION 'no';
			END IF;
		EXCEPTION WHEN raise_exception THEN
			INSERT INTO t VALUES (200 + i, 'in its handler');
		END;
	END LOOP;
END
$$;
SELECT regexp_replace(data, '"(xid|lsn|end_lsn|ts)":("[^"]*"|\d+)', '"\1":N', 'g') FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL);
-- all of a transaction has its xid
SELECT count(DISTINCT data::jsonb -> 'xid') AS xids, count(*) FILTER (WHERE data::jsonb ->> 'op' = 'begin') AS transactions
FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-xids', 'on');

-- many
DO $$
BEGIN
	FOR i IN 1001..1500 LOOP
		BEGIN
			INSERT INTO t VALUES (i, 'many');
			IF i % 3 = 0 THEN
				RAISE EXCEPTION 'no';
			END IF;
		EXCEPTION WHEN raise_exception THEN
		END;
	END LOOP;
END
$$;
SELECT count(*), (SELECT count(*) FROM t WHERE v = 'many') AS in_table, sum((data::jsonb #>> '{new,id}')::int), (SELECT sum(id) FROM t WHERE v = 'many') AS in_table
FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');

DROP TABLE t;
SELECT pg_drop_replication_slot('regression_slot');
