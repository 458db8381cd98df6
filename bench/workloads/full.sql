-- Updates under REPLICA IDENTITY FULL
-- rows: 100000
CREATE TABLE stock (
	id integer PRIMARY KEY,
	name text,
	amount integer,
	price numeric(10,2),
	changed timestamptz,
	note text
);
ALTER TABLE stock REPLICA IDENTITY FULL;
INSERT INTO stock
SELECT i, 'article ' || i, i % 100, i * 0.25, '2026-01-01 00:00:00+00', 'a note on article ' || i
FROM generate_series(1, :rows) i;
-- changes
UPDATE stock SET amount = amount + 1, changed = changed + interval '1 day';
