-- One transaction of 50,000 subtransactions, every tenth rolled back
-- rows: 50000
CREATE TABLE attempt (id integer PRIMARY KEY, name text, created timestamptz);
CREATE PROCEDURE subtransactions(n integer) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. n LOOP
		BEGIN
			INSERT INTO attempt VALUES (i, 'attempt ' || i, '2026-01-01 00:00:00+00');
			IF i % 10 = 0 THEN
				RAISE division_by_zero;
			END IF;
		EXCEPTION
			WHEN division_by_zero THEN
		END;
	END LOOP;
END $$;
-- changes
CALL subtransactions(:rows);
