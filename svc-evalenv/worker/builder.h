/** The scripts that build and run images: those of the settings, or those for podman, docker or
 * buildah, whichever works first, of the files in worker/engine/. svc-evalenv/README.md says what a
 * script is given and what it leaves.
 *
 * podman and docker confine what they run. buildah does not with its chroot isolation, which works
 * where the others need more: its scripts run in a PID namespace of their own, so that what they
 * run sees no process of the worker's, and with mounts of their own, which hide the devices of the
 * machine and those of images; they set the limits of a run themselves, by control groups. Where
 * the system does not give all of these, the worker does not start, unless ALLOW_UNCONFINED says
 * so.
 */
#pragma once

#include "base/config.h"
#include "base/error.h"

/** BUILD_COMMAND, RUN_COMMAND, CONTAINER_ENGINE, ALLOW_UNCONFINED. */
extern const struct setting BUILDER_SETTINGS[];

struct builder_script {
	const char *text;
	bool has_own_pids; /* to be run in a PID namespace of its own (child.h) */
};

extern struct builder_script builder_build_script, builder_run_script;

/** A script that removes the container of a run, $NAME, and what it runs; "": there is none, with
 * RUN_COMMAND. */
extern const char *builder_remove_script;

/** Set the scripts. Starts programs and waits for them. ERR_INVALID: none is set or works, or it
 * confines nothing; a line on standard error says so. */
enum err_code builder_init(void);
