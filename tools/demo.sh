#!/bin/bash
# demo.sh [OPTION=VALUE...]
#
# Starts a throw-away server with the library of this tree, makes some changes,
# and prints what pg_recvlogical receives of them. The arguments are options of
# the plugin: ./dev demo format=test_decoding
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/environment.sh

make -s -j"$(nproc)" >/dev/null
bin=$("$PG_CONFIG" --bindir)
dir=$(mktemp -d /tmp/cpp_output-demo.XXXXXX)
cleanup() {
	[ ! -f "$dir/data/postmaster.pid" ] || "$bin/pg_ctl" -D "$dir/data" -m immediate stop >/dev/null
	rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

"$bin/initdb" -D "$dir/data" -U postgres --auth=trust --no-sync >/dev/null
{
	tools/server-settings.sh "$bin" "$PWD"
	echo "listen_addresses = ''"
	echo "unix_socket_directories = '$dir'"
} >>"$dir/data/postgresql.conf"
"$bin/pg_ctl" -D "$dir/data" -l "$dir/log" -w start >/dev/null ||
	{ cat "$dir/log" >&2; exit 1; }

export PGHOST=$dir PGUSER=postgres PGDATABASE=postgres
echo "PostgreSQL $("$bin/postgres" --version | awk '{ print $3 }'), a slot with plugin cpp_output, and these changes:"
"$bin/psql" -qX -v ON_ERROR_STOP=1 -f tools/demo.sql
echo
echo "pg_recvlogical --start $*"

options=()
for option in "$@"; do options+=(-o "$option"); done
"$bin/pg_recvlogical" -d postgres -S demo --start --no-loop -f - "${options[@]}" \
	--endpos="$("$bin/psql" -qXAt -c 'SELECT pg_current_wal_lsn()')"
