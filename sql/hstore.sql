-- hstore, where the server has it: otherwise hstore_1.out
SELECT count(*) = 0 AS missing FROM pg_available_extensions WHERE name = 'hstore' \gset
\if :missing
\quit
\endif
\pset format unaligned
\pset tuples_only on
CREATE EXTENSION hstore;
SELECT 'init' FROM pg_create_logical_replication_slot('regression_slot', 'cpp_output');
CREATE TABLE t (h hstore, hs hstore[]);
INSERT INTO t VALUES
	('', '{}'),
	(E'a=>1, "b c"=>NULL, "quo\\"te"=>"back\\\\slash", é=>日', ARRAY['x=>y'::hstore, NULL]);
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');
DROP TABLE t;
DROP EXTENSION hstore;
SELECT pg_drop_replication_slot('regression_slot');
