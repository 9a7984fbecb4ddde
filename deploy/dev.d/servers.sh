#!/bin/bash
# shellcheck shell=bash
# Private Postgres and Redis servers: their data is in one folder, they listen on 127.0.0.1, they do not run as root, and
# they can be started again after they were killed. deploy/dev calls the functions; the test harness runs this file:
#
#     servers.sh postgres_start|redis_start BASE PORT LOG [SERVER_OPTION...]
#     servers.sh postgres_stop|postgres_pid|redis_stop|redis_pid BASE
#     servers.sh pgbouncer_start BASE PORT POSTGRES_PORT LOG, with SERVICE_PASSWORDS; pgbouncer_stop|pgbouncer_pid BASE
#     servers.sh database_prepare PORT
#
# BASE/pg is the data of Postgres, BASE/redis that of Redis, BASE/pgbouncer the configuration of PgBouncer. Passwords are
# in the environment, because every user of the machine can read the arguments of all programs: that of the server in
# PASSWORD, for database_prepare in PGPASSWORD, those of the processes in SERVICE_PASSWORDS and REDIS_PASSWORDS.

if ! declare -F say >/dev/null; then
	set -euo pipefail
	# shellcheck source=deploy/dev.d/common.sh
	. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
fi

DATABASE_NAME=expops
DATABASE_OWNER=expops
SERVER_SECONDS=120 # for a server to start or stop; usually it takes one

# switch_to USER: set AS to the command prefix that runs a command as USER when we are root; empty otherwise.
switch_to() {
	AS=()
	((EUID != 0)) || AS=(setpriv "--reuid=$1" "--regid=$1" --clear-groups)
}

# as_user USER COMMAND...
as_user() {
	local AS
	switch_to "$1"
	shift
	"${AS[@]}" "$@"
}

# spawn USER LOG COMMAND...: start a server in a new session; prints its pid.
spawn() (
	local log=$2 AS
	switch_to "$1"
	shift 2
	cd /
	exec 9>&- 8>&- 7<&- # the locks of deploy/dev
	"${AS[@]}" setsid "$@" </dev/null >>"$log" 2>&1 &
	echo $!
)

# server_stop NAME PID SIGNAL: stop a server and wait for its end. An empty PID: it is not running.
server_stop() {
	[[ -n $2 ]] || return 0
	kill "-$3" "$2"
	wait_until "$SERVER_SECONDS" has_ended "$2" || fail "$1 (pid $2) does not stop"
}

# private_dir DIR USER: create a folder that only this user can access.
private_dir() {
	mkdir -p "$1"
	chmod 0700 "$1"
	((EUID != 0)) || chown "$2:" "$1"
}

# data_create DIR: create the folder BASE for the data and print its path. It is DIR, unless the users of the servers cannot
# access DIR (because it is below a private home folder): then BASE is /var/tmp/expops-HASH, and DIR a symbolic link to it.
data_create() {
	local dir=$1 other
	other=/var/tmp/expops-$(printf '%s' "$dir" | sha256sum | cut -c 1-16)
	if [[ -d $dir ]]; then
		readlink -f "$dir"
		return
	fi
	data_delete "$other"
	rm -f "$dir"
	mkdir -m 0711 "$dir"
	if as_user postgres test -x "$dir" && as_user redis test -x "$dir"; then
		printf '%s' "$dir"
		return
	fi
	rmdir "$dir"
	mkdir -m 0711 "$other"
	ln -sfn "$other" "$dir"
	printf '%s' "$other"
}

# data_delete BASE: stop the servers and delete their data.
data_delete() {
	[[ -d $1 && -O $1 ]] || return 0
	postgres_stop "$1"
	redis_stop "$1"
	rm -rf "$1"
}

# postgres_bin BASE: the folder with the programs of the version that created the data. Without data: of the newest version.
postgres_bin() {
	local version=
	[[ ! -f $1/pg/PG_VERSION ]] || version=$(cat "$1/pg/PG_VERSION")
	find /usr/lib/postgresql -maxdepth 1 -mindepth 1 -name "${version:-*}" | sort -V | tail -n 1 | sed 's|$|/bin|'
}

postgres_pid() {
	local pid
	pid=$(head -n 1 "$1/pg/postmaster.pid" 2>/dev/null) || true
	! is_running "$pid" postgres || printf '%s' "$pid"
}

# Create the data in another folder and rename that at the end, so that a failed initdb leaves no incomplete data folder.
postgres_init() {
	local base=$1 log=$2 bin
	bin=$(postgres_bin "$base")
	[[ -x $bin/initdb ]] || fail "no Postgres in /usr/lib/postgresql" "" "Install the package postgresql."
	rm -rf "$base/pg.new"
	private_dir "$base/pg.new" postgres
	install -m 0600 /dev/null "$base/password"
	printf '%s' "$PASSWORD" >"$base/password"
	((EUID != 0)) || chown postgres "$base/password"
	(cd / && as_user postgres "$bin/initdb" -D "$base/pg.new" -U "$DATABASE_OWNER" --pwfile="$base/password" \
		--auth=scram-sha-256 --encoding=UTF8 --locale=C.UTF-8) >>"$log" 2>&1 ||
		fail "initdb failed" "$log"
	rm -f "$base/password"
	mv "$base/pg.new" "$base/pg"
}

# No process has the data folder as its working directory, as all processes of a server have.
postgres_has_no_process() {
	[[ -z $(find /proc -maxdepth 2 -name cwd -lname "$1/pg" 2>/dev/null) ]]
}

# Remove the lock files of a killed server when the last of its child processes has ended. Postgres does not start while
# they exist and the killed server is a zombie, and in a container it may stay a zombie forever.
postgres_unlock() {
	[[ -f $1/pg/postmaster.pid && -z $(postgres_pid "$1") ]] || return 0
	wait_until "$SERVER_SECONDS" postgres_has_no_process "$1" ||
		fail "processes of a killed Postgres are still running in $1/pg"
	rm -f "$1/pg/postmaster.pid" "$1"/pg/.s.PGSQL.*
}

# postgres_is_ready_or_ended PID BIN PORT: for wait_until.
postgres_is_ready_or_ended() {
	"$2/pg_isready" -q -h 127.0.0.1 -p "$3" || has_ended "$1"
}

# postgres_start BASE PORT LOG [OPTION...]
postgres_start() {
	local base=$1 port=$2 log=$3 bin pid socket=
	shift 3
	[[ -d $base/pg ]] || postgres_init "$base" "$log"
	[[ -z $(postgres_pid "$base") ]] || return 0
	postgres_unlock "$base"
	bin=$(postgres_bin "$base")
	((${#base} > 80)) || socket=$base/pg
	pid=$(spawn postgres "$log" "$bin/postgres" -D "$base/pg" -c listen_addresses=127.0.0.1 -c port="$port" \
		-c unix_socket_directories="$socket" -c max_connections=200 -c wal_compression=lz4 "$@")
	wait_until "$SERVER_SECONDS" postgres_is_ready_or_ended "$pid" "$bin" "$port" ||
		fail "Postgres does not answer on port $port" "$log"
	! has_ended "$pid" || fail "Postgres does not start" "$log"
}

# A fast shutdown: connections are closed, open transactions rolled back.
postgres_stop() {
	server_stop Postgres "$(postgres_pid "$1")" INT
}

pgbouncer_pid() {
	local pid
	pid=$(cat "$1/pgbouncer/pid" 2>/dev/null) || true
	! is_running "$pid" pgbouncer || printf '%s' "$pid"
}

# Transaction pooling with fewer sessions for each role than a process may use, so that clients share them.
pgbouncer_configure() {
	local base=$1 port=$2 postgres_port=$3 pair
	private_dir "$base/pgbouncer" postgres
	for pair in $SERVICE_PASSWORDS; do
		printf '"expops_%s" "%s"\n' "${pair%%=*}" "${pair#*=}"
	done >"$base/pgbouncer/users"
	cat >"$base/pgbouncer/pgbouncer.ini" <<-END
		[databases]
		* = host=127.0.0.1 port=$postgres_port
		[pgbouncer]
		listen_addr = 127.0.0.1
		listen_port = $port
		unix_socket_dir =
		auth_type = scram-sha-256
		auth_file = $base/pgbouncer/users
		pidfile = $base/pgbouncer/pid
		pool_mode = transaction
		default_pool_size = 3
		max_client_conn = 1000
		query_wait_timeout = 5
		server_login_retry = 1
		log_connections = 0
		log_disconnections = 0
	END
	chmod 0600 "$base/pgbouncer/users"
	((EUID != 0)) || chown -R postgres: "$base/pgbouncer"
}

# pgbouncer_start BASE PORT POSTGRES_PORT LOG
pgbouncer_start() {
	local base=$1 port=$2 log=$4 pid
	[[ -z $(pgbouncer_pid "$base") ]] || return 0
	pgbouncer_configure "$base" "$port" "$3"
	pid=$(spawn postgres "$log" /usr/sbin/pgbouncer -q "$base/pgbouncer/pgbouncer.ini")
	wait_until "$SERVER_SECONDS" port_answers_or_ended "$pid" "$port" || fail "PgBouncer does not answer" "$log"
	! has_ended "$pid" || fail "PgBouncer does not start" "$log"
}

pgbouncer_stop() {
	server_stop PgBouncer "$(pgbouncer_pid "$1")" TERM
}

# port_answers_or_ended PID PORT: for wait_until.
port_answers_or_ended() {
	(exec 3<>"/dev/tcp/127.0.0.1/$2") 2>/dev/null || has_ended "$1"
}

redis_pid() {
	local pid
	pid=$(cat "$1/redis/redis.pid" 2>/dev/null) || true
	is_running "$pid" redis-check-rdb || is_running "$pid" redis-server || return 0
	printf '%s' "$pid"
}

# Write the users of Redis, if REDIS_PASSWORDS has their passwords (deploy/redis-acl).
redis_write_users() {
	install -m 0600 /dev/null "$1/redis/users.acl"
	REDIS_PASSWORDS="default=$PASSWORD ${REDIS_PASSWORDS:-}" "$PYTHON" -B "$ROOT/deploy/redis-acl" >"$1/redis/users.acl"
	((EUID != 0)) || chown redis "$1/redis/users.acl"
}

redis_configure() {
	local base=$1 port=$2
	private_dir "$base/redis" redis
	redis_write_users "$base"
	install -m 0600 /dev/null "$base/redis/redis.conf"
	cat >"$base/redis/redis.conf" <<-END
		bind 127.0.0.1
		port $port
		aclfile "$base/redis/users.acl"
		dir "$base/redis"
		pidfile "$base/redis/redis.pid"
		appendonly yes
		save ""
	END
	((EUID != 0)) || chown redis "$base/redis/redis.conf"
}

redis_answers() {
	[[ $(REDISCLI_AUTH=$PASSWORD redis-cli -p "$1" ping 2>/dev/null) == PONG ]]
}

# redis_start BASE PORT LOG [OPTION...]: a server that runs already gets the users anew.
redis_start() {
	local base=$1 port=$2 log=$3
	shift 3
	if [[ -n $(redis_pid "$base") ]]; then
		redis_write_users "$base"
		if [[ $(REDISCLI_AUTH=$PASSWORD redis-cli -p "$port" acl load 2>/dev/null) == OK ]]; then
			return
		fi
		redis_stop "$base" # it was configured without an aclfile
	fi
	redis_configure "$base" "$port"
	spawn redis "$log" /usr/bin/redis-server "$base/redis/redis.conf" "$@" >/dev/null
	wait_until "$SERVER_SECONDS" redis_answers "$port" || fail "Redis does not start on port $port" "$log"
}

redis_stop() {
	server_stop Redis "$(redis_pid "$1")" TERM
}

# database_prepare PORT: create the database, and the roles and schemas of the services (deploy/init.sql, which reads
# SERVICE_PASSWORDS). Nobody but the owner may connect to the other databases of this private server.
database_prepare() (
	export PGHOST=127.0.0.1 PGPORT=$1 PGUSER=$DATABASE_OWNER
	exists=$(psql -XAtq postgres -c "SELECT 1 FROM pg_database WHERE datname = '$DATABASE_NAME'")
	[[ -n $exists ]] || psql -XAtq postgres -c "CREATE DATABASE $DATABASE_NAME"
	psql -Xq postgres -c 'REVOKE ALL ON DATABASE postgres, template1 FROM PUBLIC'
	psql -Xq "$DATABASE_NAME" -f "$ROOT/deploy/init.sql"
)

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
	"$@"
fi
