-- Everything filtered out
-- rows: 200000
CREATE TABLE ignored (id integer PRIMARY KEY, name text, price numeric(10,2), created timestamptz);
-- changes
INSERT INTO ignored
SELECT i, 'name ' || i, i * 0.5, timestamptz '2026-01-01 00:00:00+00' FROM generate_series(1, :rows) i;
