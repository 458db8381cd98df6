-- What identifies the old row, and what is said where nothing does.
\pset format unaligned
\pset tuples_only on
SELECT 'init' FROM pg_create_logical_replication_slot('regression_slot', 'cpp_output');

-- default: the primary key, in the order of the columns
CREATE TABLE by_key (v text, b int, a int, PRIMARY KEY (a, b));
INSERT INTO by_key VALUES ('one', 1, 10);
UPDATE by_key SET v = 'two';
UPDATE by_key SET a = 11, v = NULL;
UPDATE by_key SET b = 2;
DELETE FROM by_key;
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');

-- an index
CREATE TABLE by_index (id int PRIMARY KEY, a int NOT NULL, b text NOT NULL, v text);
CREATE UNIQUE INDEX by_index_key ON by_index (b, a);
ALTER TABLE by_index REPLICA IDENTITY USING INDEX by_index_key;
INSERT INTO by_index VALUES (1, 2, 'x', 'v');
UPDATE by_index SET v = 'w';
UPDATE by_index SET id = 2;
UPDATE by_index SET b = 'y';
DELETE FROM by_index;
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');

-- full
CREATE TABLE whole (id int PRIMARY KEY, v text, n int);
ALTER TABLE whole REPLICA IDENTITY FULL;
CREATE TABLE whole_keyless (a int, v text);
ALTER TABLE whole_keyless REPLICA IDENTITY FULL;
INSERT INTO whole VALUES (1, 'x', NULL);
UPDATE whole SET v = 'y';
UPDATE whole SET id = 2, n = 0;
DELETE FROM whole;
INSERT INTO whole_keyless VALUES (NULL, NULL), (1, 'x');
UPDATE whole_keyless SET v = 'y';
DELETE FROM whole_keyless;
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');

-- nothing, or no key: the change comes all the same, with one WARNING for each table
CREATE TABLE nothing (id int PRIMARY KEY, v text);
ALTER TABLE nothing REPLICA IDENTITY NOTHING;
CREATE TABLE keyless (a int, v text);
INSERT INTO nothing VALUES (1, 'x'), (2, 'y');
UPDATE nothing SET v = 'z';
DELETE FROM nothing;
INSERT INTO keyless VALUES (1, 'x'), (2, 'y');
UPDATE keyless SET v = 'z';
DELETE FROM keyless;
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');

-- none for INSERTs, nor for what is filtered
INSERT INTO keyless VALUES (1, 'x');
SELECT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');
DELETE FROM keyless;
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off', 'actions', 'insert');

-- an index that is gone leaves nothing
DROP INDEX by_index_key;
INSERT INTO by_index VALUES (1, 2, 'x', 'v');
UPDATE by_index SET v = 'w';
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');

-- excluded columns are left out of keys and old rows too
INSERT INTO by_key VALUES ('one', 1, 10);
UPDATE by_key SET a = 11;
INSERT INTO whole VALUES (1, 'x', NULL);
DELETE FROM whole;
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off', 'exclude-columns', 'public.by_key.a, public.whole.v');

-- what relations say of it
TRUNCATE by_key, by_index, whole, keyless;
INSERT INTO by_key VALUES ('one', 1, 10);
INSERT INTO by_index VALUES (1, 2, 'x', 'v');
INSERT INTO whole VALUES (1, 'x', NULL);
INSERT INTO nothing VALUES (1, 'x');
SELECT regexp_replace(data, '"oid":\d+', '"oid":N')
FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off', 'include-relations', 'on', 'actions', 'insert');
DROP TABLE by_key, by_index, whole, whole_keyless, nothing, keyless;
SELECT pg_drop_replication_slot('regression_slot');
