# shellcheck shell=bash
# The packages that must be installed, by purpose. `a|b`: one of the two is enough; if both are missing, the first is
# installed.

PACKAGES_BUILD=(
	gcc libc6-dev meson ninja-build pkgconf python3 python3-yaml
	libuv1-dev libllhttp-dev libpq-dev libhiredis-dev 'libcurl4-openssl-dev|libcurl4-gnutls-dev' libmbedtls-dev
	libyyjson-dev libboost-context-dev libstemmer-dev libroaring-dev zlib1g-dev libexpat1-dev libxml2-dev libutf8proc-dev uthash-dev
	libsodium-dev ca-certificates
)
PACKAGES_SERVERS=(postgresql redis-server)
PACKAGES_RUN=(curl jq python3)
PACKAGES_TEST=(
	libcmocka-dev shellcheck gdb pgbouncer iptables zsh fish
	'buildah|podman|docker.io'
	python3-pytest python3-pytest-xdist python3-opentelemetry-proto python3-feedparser python3-prov
	chromium fonts-dejavu-core # for the pages of the console
)
# For the programs that stand in for outside services, in tests and in the demo.
PACKAGES_COUNTERPARTS=(
	git xz-utils python3-httpx python3-jsonschema python3-yaml python3-psycopg python3-redis python3-cryptography
	python3-aiosmtpd
)

PACKAGES_PICTURES=(chromium fonts-dejavu-core pngquant)

# Of the test part deploy: a Docker engine, a base image where no registry can be reached, what checks the manifests, and what
# makes requests.
PACKAGES_DEPLOY=(
	docker.io iptables docker-compose debootstrap git kubernetes-client python3-kubernetes python3-pytest python3-yaml
	python3-httpx python3-jsonschema python3-psycopg python3-redis curl jq
)

# Of the test part k8s, which is for Debian 13: what podman has its pods and their network by, and what checks and makes requests.
PACKAGES_K8S=(
	podman crun netavark aardvark-dns catatonit iptables nftables debootstrap git kubernetes-client python3-kubernetes python3-pytest
	python3-yaml python3-httpx python3-jsonschema curl jq
)

# On Debian 12 these are installed from Debian 13: Debian 12 has none or, of the second list, old versions.
PACKAGES_FROM_13=(libllhttp-dev libyyjson-dev python3-opentelemetry-proto)
PACKAGES_NEWER_IN_13=(docker-compose kubernetes-client python3-kubernetes)

debian_version() {
	# shellcheck source=/dev/null
	(. /etc/os-release && [[ $ID == debian ]] && printf '%s' "${VERSION_ID%%.*}") || true
}

# is_foreign PROGRAM: it is there, and no package has its name.
is_foreign() {
	command -v "$1" >/dev/null && ! dpkg -s "$1" >/dev/null 2>&1
}

# packages_of build|image|servers|up|demo|pictures|test|deploy|k8s: the names of the packages. The tree is formatted with Debian 12's clang-format; on other
# systems that check is skipped.
packages_of() {
	case $1 in
	build)
		printf '%s\n' "${PACKAGES_BUILD[@]}"
		[[ -z ${CC:-} ]] || is_foreign "${CC##*/}" || printf '%s\n' "${CC##*/}"
		;;
	image)
		packages_of build
		printf '%s\n' nodejs npm
		;;
	servers)
		printf '%s\n' "${PACKAGES_SERVERS[@]}"
		# Postgres has the system's time zones. Those that were renamed, such as Asia/Calcutta, are a package of their own there.
		[[ $(debian_version) != 13 ]] || printf '%s\n' tzdata-legacy
		;;
	up)
		packages_of build
		packages_of servers
		printf '%s\n' "${PACKAGES_RUN[@]}"
		command -v npm >/dev/null || printf '%s\n' nodejs npm
		;;
	demo)
		packages_of up
		printf '%s\n' "${PACKAGES_COUNTERPARTS[@]}"
		;;
	pictures)
		packages_of demo
		printf '%s\n' "${PACKAGES_PICTURES[@]}"
		;;
	test)
		packages_of demo
		printf '%s\n' "${PACKAGES_TEST[@]}"
		[[ $(debian_version) != 12 ]] || printf '%s\n' clang-format-14
		[[ $(debian_version) != 13 ]] || printf '%s\n' crun netavark # buildah only recommends them, and does not work without them
		;;
	deploy) printf '%s\n' "${PACKAGES_DEPLOY[@]}" ;;
	k8s) printf '%s\n' "${PACKAGES_K8S[@]}" ;;
	esac
}

# Print the arguments that are not installed.
packages_missing() {
	local installed package choice found
	installed=" $(dpkg-query -W -f '${Package}:${db:Status-Status} ' 2>/dev/null || true)"
	for package in "$@"; do
		found=
		for choice in ${package//|/ }; do
			[[ $installed == *" $choice:installed "* ]] && found=1
		done
		[[ -n $found ]] || printf '%s\n' "${package%%|*}"
	done
}

write_as_root() {
	as_root mkdir -p "$(dirname "$1")"
	as_root tee "$1" >/dev/null
}

# Add Debian 13 as a package source with a lower priority, so that only packages that Debian 12 lacks come from it.
packages_add_13() {
	local uri
	if grep -rqsE '^(Suites:|deb ).*\btrixie\b' /etc/apt/sources.list /etc/apt/sources.list.d/; then
		return
	fi
	# shellcheck disable=SC2016 # apt's own placeholder
	uri=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' 2>/dev/null | head -n 1)
	write_as_root /etc/apt/preferences.d/expops-trixie <<-END
		Package: *
		Pin: release n=trixie
		Pin-Priority: 100
	END
	write_as_root /etc/apt/sources.list.d/expops-trixie.sources <<-END
		Types: deb
		URIs: ${uri:-http://deb.debian.org/debian}
		Suites: trixie
		Components: main
		Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
	END
}

packages_advice() {
	case $(debian_version) in
	12 | 13) echo "Check the network, the disk and the sources in /etc/apt, then try again." ;;
	*) echo "The package names are those of Debian 12 and 13; this is another system." ;;
	esac
}

packages_apt() {
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 \
		-o Dpkg::Use-Pty=0 -o Acquire::Retries=3 "$@" </dev/null >>"$DEV/log/packages.log" 2>&1 9>&- 8>&- ||
		fail "apt-get $1 failed" "$DEV/log/packages.log" "$(packages_advice)"
}

packages_install() {
	local name names=()
	for name in "$@"; do
		if [[ $(debian_version) == 12 && " ${PACKAGES_FROM_13[*]} ${PACKAGES_NEWER_IN_13[*]} " == *" $name "* ]]; then
			packages_add_13
		fi
		if [[ $(debian_version) == 12 && " ${PACKAGES_NEWER_IN_13[*]} " == *" $name "* ]]; then
			names+=("$name/trixie")
		else
			names+=("$name")
		fi
		# deploy/dev runs a private Postgres, so the package must not create and start its default cluster.
		if [[ $name == postgresql && ! -e /etc/postgresql-common/createcluster.d/no-main.conf ]]; then
			echo 'create_main_cluster = false' |
				write_as_root /etc/postgresql-common/createcluster.d/no-main.conf
		fi
	done
	packages_apt update
	packages_apt install --no-install-recommends "${names[@]}"
}

# packages_ensure build|up|demo|test|deploy|k8s
packages_ensure() {
	local required missing
	if ! command -v dpkg-query >/dev/null; then
		say "packages: not a Debian system, nothing is installed"
		return
	fi
	required=$(packages_of "$1" | sort -u)
	mapfile -t required <<<"$required"
	mapfile -t missing < <(packages_missing "${required[@]}")
	if ((${#missing[@]} == 0)); then
		say "packages: all ${#required[@]} are installed"
		return
	fi
	say "packages: installing ${#missing[@]} of ${#required[@]}: ${missing[*]}"
	packages_install "${missing[@]}"
}

# The packages of a purpose with all that they depend on, and what each Debian has.
packages_closure() {
	local required package choice chosen=()
	mapfile -t required < <(packages_of "$1" | sort -u)
	for package in "${required[@]}"; do
		for choice in ${package//|/ }; do
			! dpkg -s "$choice" >/dev/null 2>&1 || chosen+=("$choice")
		done
	done
	{
		dpkg-query -W -f '${Priority} ${Package}\n' | sed -n 's/^required //p'
		apt-cache depends --recurse --installed --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
			--no-enhances "${chosen[@]}" | grep -E '^[a-z0-9]'
	} | sort -u
}

# packages_isolate PURPOSE: leave in PATH only the programs of those packages, a Node and the compiler CC, which need not be Debian's.
# So a test fails where the tree needs a program that nobody has listed above, also on a machine that has it.
packages_isolate() {
	local dir=$DEV/path program target
	local -A programs=()
	rm -rf "$dir"
	mkdir -p "$dir"
	packages_closure "$1" >"$DEV/packages"
	{ cat "$DEV/packages" && packages_closure deploy; } >"$DEV/packages-any"
	while IFS= read -r program; do
		programs[$program]=1
	done < <(xargs dpkg -L <"$DEV/packages" 2>/dev/null | grep -E '^(/usr)?/s?bin/[^/]+$')
	# /usr/bin/cc and its like: a link of the system to a program of one of the packages.
	for program in /etc/alternatives/*; do
		target=$(readlink "$program") || continue
		[[ -z ${programs[$target]:-} ]] || programs[$program]=1
	done
	for program in node npm npx "${CC:-cc}"; do
		program=$(command -v "$program") && programs[$program]=1
	done
	printf '%s\n' "${!programs[@]}" | xargs ln -sft "$dir"
	export PATH=$dir
}

# packages_check_files BUILD_DIR: after packages_isolate(). The tree also holds the tests of the part deploy.
packages_check_files() {
	"$PYTHON" -B "$HERE/used_packages.py" "$ROOT" "$1" "$DEV/packages-any" || fail "the tree needs packages that are not installed by deploy/dev"
}

# Set PROMTOOL to Debian's promtool. The package prometheus would start a server, so only its program is taken.
promtool_ensure() {
	local dir=$DEV/promtool
	PROMTOOL=$(command -v promtool || echo "$dir/usr/bin/promtool")
	export PROMTOOL
	[[ ! -x $PROMTOOL ]] || return 0
	say "packages: fetching promtool"
	promtool_fetch "$dir" || { packages_apt update && promtool_fetch "$dir"; } ||
		fail "the package prometheus cannot be fetched" "$DEV/log/promtool.log" "$(packages_advice)"
}

promtool_fetch() {
	rm -rf "$1"
	mkdir -p "$1"
	(cd "$1" && apt-get -q download prometheus && dpkg -x prometheus_*.deb . && rm prometheus_*.deb) >"$DEV/log/promtool.log" 2>&1
}
