#include "notify/digest/digest.h"

#include "crypto/uuid.h"
#include "digest.sql.h"
#include "json/json.h"
#include "pg/pg.h"

/* Dates that one statement tells. */
#define BATCH 100

#define INTERESTS_MAX 100
#define PAPERS_MAX    10
#define TIME_ZONE_MAX 64
#define DAYS_MAX      7

int64_t digest_check_ms;

const struct setting DIGEST_SETTINGS[] = {
	SETTING_MS(&digest_check_ms, "DIGEST_CHECK", "20s", 50, 3600000,
                   "Interval of looking for digests of messages that are due."),
	SETTING_END,
};

static const char *const PERIODS[] = {"today", "week", "month", NULL};

const struct field DIGEST_FIELDS[] = {
	JSON_INT("hour", REQUIRED, 0, 23),
	JSON_INT("minute", OPTIONAL, 0, 59),
	JSON_TEXT("time_zone", REQUIRED, 1, TIME_ZONE_MAX),
	{IN_BODY, FIELD_ARRAY, "weekdays", FIELD_NOWHERE, OPTIONAL, 1, DAYS_MAX},
	JSON_STRINGS("interest_ids", NULLABLE, 1, INTERESTS_MAX, UUID_TEXT_LEN),
	JSON_INT("limit", OPTIONAL, 1, PAPERS_MAX),
	JSON_FLOAT("min_score", OPTIONAL, 0, 1),
	JSON_BOOL("skip_empty", OPTIONAL),
	JSON_ENUM("period", OPTIONAL, PERIODS),
	FIELD_END,
};

static bool is_weekday(yyjson_val *item)
{
	return item_is_whole(item, 1, DAYS_MAX);
}

void digest_check(struct request *rq)
{
	request_check_items(rq, "digest.weekdays", is_weekday, "must be 1, Monday, to 7, Sunday");
	request_check_items(rq, "digest.interest_ids", item_is_uuid,
	                    "must be the id of an interest");
}

void digest_pass(struct request *rq)
{
	while (pg_value_int(pg_query(rq, DIGESTS_ANNOUNCE_SQL, pg_int(BATCH)), 0) == BATCH)
		;
}
