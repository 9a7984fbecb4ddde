# shellcheck shell=sh
# podman or docker, $ENGINE: what common.sh says of build, run and remove. The engine confines the run.

build() {
	"$ENGINE" build --iidfile digest --tag "$IMAGE" --file Containerfile "$@" context
}

# A container outlives the program that began it, unless it is stopped by name. Killed first, because podman lets it
# end by itself for 10 s. The volumes of its image, which have no name, go too. An engine that does not answer, such as
# a daemon that is restarted, knows of no container either.
remove() {
	timeout 30 "$ENGINE" kill "$NAME" >/dev/null 2>&1
	timeout 30 "$ENGINE" rm --force --volumes "$NAME" >/dev/null 2>&1 ||
		{ works && ! timeout 30 "$ENGINE" container inspect "$NAME" >/dev/null 2>&1; }
}

end() {
	trap '' TERM
	remove && rm -f name
}

run() {
	trap_end
	with_variables start "$IMAGE" "$@"
}

# start OPTION... IMAGE WORD...
start() {
	[ "$NETWORK" = on ] || set -- --network none "$@"
	"$ENGINE" run --name "$NAME" --env-file env --volume "$PWD/work:/work" \
		--security-opt no-new-privileges --cap-drop ALL --pids-limit "$PIDS" --cpus "$CPUS" \
		--memory "${MEMORY_MB}m" --memory-swap "${MEMORY_MB}m" "$@" &
	wait $!
	status=$?
	[ $status != 125 ] || mark_started
	exit $status
}

# 125 may also be the status of the command. A container that was not started has the zero time of Go, or is none.
mark_started() {
	case $(timeout 30 "$ENGINE" container inspect --format '{{.State.StartedAt}}' "$NAME" 2>/dev/null) in
	'' | 0001-*) ;;
	*) : >started ;;
	esac
}
