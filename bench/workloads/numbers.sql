-- Numerics, timestamps and UUIDs
-- rows: 200000
CREATE TABLE measurement (
	id uuid PRIMARY KEY,
	a numeric,
	b numeric(20,6),
	c numeric(38,10),
	d double precision,
	t timestamptz,
	u timestamp,
	v time,
	parent uuid
);
-- changes
INSERT INTO measurement
SELECT md5(i::text)::uuid, i * 1234567.000123, i / 7.0, i * 10::numeric ^ 20 + i / 3.0, sqrt(i),
	timestamptz '2026-01-01 00:00:00+00' + i * interval '1.234567 seconds',
	timestamp '1999-12-31 23:59:59.9' + i * interval '1 hour 0.000001 seconds',
	time '00:00' + i * interval '1.5 seconds', md5((i / 10)::text)::uuid
FROM generate_series(1, :rows) i;
