# shellcheck shell=bash
# What stands in for outside services in `deploy/dev demo`, beside the cluster: the tests' code host (tests/lib/outside/code_host) and
# their model providers. DEV/demo has their configuration, and NAME.env the settings of the processes that use them.

COUNTERPARTS=(code_host models)

counterpart_pid() {
	local pid
	pid=$(cat "$DEV/run/$1.pid" 2>/dev/null) || true
	! is_running "$pid" "$(counterpart_program "$1")" || printf '%s' "$pid"
}

# The name of the program of a counterpart, as the system shows it.
counterpart_program() {
	case $1 in
	code_host) echo node ;;
	models) basename "$(readlink -f "$PYTHON")" ;;
	esac
}

counterpart_url() {
	case $1 in
	code_host) echo "${SETTINGS[CODE_HOST_URL]}/_control/health" ;;
	models) echo "http://127.0.0.1:${SETTINGS[MODEL_PORT]}/" ;;
	esac
}

# counterpart_answers_or_ended NAME PID: for wait_until. Any answer will do.
counterpart_answers_or_ended() {
	has_ended "$2" || curl -s -o /dev/null --max-time 2 "$(counterpart_url "$1")"
}

# demo_run COMMAND: run demo.py.
demo_run() {
	EXPOPS_URL=${SETTINGS[EXPOPS_URL]} CODE_HOST_PORT=${SETTINGS[CODE_HOST_PORT]} TRACKER_PORT=${SETTINGS[TRACKER_PORT]} \
		MODEL_PORT=${SETTINGS[MODEL_PORT]} MAIL_PORT=${SETTINGS[MAIL_PORT]} "$PYTHON" -B "$HERE/demo.py" "$1" "$DEV/demo" 9>&-
}

# counterpart_start NAME COMMAND...: unless it runs.
counterpart_start() {
	local name=$1 log=$DEV/log/$1.log pid
	shift
	[[ -z $(counterpart_pid "$name") ]] || return 0
	pid=$(
		exec 9>&- 8>&- 7<&- # the locks
		setsid "$@" </dev/null >>"$log" 2>&1 &
		echo $!
	)
	echo "$pid" >"$DEV/run/$name.pid"
	wait_until 60 counterpart_answers_or_ended "$name" "$pid" || fail "$name does not answer" "$log"
	! has_ended "$pid" || fail "$name has ended" "$log"
}

# Start them, and configure the processes for them.
counterparts_up() {
	if [[ -z $(counterpart_pid code_host) ]]; then
		port_choose CODE_HOST_PORT 18800
		port_choose TRACKER_PORT 18800
	fi
	[[ -n $(counterpart_pid models) ]] || port_choose MODEL_PORT 18800
	port_choose MAIL_PORT 18800
	SETTINGS[CODE_HOST_URL]=http://127.0.0.1:${SETTINGS[CODE_HOST_PORT]}
	settings_save
	(umask 077 && mkdir -p "$DEV/demo" && demo_run configure) || fail "could not configure the code host of the demo"
	counterpart_start code_host node "$ROOT/tests/lib/outside/code_host/main.mjs" --config "$DEV/demo/code_host.json"
	MODEL_PORT=${SETTINGS[MODEL_PORT]} counterpart_start models "$PYTHON" -B "$HERE/demo.py" models "$DEV/demo"
	say "code host: ready on port ${SETTINGS[CODE_HOST_PORT]}; model providers: on port ${SETTINGS[MODEL_PORT]}"
}

counterparts_down() {
	local name pid
	for name in "${COUNTERPARTS[@]}"; do
		pid=$(counterpart_pid "$name")
		[[ -z $pid ]] || server_stop "$name" "$pid" TERM
		rm -f "$DEV/run/$name.pid"
	done
}

# Print commands that show what the story has left.
demo_commands() {
	cat <<-'END'

		  To see what it has left:

		    . .dev/env && demo() { curl -sS -H "Authorization: Bearer $EXPOPS_DEMO_KEY" "$EXPOPS_URL/api/v1.0$1" | jq "${2:-.}"; }
		    demo /fleet/runs '.[] | {run_id, repo, status, artifact_url, cost_usd}'
		    demo /fleet/agents/report '{headline, kpis}'
		    demo /fleet/agents/inbox    # empty: the team has merged its only pull request
		    demo /fleet/installations '.[] | {repo, agent, status, last_run_at}'
		    demo /papers/recommended '.[] | {relevance_score, title, reasoning}'

	END
}
