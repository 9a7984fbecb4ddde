#include "experiment/project.h"

#include "experiment/fields.h"
#include "input/input.h"
#include "json/json.h"
#include "pg/pg.h"
#include "project.sql.h"
#include "reply/etag.h"
#include "reply/reply.h"
#include "reply/resource.h"
#include "request/audited.h"

#define DETACHED_AT_ONCE 200

struct project_input {
	const char *id;
	int64_t limit, offset;
};

static const struct field LIST_FIELDS[] = {
	QUERY_LIMIT(struct project_input, limit, 20, 100),
	QUERY_OFFSET(struct project_input, offset),
	FIELD_END,
};

static const struct field ID_FIELDS[] = {
	PATH_UUID(struct project_input, id, "project_id"),
	FIELD_END,
};

static const struct field OUTLINE_FIELDS[] = {
	BODY_UUID(struct project_input, id, "project_id", REQUIRED),
	FIELD_END,
};

static const struct field UPDATE_FIELDS[] = {
	PATH_UUID(struct project_input, id, "project_id"),
	JSON_TEXT("name", TRIMMED, 1, 200),
	JSON_TEXT("description", NULLABLE, 0, 10000),
	PROJECT_READ_ONLY_FIELDS,
	FIELD_END,
};

static const struct constraint CONSTRAINTS[] = {
	{"project_name", ERR_CONFLICT, NULL, "a project of this name exists"},
	{0},
};

void project_list(struct request *rq)
{
	struct project_input *in = request_input(rq, struct project_input, LIST_FIELDS);
	struct pg_rows *rows = pg_query(rq, PROJECT_LIST_SQL, pg_uuid(rq->caller.account),
	                                pg_int(in->limit), pg_int(in->offset));
	reply_page(rq, rows, in->limit, in->offset);
}

void project_create(struct request *rq)
{
	request_input(rq, struct project_input, PROJECT_CREATE_FIELDS);
	struct pg_rows *rows =
		pg_write(rq, CONSTRAINTS, PROJECT_CREATE_SQL, pg_uuid(rq->caller.account),
	                 pg_text(request_body_json(rq)));
	reply_json(rq, 201, pg_json(rows));
}

void project_get(struct request *rq)
{
	struct project_input *in = request_input(rq, struct project_input, ID_FIELDS);
	struct pg_rows *rows =
		pg_query(rq, PROJECT_GET_SQL, pg_text(in->id), pg_uuid(rq->caller.account));
	etag_reply_object(rq, 200, rows, "project");
}

void project_update(struct request *rq)
{
	struct project_input *in = request_input(rq, struct project_input, UPDATE_FIELDS);
	request_require_member(rq);
	struct pg_rows *rows = pg_write(rq, CONSTRAINTS, PROJECT_UPDATE_SQL, pg_text(in->id),
	                                pg_uuid(rq->caller.account), pg_text(request_body_json(rq)),
	                                pg_text(etag_if_match(rq)));
	etag_reply_object(rq, 200, rows, "project");
}

void project_delete(struct request *rq)
{
	struct project_input *in = request_input(rq, struct project_input, ID_FIELDS);
	audited_begin(rq); /* committed together with the answer */
	struct pg_rows *rows =
		pg_query(rq, PROJECT_DELETE_SQL, pg_text(in->id), pg_uuid(rq->caller.account),
	                 caller_key(rq), pg_text(rq->id), pg_text(etag_if_match(rq)));
	etag_require(rq, rows, "project");
	reply_json(rq, 200, pg_json(rows));
}

void project_detach(struct request *rq, struct task *task)
{
	struct pg_param account = pg_uuid(rq->caller.account);
	struct pg_param project = pg_text(json_get_text(task->input, "project_id"));
	struct pg_param by_key = pg_text(json_get_text(task->input, "by_key"));
	while (pg_value_int(pg_query(rq, PROJECT_DETACH_SQL, account, project, by_key,
	                             pg_text(rq->id), pg_int(DETACHED_AT_ONCE)),
	                    0) == DETACHED_AT_ONCE)
		;
	task_complete(rq, task, "{}", NULL);
}

void project_outline_get(struct request *rq)
{
	struct project_input *in = request_input(rq, struct project_input, OUTLINE_FIELDS);
	struct pg_rows *rows =
		pg_query(rq, PROJECT_OUTLINE_GET_SQL, pg_uuid(rq->caller.account), pg_text(in->id));
	reply_one(rq, 200, rows, "no such project");
}
