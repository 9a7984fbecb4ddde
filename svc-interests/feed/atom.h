/** Feeds as Atom documents (RFC 4287). Internal to this folder. */
#pragma once

#include "pg/pg.h"

/** In the arena of the request that asked for it. */
struct atom_feed {
	const char *id; /* UUID */
	const char *title;
	const char *updated;       /* RFC 3339: when the newest paper was recommended */
	const char *last_modified; /* the same as HTTP writes times; NULL: of the last minute */
	const char *page;          /* path of the page for people, below PUBLIC_URL */
};

/** The feed whose token has the SHA-256 `hash`. Raises ERR_NOT_FOUND. */
struct atom_feed atom_feed_get(struct request *rq, struct pg_param hash);

/** The document, with the newest 50 papers. `site` is PUBLIC_URL, `self` the address of the feed.
 * Texts are escaped; characters that XML 1.0 forbids (section 2.2) are left out. In the arena. */
const char *atom_write(struct request *rq, const struct atom_feed *feed, const char *site,
                       const char *self, size_t *ret_length);
