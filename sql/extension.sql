-- The extension and its table of options.
CREATE EXTENSION cpp_output;
SELECT count(*) > 10 AS many, count(*) = count(DISTINCT (name, formats)) AS once,
	bool_and(description LIKE '%.' AND type <> '' AND allowed <> '') AS described
FROM cpp_output_options();
SELECT name, formats, type, default_value, allowed FROM cpp_output_options()
WHERE name IN ('messages', 'tables') ORDER BY name;
-- everybody may look
CREATE ROLE regress_cpp_output_nobody;
SET ROLE regress_cpp_output_nobody;
SELECT count(*) > 10 AS many FROM cpp_output_options();
RESET ROLE;
DROP ROLE regress_cpp_output_nobody;
DROP EXTENSION cpp_output;
CREATE EXTENSION cpp_output;
