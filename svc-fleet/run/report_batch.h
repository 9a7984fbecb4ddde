/** Group commit of reports: those that arrive at a worker while a statement stores earlier ones, or
 * within two milliseconds, are stored together by the next. They share its round trip, the start of
 * its plans and its commit, and each is answered after that commit.
 *
 * One statement is under way per worker. It takes reports of up to BATCH_BYTES, from each account
 * in turn, so that many reports of one account do not delay another account's. When it fails for
 * what a report contains, its halves are stored by themselves: only that report fails.
 */
#pragma once

#include "loop/request.h"

#include <stdbool.h>

struct report_batcher;

struct report_batcher *report_batcher_new(struct worker *worker);

/** require()s that no report waits. NULL is fine. */
void report_batcher_free(struct report_batcher *batcher);

/** The record of a run after a report. */
struct stored_report {
	bool is_new;      /* the run was not known before */
	const char *json; /* in the arena of the request */
};

/** Store a report and wait until it is committed; `telling` is one of the objects that the SQL
 * function runs_tell() takes, of the caller's account. Suspends. In a transaction of the request it
 * is stored there, by itself.
 *
 * Raises what pg_query() raises for a write. */
struct stored_report report_store(struct request *rq, const char *telling);
