#!/bin/bash
# fmt.sh [--check]: formats the sources, or fails where one is not formatted.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t files < <(find src test bench -name '*.c' -o -name '*.h' -o -name '*.cc' | sort)
if [ "${1:-}" = --check ]; then
	clang-format --dry-run -Werror "${files[@]}"
else
	clang-format -i "${files[@]}"
fi
