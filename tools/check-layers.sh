#!/bin/bash
# check-layers.sh
#
# Fails if a source file includes what its layer must not know:
#   src/core          nothing of the server, nothing of src/shell
#   src/core/format   nothing of the reorder layer
#   src/core/reorder  nothing of the formats
#   src/core/text     nothing of either
#   src/shell         nothing of the core but core.h
set -euo pipefail
cd "$(dirname "$0")/.."
status=0

# refuse WHY REGEX DIRECTORY...
refuse() {
	local why=$1 regex=$2 found
	shift 2
	found=$(grep -rnE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]($regex)" "$@" \
		--include='*.h' --include='*.cc' --include='*.c' || true)
	if [ -n "$found" ]; then
		printf 'check-layers: %s\n%s\n' "$why" "$found" >&2
		status=1
	fi
}

server='(postgres|postgres_ext|postgres_fe|fmgr|funcapi|miscadmin|c|pg_config|libpq-fe)\.h|'
server+='(access|catalog|commands|common|executor|lib|libpq|mb|nodes|optimizer|parser|port|'
server+='replication|rewrite|server|storage|tcop|utils)/'
refuse 'the core must not include server headers' "$server" src/core
refuse 'the core must not include the shell' '([^">]*/)?shell/' src/core
refuse 'the formats must not know the reorder layer' '([^">]*/)?reorder/' src/core/format src/core/text
refuse 'the reorder layer must not know the formats' '([^">]*/)?format/' src/core/reorder src/core/text

# a header of the shell's own that has the same name is found first
own=$(cd src/core && find . -mindepth 1 -name '*.h' ! -path ./core.h -printf '%P\n' |
	while read -r header; do [ -e "../shell/$header" ] || echo "$header"; done |
	sed 's/\./\\./g' | paste -sd'|')
if [ -n "$own" ]; then
	refuse 'the shell may include core.h only' "([^\">]*/)?core/|($own)[\">]" src/shell
fi
exit $status
