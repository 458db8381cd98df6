-- Changes of the schema: each row is shown as its table was at that moment.
\pset format unaligned
\pset tuples_only on
SELECT 'init' FROM pg_create_logical_replication_slot('regression_slot', 'cpp_output');

-- columns added, dropped, renamed, retyped; in a transaction of their own and in the same one
CREATE TABLE t (id int PRIMARY KEY, v text);
INSERT INTO t VALUES (1, 'a');
ALTER TABLE t ADD c int DEFAULT 7;
INSERT INTO t VALUES (2, 'b');
UPDATE t SET v = 'c' WHERE id = 1;
ALTER TABLE t DROP v;
INSERT INTO t VALUES (3, 8);
ALTER TABLE t RENAME c TO d;
INSERT INTO t VALUES (4, 9);
ALTER TABLE t ALTER d TYPE text USING d || '!';
INSERT INTO t VALUES (5, 'text');
DELETE FROM t WHERE id = 1;
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');
BEGIN;
INSERT INTO t VALUES (6, 'before');
ALTER TABLE t ADD e numeric;
INSERT INTO t VALUES (7, 'with e', 1.50);
SAVEPOINT s;
ALTER TABLE t RENAME d TO f;
INSERT INTO t VALUES (8, 'rolled back', 0);
ROLLBACK TO s;
INSERT INTO t VALUES (8, 'as d again', 0);
ALTER TABLE t DROP d;
INSERT INTO t VALUES (9, 2);
COMMIT;
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');
-- all columns gone but the key, then none at all
ALTER TABLE t DROP e;
INSERT INTO t VALUES (10);
ALTER TABLE t DROP id;
INSERT INTO t DEFAULT VALUES;
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');
DROP TABLE t;

-- names: tables, schemas, types, labels of enums
CREATE SCHEMA one;
CREATE TYPE one.mood AS ENUM ('sad', 'ok');
CREATE TYPE one.pair AS (a int, b int);
CREATE DOMAIN one.label AS text;
CREATE TABLE one.t (id int PRIMARY KEY, m one.mood, p one.pair, l one.label);
INSERT INTO one.t VALUES (1, 'ok', (1, 2), 'x');
ALTER TABLE one.t RENAME TO u;
INSERT INTO one.u VALUES (2, 'ok', (1, 2), 'x');
ALTER SCHEMA one RENAME TO two;
INSERT INTO two.u VALUES (3, 'ok', (1, 2), 'x');
ALTER TYPE two.mood RENAME VALUE 'ok' TO 'fine';
INSERT INTO two.u VALUES (4, 'fine', (1, 2), 'x');
ALTER TYPE two.pair RENAME ATTRIBUTE b TO c CASCADE;
INSERT INTO two.u VALUES (5, 'fine', (1, 2), 'x');
ALTER TYPE two.mood RENAME TO feeling;
ALTER TYPE two.pair RENAME TO couple;
ALTER DOMAIN two.label RENAME TO tag;
INSERT INTO two.u VALUES (6, 'fine', (1, 2), 'x');
ALTER TABLE two.u SET SCHEMA public;
INSERT INTO u VALUES (7, 'fine', (1, 2), 'x');
BEGIN;
ALTER TABLE u RENAME TO v;
INSERT INTO v VALUES (8, 'fine', (1, 2), 'x');
ALTER TYPE two.feeling RENAME TO mood;
ALTER SCHEMA two RENAME TO one;
INSERT INTO v VALUES (9, 'fine', (1, 2), 'x');
COMMIT;
SELECT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');
-- the names of the types are in the description
SELECT regexp_replace(data, '"oid":\d+', '"oid":N') FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'include-transaction', 'off', 'include-relations', 'on')
WHERE data LIKE '{"op":"relation"%';
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'format', 'test_decoding', 'include-xids', 'off', 'skip-empty-xacts', 'on');
DROP TABLE v;
DROP SCHEMA one CASCADE;

-- the identity
CREATE TABLE t (a int NOT NULL, b int NOT NULL, v text);
INSERT INTO t VALUES (1, 2, 'x');
ALTER TABLE t ADD PRIMARY KEY (a);
UPDATE t SET v = 'by a';
CREATE UNIQUE INDEX t_b ON t (b);
ALTER TABLE t REPLICA IDENTITY USING INDEX t_b;
UPDATE t SET v = 'by b';
ALTER TABLE t REPLICA IDENTITY FULL;
UPDATE t SET v = 'by all';
ALTER TABLE t REPLICA IDENTITY DEFAULT;
ALTER TABLE t DROP CONSTRAINT t_pkey, ADD PRIMARY KEY (b, a);
BEGIN;
UPDATE t SET v = 'by both';
ALTER TABLE t REPLICA IDENTITY FULL;
UPDATE t SET v = 'by all again';
ALTER TABLE t REPLICA IDENTITY USING INDEX t_b;
DELETE FROM t;
COMMIT;
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');
DROP TABLE t;

-- partitions, under their own names
CREATE TABLE parts (id int, region text, v text, PRIMARY KEY (id, region)) PARTITION BY LIST (region);
CREATE TABLE parts_a PARTITION OF parts FOR VALUES IN ('a');
CREATE TABLE parts_b (v text, gone int, region text NOT NULL, id int NOT NULL);
ALTER TABLE parts_b DROP gone;
INSERT INTO parts VALUES (1, 'a', 'x');
INSERT INTO parts_b VALUES ('alone', 'b', 2);
ALTER TABLE parts ATTACH PARTITION parts_b FOR VALUES IN ('b');
INSERT INTO parts VALUES (3, 'b', 'through the parent');
UPDATE parts SET region = 'b' WHERE id = 1;
ALTER TABLE parts DETACH PARTITION parts_b;
INSERT INTO parts_b VALUES ('detached', 'b', 4);
ALTER TABLE parts RENAME TO whole;
INSERT INTO whole VALUES (5, 'a', 'parent renamed');
TRUNCATE whole;
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');
DROP TABLE whole, parts_b;

-- generated columns: stored ones are there, virtual ones (of 18) have no value
CREATE TABLE t (id int PRIMARY KEY, a int, stored bigint GENERATED ALWAYS AS (a::bigint * 2) STORED);
SELECT CASE WHEN current_setting('server_version_num')::int >= 180000
	THEN 'ALTER TABLE t ADD virtual int GENERATED ALWAYS AS (a + 1) VIRTUAL'
	ELSE 'DO ''BEGIN END''' END AS add_virtual \gset
:add_virtual;
INSERT INTO t VALUES (1, 10);
UPDATE t SET a = 11;
ALTER TABLE t REPLICA IDENTITY FULL;
UPDATE t SET a = 12;
ALTER TABLE t ALTER stored DROP EXPRESSION;
UPDATE t SET stored = 0;
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');
DROP TABLE t;

-- rewrites send nothing, unless they are asked for
CREATE TABLE t (id int PRIMARY KEY, v int);
INSERT INTO t VALUES (1, 1), (2, 2);
ALTER TABLE t ALTER v TYPE bigint;
ALTER TABLE t ADD c text DEFAULT clock_timestamp()::text;
UPDATE t SET c = 'known';
VACUUM FULL t;
CLUSTER t USING t_pkey;
ALTER TABLE t ALTER c TYPE varchar(10);
SELECT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'include-transaction', 'off', 'exclude-columns', 'public.t.c');
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'format', 'test_decoding', 'include-xids', 'off', 'skip-empty-xacts', 'on', 'include-rewrites', 'on', 'exclude-columns', 'public.t.c');
DROP TABLE t;

-- materialized views are no tables of the consumer's; nor are temporary and unlogged ones, and sequences
CREATE TABLE t (id int PRIMARY KEY, v int);
INSERT INTO t VALUES (1, 1), (2, 1);
CREATE MATERIALIZED VIEW m AS SELECT v, count(*) AS n FROM t GROUP BY v;
CREATE UNIQUE INDEX ON m (v);
INSERT INTO t VALUES (3, 1), (4, 2);
REFRESH MATERIALIZED VIEW CONCURRENTLY m;
REFRESH MATERIALIZED VIEW m;
CREATE TEMP TABLE temporary (id int PRIMARY KEY);
INSERT INTO temporary VALUES (1);
CREATE UNLOGGED TABLE unlogged (id int PRIMARY KEY);
INSERT INTO unlogged VALUES (1);
CREATE SEQUENCE s;
SELECT nextval('s');
CREATE TABLE copied AS SELECT * FROM t;
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');
DROP MATERIALIZED VIEW m;
DROP TABLE t, temporary, unlogged, copied;
DROP SEQUENCE s;

-- a table made, filled and dropped in one transaction
BEGIN;
CREATE TABLE t (id int PRIMARY KEY);
INSERT INTO t VALUES (1);
DROP TABLE t;
CREATE TABLE t (v text PRIMARY KEY);
INSERT INTO t VALUES ('another one');
COMMIT;
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');
DROP TABLE t;
SELECT pg_drop_replication_slot('regression_slot');
