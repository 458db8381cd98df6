-- Values that are not in the WAL because they did not change.
\pset format unaligned
\pset tuples_only on
SELECT 'init' FROM pg_create_logical_replication_slot('regression_slot', 'cpp_output');
-- long values are shown by their length
CREATE FUNCTION shortened(data text) RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT regexp_replace(data, '(a{50,}|b{50,})', '(long)', 'g') $$;

CREATE TABLE documents (id int PRIMARY KEY, small text, big text, blob bytea, list text[]);
ALTER TABLE documents ALTER big SET STORAGE EXTERNAL, ALTER blob SET STORAGE EXTERNAL, ALTER list SET STORAGE EXTERNAL;
INSERT INTO documents VALUES (1, 's', repeat('a', 5000), NULL, ARRAY[repeat('b', 5000), 'x']);
INSERT INTO documents VALUES (2, 's', repeat('a', 100), decode(repeat('00', 3000), 'hex'), '{}');
-- inserted values are all there
SELECT data::jsonb #>> '{new,big}' = repeat('a', 5000) AS big, data::jsonb #>> '{new,list,0}' = repeat('b', 5000) AS list
FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'include-transaction', 'off') LIMIT 1;
SELECT shortened(data) FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'include-transaction', 'off', 'bytea', 'hex', 'exclude-columns', '*.*.blob');
SELECT length(data::jsonb #>> '{new,blob}') FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off', 'bytea', 'hex');

-- unchanged ones are named; a NULL or a short value is not TOASTed
UPDATE documents SET small = 't';
SELECT shortened(data) FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');
-- changed ones are there, one of two
UPDATE documents SET big = big || 'a' WHERE id = 1;
SELECT shortened(data) FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');
-- an excluded column is not named either
UPDATE documents SET small = 'u' WHERE id = 1;
SELECT shortened(data) FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off', 'exclude-columns', 'public.documents.big');
-- the key is there, changed or not
UPDATE documents SET id = 3 WHERE id = 1;
SELECT shortened(data) FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');
DELETE FROM documents;
SELECT shortened(data) FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');

-- with the whole old row nothing is missing
CREATE TABLE whole (id int PRIMARY KEY, small text, big text, big2 text);
ALTER TABLE whole REPLICA IDENTITY FULL;
ALTER TABLE whole ALTER big SET STORAGE EXTERNAL, ALTER big2 SET STORAGE EXTERNAL;
INSERT INTO whole VALUES (1, 's', repeat('a', 5000), repeat('b', 5000));
UPDATE whole SET small = 't';
UPDATE whole SET big = 'short';
UPDATE whole SET big2 = NULL;
DELETE FROM whole;
SELECT shortened(data) FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');

-- a key that is long itself
CREATE TABLE long_key (k text PRIMARY KEY, v text);
ALTER TABLE long_key ALTER k SET STORAGE EXTERNAL, ALTER v SET STORAGE EXTERNAL;
INSERT INTO long_key VALUES (repeat('a', 2500), repeat('b', 2500));
UPDATE long_key SET v = 'v';
UPDATE long_key SET v = 'w';
UPDATE long_key SET k = repeat('a', 2400);
DELETE FROM long_key;
SELECT shortened(data) FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');

-- compressed in the row
CREATE TABLE compressed (id int PRIMARY KEY, v text, n int);
INSERT INTO compressed VALUES (1, repeat('a', 10000), 1);
UPDATE compressed SET n = 2;
SELECT shortened(data), data::jsonb #>> '{new,v}' = repeat('a', 10000)
FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');

-- rows of one transaction, with a rolled back one between
BEGIN;
INSERT INTO documents VALUES (1, 'first', repeat('a', 4000), NULL, NULL);
SAVEPOINT s;
INSERT INTO documents VALUES (2, 'second', repeat('b', 4000), NULL, NULL);
ROLLBACK TO s;
INSERT INTO documents VALUES (3, 'third', repeat('b', 4000), NULL, NULL);
COMMIT;
SELECT shortened(data) FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');

-- the same in format test_decoding
UPDATE documents SET small = 't' WHERE id = 1;
SELECT shortened(data) FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'format', 'test_decoding', 'include-xids', 'off', 'skip-empty-xacts', 'on');

DROP TABLE documents, whole, long_key, compressed;
DROP FUNCTION shortened;
SELECT pg_drop_replication_slot('regression_slot');
