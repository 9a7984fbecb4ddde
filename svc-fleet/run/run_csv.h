/** Runs as CSV: what they report, and a column for each number of `metrics`. */
#pragma once

#include "loop/request.h"

/** Which runs of a list; NULL: any. */
struct run_filter {
	const char *repo, *repos, *run, *outcome, *agent, *interest, *paper;
	const char *since, *until, *merged_since, *merged_until;
};

/** Reply the runs that the filter lets through, those that started last first. The caller may see
 * its repository. */
void run_csv_reply(struct request *rq, const struct run_filter *filter);
