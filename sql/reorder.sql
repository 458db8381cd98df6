-- streaming=reorder gives what streaming=off gives, LSNs and xids included.
SET logical_decoding_work_mem = '64kB';
\pset format unaligned
\pset tuples_only on
SELECT 'init' FROM pg_create_logical_replication_slot('regression_slot', 'cpp_output');
CREATE TABLE t (id int PRIMARY KEY, v text, n numeric, tags text[]);
CREATE TABLE long (id int PRIMARY KEY, v text);
ALTER TABLE long ALTER v SET STORAGE EXTERNAL;
CREATE TABLE whole (id int, v text);
CREATE TYPE pair AS (a int, b text);
CREATE TYPE level AS ENUM ('low', 'high');
CREATE TABLE typed (id int PRIMARY KEY, p pair, l level);
ALTER TABLE whole REPLICA IDENTITY FULL;

-- whether something is sent, and how many rows of it differ between the two;
-- how many there are depends on what other sessions do
CREATE FUNCTION compare(VARIADIC options text[] DEFAULT '{}') RETURNS TABLE (sent boolean, different bigint) LANGUAGE sql AS $$
	WITH off AS MATERIALIZED (SELECT * FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL,
		VARIADIC ARRAY['streaming', 'off'] || options) WITH ORDINALITY s(lsn, xid, data, n)),
	reorder AS MATERIALIZED (SELECT * FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL,
		VARIADIC ARRAY['streaming', 'reorder'] || options) WITH ORDINALITY s(lsn, xid, data, n))
	SELECT count(*) > 1, count(*) FILTER (WHERE (off.lsn, off.xid::text, off.data) IS DISTINCT FROM (reorder.lsn, reorder.xid::text, reorder.data))
	FROM off FULL JOIN reorder USING (n)
$$;

-- plain rows
INSERT INTO t SELECT i, repeat('v', i % 50), i / 8.0, ARRAY[i::text, NULL] FROM generate_series(1, 3000) i;
UPDATE t SET v = v || '!', id = -id WHERE id % 3 = 0;
DELETE FROM t WHERE id % 5 = 0;
-- savepoints, released and rolled back, small and large, across pieces
BEGIN;
INSERT INTO t SELECT i, 'top' FROM generate_series(10001, 10800) i;
SAVEPOINT a;
INSERT INTO t SELECT i, 'a, rolled back' FROM generate_series(20001, 21000) i;
SAVEPOINT b;
INSERT INTO t SELECT i, 'b, rolled back' FROM generate_series(30001, 31000) i;
RELEASE b;
ROLLBACK TO a;
INSERT INTO t SELECT i, 'a' FROM generate_series(20001, 20800) i;
SAVEPOINT c;
INSERT INTO t VALUES (40000, 'c');
SELECT pg_logical_emit_message(true, 'p', 'in c') IS NOT NULL;
RELEASE a;
INSERT INTO t SELECT i, 'top' FROM generate_series(50001, 50800) i;
COMMIT;
DO $$
BEGIN
	FOR i IN 60001..60200 LOOP
		BEGIN
			INSERT INTO t VALUES (i, 'a block of its own');
			IF i % 2 = 0 THEN
				RAISE EXCEPTION 'no';
			END IF;
		EXCEPTION WHEN raise_exception THEN
		END;
	END LOOP;
END
$$;
-- ON CONFLICT: the row is decoded at the confirmation of its insertion, behind
-- the message of its index's function, but has the earlier LSN
CREATE FUNCTION telling(n int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS
	'BEGIN PERFORM pg_logical_emit_message(true, ''index'', n::text); RETURN n; END';
CREATE TABLE speculative (id int PRIMARY KEY, n int);
CREATE UNIQUE INDEX ON speculative (telling(n));
INSERT INTO speculative SELECT i, i FROM generate_series(1, 1000) i ON CONFLICT DO NOTHING;
-- rolled back as a whole
BEGIN;
INSERT INTO t SELECT i, 'never' FROM generate_series(70001, 72000) i;
ROLLBACK;
-- TOAST, full identity, no identity, messages, TRUNCATE, DDL
BEGIN;
INSERT INTO long SELECT i, repeat(i::text, 3000) FROM generate_series(1, 40) i;
UPDATE long SET id = id + 100 WHERE id % 2 = 0;
INSERT INTO whole SELECT i, 'x' FROM generate_series(1, 1000) i;
UPDATE whole SET v = 'y';
SELECT pg_logical_emit_message(true, 'p', repeat('m', 100000)) IS NOT NULL;
SELECT pg_logical_emit_message(false, 'p', 'at once') IS NOT NULL;
ALTER TABLE t ADD c int DEFAULT 7, DROP n;
INSERT INTO t (id, v) SELECT i, 'with c' FROM generate_series(80001, 81000) i;
TRUNCATE long, whole;
ALTER TABLE t RENAME TO renamed;
INSERT INTO renamed (id, v) SELECT i, 'renamed' FROM generate_series(90001, 91000) i;
COMMIT;
INSERT INTO renamed (id, v) VALUES (0, 'small');
-- types that change between the rows
BEGIN;
INSERT INTO typed SELECT i, ROW(i, 'before')::pair, 'low' FROM generate_series(1, 1000) i;
ALTER TYPE pair ADD ATTRIBUTE c int;
ALTER TYPE level RENAME VALUE 'low' TO 'lower';
INSERT INTO typed SELECT i, ROW(i, 'after', i)::pair, 'lower' FROM generate_series(1001, 2000) i;
SAVEPOINT a;
ALTER TYPE level RENAME VALUE 'lower' TO 'lowest';
ALTER TYPE pair DROP ATTRIBUTE b;
INSERT INTO typed SELECT i, ROW(i, i)::pair, 'lowest' FROM generate_series(2001, 3000) i;
ROLLBACK TO a;
INSERT INTO typed SELECT i, ROW(i, 'restored', i)::pair, 'lower' FROM generate_series(2001, 3000) i;
COMMIT;

SELECT * FROM compare();
SELECT * FROM compare('reorder-work-mem', '64kB');
SELECT * FROM compare('reorder-work-mem', '64kB', 'spill-compression', 'off');
SELECT * FROM compare('reorder-work-mem', '128kB', 'include-xids', 'on', 'include-lsn', 'on', 'include-timestamp', 'on', 'include-origin', 'on');
SELECT * FROM compare('reorder-work-mem', '64kB', 'include-relations', 'on');
SELECT * FROM compare('reorder-work-mem', '64kB', 'include-transaction', 'off', 'tables', '*.whole');
SELECT * FROM compare('reorder-work-mem', '64kB', 'format', 'test_decoding', 'include-timestamp', 'on');
SELECT * FROM compare('reorder-work-mem', '64kB', 'format', 'test_decoding', 'skip-empty-xacts', 'on');
SELECT * FROM compare('reorder-work-mem', '64kB', 'format', 'wal2json', 'include-timestamp', 'on', 'include-xids', 'on', 'include-lsn', 'on');
SELECT * FROM compare('reorder-work-mem', '64kB', 'format', 'wal2json', 'format-version', '2', 'include-timestamp', 'on', 'include-xids', 'on', 'include-lsn', 'on');

-- positions went back
SELECT count(*) >= 1000 FROM (SELECT lsn < lag(lsn) OVER (ORDER BY n) FROM pg_logical_slot_peek_changes(
	'regression_slot', NULL, NULL, 'tables', 'public.speculative', 'message-prefixes', 'index', 'include-transaction', 'off')
	WITH ORDINALITY s(lsn, xid, data, n)) s(went_back) WHERE went_back;
-- the server streamed
SELECT count(*) > 0 FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'streaming', 'reorder', 'reorder-work-mem', '64kB');
SELECT pg_stat_force_next_flush();
SELECT stream_txns > 0 AS streamed FROM pg_stat_replication_slots WHERE slot_name = 'regression_slot';
-- no file is left
SELECT count(*) FROM pg_ls_tmpdir();

DROP TABLE renamed, long, whole, typed, speculative;
DROP TYPE pair, level;
DROP FUNCTION telling;
DROP FUNCTION compare;
SELECT pg_drop_replication_slot('regression_slot');
