#!/bin/bash
# run.sh NAME VERSION COMMAND...
#
# Copies the source tree into the chroot NAME that make.sh made and runs
# COMMAND there as cpo_builder, with PG_CONFIG set for PostgreSQL VERSION. The
# status is COMMAND's, or 77 where the chroot has no such PostgreSQL. COMMAND
# has its own processes, network (loopback only) and /tmp: nothing of it stays
# but the copy of the tree, in which the next run builds on.
set -euo pipefail
name=$1 version=$2
shift 2
source=$(cd "$(dirname "$0")/../.." && pwd)
root=${CPO_CHROOTS:-/var/cache/cpp_output-chroots}/$name
[ -f "$root/.made-by" ] || { echo "run.sh: no chroot $root: run make.sh $name" >&2; exit 2; }
bin=/usr/lib/postgresql/$version/bin
[ -x "$root$bin/postgres" ] || { echo "run.sh: $root has no PostgreSQL $version" >&2; exit 77; }

directory=/home/cpo_builder/pg$version
rsync -a --delete --exclude=.git --filter=':- .gitignore' --chown=1500:1500 \
	"$source/" "$root$directory/"

# bash stays as process 1 of the namespace: when it ends, so does all the rest
setpriv --pdeathsig KILL unshare --mount --propagation private --pid --fork --kill-child \
	--ipc --net -- bash -c '
	set -e
	root=$1
	shift
	mount -t proc proc "$root/proc"
	mount --rbind /dev "$root/dev"
	mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs "$root/dev/shm"
	mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs "$root/tmp"
	ip link set lo up
	set +e
	chroot "$root" "$@"
	exit $?
' bash "$root" env -i HOME=/home/cpo_builder USER=cpo_builder LOGNAME=cpo_builder \
	PATH="$bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin" LANG=C.UTF-8 \
	PG_CONFIG="$bin/pg_config" ${CI:+CI="$CI"} \
	setpriv --reuid=1500 --regid=1500 --clear-groups --inh-caps=-all \
	bash -c 'cd "$1" && shift && exec "$@"' bash "$directory" "$@" &
child=$!
trap 'kill -KILL $child 2>/dev/null; exit 143' TERM INT HUP
status=0
wait $child || status=$?
exit $status
