-- Identifiers that need care.
\pset format unaligned
\pset tuples_only on
SELECT 'init' FROM pg_create_logical_replication_slot('regression_slot', 'cpp_output');
CREATE SCHEMA "Odd ""Schema"", with 'quotes'";
SET search_path = "Odd ""Schema"", with 'quotes'";
CREATE TYPE "odd ""type""" AS ENUM ('a "label"');
CREATE TYPE "odd.pair" AS ("first ""field""" int, "zwei
ter" text);
CREATE TABLE "new
line\" ("Id" int PRIMARY KEY, "quote "" and '" text, "back\slash	tab" text, "select" int, "naïve 日本 🐘" text, "{}:,[]" text,
	e "odd ""type""", p "odd.pair");
INSERT INTO "new
line\" VALUES (1, 'a', 'b', 2, 'c', 'd', 'a "label"', (1, 'x'));
UPDATE "new
line\" SET "select" = 3;
TRUNCATE "new
line\";
SELECT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');
SELECT (data::jsonb ->> 'schema') = 'Odd "Schema", with ''quotes''' AS "schema", (data::jsonb ->> 'table') = E'new\nline\\' AS "table", count(*)
FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'include-transaction', 'off', 'actions', 'insert,update') GROUP BY 1, 2;
SELECT regexp_replace(data, '"oid":\d+', '"oid":N') FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'include-transaction', 'off', 'include-relations', 'on', 'actions', 'insert');
SELECT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'format', 'test_decoding', 'include-xids', 'off', 'skip-empty-xacts', 'on');

-- the same names in filters
SELECT count(*) FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'include-transaction', 'off', 'tables', E'"Odd ""Schema"", with ''quotes''"."new\nline\\"');
SELECT count(*) FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'include-transaction', 'off', 'tables', '*.new?line?');
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off', 'actions', 'insert',
	'exclude-columns', '*.*."naïve 日本 🐘", *.*."{}:,[]", *.*."Id", *.*.select, *.*."quote "" and ''", *.*.?');

-- the longest names there are
CREATE TABLE public.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx (yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy int PRIMARY KEY);
INSERT INTO public.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx VALUES (1);
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');
DROP TABLE public.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx;

-- a table that is called like a catalog
CREATE TABLE public.pg_class (id int PRIMARY KEY);
INSERT INTO public.pg_class VALUES (1);
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');
DROP TABLE public.pg_class;

RESET search_path;
DROP SCHEMA "Odd ""Schema"", with 'quotes'" CASCADE;
SELECT pg_drop_replication_slot('regression_slot');
