# shellcheck shell=bash
# shellcheck disable=SC2034
# Paths and functions that all parts of deploy/dev use.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
DEV=$ROOT/.dev
PYTHON=/usr/bin/python3 # Debian's own, which finds Debian's Python packages

# Print one line of progress with the seconds since the start.
say() {
	printf '[%3d s] %s\n' "$SECONDS" "$*"
}

# Copy text so that a terminal obeys nothing in it. The first packages may be missing.
shown() {
	if [[ -x $PYTHON ]]; then
		"$PYTHON" -B "$ROOT/deploy/dev.d/terminal.py"
	else
		cat -v
	fi
}

# fail WHAT [LOG] [ADVICE]: print what failed, the end of the log and the advice; exit with 1.
fail() {
	local what=$1 log=${2:-} advice=${3:-}
	{
		printf '\ndeploy/dev: %s\n' "$what"
		if [[ -n $log && -s $log ]]; then
			printf '\nThe end of %s:\n' "${log#"$ROOT"/}"
			tail -n 15 "$log" | shown | sed 's/^/    /'
		fi
		[[ -z $advice ]] || printf '\n%s\n' "$advice"
	} >&2
	exit 1
}

# as_root COMMAND...: run it as root, with sudo if this user is not root.
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

# is_running PID NAME: the process runs and its program is NAME.
is_running() {
	local exe
	[[ -n $1 ]] && exe=$(readlink "/proc/$1/exe" 2>/dev/null) && [[ ${exe% (deleted)} == */"$2" ]]
}

# wait_until SECONDS COMMAND...: repeat the command every 50 ms until it succeeds. False: time-out.
wait_until() {
	local deadline=$((SECONDS + $1))
	shift
	until "$@"; do
		((SECONDS < deadline)) || return 1
		sleep 0.05
	done
}

# has_ended PID: the process has ended. This includes zombies, because in a container they may never be reaped.
has_ended() {
	! readlink "/proc/$1/exe" >/dev/null 2>&1
}

# read_rows FILE: its lines without comments and blank lines.
read_rows() {
	sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$1"
}
