# shellcheck shell=bash
# Building in build/KIND. KIND is release, debug, asan or tsan; with CC=clang the folder is build/KIND-clang.

build_name() {
	local suffix=
	[[ ${CC:-gcc} == gcc ]] || suffix=-${CC##*/}
	printf '%s%s' "$1" "$suffix"
}

build_dir() {
	printf '%s/build/%s' "$ROOT" "$(build_name "$1")"
}

# Builds of several kinds may go on at the same time.
build_log() {
	printf '%s/log/build-%s.log' "$DEV" "$(build_name "$1")"
}

build_options() {
	case $1 in
	release) echo --buildtype=release -Ddebug=true ;;
	debug) echo --buildtype=debug ;;
	asan) echo --buildtype=debug -Doptimization=1 -Dwerror=false -Db_lundef=false -Db_sanitize=address,undefined ;;
	tsan) echo --buildtype=debug -Doptimization=1 -Dwerror=false -Db_lundef=false -Db_sanitize=thread ;;
	*) fail "unknown BUILD=$1" "" "BUILD is release, debug, asan or tsan." ;;
	esac
}

# Configure the build folder, unless it is configured with these options already. What is built without the tests is also built
# where they are enabled, so that `build` and `test` of one folder do not configure it in turns.
build_configure() {
	local kind=$1 dir options has again=() log
	dir=$(build_dir "$kind")
	log=$(build_log "$kind")
	options="$(build_options "$kind") $2"
	has=$(cat "$dir/.options" 2>/dev/null) || true
	if [[ -f $dir/build.ninja && ($has == "$options" || $has == "${options/-Dtests=auto/-Dtests=enabled}") ]]; then
		return
	fi
	[[ ! -f $dir/build.ninja ]] || again=(--reconfigure)
	# The compiler is named, or Meson would put ccache before it where it finds one, which a later PATH may not have. A ccache that takes
	# the compiler's place in PATH works.
	# shellcheck disable=SC2086
	CC=${CC:-cc} /usr/bin/meson setup "${again[@]}" $options "$dir" "$ROOT" >"$log" 2>&1 ||
		fail "meson could not configure $dir" "$log" "Remove $dir and try again."
	printf '%s' "$options" >"$dir/.options"
}

# The console, in .dev/console. Without it everything else works.
console_build() {
	if ! command -v npm >/dev/null; then
		say "console: npm is missing, so there is none"
	elif "$ROOT/gateway/console/build" "$DEV/console" >"$DEV/log/console.log" 2>&1; then
		say "console: in .dev/console"
	else
		say "console: it could not be built, so there is none: see .dev/log/console.log"
	fi
}

# Where the console is, and how to log in.
console_say() {
	[[ -f $DEV/console/manifest.json ]] || return 0
	printf '\n  The console: %s/console/\n' "${SETTINGS[EXPOPS_URL]}"
	printf '  To log in, paste EXPOPS_KEY of .dev/env: %s\n\n' "${SETTINGS[EXPOPS_KEY]}"
}

# build KIND MESON_OPTIONS TARGET...: without targets, build everything.
build() {
	local kind=$1 options=$2 dir log
	shift 2
	dir=$(build_dir "$kind")
	log=$(build_log "$kind")
	say "build: $kind, in ${dir#"$ROOT"/}"
	mkdir -p "$dir"
	exec 8>"$dir/.lock"
	flock -n 8 || say "build: waiting for another build in ${dir#"$ROOT"/}"
	flock 8
	build_configure "$kind" "$options"
	if [[ -t 1 ]]; then
		ninja -C "$dir" "$@" || fail "the build failed" "" "See the first error above."
	elif ! ninja -C "$dir" "$@" >"$log" 2>&1; then
		grep -A 12 -m 1 '^FAILED' "$log" | grep -v '^cc \|^clang ' >"$log.error" || cp "$log" "$log.error"
		fail "the build failed" "$log.error" "The whole log: ${log#"$ROOT"/}"
	fi
	exec 8>&-
}
