#!/bin/bash
# soak.sh [MINUTES]
#
# Random load and restarts for that long, see test/soak.py. The server's log is
# left in tmp_check/soak.log.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/environment.sh
make -j"$(nproc)" -s
exec test/soak.py --keep-log "$PWD/tmp_check/soak.log" "${1:-20}"
