/** Files of the user's: read whole, and replaced at once. */
#pragma once

#include "program/cli.h"

#include <stdbool.h>

/** A file of expops below a folder of the user's (XDG Base Directory Specification): `variable` is
 * XDG_CONFIG_HOME or XDG_STATE_HOME, `fallback` what it stands for below HOME. Fails without
 * HOME. */
const char *file_path(struct cli *cli, const char *variable, const char *fallback,
                      const char *name);

/** Read a file, or standard input for `-`: at most 64 MiB. In the arena, NUL-terminated. NULL: it
 * does not exist. Fails when it cannot be read. */
char *file_read(struct cli *cli, const char *path, size_t *ret_length);

/** Read a file that exists, or standard input for `-`, and holds text: cli_check_text(). */
char *file_read_text(struct cli *cli, const char *path, size_t *ret_length);

/** Replace a file by one that only its user can read, and make the folders above it. After a crash
 * there is the old file or the new one. False: errno says why. */
bool file_write(struct cli *cli, const char *path, const char *text);

/** What errno says. In the arena. */
const char *file_reason(struct cli *cli);
