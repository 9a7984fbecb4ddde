/** Faults of a server that this process depends on, such as a full disk of Postgres.
 *
 * A table has a row for each kind. It maps the server's error code to ours, to a sentence for the
 * client, and to a summary for the operator. fault_report() logs a kind at most once in
 * FAULT_LOG_MS, with the number of occurrences, and remembers it, so that /readyz can name what
 * went wrong in the last FAULT_RECENT_MS.
 */
#pragma once

#include "base/error.h"
#include "observe/log.h"

#include <stddef.h>
#include <stdint.h>

#define FAULT_LOG_MS    10000
#define FAULT_RECENT_MS 15000

/** One kind of fault. */
struct fault {
	const char *match;   /* the server's error code or a prefix of it; "": found by us */
	enum err_code code;  /* of the request that met it */
	const char *detail;  /* one sentence for the client: no names, no secrets */
	const char *summary; /* for the operator; NULL: a statement is wrong, not the server */
};

/** What fault_report() has counted of one kind. Zeroed at first. Threads share it. */
struct fault_count {
	_Atomic uint64_t seen_ms;     /* of the last occurrence; 0: never */
	_Atomic uint64_t log_next_ms; /* no line before that */
	_Atomic uint64_t unlogged;    /* occurrences since the last line */
};

struct fault_table {
	const char *group; /* of its lines in the log */
	const struct fault *rows;
	struct fault_count *counts; /* one for each row */
	size_t count;
};

/** The row whose `match` is the longest prefix of the server's error code; NULL: none. */
const struct fault *fault_find(const struct fault_table *table, const char *server_code);

/** Count an occurrence of a row of the table, and log it unless a line of this kind is recent.
 * `server_code` and `reason`, the server's own words, are logged; both may be NULL. Rows without a
 * summary are ignored. */
void fault_report(const struct fault_table *table, const struct fault *fault,
                  const char *server_code, const char *reason);

/** The kind has been reported within FAULT_RECENT_MS. */
bool fault_is_recent(const struct fault_table *table, size_t row);
