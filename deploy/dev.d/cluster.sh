# shellcheck shell=bash
# The cluster that `up` starts: its secrets, ports, servers and processes.

DATA=$DEV/data
ENV_FILE=$DEV/env
READY_SECONDS=120 # for a process to become ready

declare -A SETTINGS     # the variables of .dev/env
declare -A URL_VARIABLE # process -> the variable with its address
PROCESSES=()

cluster_load() {
	local name variable line
	while read -r name _ variable; do
		PROCESSES+=("$name")
		URL_VARIABLE[$name]=$variable
	done < <(read_rows "$ROOT/deploy/processes")
	if [[ -f $ENV_FILE ]]; then
		while IFS= read -r line; do
			[[ $line == [A-Z]*=* ]] || continue
			SETTINGS[${line%%=*}]=${line#*=}
		done <"$ENV_FILE"
	fi
}

known_process() {
	local name
	for name in "${PROCESSES[@]}"; do
		[[ $name != "$1" ]] || return 0
	done
	fail "there is no process '$1'" "" "Processes: ${PROCESSES[*]}."
}

# Write .dev/env, which shells can source: no value contains a character that needs quoting.
settings_save() {
	local name
	rm -f "$ENV_FILE.new" # it keeps the rights that it has
	(
		umask 077
		echo '# Written by deploy/dev. Keys and passwords of the cluster on this machine.' >"$ENV_FILE.new"
		for name in $(printf '%s\n' "${!SETTINGS[@]}" | sort); do
			printf '%s=%s\n' "$name" "${SETTINGS[$name]}"
		done >>"$ENV_FILE.new"
	)
	mv "$ENV_FILE.new" "$ENV_FILE"
}

# Load or create the cluster's secret, from which all secrets of the processes and all passwords are derived.
secret_load() {
	if [[ ! -s $DEV/secret ]]; then
		(umask 077 && random_hex 32 >"$DEV/secret")
	fi
	SECRET=$(cat "$DEV/secret")
}

secret_for() {
	printf '%s:%s' "$SECRET" "$1" | sha256sum | cut -c 1-48
}

# key_for NAME: 32 bytes as base64.
key_for() {
	printf '%b' "$(printf '%s:%s' "$SECRET" "$1" | sha256sum | cut -c 1-64 | sed 's/../\\x&/g')" | base64
}

# process_calls NAME: the processes of the cluster that it may call, as libcommon/internal.def says.
process_calls() {
	local other
	for other in $("$(process_binary "$1")" --calls); do
		[[ -z ${URL_VARIABLE[$other]:-} ]] || printf '%s\n' "$other"
	done
}

# The secrets that a process signs with, `svc-search=SECRET ...`. Each is known to two processes only.
process_sign_secrets() {
	local other
	for other in $(process_calls "$1"); do
		printf '%s=%s ' "$other" "$(secret_for "pair:$1:$other")"
	done
}

# The secrets with which others sign for this process.
process_verify_secrets() {
	local other
	for other in "${PROCESSES[@]}"; do
		[[ " $(process_calls "$other" | tr '\n' ' ') " != *" $1 "* ]] ||
			printf '%s=%s ' "$other" "$(secret_for "pair:$other:$1")"
	done
}

role_of() {
	printf 'expops_%s' "${1#svc-}"
}

# port_variable gateway admin -> GATEWAY_ADMIN_PORT
port_variable() {
	local text=$1${2:+_$2}_PORT
	text=${text//-/_}
	printf '%s' "${text^^}"
}

# Only one deploy/dev on this machine chooses ports at a time. Two processes can listen on one port (SO_REUSEPORT), so a
# second cluster would not fail but receive requests of the first. The lock is a folder that every user can read.
ports_lock() {
	exec 7</var/tmp
	flock -n 7 || say "ports: waiting for another deploy/dev on this machine"
	flock 7
}

ports_unlock() {
	exec 7<&-
}

port_is_free() {
	! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# port_choose VARIABLE FIRST: keep the recorded port (or FIRST) if it is free, else take the next free one.
port_choose() {
	local variable=$1 port=${SETTINGS[$1]:-$2} taken
	taken=" ${TAKEN_PORTS:-} "
	while [[ $taken == *" $port "* ]] || ! port_is_free "$port"; do
		((++port))
	done
	if [[ -n ${SETTINGS[$variable]:-} && ${SETTINGS[$variable]} != "$port" ]]; then
		say "port ${SETTINGS[$variable]} is taken by another program, $variable is now $port"
	fi
	SETTINGS[$variable]=$port
	TAKEN_PORTS="${TAKEN_PORTS:-} $port"
}

# listen_of NAME: where a process listens. Services have a unix socket: a request that the gateway passes on costs a fifth less than
# over TCP, and no other user can send one. A path of more than 107 bytes is none for a socket; there they have a port.
listen_of() {
	local path=$DEV/run/$1.socket
	if [[ $1 == gateway ]] || ((${#path} > 107)); then
		printf '127.0.0.1:%s' "${SETTINGS[$(port_variable "$1")]:-}"
	else
		printf 'unix:%s' "$path"
	fi
}

# url_of NAME: the same for the settings of those who call it.
url_of() {
	local listen
	listen=$(listen_of "$1")
	[[ $listen == unix:* ]] || printf 'http://'
	printf '%s' "$listen"
}

# Choose the ports of everything that is not running.
ports_choose() {
	local name
	[[ -n $(postgres_pid "$BASE") ]] || port_choose POSTGRES_PORT 15432
	[[ -n $(redis_pid "$BASE") ]] || port_choose REDIS_PORT 16379
	for name in "${PROCESSES[@]}"; do
		[[ -z $(process_pid "$name") ]] || continue
		[[ $(listen_of "$name") == unix:* ]] ||
			port_choose "$(port_variable "$name")" "$([[ $name == gateway ]] && echo 8080 || echo 18080)"
		port_choose "$(port_variable "$name" admin)" 19080
	done
	SETTINGS[EXPOPS_URL]=http://127.0.0.1:${SETTINGS[GATEWAY_PORT]}
	SETTINGS[DATABASE_URL]=$(database_url "$DATABASE_OWNER" postgres)
	SETTINGS[REDIS_URL]=redis://default:$(secret_for redis)@127.0.0.1:${SETTINGS[REDIS_PORT]}/0
	settings_save
}

# database_url ROLE PASSWORD_NAME
database_url() {
	printf 'postgresql://%s:%s@127.0.0.1:%s/%s' "$1" "$(secret_for "$2")" "${SETTINGS[POSTGRES_PORT]}" "$DATABASE_NAME"
}

servers_up() {
	local name passwords=() redis_passwords=()
	say "servers: Postgres on port ${SETTINGS[POSTGRES_PORT]}, Redis on port ${SETTINGS[REDIS_PORT]}"
	PASSWORD=$(secret_for postgres) postgres_start "$BASE" "${SETTINGS[POSTGRES_PORT]}" "$DEV/log/postgres.log"
	for name in "${PROCESSES[@]}"; do
		passwords+=("${name#svc-}=$(secret_for "$(role_of "$name")")")
		redis_passwords+=("$name=$(secret_for "redis:$name")")
	done
	PASSWORD=$(secret_for redis) REDIS_PASSWORDS=${redis_passwords[*]} \
		redis_start "$BASE" "${SETTINGS[REDIS_PORT]}" "$DEV/log/redis.log"
	PGPASSWORD=$(secret_for postgres) SERVICE_PASSWORDS=${passwords[*]} \
		database_prepare "${SETTINGS[POSTGRES_PORT]}" >"$DEV/log/database.log" 2>&1 ||
		fail "could not prepare the database" "$DEV/log/database.log"
}

process_binary() {
	printf '%s/deploy/%s' "$(build_dir "${BUILD:-release}")" "$1"
}

process_pid() {
	local pid
	pid=$(cat "$DEV/run/$1.pid" 2>/dev/null) || true
	! is_running "$pid" "$1" || printf '%s' "$pid"
}

# The settings of a process, one NAME=VALUE per line.
process_settings() {
	local name=$1 other role
	role=$(role_of "$name")
	printf '%s\n' \
		"LISTEN=$(listen_of "$name")" \
		"ADMIN_LISTEN=127.0.0.1:${SETTINGS[$(port_variable "$name" admin)]}" \
		"DATABASE_URL=$(database_url "$role" "$role")" \
		"REDIS_URL=redis://$name:$(secret_for "redis:$name")@127.0.0.1:${SETTINGS[REDIS_PORT]}/0" \
		"IDENTITY_SIGN_SECRETS=$(process_sign_secrets "$name")" \
		"IDENTITY_VERIFY_SECRETS=$(process_verify_secrets "$name")" \
		"SEAL_SECRETS=$(secret_for "seal:$name")" \
		"DRAIN_DELAY=0" \
		"DATA_DIR=$DATA/$name"
	[[ $name != gateway ]] || printf '%s\n' "CONSOLE_DIR=$DEV/console"
	[[ ! $name =~ ^(gateway|svc-interests|svc-integrations)$ ]] || printf 'PUBLIC_URL=%s\n' "${SETTINGS[EXPOPS_URL]}"
	[[ $name != svc-integrations ]] || printf 'SEAL_KEYS=dev:%s\n' "$(key_for seal-keys)"
	[[ $name != svc-evalenv ]] || printf 'SEAL_KEYS=dev:%s\n' "$(key_for seal-keys:evalenv)"
	for other in "${PROCESSES[@]}"; do
		printf '%s=%s\n' "${URL_VARIABLE[$other]}" "$(url_of "$other")"
	done
	[[ ! -f $DEV/demo/$name.env ]] || cat "$DEV/demo/$name.env"
}

# Put the settings of a process into the environment. They are no arguments of env(1), because every user of the machine
# can read the arguments of all programs.
process_export() {
	local line
	while IFS= read -r line; do
		export "${line?}"
	done < <(process_settings "$1")
}

# process_run NAME ARGS...: run it in the foreground with the cluster's settings.
process_run() (
	process_export "$1"
	exec 9>&- 8>&- 7<&- # the locks
	"$(process_binary "$1")" "${@:2}"
)

# A hash of the binary and the settings of a process. A different hash means that it has to be restarted.
process_stamp() {
	{
		stat -c '%i %Y %s' "$(process_binary "$1")"
		process_settings "$1"
		printf '%s\n' "${WORKERS:-}" "${LOG_LEVEL:-}" "${RATE_LIMIT:-}"
	} | sha256sum
}

process_is_ready() {
	curl -fs -o /dev/null --max-time 2 "http://127.0.0.1:${SETTINGS[$(port_variable "$1" admin)]}/readyz"
}

# Why the process is not ready, as /readyz says.
process_ready_reasons() {
	curl -s --max-time 2 "http://127.0.0.1:${SETTINGS[$(port_variable "$1" admin)]}/readyz" || echo "no answer"
}

# process_is_ready_or_ended NAME: for wait_until.
process_is_ready_or_ended() {
	[[ -z $(process_pid "$1") ]] || process_is_ready "$1"
}

# process_was_executed PID NAME: the process runs the binary NAME, that is after exec(), or has ended.
process_was_executed() {
	is_running "$1" "$2" || has_ended "$1"
}

# Start a process; restart it when it has changed.
process_start() {
	local name=$1 stamp
	stamp=$(process_stamp "$name")
	if [[ -n $(process_pid "$name") ]]; then
		[[ $(cat "$DEV/run/$name.stamp" 2>/dev/null) != "$stamp" ]] || return 0
		say "$name: changed, restarting"
		process_stop "$name"
	fi
	mkdir -p "$DATA/$name"
	(
		process_export "$name"
		cd /
		exec 9>&- 8>&- 7<&- # the locks
		setsid "$(process_binary "$name")" </dev/null >>"$DEV/log/$name.log" 2>&1 &
		echo $! >"$DEV/run/$name.pid"
		wait_until 10 process_was_executed "$!" "$name"
	)
	printf '%s' "$stamp" >"$DEV/run/$name.stamp"
}

process_stop() {
	local pid
	pid=$(process_pid "$1")
	if [[ -n $pid ]]; then
		kill -TERM "$pid" || true
		if ! wait_until 40 has_ended "$pid"; then
			say "$1: does not stop, killing it"
			kill -KILL "$pid" || true
			wait_until 40 has_ended "$pid" || fail "$1 (pid $pid) cannot be killed"
		fi
	fi
	rm -f "$DEV/run/$1.pid" "$DEV/run/$1.stamp"
}

processes_up() {
	local name
	for name in "${PROCESSES[@]}"; do
		process_start "$name"
	done
	for name in "${PROCESSES[@]}"; do
		wait_until "$READY_SECONDS" process_is_ready_or_ended "$name" ||
			fail "$name is not ready after $READY_SECONDS s: $(process_ready_reasons "$name")" "$DEV/log/$name.log" \
				"If the data is of another version and not needed, deploy/dev reset deletes it."
		[[ -n $(process_pid "$name") ]] ||
			fail "$name has ended" "$DEV/log/$name.log" "The whole log: deploy/dev logs $name"
		say "$name: ready, $(listen_of "$name")"
	done
}

processes_down() {
	local name
	for name in "${PROCESSES[@]}"; do
		process_stop "$name" &
	done
	wait
}
