#!/bin/bash
# test-server.sh
#
# What has to pass on every PostgreSQL version: build, unit tests, regression
# tests, TAP tests, both oracles. PG_CONFIG says which version, CPO_..._SEEDS how many
# random workloads the oracles get.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
. tools/environment.sh
. tools/part.sh

have_plugin() { [ -f "$("$PG_CONFIG" --pkglibdir)/$1.so" ]; }

regress() {
	local pg_config settings
	pg_config=$(tools/temp-install.sh build/install) || return
	settings=$(realpath -m build/regress.conf)
	tools/server-settings.sh "$("$pg_config" --bindir)" >"$settings" || return
	make -s installcheck PG_CONFIG="$pg_config" TAP_TESTS= \
		EXTRA_REGRESS_OPTS="--temp-instance=build/regress --temp-config=$settings" ||
		{ cat regression.diffs; return 1; }
}

tap() {
	local pgxs
	pgxs=$(dirname "$("$PG_CONFIG" --pgxs)")/..
	rm -rf tmp_check
	TESTDIR=$PWD TESTDATADIR=$PWD/tmp_check TESTLOGDIR=$PWD/tmp_check/log PGPORT=65432 \
		PG_REGRESS="$pgxs/test/regress/pg_regress" PATH="$("$PG_CONFIG" --bindir):$PATH" \
		prove --timer -I "$pgxs/test/perl" -I t/lib "$@"
}

part "build" make -j"$(nproc)" -s WERROR=1
part "unit tests" make -j"$(nproc)" -s unit UNIT_ARGS=--gtest_brief=1
part "regression tests" regress
part "TAP tests" tap t/*.pl
part "differential: the comparison itself" test/differential.py --self-test
part "differential: test_decoding" test/differential.py test_decoding --seeds "${CPO_SEEDS:-1}"
part "differential: test_decoding as drop-in" test/differential.py test_decoding --drop-in --seeds 1
part "differential: reorder" test/differential.py reorder --seeds "${CPO_REORDER_SEEDS:-1}"
if have_plugin wal2json; then
	part "differential: wal2json" test/differential.py wal2json --seeds "${CPO_WAL2JSON_SEEDS:-1}"
fi
part "replay: json" test/replay.py --seeds "${CPO_REPLAY_SEEDS:-1}"
part "values of json" test/json_values.py --seeds 1-2
parts_done "PostgreSQL $("$PG_CONFIG" --version | awk '{ print $2 }')"
