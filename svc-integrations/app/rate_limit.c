#include "app/rate_limit.h"

#include "base/timefmt.h"
#include "observe/log.h"
#include "pg/pg.h"
#include "rate_limit.sql.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A secondary limit may give no time: wait a minute, as the code host asks for. */
#define SECONDARY_LIMIT_S 60

/* The longest wait that is believed. Primary limits end within the hour. */
#define LIMIT_MAX_S 3600

static attr_noreturn void raise_limit(struct request *rq, int64_t seconds)
{
	raise_retry_later(rq, ERR_UNAVAILABLE, (unsigned)seconds,
	                  "the code host's rate limit is reached");
}

void rate_limit_check(struct request *rq, const char *name)
{
	struct pg_rows *rows = pg_query(rq, RATE_LIMIT_GET_SQL, pg_text(name));
	if (!pg_empty(rows))
		raise_limit(rq, pg_value_int(rows, 0));
}

static bool is_refused(const struct fetch_response *answer)
{
	return answer->status == 403 || answer->status == 429;
}

static int64_t field_int(const struct fetch_response *answer, const char *name, int64_t fallback)
{
	const char *value = fetch_field(answer, name);
	if (!value || !isdigit((unsigned char)value[0]))
		return fallback;
	return strtoll(value, NULL, 10);
}

/* The code host's clock, in seconds: x-ratelimit-reset is a time of it. */
static int64_t now_of(const struct fetch_response *answer, int64_t now_ms)
{
	int64_t date_s = fetch_date_s(answer);
	return date_s ? date_s : now_ms / 1000;
}

int64_t rate_limit_wait_s(const struct fetch_response *answer, int64_t now_ms)
{
	int64_t wait_s = 0;
	if (is_refused(answer) && fetch_field(answer, "retry-after"))
		wait_s = MAX_OF((int64_t)(fetch_retry_after_ms(answer) / 1000), 1);
	else if (field_int(answer, "x-ratelimit-remaining", 1) == 0)
		wait_s = field_int(answer, "x-ratelimit-reset", 0) - now_of(answer, now_ms);
	else if (answer->status == 429 ||
	         (is_refused(answer) && strcasestr(answer->body, "rate limit")))
		wait_s = SECONDARY_LIMIT_S;
	else
		return 0;
	return MIN_OF(MAX_OF(wait_s, is_refused(answer)), LIMIT_MAX_S);
}

void rate_limit_obey(struct request *rq, const char *name, const struct fetch_response *answer)
{
	int64_t seconds = rate_limit_wait_s(answer, time_now_ms());
	if (seconds <= 0)
		return;
	/* The call was made: that this cannot be noted is no failure of it. */
	struct pg_rows *rows;
	pg_try(rq, &rows, NULL, RATE_LIMIT_SET_SQL, pg_text(name), pg_int(seconds));
	log_warn("the code host's rate limit is reached", f_text("limit", name),
	         f_int("seconds", seconds));
	if (is_refused(answer))
		raise_limit(rq, seconds);
}
