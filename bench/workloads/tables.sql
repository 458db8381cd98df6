-- 10,000 tables, and DDL going on between the changes
-- rows: 10000
CREATE PROCEDURE make_tables(n integer) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. n LOOP
		EXECUTE format('CREATE TABLE part_%s (id integer PRIMARY KEY, a text, b integer, c timestamptz)', i);
		IF i % 100 = 0 THEN
			COMMIT;
		END IF;
	END LOOP;
END $$;
CREATE PROCEDURE change_tables(n integer) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. n LOOP
		FOR j IN 0 .. 4 LOOP
			EXECUTE format('INSERT INTO part_%s VALUES ($1, $2, $1, $3)', (i * 7 + j * 13) % n + 1)
			USING i, 'row ' || i, timestamptz '2026-01-01 00:00:00+00';
		END LOOP;
		IF i % 50 = 0 THEN
			EXECUTE format('ALTER TABLE part_%s ADD added_%s integer DEFAULT 1', i, i);
		ELSIF i % 50 = 25 THEN
			EXECUTE format('CREATE TABLE extra_%s (id integer PRIMARY KEY)', i);
			EXECUTE format('INSERT INTO extra_%s VALUES (1)', i);
		END IF;
		COMMIT;
	END LOOP;
END $$;
CALL make_tables(:rows);
-- changes
CALL change_tables(:rows);
