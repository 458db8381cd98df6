#!/bin/bash
# test-native.sh
#
# What has to pass on this machine's own PostgreSQL: the whole suite with many
# seeds, and what need not be repeated for each version.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
. tools/environment.sh
. tools/part.sh

# a tree beside this one for a build with other flags
elsewhere() { # elsewhere NAME COMMAND...
	local directory=build/$1
	shift
	mkdir -p "$directory"
	rsync -a --delete --exclude=.git --exclude=/build --filter=':- .gitignore' ./ "$directory/"
	(cd "$directory" && "$@")
}

part "suite on PostgreSQL $PG_MAJOR" env CPO_SEEDS=1-20 CPO_REORDER_SEEDS=1-26 \
	CPO_REPLAY_SEEDS=1-3 tools/test-server.sh
part "consumers of wal2json" test/consumers/run
part "killed at random, 20 rounds" test/kill_rounds.py 20
part "soak, 2 minutes" tools/soak.sh 2
part "scale" test/scale.py quick
part "unit tests under ASan and UBSan" make -j"$(nproc)" -s unit SANITIZE=1 UNIT_ARGS=--gtest_brief=1
part "unit tests under valgrind" make -j"$(nproc)" -s unit VALGRIND=1 UNIT_ARGS=--gtest_brief=1
part "build with clang" elsewhere clang make -j"$(nproc)" -s WERROR=1 CC=clang CXX=clang++
part "build with meson" tools/test-meson.sh
part "library under UBSan" elsewhere ubsan tools/test-ubsan.sh
part "fuzzers" tools/fuzz.sh 20
part "lint" tools/lint.sh
parts_done "this machine"
