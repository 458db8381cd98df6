-- TRUNCATE
\pset format unaligned
\pset tuples_only on
SELECT 'init' FROM pg_create_logical_replication_slot('regression_slot', 'cpp_output');
CREATE TABLE parent (id serial PRIMARY KEY, v text);
CREATE TABLE child (id int PRIMARY KEY, parent int REFERENCES parent);
CREATE TABLE alone (v text);
CREATE TABLE parts (id int) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (10);
INSERT INTO parts VALUES (1);
TRUNCATE alone;
TRUNCATE parent, child, alone;
TRUNCATE parent RESTART IDENTITY CASCADE;
TRUNCATE ONLY alone RESTART IDENTITY;
TRUNCATE parts;
BEGIN;
INSERT INTO alone VALUES ('before');
TRUNCATE alone;
INSERT INTO alone VALUES ('after');
SAVEPOINT s;
TRUNCATE alone;
ROLLBACK TO s;
COMMIT;
SELECT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');
-- filtered tables are left out, and so is what has none left
SELECT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'include-transaction', 'off', 'exclude-tables', '*.alone');
SELECT data::jsonb ->> 'op' FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'tables', 'public.parent');
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'format', 'test_decoding', 'include-xids', 'off', 'skip-empty-xacts', 'on');
DROP TABLE parent, child, alone, parts;
SELECT pg_drop_replication_slot('regression_slot');
