# shellcheck shell=sh
# Control groups that limit a run: of version 2, or of version 1 with a hierarchy for each controller, below the group
# `expops`. A run has $NAME, $PIDS, $MEMORY_MB and $CPU_QUOTA_US. buildah's own processes are in the groups too, so
# they get what those need. $groups are those that there are, in which no path has spaces.

groups='' root=/sys/fs/cgroup

# group PARENT FILE VALUE...: make the group of the run in PARENT, with these limits. Leaves its path in $at.
group() {
	at=$1/$NAME
	shift
	mkdir -p "$at" 2>/dev/null || return
	groups="$groups $at"
	while [ $# -gt 0 ]; do
		{ echo "$2" >"$at/$1"; } 2>/dev/null || return
		shift 2
	done
}

make_groups() {
	pids=$((PIDS + 64)) bytes=$((MEMORY_MB + 64 << 20))
	if [ -e $root/cgroup.controllers ]; then
		mkdir -p $root/expops 2>/dev/null || return
		for at in $root $root/expops; do
			{ echo '+cpu +memory +pids' >"$at/cgroup.subtree_control"; } 2>/dev/null || return
		done
		group $root/expops pids.max $pids memory.max $bytes cpu.max "$CPU_QUOTA_US 100000" || return
		[ ! -e "$at/memory.swap.max" ] || echo 0 >"$at/memory.swap.max"
	else
		group $root/pids/expops pids.max $pids &&
			group $root/cpu/expops cpu.cfs_quota_us "$CPU_QUOTA_US" &&
			group $root/memory/expops memory.limit_in_bytes $bytes || return
		at=$at/memory.memsw.limit_in_bytes
		[ ! -e "$at" ] || echo $bytes >"$at"
	fi
}

# Whether they can be made: tried with a name of its own. They are removed when the shell ends.
try_groups() {
	NAME=probe-$(od -An -N8 -tx1 /dev/urandom | tr -d ' ') PIDS=64 MEMORY_MB=64 CPU_QUOTA_US=100000
	trap remove_groups EXIT
	make_groups && (enter_groups)
}

# The shell that calls this, and what it starts.
enter_groups() {
	for at in $groups; do { echo 0 >"$at/cgroup.procs"; } 2>/dev/null || return; done
}

# Whether a process was killed because memory ran out.
has_no_memory() {
	for at in $groups; do
		grep -qs '^oom_kill [1-9]' "$at/memory.events" "$at/memory.oom_control" && return
	done
	return 1
}

# Those that another shell has made for $NAME.
find_groups() {
	for at in "$root/expops/$NAME" "$root"/*/expops/"$NAME"; do
		[ ! -d "$at" ] || groups="$groups $at"
	done
}

# And kill what is in them. `grep`: processes of other PID namespaces are listed as 0.
remove_groups() {
	for at in $groups; do
		for _ in 1 2 3 4 5 6 7 8 9; do
			rmdir "$at" 2>/dev/null && break
			# shellcheck disable=SC2046 # a word for each process
			kill -KILL $(grep -vx 0 "$at/cgroup.procs") 2>/dev/null
			sleep 0.1
		done
	done
}
