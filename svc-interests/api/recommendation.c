#include "api/recommendation.h"

#include "http/api.h"
#include "input/input.h"
#include "input/key_limit.h"
#include "json/json.h"
#include "loop/wait.h"
#include "pg/pg.h"
#include "product/paper_source.h"
#include "recommendation.sql.h"
#include "recommended/recommended_paper.h"
#include "reply/reply_papers.h"
#include "reply/resource.h"
#include "task/task.h"

#include <string.h>

#define LIST_DEFAULT    20
#define LIST_MAX        50
#define NUM_RESULTS_MAX 50

const char *const RECOMMENDATION_PERIODS[] = {"today", "week", "month", "all", NULL};
const char *const RECOMMENDATION_SOURCES[] = {PAPER_SOURCES(PAPER_SOURCE_TYPE) NULL};
static const char *const SIGNALS[] = {"like", "save", "implemented", "dislike", "dismiss", NULL};

/* Index of the first negative signal in SIGNALS. */
#define FIRST_NEGATIVE 3

struct recommendation_input {
	const char *id, *task, *interest;
	const char *period, *source_type, *signal;
	int64_t limit, offset, num_results;
};

static const struct field LIST_FIELDS[] = {
	QUERY_INTEREST(struct recommendation_input, interest),
	QUERY_ENUM(struct recommendation_input, period, "period", RECOMMENDATION_PERIODS),
	QUERY_ENUM(struct recommendation_input, source_type, "source_type", RECOMMENDATION_SOURCES),
	QUERY_LIMIT(struct recommendation_input, limit, LIST_DEFAULT, LIST_MAX),
	QUERY_OFFSET(struct recommendation_input, offset),
	FIELD_END,
};

static const struct field FEEDBACK_FIELDS[] = {
	PATH_UUID(struct recommendation_input, id, "recommendation_id"),
	BODY_ENUM(struct recommendation_input, signal, "signal", REQUIRED, SIGNALS),
	FIELD_END,
};

static const struct field FEEDBACK_DELETE_FIELDS[] = {
	PATH_UUID(struct recommendation_input, id, "recommendation_id"),
	{IN_QUERY, FIELD_ENUM, "signal",
         FIELD_AT(struct recommendation_input, signal, const char *), REQUIRED, .values = SIGNALS},
	FIELD_END,
};

static const struct field EXPLANATION_FIELDS[] = {
	PATH_UUID(struct recommendation_input, id, "recommendation_id"),
	FIELD_END,
};

static const struct field REFRESH_FIELDS[] = {
	BODY_INTEREST(struct recommendation_input, interest),
	BODY_INT(struct recommendation_input, num_results, "num_results", NULLABLE, 1,
                 NUM_RESULTS_MAX, 0),
	FIELD_END,
};

static const struct field TASK_FIELDS[] = {
	PATH_UUID(struct recommendation_input, task, "task_id"),
	FIELD_END,
};

static const struct constraint REFRESH_CONSTRAINTS[] = {
	CONSTRAINT_TASK_PENDING_MAX,
	{0},
};

/* Making the JSON of a list. */
struct list {
	const struct pg_rows *rows;
	const struct paper_json **papers; /* of the rows */
	struct buf json;
};

static void list_make(void *arg)
{
	struct list *list = arg;
	const char *separator = "[";
	buf_reserve(&list->json, ((size_t)list->rows->count + 1) * RECOMMENDED_PAPER_BYTES);
	for (int row = 0; row < list->rows->count; row++) {
		if (!list->papers[row])
			continue;
		buf_puts(&list->json, separator);
		recommended_paper_add(&list->json, list->rows, row, list->papers[row]);
		separator = ",";
	}
	buf_puts(&list->json, *separator == '[' ? "[]" : "]");
}

void recommendation_list(struct request *rq)
{
	struct recommendation_input *in =
		request_input(rq, struct recommendation_input, LIST_FIELDS);
	struct pg_rows *rows =
		pg_query(rq, RECOMMENDATION_LIST_SQL, pg_uuid(rq->caller.account),
	                 pg_text(in->interest),
	                 pg_text(in->period ? in->period : RECOMMENDATION_PERIODS[0]),
	                 pg_int(in->limit), pg_int(in->offset), pg_text(in->source_type));
	reply_page_fields(rq, "limit", pg_get_int(rows, 0, "total"), in->limit, in->offset);
	struct list list = {rows, recommended_papers_load(rq, rows), {.arena = offload_arena(rq)}};
	fiber_offload_text(rq, (size_t)rows->count * RECOMMENDED_PAPER_COST, list_make, &list);
	reply_papers(rq, list.json.data, "resource");
}

/* Raise ERR_FORBIDDEN when the key is limited to another interest than that of the row which `sql`
 * reads by its id. A row that does not exist is left to the operation itself. */
static void require_interest_of(struct request *rq, const char *sql, const char *id)
{
	if (!rq->caller.interest)
		return;
	struct pg_rows *rows = pg_query(rq, sql, pg_uuid(rq->caller.account), pg_text(id));
	if (!pg_empty(rows))
		require_interest(rq, pg_value(rows, 0));
}

/* The signals that contradict this one. */
static const char *opposite_of(const char *signal)
{
	for (size_t i = 0; i < FIRST_NEGATIVE; i++)
		if (strcmp(SIGNALS[i], signal) == 0)
			return "{dislike,dismiss}";
	return "{like,save,implemented}";
}

void recommendation_feedback(struct request *rq)
{
	struct recommendation_input *in =
		request_input(rq, struct recommendation_input, FEEDBACK_FIELDS);
	require_interest_of(rq, RECOMMENDATION_INTEREST_SQL, in->id);
	struct pg_rows *rows =
		pg_query(rq, RECOMMENDATION_FEEDBACK_SQL, pg_uuid(rq->caller.account),
	                 pg_text(in->id), pg_text(in->signal), pg_text(opposite_of(in->signal)),
	                 caller_person(rq));
	reply_one(rq, 200, rows, "no such recommendation");
}

void recommendation_feedback_delete(struct request *rq)
{
	struct recommendation_input *in =
		request_input(rq, struct recommendation_input, FEEDBACK_DELETE_FIELDS);
	require_interest_of(rq, RECOMMENDATION_INTEREST_SQL, in->id);
	struct pg_rows *rows =
		pg_query(rq, RECOMMENDATION_FEEDBACK_DELETE_SQL, pg_uuid(rq->caller.account),
	                 pg_text(in->id), pg_text(in->signal));
	reply_one(rq, 200, rows, "no such recommendation");
}

void recommendation_explanation(struct request *rq)
{
	struct recommendation_input *in =
		request_input(rq, struct recommendation_input, EXPLANATION_FIELDS);
	require_interest_of(rq, RECOMMENDATION_INTEREST_SQL, in->id);
	struct pg_rows *rows = pg_query(rq, RECOMMENDATION_EXPLANATION_SQL,
	                                pg_uuid(rq->caller.account), pg_text(in->id));
	require_row(rq, rows, "no such recommendation");
	if (!pg_value(rows, 0))
		raise_error(rq, ERR_NOT_FOUND,
		            "no explanation was stored with this recommendation");
	reply_json(rq, 200, pg_json(rows));
}

void recommendation_refresh(struct request *rq)
{
	struct recommendation_input *in =
		request_input(rq, struct recommendation_input, REFRESH_FIELDS);
	struct pg_rows *rows =
		pg_write(rq, REFRESH_CONSTRAINTS, RECOMMENDATION_REFRESH_SQL,
	                 pg_uuid(rq->caller.account), pg_text(in->interest),
	                 in->num_results ? pg_int(in->num_results) : pg_null(), pg_text(rq->id));
	require_row(rq, rows, "no such interest");
	reply_task(rq, pg_json(rows),
	           arena_printf(rq->arena, "%s/%s", api_op(API_ID_recommendations_refresh)->path,
	                        pg_get(rows, 0, "id")));
}

void refresh_task_get(struct request *rq)
{
	struct recommendation_input *in =
		request_input(rq, struct recommendation_input, TASK_FIELDS);
	require_interest_of(rq, REFRESH_TASK_INTEREST_SQL, in->task);
	struct pg_rows *rows =
		pg_query(rq, REFRESH_TASK_GET_SQL, pg_uuid(rq->caller.account), pg_text(in->task));
	reply_one(rq, 200, rows, "no such task");
}
