#!/bin/bash
# soak.sh [MINUTES]: the oracles over new seeds until the time is up.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/environment.sh
end=$((SECONDS + ${1:-20} * 60))
make -s -j"$(nproc)"
seed=$((RANDOM + 1000))
while [ $SECONDS -lt $end ]; do
	# two at a time; a seed that fails is printed and can be run again
	test/replay.py --seeds $seed-$((seed + 1))
	test/differential.py reorder --seeds $seed-$((seed + 1))
	test/differential.py test_decoding --seeds $seed-$((seed + 1))
	seed=$((seed + 2))
done
