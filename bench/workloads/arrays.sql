-- Arrays
-- rows: 100000
CREATE TABLE series (
	id integer PRIMARY KEY,
	readings integer[],
	prices numeric(10,2)[],
	tags text[],
	times timestamptz[],
	grid integer[][]
);
-- changes
INSERT INTO series
SELECT i, array[i, i + 1, i + 2, NULL, i * 3, i * 4, i * 5, i * 6], array[i * 0.01, i * 0.5, i],
	array['red', 'light "blue"', 'tag ' || i],
	array[timestamptz '2026-01-01 00:00:00+00' + i * interval '1 second', NULL],
	array[[i, 1], [2, i]]
FROM generate_series(1, :rows) i;
