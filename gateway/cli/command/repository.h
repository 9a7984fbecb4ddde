/** Repositories as people name them. */
#pragma once

#include "program/cli.h"

/** The `owner/name` of a repository: of itself, of an address (`https://github.com/acme/ranker`,
 * `git@github.com:acme/ranker.git`), or of the origin of a git checkout, `.` or another folder.
 * Fails. In the arena. */
const char *repository_name(struct cli *cli, const char *text);

/** The address of it, without a user's name or password: `https://github.com/acme/ranker`. */
const char *repository_url(struct cli *cli, const char *text);
