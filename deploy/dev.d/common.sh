# shellcheck shell=bash
# shellcheck disable=SC2034
# Words that every part of deploy/dev uses: where things are, how it speaks, how it fails.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
DEV=$ROOT/.dev
PYTHON=/usr/bin/python3 # Debian's, which sees Debian's packages

# One line of progress, with the seconds since the start.
say() {
	printf '[%3d s] %s\n' "$SECONDS" "$*"
}

# fail WHAT [LOG] [ADVICE]: say what failed, show the end of its log, say what to do, and leave.
fail() {
	local what=$1 log=${2:-} advice=${3:-}
	{
		printf '\ndeploy/dev: %s\n' "$what"
		if [[ -n $log && -s $log ]]; then
			printf '\nThe end of %s:\n' "${log#"$ROOT"/}"
			tail -n 15 "$log" | sed 's/^/    /'
		fi
		[[ -z $advice ]] || printf '\n%s\n' "$advice"
	} >&2
	exit 1
}

# as_root COMMAND...: run it as root, by sudo where we are somebody else.
as_root() {
	if ((EUID == 0)); then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		fail "this needs root: $*" "" "Run deploy/dev as root, or install sudo."
	fi
}

random_hex() {
	od -An -N "$1" -tx1 /dev/urandom | tr -d ' \n'
}

# is_running PID NAME: the process lives and is what we think it is.
is_running() {
	local exe
	[[ -n $1 ]] && exe=$(readlink "/proc/$1/exe" 2>/dev/null) && [[ ${exe% (deleted)} == */"$2" ]]
}

# wait_until SECONDS COMMAND...: try it every 50 ms until it succeeds.
wait_until() {
	local deadline=$((SECONDS + $1))
	shift
	until "$@"; do
		((SECONDS < deadline)) || return 1
		sleep 0.05
	done
}

# A zombie counts as gone: in a container nobody may ever reap it.
is_gone() {
	! readlink "/proc/$1/exe" >/dev/null 2>&1
}

# read_rows FILE: its lines without comments and blank ones.
read_rows() {
	sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$1"
}
