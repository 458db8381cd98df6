-- 20 large transactions at the same time
-- rows: 400000
-- clients: 20
CREATE TABLE event (
	client integer,
	id integer,
	name text,
	amount numeric(10,2),
	created timestamptz,
	PRIMARY KEY (client, id)
);
-- changes
BEGIN;
SELECT format('INSERT INTO event SELECT %s, i, ''event '' || i, i * 0.5, timestamptz ''2026-01-01 00:00:00+00'''
	' FROM generate_series(%s, %s) i', :client, j * :rows / 400 + 1, (j + 1) * :rows / 400)
FROM generate_series(0, 19) j \gexec
COMMIT;
