# environment.sh: what ./dev and its tools share; to be sourced in the root of
# the tree.

# The server: PG_CONFIG if set, else the distribution's, else the newest.
if [ -z "${PG_CONFIG:-}" ]; then
	case $(. /etc/os-release && echo "${ID:-}${VERSION_ID:-}") in
	debian12) PG_MAJOR=15 ;;
	debian13) PG_MAJOR=17 ;;
	*) PG_MAJOR=$(ls /usr/lib/postgresql 2>/dev/null | sort -n | tail -1) ;;
	esac
	PG_CONFIG=/usr/lib/postgresql/$PG_MAJOR/bin/pg_config
else
	PG_MAJOR=$("$PG_CONFIG" --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')
fi
export PG_CONFIG PG_MAJOR

# packages GROUP...: installs what is missing of these groups.
packages() {
	local group name missing=()
	for group in "$@"; do
		for name in $(package_group "$group"); do
			dpkg-query -W -f '${Status}' "$name" 2>/dev/null | grep -q 'ok installed' ||
				missing+=("$name")
		done
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	local sudo=()
	[ "$(id -u)" = 0 ] || sudo=(sudo)
	echo "dev: installing ${missing[*]}"
	"${sudo[@]}" apt-get -qq -o Acquire::Retries=5 update
	"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=5 \
		-o Dpkg::Use-Pty=0 install -y --no-install-recommends "${missing[@]}" >/dev/null
}

package_group() {
	case $1 in
	build)
		echo g++ make pkg-config rsync libboost-dev liblz4-dev libzstd-dev \
			"postgresql-$PG_MAJOR" "postgresql-server-dev-$PG_MAJOR"
		;;
	test)
		echo libgtest-dev libipc-run-perl meson python3 python3-psycopg2 valgrind \
			"postgresql-$PG_MAJOR-wal2json"
		;;
	bench) echo libbenchmark-dev valgrind "postgresql-$PG_MAJOR-decoderbufs" ;;
	consumers) type node npm >/dev/null 2>&1 || echo nodejs npm ;;
	clang) echo clang libclang-rt-dev ;;
	lint) echo clang-format clang-tidy shellcheck ;;
	chroot) echo mmdebstrap iproute2 rsync util-linux ;;
	esac
}

# unprivileged COMMAND...: runs it in this tree, or, run by root, as
# cpo_builder in a copy of the tree that keeps what was built before. The
# server refuses to run as root.
unprivileged() {
	if [ "$(id -u)" != 0 ]; then
		"$@"
		return
	fi
	local user=cpo_builder home copy
	id -u $user >/dev/null 2>&1 || useradd --create-home --shell /bin/bash $user
	home=$(getent passwd $user | cut -d: -f6)
	copy=$home$PWD
	install -d -o $user -g $user "$copy"
	# what git ignores is neither copied nor deleted there
	rsync -a --delete --exclude=.git --filter=':- .gitignore' --chown=$user:$user ./ "$copy/"
	(cd "$copy" && runuser -u $user -- env HOME="$home" USER=$user LOGNAME=$user "$@")
}

# bring_back PATH...: what a command run by unprivileged wrote in its copy.
bring_back() {
	[ "$(id -u)" = 0 ] || return 0
	local path home
	home=$(getent passwd cpo_builder | cut -d: -f6)
	for path in "$@"; do
		[ ! -e "$home$PWD/$path" ] || rsync -r --times "$home$PWD/$path" "$(dirname "$path")/"
	done
}
