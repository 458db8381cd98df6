#!/bin/bash
# lint.sh: clang-format, clang-tidy on the core, shellcheck on the scripts.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
status=0

tools/fmt.sh --check || status=1

tidy() { # tidy FILE
	clang-tidy --quiet "$1" -- -std=gnu++20 -Isrc/core -DCPO_WITH_LZ4 -DCPO_WITH_ZSTD 2>/dev/null
}
export -f tidy
find src/core -name '*.cc' -print0 | sort -z |
	xargs -0 -n 1 -P "$(nproc)" bash -c 'tidy "$1"' bash || status=1

if command -v shellcheck >/dev/null; then
	# sourced files are looked at by themselves
	shellcheck --severity=warning --shell=bash --exclude=SC1091 dev .ci/run tools/*.sh tools/chroot/*.sh ||
		status=1
fi
exit $status
