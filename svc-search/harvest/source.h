/** Sources of papers: servers that list, page by page, what was added or changed since a day. A
 * source is a row of SOURCES; what follows here works with any of them: the scheduled harvest
 * (harvester.h), the command (harvest.c) and the storing of pages (ingest/import.h). */
#pragma once

#include "base/config.h"
#include "base/error.h"
#include "ingest/metadata.h"
#include "loop/request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct import;

struct source_record {
	struct metadata paper;
	bool is_deleted;   /* only paper.id is set */
	const char *fault; /* why it cannot be read; only paper.id can be set then. NULL: it can */
	STAILQ_ENTRY(source_record) entry;
};

STAILQ_HEAD(source_records, source_record);

/** A page of a list. */
struct source_page {
	struct source_records records;
	size_t count;           /* of `records` */
	const char *token;      /* of the next page; NULL: this is the last one */
	long complete;          /* records of the whole list; 0: not given */
	int64_t answered_at_ms; /* by the server's clock; 0: not given */
	bool is_expired;     /* the token of this page has expired: the list is to be restarted */
	bool is_unmatched;   /* the server says that nothing matches: of a token, it has expired */
	const char *refusal; /* the server refuses the request, and says this; NULL: it does not */
};

/** What is listed: the papers of a set that were added or changed in some days. */
struct source_cursor {
	const char *set;          /* NULL: all papers */
	const char *from, *until; /* `2026-11-20`, inclusive; until can be NULL */
};

struct source {
	const char *name;  /* `arxiv` */
	const char *lease; /* under which it is asked (pg/lease.h): one process at a time */
	/** When a day's harvest begins: `22:30 America/New_York`. */
	const char *(*at)(void);
	/** The URL of a list's first page, and of the page of a token. In the arena. */
	const char *(*first)(struct arena *arena, const struct source *source,
	                     const struct source_cursor *cursor);
	const char *(*next)(struct arena *arena, const struct source *source,
	                    const struct source_cursor *cursor, const char *token);
	/** Least time between two requests. */
	uint64_t (*delay_ms)(void);
	/** Read an answer into the arena. ERR_MALFORMED: it is not one of this source; *ret_why
	 * says why. */
	enum err_code (*parse)(struct arena *arena, const struct source *source, const char *text,
	                       size_t length, struct source_page *ret_page, const char **ret_why);
};

/** arXiv, over OAI-PMH (arxiv.c), and its settings OAI_URL, HARVEST_AT and HARVEST_DELAY. */
extern const struct source ARXIV_SOURCE;
extern const struct setting ARXIV_SETTINGS[];

/** bioRxiv and medRxiv, over their own API (biorxiv.h), and the setting BIORXIV_URL. */
extern const struct source BIORXIV_SOURCE, MEDRXIV_SOURCE;
extern const struct setting BIORXIV_SETTINGS[];

/** All of them. */
#define SOURCE_COUNT 3
extern const struct source *const SOURCES[SOURCE_COUNT];

/** PUBLIC_URL and HARVEST_CONTACT: who asks; HARVEST_TIMEOUT. */
extern const struct setting SOURCE_SETTINGS[];

/** The source of that name; NULL: there is none. */
const struct source *source_find(const char *name);

/** Failed attempts for a page, and restarts of a list, with which a run gives up. */
#define SOURCE_ATTEMPTS_MAX 8
#define SOURCE_RESTARTS_MAX 3

/** How long to wait after the failed attempt of that number, from 0. */
uint64_t source_backoff_ms(const struct source *source, int attempt);

/** What became of one request for a page. */
enum source_outcome {
	SOURCE_PAGE,    /* there is a page */
	SOURCE_EXPIRED, /* the token has expired */
	SOURCE_BUSY,    /* the network or the server failed: the same request may succeed later */
	SOURCE_REFUSED, /* the request, or its answer, is wrong */
};

struct source_answer {
	enum source_outcome outcome;
	struct source_page page; /* of SOURCE_PAGE */
	const char *why;         /* of SOURCE_BUSY and SOURCE_REFUSED */
	uint64_t retry_after_ms; /* of SOURCE_BUSY; 0: the server did not say */
};

/** Reserve the source's next turn among the requests of all processes (`source_pace`), which comes
 * in *ret_wait_ms. False: it would come after more than `wait_max_ms`, and none was reserved. */
bool source_reserve(struct request *rq, const struct source *source, int64_t wait_max_ms,
                    int64_t *ret_wait_ms);

/** Ask for the page at `url`, once, when it is the turn of this process. `has_token`: it is one
 * behind the first. In the arena of `rq`. Suspends. */
struct source_answer source_ask(struct request *rq, const struct source *source, const char *url,
                                bool has_token);

/** Store the papers of a page, and withdraw those that the source has deleted. Returns how many
 * were withdrawn. Suspends; raises the error of the database. */
size_t source_store(struct request *rq, struct import *import, const struct source_page *page);

/** Whether the token is not among those of the list before it, `seen`: otherwise the list would
 * never end. */
bool source_token_is_new(const struct buf *seen, const char *token);
void source_token_add(struct buf *seen, const char *token);
