-- Wide text and JSON, with characters that have to be escaped
-- rows: 100000
CREATE TABLE article (
	id integer PRIMARY KEY,
	title text,
	body text,
	source text,
	data json,
	attributes jsonb
);
-- changes
INSERT INTO article
SELECT i, 'Title "' || i || '"',
	repeat('plain text without anything to escape, ', 15) || i,
	repeat(E'if (a < b)\n\treturn "\\\\n";\n', 15) || i,
	json_build_object('id', i, 'path', 'C:\dir\' || i, 'tags', array['a', 'b"c'], 'text', repeat('x y ', 20)),
	jsonb_build_object('id', i, 'quote', 'say "' || i || '"', 'ü', 'ä ö €', 'list', array[i, i + 1])
FROM generate_series(1, :rows) i;
