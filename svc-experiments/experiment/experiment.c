#include "experiment/experiment.h"

#include "analysis/plan.h"
#include "experiment.sql.h"
#include "experiment/experiment_csv.h"
#include "experiment/fields.h"
#include "experiment/key_experiments.h"
#include "input/input.h"
#include "input/key_limit.h"
#include "json/json.h"
#include "pg/pg.h"
#include "reply/etag.h"
#include "reply/media_type.h"
#include "reply/reply.h"
#include "reply/resource.h"
#include "request/audited.h"
#include "request/idempotency.h"

#include <inttypes.h>
#include <string.h>

struct list_input {
	struct experiment_filter filter;
	int64_t limit, offset;
};

static const struct field LIST_FIELDS[] = {
	QUERY_UUID(struct list_input, filter.project, "project_id"),
	QUERY_ENUM(struct list_input, filter.status, "status", EXPERIMENT_STATUSES),
	QUERY_TEXT(struct list_input, filter.ticket_source, "ticket_source", OPTIONAL, 1, 64),
	QUERY_TEXT(struct list_input, filter.ticket, "external_ticket_id", OPTIONAL, 1, 255),
	QUERY_TEXT(struct list_input, filter.created_via, "created_via", OPTIONAL, 1, 64),
	QUERY_TEXT(struct list_input, filter.tag, "tag", OPTIONAL, 1, 64),
	QUERY_LIMIT(struct list_input, limit, 20, 100),
	QUERY_OFFSET(struct list_input, offset),
	FIELD_END,
};

static const struct field ACTIONABLE_FIELDS[] = {
	QUERY_UUID(struct list_input, filter.project, "project_id"),
	QUERY_LIMIT(struct list_input, limit, 20, 100),
	QUERY_OFFSET(struct list_input, offset),
	FIELD_END,
};

static const struct field ID_FIELDS[] = {
	PATH_UUID(struct experiment_path, id, "experiment_id"),
	FIELD_END,
};

static struct pg_rows *read_list(struct request *rq, const struct list_input *in,
                                 bool is_actionable)
{
	struct pg_param account = pg_uuid(rq->caller.account),
			project = pg_text(in->filter.project), status = pg_text(in->filter.status),
			source = pg_text(in->filter.ticket_source),
			ticket = pg_text(in->filter.ticket), via = pg_text(in->filter.created_via),
			tag = pg_text(in->filter.tag);
	if (!key_is_limited(rq))
		return pg_query(rq, EXPERIMENT_LIST_SQL, account, project, status, source, ticket,
		                via, tag, pg_bool(is_actionable), pg_int(in->limit),
		                pg_int(in->offset));
	return pg_query(rq, EXPERIMENT_LIST_OF_KEY_SQL, account, project, status, source, ticket,
	                via, tag, pg_bool(is_actionable), pg_text(rq->caller.repo),
	                pg_text(key_project(rq)), pg_int(in->limit), pg_int(in->offset));
}

static void reply_list(struct request *rq, const struct list_input *in, bool is_actionable)
{
	struct pg_rows *rows = read_list(rq, in, is_actionable);
	reply_page(rq, rows, in->limit, in->offset);
}

void experiment_list(struct request *rq)
{
	struct list_input *in = request_input(rq, struct list_input, LIST_FIELDS);
	if (reply_choose(rq, JSON_OR_CSV) == 0)
		reply_list(rq, in, false);
	else
		experiment_csv_reply(rq, &in->filter);
}

void experiment_actionable(struct request *rq)
{
	reply_list(rq, request_input(rq, struct list_input, ACTIONABLE_FIELDS), true);
}

static int64_t experiments_max;

const struct setting EXPERIMENT_SETTINGS[] = {
	SETTING_INT(&experiments_max, "EXPERIMENTS_MAX", "100000", 1, 1000000000,
                    "Experiments that an account may have."),
	SETTING_END,
};

/* The constraints that a statement can violate, with the limit in its message. */
static const struct constraint *constraints(struct request *rq)
{
	const struct constraint rows[] = {
		{"experiment_project", ERR_INVALID, "project_id", "is not one of your projects"},
		{"results_exist", ERR_RESULTS_EXIST, NULL,
	         "the experiment has results, so arms, metrics, mode, alpha and planned_n are "
	         "fixed; \"restart\": true sets its results apart"},
		{"experiment_max", ERR_CONFLICT, NULL,
	         arena_printf(rq->arena,
	                      "an account may have %" PRId64 " experiments; delete one first",
	                      experiments_max)},
		{0},
	};
	return arena_memdup(rq->arena, rows, sizeof(rows));
}

/* Add the faults of the plan, whose members depend on each other, to those of the input. */
static void check_plan(struct request *rq)
{
	struct plan plan;
	plan_read(rq->arena, request_body(rq), &rq->problem, &plan);
}

void experiment_create(struct request *rq)
{
	check_plan(rq);
	request_input(rq, struct experiment_path, EXPERIMENT_CREATE_FIELDS);
	key_require_change(rq, NULL);
	idempotency_join(rq);
	if (request_has_member(rq, "outcome") || request_has_member(rq, "status"))
		audited_begin(rq); /* it may be decided from the start */
	struct pg_rows *rows =
		pg_write_shared(rq, constraints(rq), EXPERIMENT_CREATE_SQL,
	                        pg_uuid(rq->caller.account), pg_text(request_body_json(rq)),
	                        pg_text(rq->id), pg_int(experiments_max), caller_key(rq));
	etag_reply_object(rq, 201, rows, "experiment");
}

void experiment_get(struct request *rq)
{
	struct experiment_path *in = request_input(rq, struct experiment_path, ID_FIELDS);
	key_require_experiment(rq, in->id);
	struct pg_rows *rows = pg_batch_query(rq, EXPERIMENT_GET_SQL, pg_uuid(rq->caller.account),
	                                      pg_text(in->id));
	etag_reply_object(rq, 200, rows, "experiment");
}

void experiment_update(struct request *rq)
{
	check_plan(rq);
	struct experiment_path *in =
		request_input(rq, struct experiment_path, EXPERIMENT_UPDATE_FIELDS);
	request_require_member(rq);
	key_require_change(rq, in->id);
	audited_begin(rq); /* committed together with the answer */
	struct pg_rows *rows = pg_write(rq, constraints(rq), EXPERIMENT_UPDATE_SQL, pg_text(in->id),
	                                pg_uuid(rq->caller.account), caller_key(rq),
	                                pg_text(request_body_json(rq)), pg_text(rq->id),
	                                pg_text(etag_if_match(rq)));
	etag_reply_object(rq, 200, rows, "experiment");
}

void experiment_delete(struct request *rq)
{
	struct experiment_path *in = request_input(rq, struct experiment_path, ID_FIELDS);
	key_hold_experiment(rq, in->id);
	audited_begin(rq);
	struct pg_rows *rows =
		pg_query(rq, EXPERIMENT_DELETE_SQL, pg_text(in->id), pg_uuid(rq->caller.account),
	                 pg_text(rq->id), pg_text(etag_if_match(rq)), caller_key(rq));
	etag_require(rq, rows, "experiment");
	reply_json(rq, 200, pg_json(rows));
}
