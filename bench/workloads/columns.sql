-- A table of 1,000 columns
-- rows: 10000
SELECT 'CREATE TABLE wide (id integer PRIMARY KEY, ' ||
	string_agg(format('column_%s %s', i, (array['integer', 'text', 'boolean'])[i % 3 + 1]), ', ' ORDER BY i) || ')'
FROM generate_series(1, 999) i \gexec
-- changes
SELECT string_agg((array['i', '''v'' || i', 'i % 2 = 0'])[i % 3 + 1], ', ' ORDER BY i) AS expressions
FROM generate_series(1, 999) i \gset
INSERT INTO wide SELECT i, :expressions FROM generate_series(1, :rows) i;
