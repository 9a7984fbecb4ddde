/** Finds the repositories that texts link to. Knows neither HTTP nor tables. */
#pragma once

#include "base/arena.h"

#include <stddef.h>

/** The repositories of the code host at `web_url` (`https://github.com`) that `text` links to,
 * `owner/name`, each once, in order of their first occurrence: at most `max`. In the arena. Returns
 * their number. Does not check that they exist. */
size_t code_host_links_find(struct arena *arena, const char *web_url, const char *text,
                            const char *repos[], size_t max);

/** The repository at the beginning of a path of the code host, without what an address adds:
 * `acme/ranker` of `acme/ranker.git/`. In the arena. NULL: it is none, as `orgs/acme`. */
const char *code_host_repo_name(struct arena *arena, const char *path);
