#!/bin/bash
# make.sh NAME
#
# Makes a Debian chroot that can build the library and run its tests, and
# leaves one alone that is there and up to date:
#   bookworm  PostgreSQL 15
#   forky     PostgreSQL 17 (from trixie), 18, and 19 (from experimental)
# Needs root, a Debian host and the mirror that the host's apt uses. Where
# experimental has no PostgreSQL 19, the chroot has none: run.sh tells.
#
# CPO_CHROOTS  where chroots live (default /var/cache/cpp_output-chroots)
set -euo pipefail
name=${1:?usage: make.sh bookworm|forky}
cache=${CPO_CHROOTS:-/var/cache/cpp_output-chroots}
case $name in
bookworm) versions=(15) suites=() ;;
forky) versions=(17 18 19) suites=(trixie experimental) ;;
*) echo "make.sh: no chroot is called '$name'" >&2; exit 2 ;;
esac
[ "$(id -u)" = 0 ] || { echo "make.sh: has to be run by root" >&2; exit 2; }

root=$cache/$name
stamp=$(sha256sum "$0" | cut -c1-16)
mkdir -p "$cache"
exec 9>"$cache/.$name.lock"
flock 9
if [ "$(cat "$root/.made-by" 2>/dev/null)" = "$stamp" ]; then
	echo "chroot $root is up to date"
	exit 0
fi

# Built beside and renamed at the end: what a crash leaves is never used.
rm -rf --one-file-system "$cache/.$name".tmp.*
new=$(mktemp -d "$cache/.$name.tmp.XXXXXX")
repository=$new.repository
trap 'rm -rf --one-file-system "$new" "$repository"' EXIT
log=$cache/$name.log

# --- the mirror: the host's ---------------------------------------------------

index() { # index AWK-CONDITION: address of the first matching index
	apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' |
		awk "$1"' { print $1; exit }'
}
mirror=$(index '$3 == "main" && $2 !~ /-/')
security=$(index '$3 == "main" && $2 ~ /-security$/')
[ -n "$mirror" ] || { echo "make.sh: the host's apt knows no mirror; run apt-get update" >&2; exit 1; }

# --- stand-ins for the compilers of the server's JIT --------------------------

# What the server packages depend on for JIT only: nearly 1 GB that
# with_llvm=no never touches.
mkdir "$repository"
for package in clang-14 llvm-14-dev libllvm14 clang-19 llvm-19-dev libllvm19 \
	clang-21 llvm-21-dev libllvm21; do
	tree=$repository/tree
	install -d -m 755 "$tree" "$tree/DEBIAN"
	cat >"$tree/DEBIAN/control" <<-END
		Package: $package
		Version: 9:0
		Architecture: all
		Multi-Arch: foreign
		Maintainer: nobody <nobody@localhost>
		Description: empty stand-in
	END
	dpkg-deb --root-owner-group -b "$tree" "$repository/$package.deb" >/dev/null
	{
		cat "$tree/DEBIAN/control"
		echo "Filename: ./$package.deb"
		echo "Size: $(stat -c %s "$repository/$package.deb")"
		echo "SHA256: $(sha256sum "$repository/$package.deb" | cut -d' ' -f1)"
		echo
	} >>"$repository/Packages"
	rm -r "$tree"
done
chmod -R a+rX "$repository"

# --- the chroot ---------------------------------------------------------------

bootstrap() { # bootstrap VERSION...
	local packages=(g++ make meson perl pkgconf procps
		libboost-dev libgtest-dev libipc-run-perl liblz4-dev libzstd-dev
		python3-psycopg2) version suite
	for version in "$@"; do
		packages+=("postgresql-$version" "postgresql-server-dev-$version")
		# a peer; there is none for 19 yet
		[ "$version" = 19 ] || packages+=("postgresql-$version-wal2json")
	done
	local sources=("deb $mirror $name main")
	if [ "$name" = bookworm ] && [ -n "$security" ]; then
		sources+=("deb $security $name-security main")
	fi
	for suite in "${suites[@]}"; do sources+=("deb $mirror $suite main"); done
	sources+=("deb [trusted=yes] copy:$repository ./")

	local options=(
		--mode=root --variant=apt
		--aptopt='APT::Install-Recommends "false"'
		--aptopt='Acquire::Retries "5"'
		--aptopt='Acquire::Languages "none"'
		--dpkgopt='path-exclude=/usr/share/doc/*'
		--dpkgopt='path-exclude=/usr/share/man/*'
		--dpkgopt='path-exclude=/usr/share/locale/*'
		--dpkgopt='path-exclude=/usr/lib/postgresql/*/lib/bitcode/*'
		--dpkgopt='path-exclude=/usr/lib/postgresql/*/lib/llvmjit*'
		--include="$(IFS=,; echo "${packages[*]}")"
		--setup-hook='mkdir -p "$1/etc/postgresql-common" "$1/etc/apt/preferences.d"'
		--setup-hook='echo "create_main_cluster = false" >"$1/etc/postgresql-common/createcluster.conf"'
		# trixie only for what forky lacks; experimental only for the one server
		--setup-hook='printf "Package: *\nPin: release n=trixie\nPin-Priority: 400\n\nPackage: src:postgresql-19\nPin: release a=experimental\nPin-Priority: 990\n" >"$1/etc/apt/preferences.d/suites"'
		--customize-hook='chroot "$1" useradd --create-home --uid 1500 --shell /bin/bash cpo_builder'
		--customize-hook='sed -i "/ copy:/d" "$1/etc/apt/sources.list"'
	)
	# a mirror frozen in time: go by the host's own choice
	local valid=
	eval "$(apt-config shell valid Acquire::Check-Valid-Until)"
	if [ "$valid" = false ]; then
		options+=(--aptopt='Acquire::Check-Valid-Until "false"' --aptopt='Acquire::Check-Date "false"')
	fi
	rm -rf --one-file-system "$new"
	mkdir -m 755 "$new"
	TMPDIR=$cache DEBIAN_FRONTEND=noninteractive \
		mmdebstrap "${options[@]}" "$name" "$new" "${sources[@]}" >"$log" 2>&1
}

start=$SECONDS made=no
for attempt in 1 2 3; do # the network may stall
	if bootstrap "${versions[@]}"; then
		made=yes
		break
	fi
	if grep -q 'Unable to locate package postgresql-.*19' "$log"; then
		echo "make.sh: experimental has no PostgreSQL 19: made without it" >&2
		versions=(17 18)
	else
		echo "make.sh: attempt $attempt failed" >&2
	fi
done
if [ $made = no ]; then
	tail -n 40 "$log" >&2
	echo "make.sh: $name failed, the whole log is $log" >&2
	exit 1
fi
for version in "${versions[@]}"; do
	chroot "$new" "/usr/lib/postgresql/$version/bin/postgres" --version
done

echo "$stamp" >"$new/.made-by"
rm -rf --one-file-system "$root"
mv "$new" "$root"
echo "chroot $root made in $((SECONDS - start)) s"
