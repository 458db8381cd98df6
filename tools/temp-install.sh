#!/bin/bash
# temp-install.sh DIRECTORY
#
# Makes DIRECTORY a copy of the server that PG_CONFIG belongs to, with the
# library of the current build installed in it, and prints the pg_config of
# the copy. Needs no root and leaves the real installation alone: a server
# finds its files by the place of its own program, so the programs are copied
# and all else is linked.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/environment.sh
directory=$(realpath -m "$1")

original() { "$PG_CONFIG" "--$1"; }
copy() { echo "$directory$(original "$1")"; }

rm -rf "$directory"
mkdir -p "$(copy bindir)" "$(copy sharedir)/extension" "$(copy pkglibdir)" \
	"$(dirname "$(copy includedir-server)")"
cp -a "$(original bindir)/." "$(copy bindir)"
ln -s "$(original includedir-server)" "$(copy includedir-server)"
ln -s "$(original pkglibdir)"/* "$(copy pkglibdir)"
ln -s "$(original sharedir)"/extension/* "$(copy sharedir)/extension"
for file in "$(original sharedir)"/*; do
	[ "${file##*/}" = extension ] || ln -s "$file" "$(copy sharedir)"
done
make -s install DESTDIR="$directory" >/dev/null

pg_config=$(copy bindir)/pg_config
if [ "$("$pg_config" --pkglibdir)" != "$(copy pkglibdir)" ]; then
	echo "temp-install: the copy does not find itself: $("$pg_config" --pkglibdir)" >&2
	exit 1
fi
echo "$pg_config"
