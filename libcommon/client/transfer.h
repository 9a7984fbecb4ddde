/** libcurl's multi interface on a worker's loop: transfers, each with one completion. Nothing here
 * suspends; fetch.c makes calls of fibers from it.
 *
 * Name lookup is libcurl's own and off the loop (fetcher_new() requires a build that has it);
 * connections are kept and used again, but never for a POST or PATCH: libcurl would repeat one
 * silently on a kept connection that turns out dead.
 */
#pragma once

#include "client/fetch.h"

#include <curl/curl.h>

#include <stdbool.h>

/** One transfer; it and all that it collects live in its own arena. */
struct transfer {
	struct arena *arena;
	CURL *easy;
	struct curl_slist *fields;
	char error[CURL_ERROR_SIZE];
	/* The answer so far: of its last response, that is behind redirects. */
	struct http_field *answer_fields;
	size_t field_count, field_room, field_bytes;
	struct buf body;
	size_t body_max_bytes;
	bool is_over_limit;
	/* Set when it is over. */
	bool is_done;
	CURLcode result;
	struct fiber *fiber; /* woken then */
	struct fetcher *fetcher;
	struct transfer *next, **link;
};

/** Start the call for the running fiber; `timeout_ms` for all of it. `is_direct`: past any proxy
 * of the environment. Copies what it needs. NULL: not a URL that libcurl takes. */
struct transfer *transfer_start(struct fetcher *fetcher, const struct fetch_call *call,
                                uint64_t timeout_ms, bool is_direct);

/** Take the transfer out, done or not, and free its handle; the arena is left to the caller. Not
 * from a libcurl callback. */
void transfer_end(struct transfer *transfer);
