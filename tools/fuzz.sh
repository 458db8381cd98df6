#!/bin/bash
# fuzz.sh [SECONDS]
#
# Runs each fuzzer of test/fuzz for that long, from the corpus in
# test/fuzz/corpus/NAME. What crashes is left in build/fuzz/crashes.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
make -j"$(nproc)" -s fuzz
mkdir -p build/fuzz/crashes
status=0
for source in test/fuzz/*_fuzz.cc; do
	[ -e "$source" ] || { echo "fuzz: there are no fuzzers yet"; break; }
	name=$(basename "$source" .cc)
	mkdir -p "build/fuzz/corpus/$name" "test/fuzz/corpus/$name"
	echo "fuzz: $name"
	"build/fuzz/$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
		-artifact_prefix="build/fuzz/crashes/$name-" -verbosity=0 \
		"build/fuzz/corpus/$name" "test/fuzz/corpus/$name" || status=1
done
exit $status
