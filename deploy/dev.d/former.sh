# shellcheck shell=bash
# The former version, for the test part upgrade: deploy/former names it, it is built in build/former/KIND from its own source in
# build/former/source.

FORMER=$ROOT/build/former

# Settings that this version needs and the former one did not have: none now, and it has no secrets for the services that only this
# version calls, so its commands know no other service. AGENT_COMMANDS has another form now, so they take its default.
FORMER_LACKS=(-u AGENT_COMMANDS SEARCH_URL= INTERESTS_URL= EXPERIMENTS_URL= INTEGRATIONS_URL= FLEET_URL= EVALENV_URL=)

former_source() {
	local name commit
	name=$(grep -v '^#' "$ROOT/deploy/former")
	commit=$(git -C "$ROOT" rev-parse --verify --quiet "$name^{commit}") ||
		fail "the former version is not in this clone: $name" "" "Fetch the history: git fetch --unshallow"
	[[ $(cat "$FORMER/commit" 2>/dev/null) != "$commit" ]] || return 0
	rm -rf "$FORMER"
	mkdir -p "$FORMER/source"
	git -C "$ROOT" archive "$commit" | tar -x -C "$FORMER/source"
	echo "$commit" >"$FORMER/commit"
}

# former_build KIND
former_build() {
	local kind=$1 options log=$DEV/log/former.log
	options=$(build_options "$kind")
	former_source
	say "build: the former version, $kind, in build/former/$kind"
	# shellcheck disable=SC2086
	[[ -f $FORMER/$kind/build.ninja ]] || /usr/bin/meson setup $options -Dtests=enabled "$FORMER/$kind" "$FORMER/source" \
		>"$log" 2>&1 || fail "meson could not configure the former version" "$log"
	ninja -C "$FORMER/$kind" >"$log" 2>&1 || fail "the former version could not be built" "$log"
	[[ ! -d $ROOT/tests/node_modules ]] || ln -sfn "$ROOT/tests/node_modules" "$FORMER/source/tests/node_modules"
}

# former_wrap KIND NEXT: in build/former/wrapped, programs of the former version that find the schema as the build NEXT makes it of
# theirs: each first lets itself and then its successor migrate.
former_wrap() {
	local kind=$1 next=$2 name path wrapped=$FORMER/wrapped
	mkdir -p "$wrapped/deploy"
	ln -sfn "$FORMER/$kind/tests" "$wrapped/tests"
	for name in "${PROCESSES[@]}"; do
		path=$wrapped/deploy/$name
		[[ -x $FORMER/$kind/deploy/$name ]] || continue
		cat >"$path" <<-END
			#!/bin/bash
			if [[ -n \${DATABASE_URL:-} ]]; then
				"$FORMER/$kind/deploy/$name" dead list >/dev/null || exit
				env ${FORMER_LACKS[*]} "$next/deploy/$name" dead list >/dev/null || exit
			fi
			exec "$FORMER/$kind/deploy/$name" "\$@"
		END
		chmod +x "$path"
	done
}
