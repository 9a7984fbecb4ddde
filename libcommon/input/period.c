#include "input/period.h"

#include "base/timefmt.h"
#include "input/input.h"

#include <string.h>

#define DAY_MS       ((int64_t)24 * 3600 * 1000)
#define FIRST_DAY_MS 0 /* 1970-01-01, the first that QUERY_DATE reads */

static const char *format_day(struct request *rq, int64_t time_ms)
{
	char *day = arena_alloc(rq->arena, DATE_TEXT_LEN + 1);
	date_format(time_ms, day);
	return day;
}

static int64_t parse_day(const char *day)
{
	int64_t time_ms = 0;
	require(date_parse(day, strlen(day), &time_ms));
	return time_ms;
}

struct period period_read(struct request *rq, const char *since, const char *until,
                          const struct period_limits *limits)
{
	int64_t until_ms = until ? parse_day(until) : time_now_ms() / DAY_MS * DAY_MS;
	int64_t first_ms = until_ms - (limits->days_default - 1) * DAY_MS;
	int64_t since_ms = since ? parse_day(since) : MAX_OF(first_ms, FIRST_DAY_MS);
	struct period period = {.since = format_day(rq, since_ms),
	                        .until = format_day(rq, until_ms),
	                        .days = (until_ms - since_ms) / DAY_MS + 1};
	if (period.days < 1)
		raise_field(rq, "since", "must not be after until");
	if (period.days > limits->days_max)
		raise_field(rq, "since", "must be at most %jd days before until",
		            (intmax_t)limits->days_max - 1);
	return period;
}
