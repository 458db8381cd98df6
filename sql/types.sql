-- Each type in format json.
\pset format unaligned
\pset tuples_only on
SELECT 'init' FROM pg_create_logical_replication_slot('regression_slot', 'cpp_output');

-- numbers: every digit, and strings for what JSON has no number for
CREATE TABLE numbers (i2 int2, i4 int4, i8 int8, f4 float4, f8 float8, n numeric, nt numeric(10, 3), o oid);
INSERT INTO numbers VALUES
	(0, 0, 0, 0, 0, 0, 0, 0),
	(-32768, -2147483648, -9223372036854775808, -1.5e-37, 5e-324, -0.0000000000000000000001, -1234567.5, 4294967295),
	(32767, 2147483647, 9223372036854775807, 3.4028235e38, 1.7976931348623157e308,
		12345678901234567890123456789012345678901234567890.12345678901234567890, 1, 1),
	(NULL, NULL, NULL, 'NaN', 'NaN', 'NaN', 'NaN', NULL),
	(1, 1, 1, 'Infinity', '-Infinity', 'Infinity', NULL, 1),
	(1, 1, 1, 100000, 1e15, '-Infinity', NULL, 1),
	(1, 1, 1, 1e16, 0.1, 1e20, 1.5, 1),
	(1, 1, 1, '-0', '-0', 100.00, 0.001, 1);
SELECT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');
SELECT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'include-transaction', 'off', 'numbers-as-string', 'wide');
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off', 'numbers-as-string', 'all');

-- text; the server's settings make no difference
CREATE TABLE texts (t text, v varchar(10), c char(5), n name, "char" "char", u uuid, b bool);
INSERT INTO texts VALUES
	('', '', '', '', '', '00000000-0000-0000-0000-000000000000', true),
	(E'quote " backslash \\ slash / newline \n return \r tab \t bell \x07 escape \x1b', 'it''s', 'ab', 'a name', 'x',
		'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', false),
	('naïve 日本語 🐘', '日本', 'é', 'ü', NULL, NULL, NULL);
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');

CREATE TABLE binaries (b bytea, bt bit(5), bv bit varying(10));
INSERT INTO binaries VALUES ('', B'00000', B''), ('\x00', B'10101', B'1'), ('\x0001feff', B'11111', B'0101010101'), ('\x5c', NULL, NULL);
SELECT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');
SET bytea_output = 'escape';
SELECT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');
RESET bytea_output;
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off', 'bytea', 'hex');

-- date and time, whatever the session's settings are
CREATE TABLE times (d date, t time, ttz timetz, ts timestamp, tstz timestamptz, i interval, i2 interval day to second(2));
INSERT INTO times VALUES
	('2026-11-29', '18:11:02', '18:11:02+02', '2026-11-29 18:11:02.123456', '2026-11-29 18:11:02.123456+02', '1 year 2 months 3 days 04:05:06.789', '3 days 04:05:06.789'),
	('infinity', '00:00', '00:00+00', 'infinity', 'infinity', '0', NULL),
	('-infinity', '24:00', '24:00:00-15:59', '-infinity', '-infinity', '-1 month +1 day -1 second', NULL),
	('0044-03-15 BC', '12:30:00.1', '12:30-03:30', '0044-03-15 12:30 BC', '0044-03-15 12:30:00+00 BC', '-1 day', NULL),
	('5874897-12-31', '23:59:59.999999', NULL, '294276-12-31 23:59:59.999999', '294276-12-31 23:59:59.999999+00', '178000000 years', NULL),
	('0001-01-01', NULL, NULL, '1999-12-31 23:59:59.5', '1883-11-18 12:03:58 America/New_York', '00:00:00.000001', NULL);
SELECT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');
CREATE TEMP TABLE seen AS SELECT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');
SET DateStyle = 'SQL, DMY';
SET IntervalStyle = 'iso_8601';
SET TimeZone = 'Asia/Kathmandu';
SET extra_float_digits = 0;
SELECT count(*) FROM (TABLE seen EXCEPT SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off')) difference;
SHOW DateStyle;
SHOW IntervalStyle;
SHOW TimeZone;
SHOW extra_float_digits;
RESET DateStyle;
RESET IntervalStyle;
RESET TimeZone;
RESET extra_float_digits;
DROP TABLE seen;

-- json is embedded, on one line
CREATE TABLE documents (j json, jb jsonb, jp jsonpath);
INSERT INTO documents VALUES
	('null', 'null', '$'), ('"text"', '1.50', '$.a[*] ? (@ > 1)'), (NULL, NULL, NULL),
	(E'{ "a" :\n\t[1, 2.0e3,\r\n null], "a": "\\n \\u00e9" }', '{"b": {"c": [true, {}, []]}, "é": "\"quoted\" \\ \n"}', NULL),
	('123456789012345678901234567890.5', '123456789012345678901234567890.5', NULL);
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off', 'numbers-as-string', 'all');

-- arrays: nested, with nulls; lower bounds are not kept
CREATE TABLE arrays (i int[], i2 int2[], i8 int8[], n numeric[], f float8[], t text[], vc varchar(5)[], b bool[], by bytea[], o oid[]);
INSERT INTO arrays VALUES
	('{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}'),
	('{1,NULL,-3}', '{-32768,32767}', '{9223372036854775807,NULL}', '{1.50,NaN,NULL,-Infinity}', '{0.1,NaN,-Infinity,NULL}',
		E'{a,NULL,"NULL","",with space,"quo\\"te","back\\\\slash","com,ma","{}"}', '{ab,cd}', '{t,f,NULL}', E'{"\\\\x00ff",NULL,"\\\\x"}', '{0,4294967295}'),
	('{{1,2},{3,4}}', '{{{1},{2}},{{3},{4}}}', '[2:3]={1,2}', '{{1.0},{2.00}}', '[0:1][-1:0]={{1,2},{3,4}}',
		'{{a,b},{c,NULL}}', '{{é,日}}', '{{t},{f}}', E'{{"\\\\x01"}}', '[5:5]={7}'),
	(ARRAY[NULL]::int[], NULL, NULL, NULL, NULL, ARRAY[NULL]::text[], NULL, NULL, NULL, NULL),
	('{{{{{{1,2}}}}}}', NULL, NULL, NULL, NULL, ARRAY[E'new\nline', E'\t'], NULL, NULL, NULL, NULL);
SELECT data FROM pg_logical_slot_peek_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off', 'numbers-as-string', 'wide', 'bytea', 'hex');

CREATE TABLE arrays_of_others (d date[], t time[], ts timestamp[], tstz timestamptz[], u uuid[], j json[], jb jsonb[], iv interval[], bt bit(3)[], bx box[], c "char"[], n name[]);
INSERT INTO arrays_of_others VALUES (
	'{2026-11-29,infinity,"0044-03-15 BC",NULL}', '{18:11,24:00}', '{"2026-11-29 18:11","0044-03-15 12:30 BC"}', '{"2026-11-29 18:11:02+02",-infinity}',
	'{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}', E'{"{\\"a\\": [1,\n2]}",null,"null","\\"s\\""}', '{"{\"a\": \"b\"}",7}', '{1 day,"01:02:03"}',
	'{101,NULL}', '{(1,1),(0,0);(2,2),(1,1)}', '{a,"\"",NULL}', '{name,"two words"}');
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');

-- composites are objects, enums and domains what they are made of
CREATE TYPE pair AS (a int, "B b" text);
CREATE TYPE nested AS (p pair, tags text[], n numeric, at timestamptz);
CREATE TYPE empty AS ();
CREATE TYPE mood AS ENUM ('sad', 'it''s "ok"', 'glücklich');
CREATE DOMAIN positive AS int CHECK (value > 0);
CREATE DOMAIN label AS varchar(12);
CREATE DOMAIN short_label AS label;
CREATE DOMAIN ints AS int[];
CREATE DOMAIN pair_domain AS pair;
CREATE DOMAIN moment AS timestamptz;
CREATE TABLE made (p pair, n nested, ps pair[], m mood, ms mood[], pos positive, l short_label, i ints, pd pair_domain, mo moment, poss positive[], e empty);
INSERT INTO made VALUES
	((1, 'x'), ((2, NULL), '{a,"b c"}', 1.50, '2026-11-29 18:11:02+02'), ARRAY[(1, 'a "quoted" \ one')::pair, NULL, (NULL, NULL)::pair],
		'sad', '{sad,"it''s \"ok\"",glücklich}', 7, 'text', '{1,2}', (3, 'in a domain'), '2026-11-29 18:11:02+02', '{1,NULL}', ROW()),
	((NULL, NULL), NULL, '{}', 'it''s "ok"', NULL, NULL, '', '{}', NULL, 'infinity', NULL, NULL),
	((1, ''), (NULL, '{}', 'NaN', NULL), NULL, 'glücklich', '{}', NULL, NULL, '{{1},{2}}', (NULL, E'new\nline (1,2)'), NULL, '{}', NULL);
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');
ALTER TYPE pair ADD ATTRIBUTE c float8;
ALTER TYPE pair DROP ATTRIBUTE a;
INSERT INTO made (p, ps) VALUES (('y', 'NaN'), ARRAY[('z', 0.5)::pair]);
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');

-- the rest: as text
CREATE TYPE textrange AS RANGE (subtype = text, collation = "C");
CREATE TABLE ranges (i4 int4range, i8 int8range, n numrange, d daterange, ts tsrange, tstz tstzrange, t textrange, i4m int4multirange, tsm tsmultirange, i4s int4range[]);
INSERT INTO ranges VALUES
	('[1,5)', '(,)', '(1.5,2.50]', '[2026-01-01,infinity)', '[2026-01-01 12:00,2026-01-01 13:00]', '["2026-01-01 12:00+02",)', '[a,"b ""c"""]',
		'{[1,3),[7,9)}', '{[2026-01-01 12:00,2026-01-02)}', '{"[1,2)",empty}'),
	('empty', 'empty', NULL, '[-infinity,"0044-03-15 BC"]', NULL, NULL, '[,)', '{}', NULL, '{}');
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');

SET lc_monetary = 'C';
CREATE TABLE others (i inet, c cidr, m macaddr, m8 macaddr8, p point, ln line, ls lseg, b box, pa path, po polygon, ci circle,
	mo money, l pg_lsn, x8 xid8, x xid, ti tid, tv tsvector, tq tsquery, r regtype, iv int2vector, ov oidvector, xm xml);
INSERT INTO others VALUES
	('192.168.0.1/24', '10.0.0.0/8', '08:00:2b:01:02:03', '08:00:2b:01:02:03:04:05', '(1.5,-2)', '{1,-1,0}', '[(0,0),(1,1)]', '(1,1),(0,0)', '[(0,0),(1,1)]',
		'((0,0),(1,1),(1,0))', '<(0,0),2.5>', '-1234.56', '16/B374D848', '18446744073709551615', '4294967295', '(4294967295,65535)',
		'''it''''s'':1A "quo\"te":2', '''cat'' & !''dog''', 'integer', '1 2 3', '4 5', E'<a b="c">\n &amp;</a>'),
	('::1', '2001:db8::/32', NULL, NULL, '(1e300,NaN)', NULL, NULL, NULL, '((0,0))', NULL, NULL, '0', 'FFFFFFFF/FFFFFFFF', '0', '3', NULL, '', NULL, NULL, '', '', 'text');
SELECT data FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL, 'include-transaction', 'off');

-- a line for each of many rows, and every line is JSON
INSERT INTO times SELECT d.* FROM times d, numbers n;
INSERT INTO documents SELECT d.* FROM documents d, texts t;
INSERT INTO arrays SELECT a.* FROM arrays a, texts t;
SELECT data::jsonb ->> 'op' AS op, count(*), count(*) FILTER (WHERE data ~ '[\n\r]') AS broken
FROM pg_logical_slot_get_changes('regression_slot', NULL, NULL) GROUP BY 1 ORDER BY 1;

DROP TABLE numbers, texts, binaries, times, documents, arrays, arrays_of_others, made, ranges, others;
DROP DOMAIN pair_domain, ints, positive, short_label, label, moment;
DROP TYPE nested, pair, mood, empty, textrange;
SELECT pg_drop_replication_slot('regression_slot');
