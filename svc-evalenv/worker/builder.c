#include "worker/builder.h"

#include "base/arena.h"
#include "base/base.h"
#include "buildah.sh.h"
#include "common.sh.h"
#include "container.sh.h"
#include "devices.sh.h"
#include "groups.sh.h"
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

/* The files of an engine (worker/engine/), which define `works`, `build`, `run` and `remove`:
 * common.sh says what those do. */
static const struct engine {
	const char *name;
	const char *files[5]; /* NULL ends */
	bool confines;
} ENGINES[] = {
	{"podman", {COMMON_SH, CONTAINER_SH}, true},
	{"docker", {COMMON_SH, CONTAINER_SH}, true},
	{"buildah", {COMMON_SH, DEVICES_SH, GROUPS_SH, BUILDAH_SH}, false},
};

/* What this process may make for a run of an engine that confines nothing itself. */
struct confinement {
	bool has_namespaces, has_devices, has_limits;
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

static const char *yes_or_no(bool is_so)
{
	return is_so ? "yes" : "no";
}

/* A script of an engine, which calls a function of its files with the words of the script. */
static char *script_of(const struct engine *engine, const struct confinement *made,
                       const char *function)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	require(out);
	fprintf(out, "%sENGINE=%s\n", exports, engine->name);
	if (!engine->confines)
		fprintf(out, "namespaces=%s devices=%s limits=%s\n",
		        yes_or_no(made->has_namespaces), yes_or_no(made->has_devices),
		        yes_or_no(made->has_limits));
	for (const char *const *file = engine->files; *file; file++)
		fputs(*file, out);
	fprintf(out, "%s \"$@\"\n", function);
	require(fclose(out) == 0);
	return text;
}

static bool try_engine(const struct engine *engine, const struct confinement *made,
                       const char *function)
{
	char *script = script_of(engine, made, function);
	bool has_succeeded = child_try(script, made->has_namespaces);
	free(script);
	return has_succeeded;
}

static const struct engine *find_engine(void)
{
	const struct confinement none = {false};
	for (size_t i = 0; i < ARRAY_LEN(ENGINES); i++)
		if ((!*wanted_engine || strcmp(wanted_engine, ENGINES[i].name) == 0) &&
		    try_engine(&ENGINES[i], &none, "works"))
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

static struct confinement try_confinement(const struct engine *engine)
{
	struct confinement made = {.has_namespaces = child_try("unshare --net true", true)};
	made.has_devices = made.has_namespaces && try_engine(engine, &made, "hide_devices");
	made.has_limits = try_engine(engine, &made, "try_groups");
	return made;
}

static enum err_code use(const struct engine *engine)
{
	struct confinement made = {false};
	if (!engine->confines)
		made = try_confinement(engine);
	if (!confine(engine, &made))
		return ERR_INVALID;
	builder_build_script.text = script_of(engine, &made, "build");
	builder_build_script.has_own_pids = made.has_namespaces;
	if (*run_command)
		return ERR_NONE;
	builder_run_script.text = script_of(engine, &made, "run");
	builder_run_script.has_own_pids = made.has_namespaces;
	builder_remove_script = script_of(engine, &made, "remove");
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
