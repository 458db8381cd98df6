#!/bin/bash
# check-library.sh LIBRARY
#
# Fails if the library does not name libstdc++ itself, or exports a symbol
# that is neither one that the server looks for nor an SQL function, or lacks
# one of these.
set -euo pipefail
library=$1

# no pipes into grep -q here: with pipefail, its early exit counts as a failure
if ! grep -q 'NEEDED.*libstdc++' <<<"$(readelf -d "$library")"; then
	echo "check-library: $library does not name libstdc++ as needed" >&2
	exit 1
fi

exported=$(nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | sort)
# each SQL function comes with its pg_finfo_ record
expected=$({
	printf '%s\n' _PG_init _PG_output_plugin_init Pg_magic_func
	sed -n 's/^pg_finfo_\(.*\)/&\n\1/p' <<<"$exported"
} | sort)
extra=$(comm -23 <(echo "$exported") <(echo "$expected"))
if [ -n "$extra" ]; then
	echo "check-library: $library exports" $extra >&2
	exit 1
fi
functions=$(sed -n 's/^pg_finfo_//p' <<<"$exported")
for symbol in _PG_init _PG_output_plugin_init Pg_magic_func $functions; do
	if ! grep -qx "$symbol" <<<"$exported"; then
		echo "check-library: $library does not export $symbol" >&2
		exit 1
	fi
done
