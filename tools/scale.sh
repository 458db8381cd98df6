#!/bin/bash
# scale.sh [quick]
#
# What is large or many, with bounds on memory: see test/scale.py.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/environment.sh
make -j"$(nproc)" -s
exec test/scale.py "$@"
