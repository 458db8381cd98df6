#!/bin/bash
# test-meson.sh: builds, tests and installs (to a directory of its own) with
# meson, and compares what is installed with what make installs.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/environment.sh

rm -rf build/meson build/installed-by-*
meson setup build/meson -Dpg_config="$PG_CONFIG" -Dwerror=true >build/meson.log || { cat build/meson.log; exit 1; }
meson compile -C build/meson
meson test -C build/meson --print-errorlogs
DESTDIR=$PWD/build/installed-by-meson meson install -C build/meson --quiet
make -s install DESTDIR="$PWD/build/installed-by-make" >/dev/null
diff <(cd build/installed-by-make && find . -type f | sort) <(cd build/installed-by-meson && find . -type f | sort)
