\echo Use "CREATE EXTENSION cpp_output" to load this file. \quit

-- The options that a slot of this plugin takes.
CREATE FUNCTION cpp_output_options(
	OUT name text,
	OUT formats text,
	OUT type text,
	OUT default_value text,
	OUT allowed text,
	OUT description text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'cpp_output_options'
LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
