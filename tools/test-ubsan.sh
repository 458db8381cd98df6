#!/bin/bash
# test-ubsan.sh
#
# The library under UBSan in a stock server: what is undefined ends the
# backend, and with it the comparison.
set -euo pipefail
make -j"$(nproc)" -s UBSAN=1
test/differential.py test_decoding --seeds 30
test/differential.py reorder --seeds 31
test/replay.py --seeds 32
