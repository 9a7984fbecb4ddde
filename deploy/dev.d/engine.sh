# shellcheck shell=bash
# The Docker engine of the test part deploy: the one that answers, or else one of its own, in the folder of the tests; and the
# image that the others are built on, of the part k8s too.

# Start an engine in the folder DIR, unless one answers.
engine_start() {
	local dir=$1
	! docker info >/dev/null 2>&1 || return 0
	((EUID == 0)) || fail "no Docker engine answers" "" "Start one, or run this as root, which starts its own."
	say "engine: starting Docker in $dir"
	mkdir -p "$dir"
	export DOCKER_HOST=unix://$dir/docker.sock
	setsid dockerd --data-root "$dir/data" --exec-root "$dir/run" -H "$DOCKER_HOST" --pidfile "$dir/pid" \
		</dev/null >"$DEV/log/docker.log" 2>&1 9>&- 8>&- &
	ENGINE_PID=$!
	wait_until 60 engine_answers_or_ended "$ENGINE_PID" || fail "the Docker engine does not answer" "$DEV/log/docker.log"
	! has_ended "$ENGINE_PID" || fail "the Docker engine does not start" "$DEV/log/docker.log"
}

engine_answers_or_ended() {
	docker info >/dev/null 2>&1 || has_ended "$1"
}

# Stop the engine that engine_start() has started.
engine_stop() {
	[[ -n ${ENGINE_PID:-} ]] || return 0
	kill -TERM "$ENGINE_PID" 2>/dev/null || true
	wait_until 60 has_ended "$ENGINE_PID" || kill -KILL "$ENGINE_PID"
}

# Only root's podman gives pods a network that this machine reaches.
podman_check() {
	((EUID == 0)) || fail "the pods have a network that only root can make" "" "Run this as root."
}

# engine_base PROGRAM IMAGE DIR: have the image in docker or podman, from the registry or, where none can be reached, made of Debian's packages.
engine_base() {
	local program=$1 image=$2 dir=$3 suite
	! "$program" image inspect "$image" >/dev/null 2>&1 || return 0
	say "engine: fetching $image"
	! "$program" pull -q "$image" >/dev/null 2>&1 || return 0
	suite=${image##*debian:}
	suite=${suite%-slim}
	say "engine: no registry, making $image by debootstrap"
	as_root debootstrap --variant=minbase "$suite" "$dir/base" >"$DEV/log/debootstrap.log" 2>&1 ||
		fail "debootstrap failed" "$DEV/log/debootstrap.log"
	as_root tar -C "$dir/base" -c . | "$program" import - "$image" >/dev/null
	as_root rm -rf "$dir/base"
}
