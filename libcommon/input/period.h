/** Periods of days, in UTC, that a query names by `since` and `until`. */
#pragma once

#include "loop/request.h"

#include <stdint.h>

struct period {
	const char *since, *until; /* `2026-01-31`, both included; in the request's arena */
	int64_t days;              /* 1 or more */
};

/** What a query may name, and what it means where it names nothing. */
struct period_limits {
	int64_t days_default; /* until `until` or today, where there is no `since` */
	int64_t days_max;
};

/** The period of two days that QUERY_DATE has read; NULL: the query does not name it. Raises
 * ERR_INVALID, for `since`: it is after `until`, or the period has more than days_max days. */
struct period period_read(struct request *rq, const char *since, const char *until,
                          const struct period_limits *limits);
