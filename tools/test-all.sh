#!/bin/bash
# test-all.sh: everything that has to pass.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
. tools/environment.sh
. tools/part.sh

part "native" unprivileged tools/test-native.sh
part "other versions" tools/matrix.sh
parts_done "all"
