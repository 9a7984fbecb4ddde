#include "worker/builder.h"

#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *build_command, *run_command;

const struct setting BUILDER_SETTINGS[] = {
	SETTING_TEXT(&build_command, "BUILD_COMMAND", "",
                     "Shell script that builds an image; empty: by buildah, podman or docker, "
                     "whichever is installed."),
	SETTING_TEXT(&run_command, "RUN_COMMAND", "",
                     "Shell script that runs a command in an image; empty: by the same program."),
	SETTING_END,
};

#define BUILD(program) \
	program " --iidfile digest --tag \"$IMAGE\" --file Containerfile \"$@\" context\n"

/* A container outlives the program that began it, unless that is told. */
#define RUN(program)                                                                              \
	"trap '" program " rm --force \"$NAME\" >/dev/null 2>&1' EXIT\n"                          \
	"trap 'exit 143' TERM\n" program                                                          \
	" run --name \"$NAME\" --env-file env --volume \"$PWD/work:/work\" \"$IMAGE\" \"$@\" &\n" \
	"wait $!\n"

#define BUILDAH_RUN                                                                   \
	"container=$(buildah from --quiet --name \"$NAME\" \"$IMAGE\") || exit 125\n" \
	"trap 'buildah rm \"$container\" >/dev/null' EXIT\n"                          \
	"trap 'exit 143' TERM\n"                                                      \
	"set -- \"$container\" -- \"$@\"\n"                                           \
	"while IFS= read -r line; do set -- --env \"$line\" \"$@\"; done <env\n"      \
	"buildah run --isolation chroot --volume \"$PWD/work:/work\" \"$@\" &\n"      \
	"wait $!\n"

static const struct builder {
	const char *program, *build, *run;
} BUILDERS[] = {
	{"buildah", BUILD("buildah build --isolation chroot"), BUILDAH_RUN},
	{"podman", BUILD("podman build"), RUN("podman")},
	{"docker", BUILD("docker build"), RUN("docker")},
};

static const char *build_script, *run_script;

static bool is_installed(const char *program)
{
	const char *path = getenv("PATH");
	char file[4096];
	for (const char *at = path ? path : ""; *at; at += strspn(at, ":")) {
		size_t length = strcspn(at, ":");
		snprintf(file, sizeof(file), "%.*s/%s", (int)length, at, program);
		if (access(file, X_OK) == 0)
			return true;
		at += length;
	}
	return false;
}

static const struct builder *installed(void)
{
	for (size_t i = 0; i < ARRAY_LEN(BUILDERS); i++)
		if (is_installed(BUILDERS[i].program))
			return &BUILDERS[i];
	return NULL;
}

enum err_code builder_init(void)
{
	const struct builder *builder = installed();
	if (!builder && !(*build_command && *run_command)) {
		fprintf(stderr, "neither buildah, podman nor docker is installed: set "
		                "BUILD_COMMAND and RUN_COMMAND\n");
		return ERR_INVALID;
	}
	build_script = *build_command ? build_command : builder->build;
	run_script = *run_command ? run_command : builder->run;
	return ERR_NONE;
}

const char *builder_build_script(void)
{
	return build_script;
}

const char *builder_run_script(void)
{
	return run_script;
}
