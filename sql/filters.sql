-- What is left out: by table, column, kind of change, origin and message.
\pset format unaligned
\pset tuples_only on
SELECT 'init' FROM pg_create_logical_replication_slot('regression_slot', 'cpp_output');
CREATE SCHEMA app;
CREATE SCHEMA "App";
CREATE TABLE app.orders (id int PRIMARY KEY, v text);
CREATE TABLE app.orders_2025 (id int PRIMARY KEY, v text);
CREATE TABLE app.orders_2026 (id int PRIMARY KEY, v text);
CREATE TABLE "App"."Orders" (id int PRIMARY KEY, v text);
CREATE TABLE "App"."a.b, ""c"" *" (id int PRIMARY KEY, v text);
CREATE TABLE public.orders (id int PRIMARY KEY, v text, secret text);
INSERT INTO app.orders VALUES (1, 'app.orders');
INSERT INTO app.orders_2025 VALUES (1, 'app.orders_2025');
INSERT INTO app.orders_2026 VALUES (1, 'app.orders_2026');
INSERT INTO "App"."Orders" VALUES (1, 'App.Orders');
INSERT INTO "App"."a.b, ""c"" *" VALUES (1, 'App.odd');
INSERT INTO public.orders VALUES (1, 'public.orders', 'hush');
CREATE FUNCTION passed(VARIADIC options text[]) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg(coalesce(data::jsonb #>> '{new,v}', data::jsonb ->> 'prefix', data::jsonb ->> 'op'), ' '), '(none)')
	FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, VARIADIC ARRAY['include-transaction', 'off'] || options)
$$;

-- tables
SELECT passed('tables', 'app.orders');
SELECT passed('tables', 'APP.Orders');
SELECT passed('tables', '"App"."Orders"');
SELECT passed('tables', '"app".orders');
SELECT passed('tables', '"APP".orders');
SELECT passed('tables', 'app.*');
SELECT passed('tables', '*.orders');
SELECT passed('tables', '*.*');
SELECT passed('tables', 'app.orders_202?');
SELECT passed('tables', 'app.orders?????');
SELECT passed('tables', 'app.orders????');
SELECT passed('tables', 'a*p.*_*6');
SELECT passed('tables', '"App"."a.b, ""c"" *"');
SELECT passed('tables', '"App".*');
SELECT passed('tables', '"App"."*"');
SELECT passed('tables', '"App"."O"*');
SELECT passed('tables', ' app.orders , public.orders ');
SELECT passed('tables', 'app . orders');
SELECT passed('tables', 'app.none');
SELECT passed('tables', 'app.orders' || repeat(',x.y', 1000) || ',public.orders');

-- exclude-tables; it wins
SELECT passed('exclude-tables', 'app.*');
SELECT passed('exclude-tables', '*.*');
SELECT passed('exclude-tables', '"App".*,app.orders_*');
SELECT passed('tables', 'app.*', 'exclude-tables', 'app.orders_2025');

-- columns, in all images of a row
ALTER TABLE public.orders REPLICA IDENTITY FULL;
UPDATE public.orders SET secret = 'changed';
DELETE FROM public.orders;
SELECT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'include-transaction', 'off', 'tables', 'public.*', 'exclude-columns', 'public.orders.secret');
SELECT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'include-transaction', 'off', 'tables', 'public.*', 'exclude-columns', '*.*.s*,*.orders.?');
SELECT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'include-transaction', 'off', 'tables', 'public.*', 'exclude-columns', '*.*.*');
SELECT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'format', 'test_decoding', 'include-xids', 'off', 'skip-empty-xacts', 'on', 'tables', 'public.*', 'exclude-columns', '*.*.secret');
SELECT regexp_replace(data, '"oid":\d+', '"oid":N') FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off', 'tables', 'public.*', 'exclude-columns', '*.*.secret', 'include-relations', 'on');

-- kinds of change
BEGIN;
INSERT INTO app.orders VALUES (2, NULL);
UPDATE app.orders SET id = 3 WHERE id = 2;
DELETE FROM app.orders WHERE id = 3;
TRUNCATE app.orders;
COMMIT;
SELECT passed('actions', 'insert');
SELECT passed('actions', ' Update , DELETE');
SELECT passed('actions', 'truncate,truncate');
SELECT passed('actions', 'insert,update,delete,truncate');
SELECT count(*) FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL);

-- origins
SELECT pg_replication_origin_create('elsewhere') IS NOT NULL, pg_replication_origin_create('from b') IS NOT NULL;
INSERT INTO app.orders VALUES (1, 'here');
SELECT pg_replication_origin_session_setup('elsewhere');
INSERT INTO app.orders VALUES (2, 'elsewhere');
SELECT pg_logical_emit_message(true, 'message', 'elsewhere') IS NOT NULL;
SELECT pg_replication_origin_session_reset();
SELECT pg_replication_origin_session_setup('from b');
INSERT INTO app.orders VALUES (3, 'from_b');
SELECT pg_replication_origin_session_reset();
SELECT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'include-transaction', 'off', 'include-origin', 'on');
SELECT passed('origin', 'any');
SELECT passed('origin', 'none');
SELECT passed('exclude-origins', 'elsewhere');
SELECT passed('exclude-origins', '"from b"');
SELECT passed('exclude-origins', 'else*, from?b');
SELECT passed('exclude-origins', 'ELSEWHERE');
SELECT passed('exclude-origins', 'a.b');
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'format', 'test_decoding', 'include-xids', 'off', 'skip-empty-xacts', 'on', 'only-local', 'on');
SELECT pg_replication_origin_drop('elsewhere'), pg_replication_origin_drop('from b');

-- messages
SELECT pg_logical_emit_message(true, prefix, 'm') IS NOT NULL FROM unnest(ARRAY['audit', 'audit.login', 'Audit', 'a,b', '']) prefix;
SELECT passed('messages', 'on');
SELECT passed('messages', 'off');
SELECT passed('message-prefixes', 'audit');
SELECT passed('message-prefixes', 'audit.login');
SELECT passed('message-prefixes', 'audit.*');
SELECT passed('message-prefixes', 'audit*');
SELECT passed('message-prefixes', '"a,b", ?udit');
SELECT passed('message-prefixes', '*');

DROP FUNCTION passed;
DROP TABLE public.orders, app.orders, app.orders_2025, app.orders_2026, "App"."Orders", "App"."a.b, ""c"" *";
DROP SCHEMA app, "App";
SELECT pg_drop_replication_slot('regression_slot');
