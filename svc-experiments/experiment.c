#include "experiment.h"

#include "caller.h"
#include "etag.h"
#include "experiment.sql.h"
#include "input.h"
#include "pg/pg.h"

#include <string.h>

struct list_input {
	const char *project;
	const char *status;
	const char *ticket_source;
	const char *ticket;
	const char *created_via;
	int64_t limit, offset;
};

static const struct field LIST_FIELDS[] = {
	QUERY_UUID(struct list_input, project, "project_id"),
	QUERY_ENUM(struct list_input, status, "status", EXPERIMENT_STATUSES),
	QUERY_TEXT(struct list_input, ticket_source, "ticket_source", OPTIONAL, 1, 64),
	QUERY_TEXT(struct list_input, ticket, "external_ticket_id", OPTIONAL, 1, 255),
	QUERY_TEXT(struct list_input, created_via, "created_via", OPTIONAL, 1, 64),
	QUERY_LIMIT(struct list_input, limit, 20, 100),
	QUERY_OFFSET(struct list_input, offset),
	FIELD_END,
};

static const struct field ACTIONABLE_FIELDS[] = {
	QUERY_UUID(struct list_input, project, "project_id"),
	QUERY_LIMIT(struct list_input, limit, 20, 100),
	QUERY_OFFSET(struct list_input, offset),
	FIELD_END,
};

static const struct field ID_FIELDS[] = {
	PATH_UUID(struct experiment_input, id, "experiment_id"),
	FIELD_END,
};

static void reply_list(struct request *rq, const struct list_input *in, bool is_actionable)
{
	struct pg_rows *rows =
		pg_query(rq, EXPERIMENT_LIST_SQL, pg_uuid(rq->caller.account), pg_text(in->project),
	                 pg_text(in->status), pg_text(in->ticket_source), pg_text(in->ticket),
	                 pg_text(in->created_via), pg_bool(is_actionable), pg_int(in->limit),
	                 pg_int(in->offset));
	reply_page(rq, pg_json(rows), pg_value_int(rows, 0, 1), in->limit, in->offset);
}

void experiment_list(struct request *rq)
{
	reply_list(rq, request_input(rq, struct list_input, LIST_FIELDS), false);
}

void experiment_actionable(struct request *rq)
{
	reply_list(rq, request_input(rq, struct list_input, ACTIONABLE_FIELDS), true);
}

void experiment_missing(struct request *rq)
{
	raise_error(rq, ERR_NOT_FOUND, "no such experiment");
}

/* A write that failed; that the project is none of the account's is the client's to mend. */
static attr_noreturn void raise_write(struct request *rq, enum err_code code,
                                      const char *constraint)
{
	if (constraint && strcmp(constraint, "experiment_project") == 0)
		raise_field(rq, "project_id", "is none of your projects");
	pg_raise(rq, code);
}

static void reply_detail(struct request *rq, int status, const struct pg_rows *rows)
{
	etag_reply(rq, pg_value(rows, 0, 1));
	reply_json(rq, status, pg_json(rows));
}

void experiment_create(struct request *rq)
{
	request_input(rq, struct experiment_input, EXPERIMENT_CREATE_FIELDS);
	struct pg_rows *rows;
	const char *constraint = NULL;
	enum err_code code =
		pg_try(rq, &rows, &constraint, EXPERIMENT_CREATE_SQL, pg_uuid(rq->caller.account),
	               pg_text(request_body_json(rq)), pg_text(rq->id));
	if (code)
		raise_write(rq, code, constraint);
	reply_detail(rq, 201, rows);
}

void experiment_get(struct request *rq)
{
	struct experiment_input *in = request_input(rq, struct experiment_input, ID_FIELDS);
	struct pg_rows *rows =
		pg_query(rq, EXPERIMENT_GET_SQL, pg_text(in->id), pg_uuid(rq->caller.account));
	if (pg_empty(rows))
		experiment_missing(rq);
	reply_detail(rq, 200, rows);
}

void experiment_update(struct request *rq)
{
	struct experiment_input *in =
		request_input(rq, struct experiment_input, EXPERIMENT_UPDATE_FIELDS);
	request_require_some(rq);
	struct pg_rows *rows;
	const char *constraint = NULL;
	enum err_code code =
		pg_try(rq, &rows, &constraint, EXPERIMENT_UPDATE_SQL, pg_text(in->id),
	               pg_uuid(rq->caller.account), caller_key(rq), pg_text(request_body_json(rq)),
	               pg_text(rq->id), pg_text(etag_if_match(rq)));
	if (code)
		raise_write(rq, code, constraint);
	if (pg_empty(rows))
		experiment_missing(rq);
	if (!pg_json(rows))
		raise_error(rq, ERR_PRECONDITION, "the experiment has changed meanwhile");
	reply_detail(rq, 200, rows);
}

void experiment_delete(struct request *rq)
{
	struct experiment_input *in = request_input(rq, struct experiment_input, ID_FIELDS);
	struct pg_rows *rows = pg_query(rq, EXPERIMENT_DELETE_SQL, pg_text(in->id),
	                                pg_uuid(rq->caller.account), pg_text(rq->id));
	if (pg_empty(rows))
		experiment_missing(rq);
	reply_json(rq, 200, pg_json(rows));
}
