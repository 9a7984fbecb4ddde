#include "worker/builder.h"

#include "base/arena.h"
#include "base/base.h"
#include "worker/child.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *build_command, *run_command, *wanted_engine;
static bool may_be_unconfined;

const struct setting BUILDER_SETTINGS[] = {
	SETTING_TEXT(&build_command, "BUILD_COMMAND", "",
                     "Shell script that builds an image; empty: by CONTAINER_ENGINE."),
	SETTING_TEXT(&run_command, "RUN_COMMAND", "",
                     "Shell script that runs a command in an image; empty: by CONTAINER_ENGINE."),
	SETTING_TEXT(&wanted_engine, "CONTAINER_ENGINE", "",
                     "podman, docker or buildah; empty: the first of them that works."),
	SETTING_BOOL(&may_be_unconfined, "ALLOW_UNCONFINED", "false",
                     "Whether the worker may use buildah where it confines nothing: what it runs "
                     "reads the worker's secrets."),
	SETTING_END,
};

#define BUILD(program) \
	program " --iidfile digest --tag \"$IMAGE\" --file Containerfile \"$@\" context\n"

/* Variables of several lines, as options before the words that there are. `$()` drops line feeds at
 * the end, so a dot is behind them. */
#define ADD_VARIABLES                                        \
	"for file in env.d/*; do\n"                          \
	"  [ -e \"$file\" ] || continue\n"                   \
	"  value=$(cat \"$file\" && printf .)\n"             \
	"  set -- --env \"${file##*/}=${value%.}\" \"$@\"\n" \
	"done\n"

/* A container outlives the program that began it, unless it is stopped by name. Killed first,
 * because podman lets it end by itself for 10 s. The volumes of its image, which have no name, go
 * too. Fails only if it is still there. */
#define REMOVE(program)                                                              \
	"timeout 30 " program " kill \"$NAME\" >/dev/null 2>&1\n"                    \
	"timeout 30 " program " rm --force --volumes \"$NAME\" >/dev/null 2>&1 ||\n" \
	"  ! timeout 30 " program " container inspect \"$NAME\" >/dev/null 2>&1\n"

/* timeout(1) sends SIGTERM to the shell, and then to its group: one that comes while the shell
 * begins to exit would end it before the trap of its end has run. */
#define ON_TERM "trap 'trap \"\" TERM; exit 143' TERM\n"

/* The file `name` says that there may be one (leftover.h). */
#define END(program) "end() {\ntrap '' TERM\n" REMOVE(program) "[ $? != 0 ] || rm -f name\n}\n"

/* 125 may also be the status of the command. A container that was not started has the zero time of
 * Go, or is none. */
#define MARK_STARTED(program)                                                            \
	"[ $status != 125 ] || case $(timeout 30 " program                               \
	" container inspect --format '{{.State.StartedAt}}' \"$NAME\" 2>/dev/null) in\n" \
	"  ''|0001-*) ;;\n"                                                              \
	"  *) : >started;;\n"                                                            \
	"esac\n"

#define RUN(program)                                                                               \
	END(program)                                                                               \
	"trap end EXIT\n" ON_TERM "set -- \"$IMAGE\" \"$@\"\n" ADD_VARIABLES                       \
	"[ \"$NETWORK\" = on ] || set -- --network none \"$@\"\n" program                          \
	" run --name \"$NAME\" --env-file env --volume \"$PWD/work:/work\""                        \
	" --security-opt no-new-privileges --cap-drop ALL --pids-limit \"$PIDS\" --cpus \"$CPUS\"" \
	" --memory \"${MEMORY_MB}m\" --memory-swap \"${MEMORY_MB}m\" \"$@\" &\n"                   \
	"wait $!\n"                                                                                \
	"status=$?\n" MARK_STARTED(program) "exit $status\n"

/* In the mount namespace that comes with the PID namespace. Chroot isolation shows the command the
 * /dev that there is, whose nodes root may open: it gets one without the machine's devices. An
 * image may have nodes too, so it is mounted with nodev: by overlay with an option, which replaces
 * those of the configuration, or where others have its files. */
#define DEVICES                                                                                  \
	"nodes='full null random tty urandom zero' storage=\n"                                   \
	"own_devices() {\n"                                                                      \
	"  dev=$(mktemp -d) &&\n"                                                                \
	"    mount -t tmpfs -o mode=755,size=64k,nosuid,noexec none \"$dev\" || return\n"        \
	"  for name in $nodes; do\n"                                                             \
	"    : >\"$dev/$name\" && mount --bind /dev/$name \"$dev/$name\" || return\n"            \
	"  done\n"                                                                               \
	"  mkdir \"$dev/pts\" \"$dev/shm\" &&\n"                                                 \
	"    mount -t devpts -o newinstance,mode=620,ptmxmode=666,nosuid,noexec none \\\n"       \
	"      \"$dev/pts\" &&\n"                                                                \
	"    mount -t tmpfs -o mode=1777,nosuid,nodev none \"$dev/shm\" &&\n"                    \
	"    ln -s pts/ptmx \"$dev/ptmx\" && ln -s /proc/self/fd \"$dev/fd\" &&\n"               \
	"    ln -s fd/0 \"$dev/stdin\" && ln -s fd/1 \"$dev/stdout\" &&\n"                       \
	"    ln -s fd/2 \"$dev/stderr\" && mount --move \"$dev\" /dev && rmdir \"$dev\"\n"       \
	"}\n"                                                                                    \
	"shut_images() {\n"                                                                      \
	"  driver=$(buildah info --format '{{.store.GraphDriverName}}') &&\n"                    \
	"    folder=$(buildah info --format '{{.store.GraphRoot}}') &&\n"                        \
	"    options=$(buildah info --format '{{range .store.GraphOptions}}{{.}} {{end}}') &&\n" \
	"    mount --bind \"$folder\" \"$folder\" &&\n"                                          \
	"    mount -o remount,bind,nodev \"$folder\" || return\n"                                \
	"  case $driver in vfs|btrfs) return 0;; overlay) ;; *) return 1;; esac\n"               \
	"  mount_options=nodev\n"                                                                \
	"  for option in $options; do\n"                                                         \
	"    case $option in\n"                                                                  \
	"      *.mountopt=*) mount_options=${option#*=},nodev; continue;;\n"                     \
	"      *.mount_program=*) nodes=\"$nodes fuse\";;\n"                                     \
	"    esac\n"                                                                             \
	"    storage=\"$storage --storage-opt $option\"\n"                                       \
	"  done\n"                                                                               \
	"  storage=\"--storage-opt overlay.mountopt=$mount_options$storage\"\n"                  \
	"}\n"

/* Control groups of version 2, or of version 1 with a hierarchy for each controller, below the
 * group `expops`. buildah's own processes are in the groups too, so they get what those need.
 * `grep`: processes of other PID namespaces are listed as 0. */
#define GROUPS                                                                                \
	"groups= root=/sys/fs/cgroup\n"                                                       \
	"group() {\n"                                                                         \
	"  at=$1/$NAME; shift\n"                                                              \
	"  mkdir -p \"$at\" 2>/dev/null || return\n"                                          \
	"  groups=\"$groups $at\"\n"                                                          \
	"  while [ $# -gt 0 ]; do\n"                                                          \
	"    { echo \"$2\" >\"$at/$1\"; } 2>/dev/null || return; shift 2\n"                   \
	"  done\n"                                                                            \
	"}\n"                                                                                 \
	"make_groups() {\n"                                                                   \
	"  pids=$((PIDS + 64)) bytes=$((MEMORY_MB + 64 << 20))\n"                             \
	"  if [ -e $root/cgroup.controllers ]; then\n"                                        \
	"    mkdir -p $root/expops 2>/dev/null || return\n"                                   \
	"    for at in $root $root/expops; do\n"                                              \
	"      { echo '+cpu +memory +pids' >$at/cgroup.subtree_control; } 2>/dev/null ||\n"   \
	"        return\n"                                                                    \
	"    done\n"                                                                          \
	"    group $root/expops pids.max $pids memory.max $bytes \\\n"                        \
	"      cpu.max \"$CPU_QUOTA_US 100000\" || return\n"                                  \
	"    [ ! -e $at/memory.swap.max ] || echo 0 >$at/memory.swap.max\n"                   \
	"  else\n"                                                                            \
	"    group $root/pids/expops pids.max $pids &&\n"                                     \
	"      group $root/cpu/expops cpu.cfs_quota_us $CPU_QUOTA_US &&\n"                    \
	"      group $root/memory/expops memory.limit_in_bytes $bytes || return\n"            \
	"    at=$at/memory.memsw.limit_in_bytes\n"                                            \
	"    [ ! -e $at ] || echo $bytes >$at\n"                                              \
	"  fi\n"                                                                              \
	"}\n"                                                                                 \
	"enter_groups() {\n"                                                                  \
	"  for at in $groups; do { echo 0 >$at/cgroup.procs; } 2>/dev/null || return; done\n" \
	"}\n"                                                                                 \
	"has_no_memory() {\n"                                                                 \
	"  for at in $groups; do\n"                                                           \
	"    grep -qs '^oom_kill [1-9]' $at/memory.events $at/memory.oom_control && return\n" \
	"  done\n"                                                                            \
	"  return 1\n"                                                                        \
	"}\n"                                                                                 \
	"remove_groups() {\n"                                                                 \
	"  for at in $groups; do\n"                                                           \
	"    for try in 1 2 3 4 5 6 7 8 9; do\n"                                              \
	"      rmdir $at 2>/dev/null && break\n"                                              \
	"      kill -KILL $(grep -vx 0 $at/cgroup.procs) 2>/dev/null\n"                       \
	"      sleep 0.1\n"                                                                   \
	"    done\n"                                                                          \
	"  done\n"                                                                            \
	"}\n"

/* The PID namespace is there already. The image comes by the network, and what runs in it has
 * none. With its chroot isolation buildah ends with 1 where a signal has ended the command, or
 * where it is not found; so 125 is the command's own where one that cannot be found gives another.
 */
#define BUILDAH_RUN                                                                              \
	"container=$(buildah from $storage --quiet --name \"$NAME\" \"$IMAGE\") || exit 125\n"   \
	"end() {\n"                                                                              \
	"  trap '' TERM; remove_groups; buildah rm $storage \"$container\" >/dev/null && rm -f " \
	"name\n"                                                                                 \
	"}\n"                                                                                    \
	"trap end EXIT\n" ON_TERM "[ $limits = no ] || make_groups || exit 125\n"                \
	"set -- \"$container\" -- \"$@\"\n"                                                      \
	"while IFS= read -r line; do set -- --env \"$line\" \"$@\"; done <env\n" ADD_VARIABLES   \
	"set -- --isolation chroot --cap-drop ALL --volume \"$PWD/work:/work\" \"$@\"\n"         \
	"set -- setpriv --no-new-privs buildah run $storage \"$@\"\n"                            \
	"if [ \"$NETWORK\" != on ] && [ $namespaces = yes ]; then\n"                             \
	"  set -- unshare --net sh -c 'ip link set lo up 2>/dev/null; exec \"$@\"' sh \"$@\"\n"  \
	"fi\n"                                                                                   \
	"(enter_groups || exit 125; exec \"$@\") &\n"                                            \
	"wait $!\n"                                                                              \
	"status=$?\n"                                                                            \
	"[ $status = 0 ] || ! has_no_memory || exit 137\n"                                       \
	"if [ $status = 125 ]; then\n"                                                           \
	"  buildah run $storage --isolation chroot --cap-drop ALL --volume \"$PWD/work:/work\""  \
	"    \"$container\" -- /dev/null/none >/dev/null 2>&1\n"                                 \
	"  [ $? = 125 ] || : >started\n"                                                         \
	"fi\n"                                                                                   \
	"exit $status\n"

/* A process that may call chroot(2) leaves the chroot that it is in, and devices and raw sockets
 * are the machine's own: chroot isolation has no others. What packages need to be installed is
 * left. */
#define BUILDAH_BUILD                                                                     \
	"buildah build $storage --isolation chroot --cap-drop CAP_AUDIT_WRITE,CAP_MKNOD," \
	"CAP_NET_RAW,CAP_SYS_CHROOT"

/* Outside of the PID namespace, which may be gone. */
#define BUILDAH_REMOVE                                                   \
	GROUPS "for at in $root/expops/$NAME $root/*/expops/$NAME; do\n" \
	       "  [ ! -d $at ] || groups=\"$groups $at\"\n"              \
	       "done\n"                                                  \
	       "remove_groups\n"                                         \
	       "timeout 30 buildah rm \"$NAME\" >/dev/null 2>&1 ||\n"    \
	       "  ! timeout 30 buildah inspect \"$NAME\" >/dev/null 2>&1\n"

static const struct engine {
	const char *name, *probe, *build, *run, *remove;
	bool confines;
} ENGINES[] = {
	{"podman", "timeout 30 podman version >/dev/null 2>&1", BUILD("podman build"),
         RUN("podman"), REMOVE("podman"), true},
	{"docker", "timeout 30 docker version >/dev/null 2>&1", BUILD("docker build"),
         RUN("docker"), REMOVE("docker"), true},
	{"buildah", "timeout 30 buildah version >/dev/null 2>&1", BUILD(BUILDAH_BUILD), BUILDAH_RUN,
         BUILDAH_REMOVE, false},
};

struct builder_script builder_build_script, builder_run_script;
const char *builder_remove_script = "";

/* --- Choosing one ----------------------------------------------------------------------------- */

/* Where an engine finds its images, its daemon and the logins to registries, which a script's own
 * HOME would hide. Its commands have them, and not git or what a container runs. */
static const struct engine_variable {
	const char *name;
	const char *in_home; /* its default; NULL: none */
	const char *needs;   /* a file there without which there is no default; NULL: none */
} ENGINE_VARIABLES[] = {
	{"XDG_RUNTIME_DIR", NULL, NULL},
	{"XDG_DATA_HOME", ".local/share", NULL},
	{"XDG_CONFIG_HOME", ".config", NULL},
	{"CONTAINERS_STORAGE_CONF", NULL, NULL},
	{"CONTAINER_HOST", NULL, NULL},
	{"DOCKER_CONFIG", ".docker", "config.json"}, /* or buildah fails */
	{"DOCKER_HOST", NULL, NULL},
};

static void print_export(FILE *out, const char *name, const char *value)
{
	fprintf(out, "export %s='", name);
	for (; *value; value++)
		if (*value == '\'')
			fputs("'\\''", out);
		else
			fputc(*value, out);
	fputs("'\n", out);
}

/* What is in front of all scripts of engines: it sets these as the worker has them. */
static char *exports;

/* Its value in the arena; NULL: it has none. */
static const char *value_of(struct arena *arena, const struct engine_variable *variable)
{
	const char *value = getenv(variable->name), *home = getenv("HOME");
	if (value || !home || !variable->in_home)
		return value;
	value = arena_printf(arena, "%s/%s", home, variable->in_home);
	if (variable->needs &&
	    access(arena_printf(arena, "%s/%s", value, variable->needs), R_OK) != 0)
		return NULL;
	return value;
}

static char *make_exports(void)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	struct arena *arena = arena_new();
	require(out);
	for (size_t i = 0; i < ARRAY_LEN(ENGINE_VARIABLES); i++) {
		const char *value = value_of(arena, &ENGINE_VARIABLES[i]);
		if (value)
			print_export(out, ENGINE_VARIABLES[i].name, value);
	}
	arena_free(arena);
	require(fclose(out) == 0);
	return text;
}

static char *with_exports(const char *script)
{
	char *text;
	require(asprintf(&text, "%s%s", exports, script) > 0);
	return text;
}

static bool try_engine(const char *script, bool has_own_pids)
{
	char *text = with_exports(script);
	bool has_succeeded = child_try(text, has_own_pids);
	free(text);
	return has_succeeded;
}

static const struct engine *find_engine(void)
{
	for (size_t i = 0; i < ARRAY_LEN(ENGINES); i++)
		if ((!*wanted_engine || strcmp(wanted_engine, ENGINES[i].name) == 0) &&
		    try_engine(ENGINES[i].probe, false))
			return &ENGINES[i];
	if (*wanted_engine)
		fprintf(stderr,
		        "CONTAINER_ENGINE: \"%s\" does not work here, or is none of "
		        "podman, docker and buildah\n",
		        wanted_engine);
	else
		fprintf(stderr, "neither podman, docker nor buildah works here: set BUILD_COMMAND "
		                "and RUN_COMMAND\n");
	return NULL;
}

/* What this process may make for a run. */
struct confinement {
	bool has_namespaces, has_devices, has_limits;
};

/* What it may not make; NULL: it may make all. */
static const char *lacks(const struct confinement *made)
{
	if (!made->has_namespaces)
		return "PID and network namespaces";
	if (!made->has_devices)
		return "mounts that hide the devices of the machine";
	return made->has_limits ? NULL : "control groups that limit a run";
}

/* Whether the engine may be used: what it lacks on this system is fine with the settings. */
static bool confine(const struct engine *engine, const struct confinement *made)
{
	const char *lacking = engine->confines || may_be_unconfined ? NULL : lacks(made);
	if (!lacking)
		return true;
	fprintf(stderr,
	        "buildah confines nothing here, because this process may make no %s: use podman, "
	        "or set ALLOW_UNCONFINED=true where what it runs may read all that is here\n",
	        lacking);
	return false;
}

static bool can_limit(bool has_namespaces)
{
	return child_try("NAME=probe-$(od -An -N8 -tx1 /dev/urandom | tr -d ' ') PIDS=64 "
	                 "MEMORY_MB=64 CPU_QUOTA_US=100000\n" GROUPS "trap remove_groups EXIT\n"
	                 "make_groups && (enter_groups)\n",
	                 has_namespaces);
}

static const char *yes_or_no(bool is_so)
{
	return is_so ? "yes" : "no";
}

static char *script_of(const struct engine *engine, const char *script,
                       const struct confinement *made)
{
	char *text;
	if (engine->confines)
		return with_exports(script);
	require(asprintf(&text,
	                 "%snamespaces=%s devices=%s limits=%s\n" DEVICES GROUPS
	                 "[ $devices = no ] || { shut_images && own_devices; } || exit 125\n%s",
	                 exports, yes_or_no(made->has_namespaces), yes_or_no(made->has_devices),
	                 yes_or_no(made->has_limits), script) > 0);
	return text;
}

static struct confinement try_confinement(void)
{
	struct confinement made = {.has_namespaces = child_try("unshare --net true", true)};
	made.has_devices =
		made.has_namespaces && try_engine(DEVICES "shut_images && own_devices", true);
	made.has_limits = can_limit(made.has_namespaces);
	return made;
}

static enum err_code use(const struct engine *engine)
{
	struct confinement made = {false};
	if (!engine->confines)
		made = try_confinement();
	if (!confine(engine, &made))
		return ERR_INVALID;
	builder_build_script.text = script_of(engine, engine->build, &made);
	builder_build_script.has_own_pids = made.has_namespaces;
	if (*run_command)
		return ERR_NONE;
	builder_run_script.text = script_of(engine, engine->run, &made);
	builder_run_script.has_own_pids = made.has_namespaces;
	builder_remove_script = with_exports(engine->remove);
	return ERR_NONE;
}

enum err_code builder_init(void)
{
	if (!*build_command || !*run_command) {
		exports = make_exports();
		const struct engine *engine = find_engine();
		if (!engine || use(engine))
			return ERR_INVALID;
	}
	if (*build_command)
		builder_build_script = (struct builder_script){build_command, false};
	if (*run_command)
		builder_run_script = (struct builder_script){run_command, false};
	return ERR_NONE;
}
