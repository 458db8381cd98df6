# part.sh: for scripts that run a list of parts; to be sourced.
#
#   part NAME COMMAND...   runs it, prints how long it took, goes on after a
#                          failure
#   parts_done             prints all of them again; fails if one failed

part_lines=()
parts_failed=0

part() {
	local name=$1 start=$SECONDS result=passed
	shift
	echo "--- $name"
	"$@" || result=FAILED
	[ $result = passed ] || parts_failed=$((parts_failed + 1))
	part_lines+=("$(printf '%-7s %5d s  %s' $result $((SECONDS - start)) "$name")")
	echo "${part_lines[-1]}"
}

parts_done() {
	echo "=== $1"
	printf '%s\n' "${part_lines[@]}"
	echo "$((${#part_lines[@]} - parts_failed)) passed, $parts_failed failed"
	[ $parts_failed = 0 ]
}
