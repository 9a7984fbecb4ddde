/** Experiments as CSV: all of their members, and a column for each figure of each metric of their
 * newest results, `metrics.accuracy.effect`. */
#pragma once

#include "loop/request.h"

/** Which experiments of a list; NULL: any. */
struct experiment_filter {
	const char *project, *status, *ticket_source, *ticket, *created_via, *tag;
};

/** Reply those that the filter lets through and the caller's key may see, newest first. */
void experiment_csv_reply(struct request *rq, const struct experiment_filter *filter);

/** Reply those of the ids, a JSON array; the caller may see them. */
void experiment_csv_reply_ids(struct request *rq, const char *ids);
