-- Small transactions: one insert and one update each
-- rows: 200000
-- quick: 20000
CREATE TABLE account (
	id integer PRIMARY KEY,
	owner text,
	balance numeric(12,2),
	changed timestamptz
);
CREATE PROCEDURE small_transactions(n integer) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. n LOOP
		INSERT INTO account VALUES (i, 'owner ' || i, 0, now());
		UPDATE account SET balance = i * 0.5 WHERE id = i;
		COMMIT;
	END LOOP;
END $$;
-- changes
CALL small_transactions(:rows);
