-- One transaction of rows with ten columns of mixed types
-- rows: 1000000
-- quick: 60000
CREATE TABLE orders (
	id bigint PRIMARY KEY,
	quantity integer,
	paid boolean,
	price numeric(12,2),
	ratio double precision,
	name text,
	note varchar(100),
	created timestamptz,
	day date,
	token uuid
);
-- changes
INSERT INTO orders
SELECT i, i % 1000, i % 2 = 0, i * 0.01, i / 7.0, 'customer ' || i, 'a note on order ' || i,
	timestamptz '2026-01-01 00:00:00+00' + i * interval '1.234567 seconds',
	date '2026-01-01' + (i % 3650), md5(i::text)::uuid
FROM generate_series(1, :rows) i;
