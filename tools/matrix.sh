#!/bin/bash
# matrix.sh [VERSION...]
#
# Builds and tests on the PostgreSQL versions that are not this machine's own,
# in chroots. Only PostgreSQL 19 may be missing, and that is said aloud.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/environment.sh
if [ "$(id -u)" != 0 ]; then
	exec sudo --preserve-env=CPO_CHROOTS,PG_CONFIG "$0" "$@"
fi

versions=("$@")
if [ $# -eq 0 ]; then
	for version in 15 17 18 19; do
		[ "$version" = "$PG_MAJOR" ] || versions+=("$version")
	done
fi

failed=()
seed=27 # those before are this machine's own PostgreSQL's
for version in "${versions[@]}"; do
	case $version in 15) chroot=bookworm ;; *) chroot=forky ;; esac
	tools/chroot/make.sh $chroot
	echo "=== PostgreSQL $version"
	status=0
	tools/chroot/run.sh $chroot "$version" \
		env CPO_REORDER_SEEDS=$seed-$((seed + 7)) tools/test-server.sh || status=$?
	seed=$((seed + 8))
	if [ $status = 77 ] && [ "$version" = 19 ]; then
		echo "*** SKIPPED: PostgreSQL 19, no packages ***"
	elif [ $status != 0 ]; then
		failed+=("$version")
	fi
done
if [ ${#failed[@]} -gt 0 ]; then
	echo "matrix: failed on PostgreSQL ${failed[*]}"
	exit 1
fi
echo "matrix: passed on PostgreSQL ${versions[*]}"
