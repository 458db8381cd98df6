-- TOAST: long values inserted, and rows updated that keep theirs
-- rows: 20000
CREATE TABLE document (
	id integer PRIMARY KEY,
	state integer,
	body text
);
ALTER TABLE document ALTER body SET STORAGE EXTERNAL;
-- changes
INSERT INTO document
SELECT i, 0, (SELECT string_agg(md5(i::text || j), '') FROM generate_series(1, 250) j)
FROM generate_series(1, :rows) i;
UPDATE document SET state = state + 1;
