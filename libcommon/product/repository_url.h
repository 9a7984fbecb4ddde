/** The one reader of addresses of repositories. `web_url` is the address of the code host's pages,
 * `https://github.com`. Schemes and hosts have no case, http is as good as https, and the host may
 * stand behind `www.`. Pages of the code host's own that look like repositories, such as
 * `https://github.com/orgs/acme`, are none. Nobody is asked whether a repository exists. */
#pragma once

#include "base/arena.h"

#include <stddef.h>

/** The repository, `owner/name`, that an address is of or below. In the arena. *ret_rest is what
 * follows it: `` or `/`, or that of a page such as `/issues/3`. NULL: the address is of no
 * repository. */
const char *repository_url_read(struct arena *arena, const char *web_url, const char *url,
                                const char **ret_rest);

/** The repositories that `text` links to, with or without a scheme, each once, in order of their
 * first occurrence: at most `max`. In the arena. Returns their number. */
size_t repository_urls_find(struct arena *arena, const char *web_url, const char *text,
                            const char *repos[], size_t max);

/** The repository at the beginning of a path of the code host, without what an address adds:
 * `acme/ranker` of `acme/ranker.git/`. In the arena. NULL: it is none, as `orgs/acme`. */
const char *repository_path_read(struct arena *arena, const char *path);
