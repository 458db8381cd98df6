#!/bin/bash
# options-page.sh [--check | --write] [CONNINFO]
#
# Prints the tables of options of doc/options.md, from cpp_output_options() in
# the database that CONNINFO (default: the environment) names. --write puts
# them into the page, between the two marks; --check fails where the page has
# something else.
set -euo pipefail
cd "$(dirname "$0")/.."
page=doc/options.md
begin='<!-- tables: made by tools/options-page.sh -->'
end='<!-- end of tables -->'

mode=print
case ${1:-} in
--check | --write) mode=${1#--} && shift ;;
esac

tables() {
	psql -XAtq -v ON_ERROR_STOP=1 -d "${1:-dbname=${PGDATABASE:-postgres}}" <<'SQL'
WITH cell AS (
	SELECT name, formats, type, description,
		CASE
			-- the only one that depends on how the library was built
			WHEN name = 'spill-compression' THEN '`lz4`; `off` where built without it'
			WHEN name = 'streaming' OR name = 'two-phase' THEN default_value
			ELSE coalesce('`' || default_value || '`', '')
		END AS default_value,
		replace(replace(allowed, '\', '\\'), '*', '\*') AS allowed
	FROM cpp_output_options()),
line AS (
	SELECT formats, 2 AS part, name,
		format('| `%s` | %s | %s | %s | %s |', name, type, default_value, allowed, description) AS text
	FROM cell
	UNION ALL
	SELECT DISTINCT formats, 1, '',
		CASE formats WHEN 'all' THEN '### All formats' ELSE '### Format ' || formats END
		|| E'\n\n| option | type | default | values | meaning |\n| --- | --- | --- | --- | --- |'
	FROM cell
	UNION ALL
	SELECT DISTINCT formats, 3, '', '' FROM cell)
SELECT text FROM line
ORDER BY formats <> 'all', formats COLLATE "C", part, name COLLATE "C";
SQL
}

# the page with those tables in place of what is between the marks
with_tables() {
	awk -v begin="$begin" -v end="$end" -v tables="$1" '
		$0 == begin { print; print ""; while ((getline line < tables) > 0) print line; skip = 1 }
		$0 == end { skip = 0 }
		!skip { print }' "$page"
}

made=$(mktemp) whole=$(mktemp)
trap 'rm -f "$made" "$whole"' EXIT
tables "$@" >"$made"
if [ $mode = print ]; then
	cat "$made"
	exit
fi
for mark in "$begin" "$end"; do
	grep -qxF -- "$mark" "$page" || { echo "options-page: $page has no line $mark" >&2; exit 1; }
done
with_tables "$made" >"$whole"
if [ $mode = write ]; then
	cat "$whole" >"$page"
else
	diff -u --label "$page" --label "cpp_output_options()" "$page" "$whole" >&2 ||
		{ echo "options-page: $page does not agree; run tools/options-page.sh --write" >&2; exit 1; }
fi
