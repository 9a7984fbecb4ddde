/** The commands that build and run images: those of the settings, or those of the first program
 * that is installed, of buildah, podman and docker. svc-evalenv/README.md says what a command is
 * given and what it leaves. */
#pragma once

#include "base/config.h"
#include "base/error.h"

/** BUILD_COMMAND, RUN_COMMAND. */
extern const struct setting BUILDER_SETTINGS[];

/** Find them. ERR_INVALID: none is set or installed; a line on standard error says so. */
enum err_code builder_init(void);

const char *builder_build_script(void);
const char *builder_run_script(void);
