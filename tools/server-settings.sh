#!/bin/bash
# server-settings.sh BINDIR [DIRECTORY]
#
# Prints what postgresql.conf of a test server needs. With DIRECTORY the
# server loads a library of that directory in place of an installed one.
set -euo pipefail
bindir=$1

cat <<'END'
wal_level = logical
max_wal_senders = 20
max_replication_slots = 50
max_prepared_transactions = 20
max_connections = 60
fsync = off
END
[ $# -lt 2 ] || echo "dynamic_library_path = '$2:\$libdir'"

# Minor releases since August 2026 refuse plugins that are not listed, older
# ones do not know the setting. The default is kept.
listed=$("$bindir/postgres" --describe-config |
	awk -F'\t' '$1 == "output_plugin_libraries" { print $5 }')
[ -z "$listed" ] ||
	echo "output_plugin_libraries = '${listed//\'/}, cpp_output, wal2json, decoderbufs'"
