#include "digest/digest.h"

#include "api/recommendation.h"
#include "base/version.h"
#include "digest.sql.h"
#include "digest/digest_json.h"
#include "input/input.h"
#include "loop/wait.h"
#include "pg/pg.h"
#include "recommended/recommended_paper.h"
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

/* Of what is shown, and of the program that gives it its form. */
static const char *tag_text(struct request *rq, const char *version)
{
	return arena_printf(rq->arena, "%s-%s", version, version_commit);
}

/* Whether the client has the digest already; then the reply is made. */
static bool is_known(struct request *rq)
{
	if (!etag_is_asked(rq))
		return false;
	struct pg_rows *rows = pg_query(rq, DIGEST_TAG_SQL, pg_uuid(rq->caller.account),
	                                pg_text(rq->caller.interest));
	return etag_reply_known(rq, tag_text(rq, pg_value(rows, 0)));
}

struct making {
	struct arena *arena;
	struct digest digest;
	struct buf json;
};

static void make(void *arg)
{
	struct making *making = arg;
	making->json = digest_json(making->arena, &making->digest);
}

void digest_get(struct request *rq)
{
	struct digest_input *in = request_input(rq, struct digest_input, DIGEST_FIELDS);
	if (is_known(rq))
		return;
	const char *period = in->period ? in->period : RECOMMENDATION_PERIODS[0];
	struct pg_rows *rows =
		pg_query(rq, DIGEST_GET_SQL, pg_uuid(rq->caller.account), pg_text(period),
	                 pg_int(in->limit), pg_text(rq->caller.interest), pg_text(in->source_type),
	                 pg_int(in->limit_interests), pg_int(in->offset));
	const struct paper_json **papers = recommended_papers_load(rq, rows);
	struct making making = {.arena = offload_arena(rq),
	                        .digest = {rows, papers, period, in->source_type}};
	fiber_offload_text(rq, (size_t)rows->count * RECOMMENDED_PAPER_COST, make, &making);
	reply_page_fields(rq, "limit_interests", pg_get_int(rows, 0, "total"), in->limit_interests,
	                  in->offset);
	etag_reply(rq, tag_text(rq, pg_get(rows, 0, "tag")));
	reply_json_length(rq, 200, making.json.data, making.json.length);
}
