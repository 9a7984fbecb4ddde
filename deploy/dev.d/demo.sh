# shellcheck shell=bash
# The code host of `deploy/dev demo`: the tests' counterpart (tests/lib/outside/code_host), which runs beside the cluster. DEV/demo has its
# configuration, and NAME.env the settings of the processes that use it.

counterpart_pid() {
	local pid
	pid=$(cat "$DEV/run/code_host.pid" 2>/dev/null) || true
	! is_running "$pid" node || printf '%s' "$pid"
}

counterpart_answers_or_ended() {
	has_ended "$1" || curl -fs -o /dev/null --max-time 2 "${SETTINGS[CODE_HOST_URL]}/_control/health"
}

# demo_run COMMAND: run demo.py.
demo_run() {
	EXPOPS_URL=${SETTINGS[EXPOPS_URL]} CODE_HOST_PORT=${SETTINGS[CODE_HOST_PORT]} TRACKER_PORT=${SETTINGS[TRACKER_PORT]} \
		MODEL_PORT=${SETTINGS[MODEL_PORT]} "$PYTHON" -B "$HERE/demo.py" "$1" "$DEV/demo" 9>&-
}

# Start the code host and configure the processes for it.
counterpart_up() {
	local pid
	if [[ -z $(counterpart_pid) ]]; then
		port_choose CODE_HOST_PORT 18800
		port_choose TRACKER_PORT 18800
	fi
	port_choose MODEL_PORT 18800
	SETTINGS[CODE_HOST_URL]=http://127.0.0.1:${SETTINGS[CODE_HOST_PORT]}
	settings_save
	(umask 077 && mkdir -p "$DEV/demo" && demo_run configure) || fail "could not configure the code host of the demo"
	[[ -z $(counterpart_pid) ]] || return 0
	pid=$(
		exec 9>&- 8>&- 7<&- # the locks
		setsid node "$ROOT/tests/lib/outside/code_host/main.mjs" --config "$DEV/demo/code_host.json" </dev/null >>"$DEV/log/code_host.log" 2>&1 &
		echo $!
	)
	echo "$pid" >"$DEV/run/code_host.pid"
	wait_until 60 counterpart_answers_or_ended "$pid" || fail "the code host does not answer" "$DEV/log/code_host.log"
	! has_ended "$pid" || fail "the code host has ended" "$DEV/log/code_host.log"
	say "code host: ready on port ${SETTINGS[CODE_HOST_PORT]}"
}

counterpart_down() {
	local pid
	pid=$(counterpart_pid)
	[[ -z $pid ]] || server_stop "the code host" "$pid" TERM
	rm -f "$DEV/run/code_host.pid"
}
