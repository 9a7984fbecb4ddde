# shellcheck shell=sh
# buildah with its chroot isolation: what common.sh says of build, run and remove. It confines nothing by itself;
# devices.sh and groups.sh do, and the PID namespace that a build and a run are in already, where there is one.
# builder.c says what can be made here: $namespaces, $devices and $limits are `yes` or `no`.
#
# shellcheck disable=SC2086,SC2154 # $storage is the options of devices.sh; builder.c and devices.sh set what is not set here

# A process that may call chroot(2) leaves the chroot that it is in, and devices and raw sockets are the machine's
# own: chroot isolation has no others. What packages need to be installed is left.
build() {
	[ "$devices" = no ] || hide_devices || exit 125
	buildah build $storage --isolation chroot \
		--cap-drop CAP_AUDIT_WRITE,CAP_MKNOD,CAP_NET_RAW,CAP_SYS_CHROOT \
		--iidfile digest --tag "$IMAGE" --file Containerfile "$@" context
}

# Outside of the PID namespace, which may be gone.
remove() {
	find_groups
	remove_groups
	timeout 30 buildah rm "$NAME" >/dev/null 2>&1 ||
		! timeout 30 buildah inspect "$NAME" >/dev/null 2>&1
}

end() {
	trap '' TERM
	remove_groups
	buildah rm $storage "$container" >/dev/null && rm -f name
}

# The image comes by the network, and what runs in it has none.
run() {
	[ "$devices" = no ] || hide_devices || exit 125
	container=$(buildah from $storage --quiet --name "$NAME" "$IMAGE") || exit 125
	trap_end
	[ "$limits" = no ] || make_groups || exit 125
	set -- "$container" -- "$@"
	while IFS= read -r line; do set -- --env "$line" "$@"; done <./env
	with_variables start "$@"
}

# start OPTION... CONTAINER -- WORD...
start() {
	set -- --isolation chroot --cap-drop ALL --volume "$PWD/work:/work" "$@"
	set -- setpriv --no-new-privs buildah run $storage "$@"
	if [ "$NETWORK" != on ] && [ "$namespaces" = yes ]; then
		set -- unshare --net sh -c 'ip link set lo up 2>/dev/null; exec "$@"' sh "$@"
	fi
	(enter_groups || exit 125; exec "$@") &
	wait $!
	status=$?
	[ $status = 0 ] || ! has_no_memory || exit 137
	[ $status != 125 ] || mark_started
	exit $status
}

# buildah ends with 1 where a signal has ended the command, or where it is not found; so 125 is the command's own
# where one that cannot be found gives another.
mark_started() {
	buildah run $storage --isolation chroot --cap-drop ALL --volume "$PWD/work:/work" \
		"$container" -- /dev/null/none >/dev/null 2>&1
	[ $? = 125 ] || : >started
}
