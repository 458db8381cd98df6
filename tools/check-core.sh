#!/bin/bash
# check-core.sh POSTGRES OBJECT...
#
# Fails if an object file of the core needs anything of the server, the heap,
# or the operating system, which it is handed by the shell, or if it may abort.
set -euo pipefail
postgres=$1
shift
[ $# -gt 0 ] || { echo "check-core: no objects of the core" >&2; exit 1; }

symbols() { nm -D --defined-only "$1" | awk '{ sub(/@.*/, "", $3); print $3 }'; }
runtime() {
	local name
	for name in libc.so.6 libm.so.6 libgcc_s.so.1 libstdc++.so.6; do
		symbols "$(${CXX:-g++} -print-file-name="$name")"
	done | sort -u
}

needed=$(nm -u "$@" | awk '$1 == "U" { print $2 }' | sort -u)
server=$(comm -23 <(symbols "$postgres" | sort -u) <(runtime))
# by name too, for what only another version of the server has
names='palloc.*|repalloc|pfree|pstrdup|errstart.*|errfinish|errmsg|elog|ereport|pg_.*|Memory[A-Z].*|sigsetjmp|__sigsetjmp|siglongjmp|longjmp'
# operator new and malloc; files, clocks and the environment; assertions
outside='_Zn[wa].*|malloc|calloc|realloc|open|open64|fopen|fopen64|read|write|pread|pwrite|socket|time|gettimeofday|clock_gettime|getenv|secure_getenv|setlocale|_ZNSt6chrono.*now.*|abort|__assert_fail'

bad=$({
	comm -12 <(echo "$needed") <(echo "$server")
	grep -xE "$names|$outside" <<<"$needed" || true
} | sort -u)
if [ -n "$bad" ]; then
	echo "check-core: the core must not need these:" >&2
	for symbol in $bad; do
		for object in "$@"; do
			if nm -u "$object" | awk '{ print $2 }' | grep -qxF "$symbol"; then
				echo "  $symbol ($(c++filt "$symbol")) in $object" >&2
			fi
		done
	done
	exit 1
fi
