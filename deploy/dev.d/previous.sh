# shellcheck shell=bash
# The previous version, for the test part upgrade: the newest tag of another version, or, where there is none, what deploy/previous names.
# It is built in build/previous/KIND from its own source in build/previous/source.

PREVIOUS=$ROOT/build/previous

# Settings that this version needs and the previous one did not have: none now, and it has no secrets for the services that only this
# version calls, so its commands know no other service. AGENT_COMMANDS has another form now, so they take its default.
PREVIOUS_LACKS=(-u AGENT_COMMANDS GATEWAY_URL= SEARCH_URL= INTERESTS_URL= EXPERIMENTS_URL= INTEGRATIONS_URL= FLEET_URL= EVALENV_URL=)

# The newest tag vN.N.N before this commit that is not of the version of meson.build, or the name in deploy/previous.
previous_name() {
	local version tag
	version=$(sed -n "s/^  version: '\([^']*\)'.*/\1/p" "$ROOT/meson.build")
	tag=$(git -C "$ROOT" tag --merged HEAD --sort=-version:refname --list 'v[0-9]*.[0-9]*.[0-9]*' | grep -vx "v$version" | head -n 1) || true
	printf '%s\n' "${tag:-$(grep -v '^#' "$ROOT/deploy/previous")}"
}

previous_source() {
	local name commit
	name=$(previous_name)
	commit=$(git -C "$ROOT" rev-parse --verify --quiet "$name^{commit}") ||
		fail "the previous version is not in this clone: $name" "" "Fetch the history: git fetch --unshallow"
	[[ $(cat "$PREVIOUS/commit" 2>/dev/null) != "$commit" ]] || return 0
	rm -rf "$PREVIOUS"
	mkdir -p "$PREVIOUS/source"
	git -C "$ROOT" archive "$commit" | tar -x -C "$PREVIOUS/source"
	echo "$commit" >"$PREVIOUS/commit"
}

# previous_build KIND
previous_build() {
	local kind=$1 options log=$DEV/log/previous.log
	options=$(build_options "$kind")
	previous_source
	say "build: the previous version, $kind, in build/previous/$kind"
	# shellcheck disable=SC2086
	[[ -f $PREVIOUS/$kind/build.ninja ]] || /usr/bin/meson setup $options -Dtests=enabled "$PREVIOUS/$kind" "$PREVIOUS/source" \
		>"$log" 2>&1 || fail "meson could not configure the previous version" "$log"
	ninja -C "$PREVIOUS/$kind" >"$log" 2>&1 || fail "the previous version could not be built" "$log"
	[[ ! -d $ROOT/tests/node_modules ]] || ln -sfn "$ROOT/tests/node_modules" "$PREVIOUS/source/tests/node_modules"
}

# previous_wrap KIND NEXT: in build/previous/wrapped, programs of the previous version that find the schema as the build NEXT makes it of
# theirs: each first lets itself and then its successor migrate. Its servers have the roles, the audit log and the users of this version, as an
# operator makes them before an upgrade.
previous_wrap() {
	local kind=$1 next=$2 name path wrapped=$PREVIOUS/wrapped
	mkdir -p "$wrapped/deploy"
	ln -sfn "$PREVIOUS/$kind/tests" "$wrapped/tests"
	for name in init.sql audit.sql redis-acl; do
		ln -sfn "$ROOT/deploy/$name" "$PREVIOUS/source/deploy/$name"
	done
	for name in "${PROCESSES[@]}"; do
		path=$wrapped/deploy/$name
		[[ -x $PREVIOUS/$kind/deploy/$name ]] || continue
		cat >"$path" <<-END
			#!/bin/bash
			if [[ -n \${DATABASE_URL:-} ]]; then
				"$PREVIOUS/$kind/deploy/$name" dead list >/dev/null || exit
				env ${PREVIOUS_LACKS[*]} "$next/deploy/$name" dead list >/dev/null || exit
			fi
			exec "$PREVIOUS/$kind/deploy/$name" "\$@"
		END
		chmod +x "$path"
	done
}
