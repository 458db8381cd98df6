-- The options: what there is, both spellings, and what is said of bad ones.
SET client_min_messages = warning; -- another test may have made it
CREATE EXTENSION IF NOT EXISTS cpp_output;
RESET client_min_messages;
\pset format unaligned
\pset tuples_only on
\set SHOW_CONTEXT never
SELECT 'init' FROM pg_create_logical_replication_slot('regression_slot', 'cpp_output');
CREATE FUNCTION try(VARIADIC options text[]) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, VARIADIC options)
$$;

-- the table; the default of spill-compression depends on the build
SELECT name, formats, type, CASE WHEN name <> 'spill-compression' THEN default_value END AS default_value, allowed
FROM cpp_output_options() WHERE formats <> 'wal2json';
SELECT count(*) AS undescribed FROM cpp_output_options() WHERE coalesce(description, '') !~ '\.$';
SELECT array_agg(name ORDER BY n) = array_agg(name ORDER BY name COLLATE "C", n) AS sorted
FROM cpp_output_options() WITH ORDINALITY o(name, formats, type, default_value, allowed, description, n);

CREATE TABLE t (id int PRIMARY KEY, n numeric, b bytea);
INSERT INTO t VALUES (1, 1.50, '\x00ff');

-- both spellings
SELECT try('include-transaction', 'off', 'numbers-as-string', 'wide');
SELECT try('include_transaction', 'off', 'numbers_as_string', 'wide');
SELECT try('include_transaction', 'off', 'numbers_as-string', 'all', 'bytea', 'hex');
-- the words for booleans are the server's
SELECT try('include-transaction', 'FALSE');
SELECT try('include-transaction', '0');
SELECT try('include-transaction', 'n');
-- the last one counts
SELECT try('include-transaction', 'off', 'bytea', 'hex', 'bytea', 'base64');

-- unknown
SELECT try('nonsense', '1');
SELECT try('include-xid', '1');
SELECT try('exclude_table', 'public.t');
SELECT try('only-local', '1');
SELECT try('format', 'test_decoding', 'numbers-as-string', 'all');
SELECT try('Include-Xids', '1');
SELECT try('', '');
SELECT try(repeat('x', 300), repeat('y', 300));

-- known, with a bad value
SELECT try('format', 'avro');
SELECT try('format', 'JSON');
SELECT try('format', '');
SELECT try('include-xids', 'maybe');
SELECT try('include_xids', '');
SELECT try('numbers-as-string', 'true');
SELECT try('bytea', 'escape');
SELECT try('streaming', 'parallel');
SELECT try('spill-compression', 'gzip');
SELECT try('two-phase', 'perhaps');
SELECT try('origin', 'local');
SELECT try('actions', 'insert,upsert');
SELECT try('actions', '');
SELECT try('format', 'test_decoding', 'include-xids', 'maybe');

-- sizes
SELECT count(*) FROM try('reorder-work-mem', '64kB');
SELECT count(*) FROM try('reorder-work-mem', '1 GB');
SELECT try('reorder-work-mem', '63kB');
SELECT try('reorder-work-mem', '64');
SELECT try('reorder-work-mem', '64mb');
SELECT try('reorder-work-mem', '-1MB');
SELECT try('reorder-work-mem', '1025TB');
SELECT try('reorder-work-mem', '99999999999999999999MB');

-- lists of names
SELECT try('tables', 't');
SELECT try('tables', 'a.b.c');
SELECT try('tables', '');
SELECT try('exclude-tables', 'public.t,');
SELECT try('exclude-tables', 'public.t public.u');
SELECT try('exclude-tables', 'public."t');
SELECT try('exclude-columns', 'public.t');
SELECT try('exclude-columns', 'public..id');
SELECT try('exclude-origins', '');
SELECT try('message-prefixes', 'a b');

-- the setting for slots that don't say how
SET cpp_output.streaming = 'sideways';
SELECT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL);
SET cpp_output.streaming = 'off';
SELECT count(*) FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL);
RESET cpp_output.streaming;

-- the errors left nothing behind
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');
DROP TABLE t;
DROP FUNCTION try;
SELECT pg_drop_replication_slot('regression_slot');
