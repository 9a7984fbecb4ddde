# shellcheck shell=sh
# What the engines share. A script of builder.c has ENGINE=NAME in front, then the files of that engine, and behind
# them the call of one of these functions:
#
#   works           whether the engine answers
#   build OPTION... makes $IMAGE of Containerfile and context/, and leaves its digest in `digest`
#   run WORD...     runs the command WORD... in a container $NAME of $IMAGE and ends with its exit status, or with 125: it
#                   was not started, unless there is a file `started`
#   remove          removes the container $NAME and what runs in it; fails only if it may still be there
#
# An engine's own files define all but the first, and `end`, which removes what a run has made. The variables and
# files that a build and a run have are those of BUILD_COMMAND and RUN_COMMAND (svc-evalenv/README.md). The file
# `name` says that there may be a container (leftover.h); it is removed with it.

works() {
	timeout 30 "$ENGINE" version >/dev/null 2>&1
}

# From here on `end` is called when the shell ends. timeout(1) sends SIGTERM to the shell, and then to its group: one
# that comes while the shell begins to exit would end it before the trap of its end has run.
trap_end() {
	trap end EXIT
	trap 'trap "" TERM; exit 143' TERM
}

# with_variables COMMAND WORD...: COMMAND with the variables of env.d, those of several lines, as options before the
# words.
with_variables() {
	command=$1
	shift
	for file in env.d/*; do
		[ -e "$file" ] || continue
		value=$(cat "$file" && printf .) # `$()` drops line feeds at the end, so a dot is behind them
		set -- --env "${file##*/}=${value%.}" "$@"
	done
	"$command" "$@"
}
