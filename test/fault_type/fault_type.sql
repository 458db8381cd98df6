-- psql -v library=/path/to/fault_type.so -f fault_type.sql
SET client_min_messages = warning;
CREATE TYPE fault;
CREATE FUNCTION fault_in(cstring) RETURNS fault AS :'library' LANGUAGE C STRICT IMMUTABLE;
CREATE FUNCTION fault_out(fault) RETURNS cstring AS :'library' LANGUAGE C STRICT STABLE;
CREATE FUNCTION fault_calls() RETURNS int AS :'library' LANGUAGE C STRICT;
CREATE TYPE fault (INPUT = fault_in, OUTPUT = fault_out, LIKE = text);
CREATE CAST (text AS fault) WITHOUT FUNCTION AS ASSIGNMENT;
