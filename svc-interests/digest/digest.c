#include "digest/digest.h"

#include "api/recommendation.h"
#include "digest.sql.h"
#include "input/input.h"
#include "pg/pg.h"
#include "reply/etag.h"
#include "reply/reply.h"

#define PAPERS_LIMIT    5 /* of an interest, by default */
#define PAPERS_MAX      10
#define INTERESTS_LIMIT 100 /* by default: as many as an account may have active by default */
#define INTERESTS_MAX   1000

struct digest_input {
	const char *period, *source_type;
	int64_t limit, limit_interests, offset;
};

static const struct field DIGEST_FIELDS[] = {
	QUERY_ENUM(struct digest_input, period, "period", RECOMMENDATION_PERIODS),
	QUERY_ENUM(struct digest_input, source_type, "source_type", RECOMMENDATION_SOURCES),
	QUERY_LIMIT(struct digest_input, limit, PAPERS_LIMIT, PAPERS_MAX),
	QUERY_LIMIT_OF(struct digest_input, limit_interests, "limit_interests", INTERESTS_LIMIT,
                       INTERESTS_MAX),
	QUERY_OFFSET(struct digest_input, offset),
	FIELD_END,
};

/* Whether the client has the digest already; then the reply is made. */
static bool is_known(struct request *rq)
{
	if (!etag_is_asked(rq))
		return false;
	struct pg_rows *rows = pg_query(rq, DIGEST_TAG_SQL, pg_uuid(rq->caller.account),
	                                pg_text(rq->caller.interest));
	return etag_reply_known(rq, pg_value(rows, 0));
}

void digest_get(struct request *rq)
{
	struct digest_input *in = request_input(rq, struct digest_input, DIGEST_FIELDS);
	if (is_known(rq))
		return;
	struct pg_rows *rows =
		pg_query(rq, DIGEST_GET_SQL, pg_uuid(rq->caller.account),
	                 pg_text(in->period ? in->period : RECOMMENDATION_PERIODS[0]),
	                 pg_int(in->limit), pg_text(rq->caller.interest), pg_text(in->source_type),
	                 pg_int(in->limit_interests), pg_int(in->offset));
	reply_page_fields(rq, "limit_interests", pg_get_int(rows, 0, "total"), in->limit_interests,
	                  in->offset);
	etag_reply(rq, pg_get(rows, 0, "tag"));
	reply_json(rq, 200, pg_json(rows));
}
