# shellcheck shell=sh
# hide_devices: hide the devices of the machine and those of images, in the mount namespace that comes with the PID
# namespace. Chroot isolation shows a command the /dev that there is, whose nodes root may open: it gets one without
# the machine's devices. An image may have nodes too, so it is mounted with nodev: by overlay with an option, which
# replaces those of the configuration, or where others have its files. Leaves $storage, options of buildah's commands
# that use the image.

nodes='full null random tty urandom zero' storage=''

hide_devices() {
	shut_images && own_devices
}

own_devices() {
	dev=$(mktemp -d) &&
		mount -t tmpfs -o mode=755,size=64k,nosuid,noexec none "$dev" || return
	for name in $nodes; do
		: >"$dev/$name" && mount --bind "/dev/$name" "$dev/$name" || return
	done
	mkdir "$dev/pts" "$dev/shm" &&
		mount -t devpts -o newinstance,mode=620,ptmxmode=666,nosuid,noexec none "$dev/pts" &&
		mount -t tmpfs -o mode=1777,nosuid,nodev none "$dev/shm" &&
		ln -s pts/ptmx "$dev/ptmx" && ln -s /proc/self/fd "$dev/fd" &&
		ln -s fd/0 "$dev/stdin" && ln -s fd/1 "$dev/stdout" &&
		ln -s fd/2 "$dev/stderr" && mount --move "$dev" /dev && rmdir "$dev"
}

shut_images() {
	driver=$(buildah info --format '{{.store.GraphDriverName}}') &&
		folder=$(buildah info --format '{{.store.GraphRoot}}') &&
		options=$(buildah info --format '{{range .store.GraphOptions}}{{.}} {{end}}') &&
		mount --bind "$folder" "$folder" &&
		mount -o remount,bind,nodev "$folder" || return
	case $driver in vfs | btrfs) return 0 ;; overlay) ;; *) return 1 ;; esac
	mount_options=nodev
	for option in $options; do
		case $option in
		*.mountopt=*) mount_options=${option#*=},nodev; continue ;;
		*.mount_program=*) nodes="$nodes fuse" ;;
		esac
		storage="$storage --storage-opt $option"
	done
	storage="--storage-opt overlay.mountopt=$mount_options$storage"
}
