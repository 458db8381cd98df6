-- What ./dev demo shows.
CREATE TABLE account (
	id int PRIMARY KEY,
	owner text NOT NULL,
	balance numeric(12, 2),
	tags text[],
	settings jsonb);
CREATE TABLE audit (at timestamptz, what text);
\pset tuples_only
\o /dev/null
SELECT pg_create_logical_replication_slot('demo', 'cpp_output');
\set ECHO queries

INSERT INTO account VALUES
	(1, 'Ada', 100.50, '{new,"very important"}', '{"mail": true}'),
	(2, E'O''Hara\n"quoted"', 'NaN', NULL, '{"limits": [1, 2.50]}');
BEGIN;
UPDATE account SET balance = balance - 10 WHERE id = 1;
SAVEPOINT doubtful;
DELETE FROM account;
ROLLBACK TO doubtful;
INSERT INTO audit VALUES ('2026-01-31 12:00+00', 'withdrawal');
SELECT pg_logical_emit_message(true, 'note', 'a message within the transaction');
COMMIT;
SELECT pg_logical_emit_message(false, 'note', 'a message on its own');
UPDATE account SET id = 3 WHERE id = 2;
DELETE FROM account WHERE id = 3;
TRUNCATE audit;
